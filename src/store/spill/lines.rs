//! A few values of any kind on disk, in the order in which they were written.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Spill, Streams};
use crate::error::Result;

/// Values as lines of JSON.
#[derive(Debug)]
#[doc(hidden)]
pub struct JsonLines(Streams);

impl JsonLines {
    /// No values yet, or those of the last checkpoint.
    #[doc(hidden)]
    pub fn new(spill: &Arc<Spill>, name: &str) -> Self {
        /// The other files that are written meanwhile have most of the memory.
        const FILES: usize = 64;
        JsonLines(Streams::new(spill, name, 1, FILES))
    }

    /// Appends a value.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file cannot be written.
    #[doc(hidden)]
    pub fn push(&mut self, value: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(value).unwrap_or_default();
        self.0.push_with(0, |bytes| {
            bytes.extend_from_slice(line.as_bytes());
            bytes.push(b'\n');
        })
    }

    /// Writes everything pushed so far, for a checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if the file cannot be written.
    #[doc(hidden)]
    pub fn flush(&mut self) -> Result<()> {
        self.0.flush()
    }

    /// All values that are written.
    #[doc(hidden)]
    pub fn iter<T: DeserializeOwned>(&self) -> impl Iterator<Item = Result<T>> {
        self.0.each_block(0).flat_map(|block| {
            let values = block.and_then(|block| {
                let lines = block.split(|byte| *byte == b'\n');
                let lines = lines.filter(|line| !line.is_empty());
                // The checksum of the block says that it is as it was written: such a value was never one.
                let value = |line| serde_json::from_slice(line).map_err(|_| self.0.damaged(0));
                lines.map(value).collect::<Result<Vec<T>>>()
            });
            let (values, error) = match values {
                Ok(values) => (values, None),
                Err(error) => (Vec::new(), Some(Err(error))),
            };
            values.into_iter().map(Ok).chain(error)
        })
    }

    /// Calls `each` with all values that are written.
    ///
    /// # Errors
    /// The errors of reading.
    #[doc(hidden)]
    pub fn for_each<T: DeserializeOwned>(&self, mut each: impl FnMut(T)) -> Result<()> {
        self.iter().try_for_each(|value| {
            each(value?);
            Ok(())
        })
    }
}
