//! What a search on disk reads, several times.

use super::super::units::UnitTexts;
use simgpu::error::Result;

/// Documents that can be read again, in the same order.
pub(super) trait TextReader {
    /// Calls `map` with the texts of some documents in a row, on all threads, and `each` with them and the result, in order.
    ///
    /// # Errors
    /// Those of reading and of `each`.
    fn read<T: Send>(
        &self,
        stage: &'static str,
        map: &(impl Fn(&UnitTexts) -> T + Sync),
        each: &mut dyn FnMut(&UnitTexts, T) -> Result<()>,
    ) -> Result<()>;
}
