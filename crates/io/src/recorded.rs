//! The inputs that `run.json` names, so that their texts can be found again.

use std::fs::Metadata;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use super::find::absolute;
use super::format::{Format, Quote};
use super::input::{InputFile, Naming};
use simgpu::error::{Error, Result};
use simgpu::store::disk::metadata;

/// What stands in place of a format for an index.
const INDEX: &str = "index";

/// An input of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[doc(hidden)]
pub struct RecordedInput {
    /// The name in reports.
    #[doc(hidden)]
    pub file: String,
    /// Whether it is of the reference.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[doc(hidden)]
    pub reference: bool,
    /// The absolute path; `None` for a stream.
    path: Option<String>,
    /// The ending of names of the format.
    format: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    delimiter: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<char>,
    /// Its size, compressed.
    bytes: u64,
    /// When it was changed last, in nanoseconds since 1970; `None` if the system does not tell.
    modified_ns: Option<u64>,
}

impl RecordedInput {
    /// What there is to say of an input.
    #[doc(hidden)]
    pub fn new(input: &InputFile, reference: bool, is_stream: bool) -> Self {
        let path = absolute(&input.named).ok().filter(|_| !is_stream);
        let metadata = input.metadata().ok();
        let (bytes, modified_ns) = metadata.as_ref().map_or((0, None), size_and_time);
        let separators = input.separators;
        RecordedInput {
            file: input.relative.clone(),
            reference,
            path: path.map(|path| path.to_string_lossy().into_owned()),
            format: input.format.ending().trim_start_matches('.').to_owned(),
            delimiter: separators.map(|separators| separators.delimiter.into()),
            quote: separators.and_then(|separators| separators.quote.map(char::from)),
            bytes,
            modified_ns,
        }
    }

    /// What there is to say of an index.
    #[doc(hidden)]
    pub fn from_index(input: &InputFile) -> Self {
        RecordedInput {
            format: INDEX.to_owned(),
            bytes: 0,
            modified_ns: None,
            ..RecordedInput::new(input, true, false)
        }
    }

    /// Opens the input, or says why there are no texts to show, such as that it is gone.
    ///
    /// # Errors
    /// [`Error::Io`] if it is there and cannot be read.
    #[doc(hidden)]
    pub fn find(&self) -> Result<std::result::Result<InputFile, String>> {
        if self.format == INDEX {
            return Ok(Err("an index keeps no texts".to_owned()));
        }
        let Some(path) = &self.path else {
            return Ok(Err("it was a stream".to_owned()));
        };
        let format = Format::from_name(&format!("x.{}", self.format), false);
        let byte = |character: char| u8::try_from(character).ok();
        let naming = Naming {
            format,
            delimiter: self.delimiter.and_then(byte),
            quote: match (self.delimiter, self.quote) {
                (None, _) => None,
                (Some(_), quote) => {
                    let quote = quote.and_then(byte);
                    Some(quote.map_or(Quote::None, Quote::Character))
                }
            },
            ..Naming::default()
        };
        let path = PathBuf::from(path);
        if metadata(&path)?.is_none() {
            return Ok(Err(format!("{} is gone", path.display())));
        }
        let input = match InputFile::find(path.clone(), self.file.clone(), &naming, true) {
            Err(error @ Error::Io { .. }) => return Err(error),
            Err(error) => return Ok(Err(error.to_string())),
            Ok(input) => input,
        };
        let found = input.metadata().map_err(Error::io("read", &path))?;
        Ok(if size_and_time(&found) == (self.bytes, self.modified_ns) {
            Ok(input)
        } else {
            Err(format!("{} has changed since the run", path.display()))
        })
    }
}

fn size_and_time(metadata: &Metadata) -> (u64, Option<u64>) {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified_ns = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
    (metadata.len(), modified_ns)
}
