//! Where windows lead: for each that occurs earlier, the first place of an equal one. In a file, in blocks.
//!
//! The file is written once, in order. It is read at random, where pieces are followed along their sources. So blocks
//! are kept as far as memory goes: sources are often near each other, and often the same.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::first_places::WindowSegment;
use super::records::{LinkTarget, Links};
use simgpu::error::{Error, Result};
use simgpu::store::unnamed_file;

/// Entries of a block.
const BLOCK: usize = 512;

/// Words of an entry: the first window, the end, and the link.
const WORDS: usize = 3;

/// Writes such a file. Windows ascend.
pub(super) struct MapWriter {
    file: File,
    path: PathBuf,
    block: Vec<[u64; WORDS]>,
    index: Vec<(usize, u64)>,
    last: Option<Links>,
}

fn pack(links: Links) -> [u64; WORDS] {
    let link = match links.link {
        LinkTarget::Place(place) => (place as u64) << 1,
        LinkTarget::Back(back) => (back as u64) << 1 | 1,
    };
    [links.first as u64, links.end() as u64, link]
}

#[allow(clippy::cast_possible_truncation, reason = "places have 40 bits")]
fn unpack([first, end, link]: [u64; WORDS]) -> Links {
    Links {
        first: first as usize,
        len: (end - first) as usize,
        link: match link & 1 {
            0 => LinkTarget::Place((link >> 1) as usize),
            _ => LinkTarget::Back((link >> 1) as usize),
        },
    }
}

impl MapWriter {
    /// A file in a folder.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        Ok(MapWriter {
            file: unnamed_file(folder).map_err(Error::io("create a file in", folder))?,
            path: folder.to_owned(),
            block: Vec::new(),
            index: Vec::new(),
            last: None,
        })
    }

    /// Appends links. Those that go on where the last ones ended are one with them.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub(super) fn push(&mut self, links: Links) -> Result<()> {
        if let Some(last) = &mut self.last
            && last.is_followed_by(links)
        {
            last.len += links.len;
            return Ok(());
        }
        self.write_last()?;
        self.last = Some(links);
        Ok(())
    }

    fn write_last(&mut self) -> Result<()> {
        self.block.extend(self.last.take().map(pack));
        match self.block.len() {
            BLOCK => self.write_block(),
            _ => Ok(()),
        }
    }

    fn write_block(&mut self) -> Result<()> {
        let Some([first, ..]) = self.block.first().copied() else {
            return Ok(());
        };
        let bytes: &[u8] = bytemuck::cast_slice(&self.block);
        // With the number of the block, so that one in the place of another is found, too.
        let checksum = xxh3_64_with_seed(bytes, self.index.len() as u64);
        let written = self.file.write_all(bytes);
        written.map_err(Error::io("write a temporary file in", &self.path))?;
        #[allow(clippy::cast_possible_truncation, reason = "places have 40 bits")]
        self.index.push((first as usize, checksum));
        self.block.clear();
        Ok(())
    }

    /// The map, which keeps so many bytes of blocks in memory.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be written.
    pub(super) fn finish(mut self, memory: usize) -> Result<WindowMap> {
        self.write_last()?;
        let rest = self.block.len();
        self.write_block()?;
        let entries = match rest {
            0 => self.index.len() * BLOCK,
            rest => (self.index.len() - 1) * BLOCK + rest,
        };
        let slots = memory / (BLOCK * WORDS * size_of::<u64>());
        Ok(WindowMap {
            file: self.file,
            path: self.path,
            slots: vec![None; slots.clamp(1, self.index.len().max(1))],
            index: self.index,
            entries,
            read_bytes: 0,
        })
    }
}

/// The links of a block.
type LinkBlock = Arc<[Links]>;

/// Where windows lead.
pub(super) struct WindowMap {
    file: File,
    path: PathBuf,
    /// The first window of each block, and the checksum of the block.
    index: Vec<(usize, u64)>,
    entries: usize,
    /// Blocks in memory, by their number modulo that of slots.
    slots: Vec<Option<(usize, LinkBlock)>>,
    read_bytes: u64,
}

impl WindowMap {
    /// Bytes of the file.
    pub(super) fn bytes(&self) -> u64 {
        (self.entries * WORDS * size_of::<u64>()) as u64
    }

    /// Bytes read from the file.
    pub(super) fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.index.len()
    }

    /// The block with a window, if one has it: the last that begins before or with it.
    fn block_of(&self, window: usize) -> usize {
        let behind = self.index.partition_point(|(first, _)| *first <= window);
        behind.saturating_sub(1)
    }

    /// The links of a block, which ascend.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, and [`Error::DamagedSpill`] if it is not as it was written.
    pub(super) fn block(&mut self, number: usize) -> Result<Option<LinkBlock>> {
        let Some((_, checksum)) = self.index.get(number).copied() else {
            return Ok(None);
        };
        // Blocks that follow each other never displace one another.
        let slot = number % self.slots.len();
        if let Some((held, block)) = &self.slots[slot]
            && *held == number
        {
            return Ok(Some(Arc::clone(block)));
        }
        let count = BLOCK.min(self.entries - number * BLOCK);
        let mut words = vec![[0_u64; WORDS]; count];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        let at = (number * BLOCK * WORDS * size_of::<u64>()) as u64;
        read_at(&self.file, bytes, at)
            .map_err(Error::io("read a temporary file in", &self.path))?;
        if xxh3_64_with_seed(bytes, number as u64) != checksum {
            return Err(Error::DamagedSpill {
                path: self.path.clone(),
            });
        }
        self.read_bytes += bytes.len() as u64;
        let block: LinkBlock = words.into_iter().map(unpack).collect();
        self.slots[slot] = Some((number, Arc::clone(&block)));
        Ok(Some(block))
    }
}

fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(bytes)
}

/// A place in a map, near which the next windows are looked up.
#[derive(Default)]
pub(super) struct Walker {
    block: Option<LinkBlock>,
    /// The windows for which the block has the answer.
    windows: std::ops::Range<usize>,
    at: usize,
}

impl Walker {
    /// The links of this window, or else the next ones, if this block or the next has them.
    pub(super) fn at_or_behind(
        &mut self,
        map: &mut WindowMap,
        window: usize,
    ) -> Result<Option<Links>> {
        if !self.windows.contains(&window) {
            let number = map.block_of(window);
            self.block = map.block(number)?;
            self.at = 0;
            let last = self.block.as_ref().and_then(|block| block.last().copied());
            let Some(last) = last else {
                return Ok(None);
            };
            let end = last.end();
            let start = if number == 0 { 0 } else { map.index[number].0 };
            self.windows = start..end;
            // The window is between two blocks, so the answer is not in the one that is kept.
            if window >= end {
                self.windows = 0..0;
                let next = map.block(number + 1)?;
                return Ok(next.and_then(|block| block.first().copied()));
            }
        }
        let Some(block) = &self.block else {
            return Ok(None);
        };
        let ends_before = |links: &Links| links.end() <= window;
        // Windows are mostly looked up in order, so the links are here or a few behind.
        let is_near = self.at > 0 && ends_before(&block[self.at - 1]) || self.at == 0;
        let near = block[self.at..].iter().take(4);
        self.at = match near.clone().position(|links| !ends_before(links)) {
            Some(ahead) if is_near => self.at + ahead,
            _ => block.partition_point(ends_before),
        };
        Ok(block.get(self.at).copied())
    }

    /// The links that have this window, if they lead back.
    pub(super) fn back(&mut self, map: &mut WindowMap, window: usize) -> Result<Option<Links>> {
        let links = self.at_or_behind(map, window)?;
        Ok(
            links
                .filter(|links| links.first <= window && matches!(links.link, LinkTarget::Back(_))),
        )
    }

    /// The windows from this one on, up to `end`, that follow each other, and so do the first places of equal ones.
    pub(super) fn segment(
        &mut self,
        map: &mut WindowMap,
        window: usize,
        end: usize,
    ) -> Result<WindowSegment> {
        let links = self.at_or_behind(map, window)?;
        let new = |end: usize| WindowSegment {
            first: window,
            len: end - window,
            place: window,
        };
        let Some(links) = links else {
            return Ok(new(end));
        };
        if links.first > window {
            return Ok(new(end.min(links.first)));
        }
        let len = links.end() - window;
        let (len, place) = match links.link {
            LinkTarget::Place(place) => (len, place + (window - links.first)),
            LinkTarget::Back(back) => {
                // The same window of the period before these, which leads to places or is the first.
                let before = links.first - back + (window - links.first) % back;
                let before = self.segment(map, before, links.first)?;
                (len.min(before.len), before.place)
            }
        };
        Ok(WindowSegment {
            first: window,
            len: len.min(end - window),
            place,
        })
    }
}
