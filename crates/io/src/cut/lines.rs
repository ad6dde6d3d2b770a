//! Cuts JSON Lines.

use super::Cutter;
use crate::chunk::Contents;
use crate::jsonl::newlines;
use crate::refusal::Refusal;

/// Cuts after newlines.
pub(crate) struct LineCutter {
    pub(super) first_number: u64,
}

impl LineCutter {
    pub(crate) fn new() -> Self {
        LineCutter { first_number: 1 }
    }
}

impl Cutter for LineCutter {
    fn scan(&mut self, bytes: &[u8], from: usize) -> Result<Option<usize>, Refusal> {
        Ok(memchr::memrchr(b'\n', &bytes[from..]).map(|newline| from + newline + 1))
    }

    fn end(&mut self, _: &[u8]) -> Result<(), Refusal> {
        Ok(())
    }

    fn contents(&mut self, bytes: Vec<u8>) -> Result<Option<Contents>, Refusal> {
        let first_number = self.first_number;
        self.first_number += newlines(&bytes);
        Ok((!bytes.is_empty()).then_some(Contents::Lines {
            bytes,
            first_number,
        }))
    }

    fn forget(&mut self, _: &[u8]) -> u64 {
        self.first_number
    }
}
