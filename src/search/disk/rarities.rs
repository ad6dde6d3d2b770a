//! How many documents have each shingle, on disk, so that a run that goes on need not count again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::documents::{number_of, words_of};
use crate::error::Result;
use crate::pipeline::Rarities;
use crate::store::spill::{Spill, Stored, Streams};

/// The name of the count, for checkpoints.
const COUNT: &str = "count";

/// The state of the count.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    documents: u32,
}

/// Writes the counts for checkpoints.
pub(crate) fn save_rarities(spill: &Arc<Spill>, rarities: &Rarities) -> Result<()> {
    let mut counts = Streams::new(spill, "counts", 1, 1);
    rarities.counts().try_for_each(|(hash, documents)| {
        let [low, high] = words_of(hash);
        counts.push(0, bytemuck::cast_slice(&[high, low, documents]))
    })?;
    counts.finish_one()?.keep();
    let documents = rarities.documents();
    spill.note(COUNT, &Counted { documents })
}

/// The counts of a run before it was stopped.
pub(crate) fn saved_rarities(spill: &Arc<Spill>) -> Result<Option<Rarities>> {
    let Some(Counted { documents }) = spill.state(COUNT) else {
        return Ok(None);
    };
    let counts = Streams::new(spill, "counts", 1, 1).finish_one()?;
    let mut rarities = Rarities::new(documents);
    counts.for_each_block(|block| {
        for record in block.records(Stored::words) {
            let [high, low, documents] = record?;
            rarities.set_count(number_of([low, high]), documents);
        }
        Ok(())
    })?;
    counts.keep();
    Ok(Some(rarities.counted()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::store::spill::Budget;

    #[test]
    fn a_count_cut_off_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        let mut counts = Streams::new(&spill, "counts", 1, 1);
        let records = [[1, 2, 3], [4, 5, 6]];
        let bytes: &[u8] = bytemuck::cast_slice(records.as_flattened());
        counts.push(0, &bytes[..20]).unwrap();
        counts.finish_one().unwrap().keep();
        spill.note(COUNT, &Counted { documents: 9 }).unwrap();
        match saved_rarities(&spill) {
            Err(Error::DamagedSpill { path }) => assert!(path.ends_with("counts-0")),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn counts_come_back_as_they_were_saved() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(&Budget::new(folder.path(), 1 << 20)).unwrap();
        assert!(saved_rarities(&spill).unwrap().is_none());
        let mut rarities = Rarities::default();
        for document in [&[1, u64::MAX][..], &[1, 5 << 40], &[1]] {
            rarities.count(document);
        }
        let rarities = rarities.counted();
        save_rarities(&spill, &rarities).unwrap();
        // Twice, as a run that is stopped again.
        for _ in 0..2 {
            let saved = saved_rarities(&spill).unwrap().unwrap();
            assert_eq!(saved.documents(), 3);
            let sorted = |rarities: &Rarities| {
                let mut counts: Vec<_> = rarities.counts().collect();
                counts.sort_unstable();
                counts
            };
            assert_eq!(sorted(&saved), [(1, 3), (5 << 40, 1), (u64::MAX, 1)]);
            assert_eq!(sorted(&saved), sorted(&rarities));
        }
    }
}
