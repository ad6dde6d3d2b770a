//! Counts how many documents have each shingle, for weights by rarity.

use super::context::Context;
use super::disk::saved_rarities;
use super::first_pass::{FirstPass, PieceSets, SignedBatch, SignedForm, Sink, Wanted};
#[cfg(doc)]
use super::parameters::Search;
use super::source::Source;
use crate::engine::Engine;
use crate::error::{Conflict, Result};
use crate::pipeline::Rarities;
use crate::progress::{StageTime, counted, grouped};

/// Reads all documents of a source and counts them, in a table of at most [`Search::join_bytes`]. Returns the engine that
/// weighs shingles by these counts.
pub(crate) fn weigh_by_rarity(
    source: &mut dyn Source,
    engine: &Engine,
    context: &mut Context<'_>,
) -> Result<Engine> {
    let progress = context.progress;
    if let Some(budget) = source.budget()
        && let Some(spill) = &budget.unfinished
        && let Some(rarities) = saved_rarities(spill)?
    {
        return Ok(engine.with_shingler(engine.shingler().with_rarities(rarities)));
    }
    let counting = engine.with_shingler(engine.shingler().for_sets());
    let mut counts = CountedShingles {
        rarities: Rarities::default(),
        most_bytes: context.search.join_bytes,
        is_full: false,
    };
    let mut times = Vec::new();
    let pass = FirstPass::new(&counting, progress, &mut counts);
    source.read(pass, &mut times)?;
    counts.prepare()?;
    let stages = times.into_iter().filter(|time| !time.is_part);
    context.timings.0.extend(stages.map(|time| StageTime {
        stage: "count",
        ..time
    }));
    let rarities = counts.rarities.counted();
    progress.tell(&format!(
        "counted {} of {}; {} MB held in memory",
        counted(rarities.elements() as u64, "shingle"),
        counted(rarities.documents().into(), "distinct document"),
        grouped(rarities.bytes_with(0).div_ceil(1_000_000) as u64)
    ));
    Ok(engine.with_shingler(engine.shingler().with_rarities(rarities)))
}

/// Counts the sets of distinct documents.
struct CountedShingles {
    rarities: Rarities,
    most_bytes: usize,
    /// Whether a set was left out, because the table might have taken more memory.
    is_full: bool,
}

impl Sink for CountedShingles {
    fn wants(&self) -> Wanted {
        Wanted {
            distinct_only: true,
            signed: SignedForm::Nothing,
            sets: true,
            empty_sets: false,
        }
    }

    fn prepare(&mut self) -> Result<()> {
        if self.is_full {
            let mib = self.most_bytes >> 20;
            return Err(Conflict::RarityMemory { mib }.into());
        }
        Ok(())
    }

    fn take(&mut self, _: SignedBatch, _: &[u32]) -> Result<()> {
        Ok(())
    }

    fn take_sets(&mut self, _: u32, _: &[u32], sets: PieceSets) -> Result<()> {
        for range in sets.ranges {
            self.is_full |= self.rarities.bytes_with(range.len()) > self.most_bytes;
            if self.is_full {
                break;
            }
            self.rarities.count(&sets.hashes[range]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::pipeline::{Shingling, Unit, Weighting};
    use crate::progress::Timings;
    use crate::search::parameters::Search;
    use crate::search::source::InMemory;
    use crate::search::tests::Told;

    fn weigh(texts: &[&str], join_bytes: usize) -> (Result<Engine>, Told) {
        let shingling = Shingling {
            weighting: Weighting::Rarity,
            size: std::num::NonZeroUsize::MIN,
            ..Shingling::of(Unit::Words)
        };
        let engine = Engine::builder().shingling(shingling).work_bytes(1);
        let engine = engine.build().unwrap();
        let told = Told::new();
        let search = Search {
            join_bytes,
            ..Search::new(0.8, engine.scheme()).unwrap()
        };
        let context = &mut Context {
            search: &search,
            pairing: crate::pipeline::Pairing::default(),
            progress: &told,
            timings: &mut Timings::default(),
        };
        let source = &mut InMemory {
            documents: texts,
            reference: None,
            classes: None,
            progress: &told,
        };
        let weighed = weigh_by_rarity(source, &engine, context);
        (weighed, told)
    }

    #[test]
    fn distinct_documents_are_counted() {
        let texts = ["a b", "a b", "a c", "", "a b c"];
        let (weighed, told) = weigh(&texts, 1 << 20);
        let weighed = weighed.unwrap();
        let rarities = weighed.shingler().rarities().unwrap();
        // "a b" counts once, and the empty document not at all.
        assert_eq!(rarities.documents(), 3);
        let mut counts: Vec<u32> = rarities.counts().map(|(_, documents)| documents).collect();
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 3]);
        assert!(told.has("counted 3 shingles of 3 distinct documents"));
    }

    #[test]
    fn a_table_that_takes_too_much_is_an_error() {
        let (weighed, _) = weigh(&["a b", "c d"], 8);
        let refused = weighed.map(|_| ()).unwrap_err();
        assert!(matches!(
            refused,
            Error::Conflict(Conflict::RarityMemory { mib: 0 })
        ));
    }
}
