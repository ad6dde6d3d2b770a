//! How many documents have each shingle, on disk, so that a run that goes on need not count again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::documents::{number_of, words_of};
use crate::error::Result;
use crate::pipeline::Rarities;
use crate::store::spill::{Spill, Streams, words_at};

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
    let mut rarities = Rarities::of_documents(documents);
    counts.for_each_block(|block| {
        for record in block.chunks_exact(size_of::<[u32; 3]>()) {
            let [high, low, documents] = words_at(record).unwrap_or_default();
            rarities.set_count(number_of([low, high]), documents);
        }
        Ok(())
    })?;
    counts.keep();
    Ok(Some(rarities.counted()))
}
