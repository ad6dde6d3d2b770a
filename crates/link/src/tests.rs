//! What the tests of several rooms have in common.

use simgpu::documents::TokenBatch;

/// A file of records, each a list of its fields.
pub(crate) fn table<F: AsRef<str>>(records: &[impl AsRef<[F]>]) -> TokenBatch {
    let mut table = TokenBatch::default();
    for record in records {
        for field in record.as_ref() {
            table.push_token(field.as_ref().as_bytes());
        }
        table.finish_document();
    }
    table
}
