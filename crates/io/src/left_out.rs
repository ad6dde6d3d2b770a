//! What a run says of bad records that it left out.

use simgpu::error::BadRecord;
use simgpu::progress::grouped;
use simgpu_base::encoding::conversion_of_encoding;

/// A warning of bad records that a run left out for their encoding.
#[doc(hidden)]
pub fn warning_of_encoding<'a>(skipped: impl Iterator<Item = &'a BadRecord>) -> Option<String> {
    let convertible = |bad: &'a BadRecord| {
        Some((
            bad,
            conversion_of_encoding(&bad.problem, &bad.file, "correct the records")?,
        ))
    };
    let mut left_out = skipped.filter_map(convertible);
    let (first, convert) = left_out.next()?;
    let records = match left_out.count() {
        0 => "1 record".to_owned(),
        more => format!("{} records", grouped(more as u64 + 1)),
    };
    Some(format!(
        "left out {records} for the encoding, the first at {first}; {convert}"
    ))
}
