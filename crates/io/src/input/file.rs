//! One input file.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::naming::{Naming, separators_of};
use crate::compression::Compression;
use crate::format::{Format, START, Separators, check_ending, check_start, unknown_ending};
use simgpu::error::{Error, Result};

/// A file to read.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct InputFile {
    pub(super) place: Place,
    /// The path as given, for messages.
    #[doc(hidden)]
    pub named: PathBuf,
    /// The path relative to the common parent of the inputs, with `/`: its name in reports and outputs.
    #[doc(hidden)]
    pub relative: String,
    #[doc(hidden)]
    pub format: Format,
    /// What separates the fields of a record of CSV or TSV.
    pub(crate) separators: Option<Separators>,
    pub(crate) compression: Compression,
    /// The compression of the original, used for kept records. The copy of a stream may be compressed
    /// differently.
    #[doc(hidden)]
    pub original_compression: Compression,
}

/// The location of an input's bytes.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Path(PathBuf),
    /// A copy of the stream in an unnamed temporary file.
    Copy(Arc<File>),
}

impl InputFile {
    /// Looks at the name and the first bytes of a file, which may be program text if the input `takes_code`.
    pub(crate) fn find(
        named: PathBuf,
        relative: String,
        naming: &Naming,
        takes_code: bool,
    ) -> Result<Self> {
        let format = naming.format;
        let format = format.or_else(|| Format::from_name(&relative, takes_code));
        let mut start = Vec::new();
        File::open(&named)
            .map_err(Error::io("open", &named))?
            .take(START as u64)
            .read_to_end(&mut start)
            .map_err(Error::io("read", &named))?;
        if format.is_none() {
            check_ending(&named, &relative)?;
        }
        check_start(&named, &start)?;
        let format = format.ok_or_else(|| unknown_ending(&named, &relative))?;
        let compression = Compression::from_start(&start);
        Ok(InputFile {
            format,
            separators: separators_of(format, naming),
            compression,
            original_compression: compression,
            relative,
            place: Place::Path(named.clone()),
            named,
        })
    }

    /// The folder of an index in place of a file, which has no records to read.
    #[doc(hidden)]
    pub fn from_index(folder: &Path) -> Self {
        InputFile {
            format: Format::JsonLines,
            separators: None,
            compression: Compression::None,
            original_compression: Compression::None,
            relative: folder.display().to_string(),
            place: Place::Path(folder.to_owned()),
            named: folder.to_owned(),
        }
    }

    /// Opens the file at its start. The copy of a stream can be read by only one reader at a time.
    #[doc(hidden)]
    pub fn open(&self) -> io::Result<File> {
        match &self.place {
            Place::Path(path) => File::open(path),
            Place::Copy(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }

    /// The size and time of the file as it is now.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        match &self.place {
            Place::Path(path) => path.metadata(),
            Place::Copy(file) => file.metadata(),
        }
    }

    /// The size of the file as stored.
    #[doc(hidden)]
    pub fn stored_bytes(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }
}
