//! The digest that a signature file states of its description and ids.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;

use crate::digest::Digest;
use crate::json::json_string;

/// The metadata key of the description in a Parquet file.
pub(crate) const REPORT_KEY: &str = "simgpu.report";

/// The metadata key of the digest of the description and the ids in a Parquet file.
pub(super) const DIGEST_KEY: &str = "simgpu.digest";

/// The digest of a table, before its ids.
pub(super) fn digest_from(description: &str) -> Digest {
    let mut digest = Digest::default();
    digest.update(description.as_bytes());
    digest
}

/// Adds an id, as JSON, to a digest.
pub(super) fn update_with_id(digest: &mut Digest, id: &str) {
    digest.update(b"\n");
    digest.update(id.as_bytes());
}

/// The ids of a column as JSON.
pub(super) fn json_of_ids(column: &dyn Array) -> Box<dyn Iterator<Item = String> + '_> {
    if column.data_type() == &DataType::Int64 {
        let ids = column.as_primitive::<Int64Type>().values();
        Box::new(ids.iter().map(i64::to_string))
    } else {
        let ids = column.as_string::<i32>().iter().flatten();
        Box::new(ids.map(json_string))
    }
}
