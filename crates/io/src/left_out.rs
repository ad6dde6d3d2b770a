//! What a run says of bad records that it left out.

use simgpu::error::BadRecord;
use simgpu::progress::grouped;
use simgpu_base::encoding::conversion_of_encoding;

/// Bad records that a run left out for their encoding.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Misencoded {
    /// The first of them, and how to convert its file.
    first: Option<(BadRecord, String)>,
    count: u64,
}

impl Misencoded {
    /// Counts a bad record, if its encoding is what is wrong with it.
    pub fn note(&mut self, bad: &BadRecord) {
        let convert = conversion_of_encoding(&bad.problem, &bad.file, "correct the records");
        if let Some(convert) = convert {
            self.count += 1;
            self.first.get_or_insert_with(|| (bad.clone(), convert));
        }
    }

    /// The warning of them; `None` if there are none.
    pub fn warning(&self) -> Option<String> {
        let (first, convert) = self.first.as_ref()?;
        let records = match self.count {
            1 => "1 record".to_owned(),
            count => format!("{} records", grouped(count)),
        };
        Some(format!(
            "left out {records} for the encoding, the first at {first}; {convert}"
        ))
    }
}

/// A warning of bad records that a run left out for their encoding.
#[doc(hidden)]
pub fn warning_of_encoding<'a>(skipped: impl Iterator<Item = &'a BadRecord>) -> Option<String> {
    let mut misencoded = Misencoded::default();
    skipped.for_each(|bad| misencoded.note(bad));
    misencoded.warning()
}
