//! Where the compressed pages of a row group wait until all of its columns are complete: in memory, and beyond [`HELD`] on disk.
//! Each page gets its checksum there.
//!
//! The library's writer states no checksums. It hands over the header of a page and then its data, each once, and so there is one
//! place where both are at hand. The header gets longer by that, so the sizes and places that the writer states of the column are
//! put right, too.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use flate2::Crc;
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, PageKey, PageStore, PageStoreArgs, PageStoreFactory,
};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::SerializedRowGroupWriter;

use super::pages::{PageHeader, with_checksum};
use simgpu::store::unnamed_file;

/// Bytes of compressed pages of a row group that are held in memory. Further ones wait on disk. The writer of a group of any size
/// takes that much memory.
const HELD: usize = 64 << 20;

/// The pages of a row group.
#[derive(Clone, Debug)]
pub(super) struct PagesOfGroup(Arc<Mutex<WaitingPages>>);

#[derive(Debug)]
struct WaitingPages {
    /// The folder for pages on disk; `None` holds all in memory.
    folder: Option<PathBuf>,
    held: usize,
    file: Option<File>,
    written: u64,
    /// The pages of each column, in the order in which they came.
    columns: Vec<Vec<Page>>,
}

/// A page.
#[derive(Debug)]
struct Page {
    header: PageHeader,
    data: WaitingData,
}

#[derive(Debug)]
enum WaitingData {
    Held(Bytes),
    OnDisk { start: u64, bytes: usize },
}

impl Page {
    fn bytes(&self) -> usize {
        let data = match &self.data {
            WaitingData::Held(data) => data.len(),
            WaitingData::OnDisk { bytes, .. } => *bytes,
        };
        self.header.bytes.len() + data
    }
}

impl PagesOfGroup {
    /// `folder` is for pages on disk; without it, all wait in memory.
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        PagesOfGroup(Arc::new(Mutex::new(WaitingPages {
            folder,
            held: 0,
            file: None,
            written: 0,
            columns: Vec::new(),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, WaitingPages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a complete column, whose pages are here, to a row group.
    pub(super) fn append<W: Write + Send>(
        &self,
        column: usize,
        written: ArrowColumnChunk,
        target: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        let pages = self.lock().columns.get_mut(column).map(std::mem::take);
        let (dictionary, data): (Vec<Page>, Vec<Page>) = pages
            .unwrap_or_default()
            .into_iter()
            .partition(|page| page.header.is_dictionary);
        let close = with_checksums(written.close().clone(), &dictionary, &data)?;
        // The dictionary comes first, although it is complete last.
        let pages: VecDeque<Page> = dictionary.into_iter().chain(data).collect();
        let chunk = ColumnPages {
            len: pages.iter().map(|page| page.bytes() as u64).sum(),
            pages: Mutex::new(pages),
            group: self.clone(),
        };
        target.append_column(&chunk, close)
    }

    fn data(&self, waiting: WaitingData) -> io::Result<Bytes> {
        match waiting {
            WaitingData::Held(data) => Ok(data),
            WaitingData::OnDisk { start, bytes } => {
                let group = self.lock();
                let gone = || io::Error::other("a page on disk has no file");
                let mut file = group.file.as_ref().ok_or_else(gone)?;
                let mut data = vec![0; bytes];
                file.seek(SeekFrom::Start(start))?;
                file.read_exact(&mut data)?;
                Ok(data.into())
            }
        }
    }
}

/// What the writer states of a column, with the sizes and places that its pages have since their headers got longer.
fn with_checksums(
    mut close: ColumnCloseResult,
    dictionary: &[Page],
    data: &[Page],
) -> Result<ColumnCloseResult, ParquetError> {
    let sizes = |pages: &[Page]| pages.iter().map(Page::bytes).sum::<usize>();
    let before = sizes(dictionary);
    let bytes = before + sizes(data);
    let pages = dictionary.iter().chain(data);
    let added: usize = pages.map(|page| page.header.added).sum();
    let signed = |bytes: usize| {
        let too_large = |_| ParquetError::General("a column is too large".to_owned());
        i64::try_from(bytes).map_err(too_large)
    };
    close.bytes_written += added as u64;
    let uncompressed = close.metadata.uncompressed_size() + signed(added)?;
    let mut at = signed(before)?;
    close.metadata = close
        .metadata
        .into_builder()
        .set_total_compressed_size(signed(bytes)?)
        .set_total_uncompressed_size(uncompressed)
        .set_dictionary_page_offset((before > 0).then_some(0))
        .set_data_page_offset(at)
        .build()?;
    let places = close.offset_index.iter_mut();
    let places = places.flat_map(|index| &mut index.page_locations);
    for (place, page) in places.zip(data) {
        let bytes = signed(page.bytes())?;
        place.offset = at;
        place.compressed_page_size = i32::try_from(bytes)
            .map_err(|_| ParquetError::General("a page is too large".to_owned()))?;
        at += bytes;
    }
    Ok(close)
}

impl PageStoreFactory for PagesOfGroup {
    fn create(&self, arguments: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>, ParquetError> {
        let column = arguments.column_index();
        let mut group = self.lock();
        if group.columns.len() <= column {
            group.columns.resize_with(column + 1, Vec::new);
        }
        Ok(Box::new(PagesOfColumn {
            group: self.clone(),
            column,
            header: None,
            pages: 0,
        }))
    }
}

/// Receives the pages of a column.
struct PagesOfColumn {
    group: PagesOfGroup,
    column: usize,
    /// The header of the page whose data comes next.
    header: Option<Bytes>,
    pages: u64,
}

impl PageStore for PagesOfColumn {
    fn put(&mut self, bytes: Bytes) -> Result<PageKey, ParquetError> {
        let key = PageKey::new(self.pages);
        let Some(header) = self.header.take() else {
            self.header = Some(bytes);
            return Ok(key);
        };
        self.pages += 1;
        let mut checksum = Crc::new();
        checksum.update(&bytes);
        let header = with_checksum(&header, checksum.sum())?;
        let group = &mut *self.group.lock();
        let data = match &group.folder {
            Some(folder) if group.held + bytes.len() > HELD => {
                let file = match &mut group.file {
                    Some(file) => file,
                    None => group.file.insert(unnamed_file(folder)?),
                };
                let start = group.written;
                file.seek(SeekFrom::Start(start))?;
                file.write_all(&bytes)?;
                group.written += bytes.len() as u64;
                WaitingData::OnDisk {
                    start,
                    bytes: bytes.len(),
                }
            }
            _ => {
                group.held += bytes.len();
                WaitingData::Held(bytes)
            }
        };
        group.columns[self.column].push(Page { header, data });
        Ok(key)
    }

    fn take(&mut self, _: PageKey) -> Result<Bytes, ParquetError> {
        let problem = "a page is taken on its own, and not with its column";
        Err(ParquetError::General(problem.to_owned()))
    }
}

/// The bytes of a column, which are read once.
struct ColumnPages {
    len: u64,
    pages: Mutex<VecDeque<Page>>,
    group: PagesOfGroup,
}

impl Length for ColumnPages {
    fn len(&self) -> u64 {
        self.len
    }
}

impl ChunkReader for ColumnPages {
    type T = ReadPages;

    fn get_read(&self, _: u64) -> Result<ReadPages, ParquetError> {
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ReadPages {
            group: self.group.clone(),
            pages: std::mem::take(&mut *pages),
            current: [Cursor::default(), Cursor::default()],
        })
    }

    fn get_bytes(&self, _: u64, _: usize) -> Result<Bytes, ParquetError> {
        let problem = "the bytes of a column are read from its start alone";
        Err(ParquetError::General(problem.to_owned()))
    }
}

/// Reads the pages of a column, one after the other.
struct ReadPages {
    group: PagesOfGroup,
    pages: VecDeque<Page>,
    /// The header and data of the current page.
    current: [Cursor<Bytes>; 2],
}

impl Read for ReadPages {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            for part in &mut self.current {
                let read = part.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
            }
            let Some(page) = self.pages.pop_front() else {
                return Ok(0);
            };
            let data = self.group.data(page.data)?;
            self.current = [page.header.bytes, data].map(Cursor::new);
        }
    }
}
