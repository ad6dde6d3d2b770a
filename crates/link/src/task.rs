//! Links the records of one or two files that describe the same thing (MMDS 3.8.1).

use rayon::prelude::*;

use super::decide::{Decision, large_entities};
use crate::candidates::{Candidates, RecordPair, find};
use crate::distinct::Distinct;
use crate::evidence::{Evidence, Verdict};
use crate::links::{Accepted, Choice, LinkCounts, Linked, Scorer, best_two};
use crate::parameters::Link;
use crate::records::RecordFiles;
use crate::score::Score;
use crate::symbols::{Lists, Symbols, WeightedLists};
use crate::tables::RecordTables;
use simgpu::documents::TokenBatch;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, Timings};

/// Finds the records of two files, or of one, that describe the same thing.
///
/// A record is a document whose tokens are its fields, in the same order in all records; a missing value is an empty token.
///
/// ```
/// use simgpu::documents::TokenBatch;
/// use simgpu_link::{Link, link};
/// use simgpu::progress::Silent;
///
/// let table = |records: &[[&str; 2]]| {
///     let mut table = TokenBatch::default();
///     for record in records {
///         record.iter().for_each(|field| table.push_token(field.as_bytes()));
///         table.finish_document();
///     }
///     table
/// };
/// let a = table(&[["Bob Jones", "12 Main Street"], ["Ann Smith", "7 Hill Road"]]);
/// let b = table(&[["Ann Smyth", "7 Hill Rd"], ["Robert Jones", "12 Main St"]]);
/// let task = Link { threshold: Some(0.3), ..Link::default() };
/// let linked = link(&a, Some(&b), &task, &Silent)?;
/// let links: Vec<_> = linked.links().map(|link| (link.a, link.b)).collect();
/// assert_eq!(links, [(1, 0), (0, 1)]);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Error::Parameter`] for parameters out of range, [`Error::CannotLearn`] if the records do not show what their fields
/// are worth, and [`Error::Stopped`] if the progress stops the search.
pub fn link<'a>(
    a: &'a TokenBatch,
    b: Option<&'a TokenBatch>,
    task: &'a Link,
    progress: &dyn Progress,
) -> Result<Linked<'a>> {
    let files = RecordFiles {
        first: a,
        second: b,
    };
    task.check(files.field_count(), b.is_some())?;
    if files.rows() >= u32::MAX as usize {
        return Err(Error::TooManyDocuments);
    }
    let mut timings = Timings::default();
    let equivalents = &task.equivalents;
    let distinct = timings.time("group", 0, || Distinct::find(&files, equivalents, progress))?;
    let tables = RecordTables {
        files,
        distinct: &distinct,
    };
    let symbols = timings.time("count", 0, || {
        Symbols::count(&tables, equivalents, progress)
    })?;
    let lists = timings.time("weigh", 0, || {
        Lists::from_records(&tables, &symbols, equivalents, progress)
    })?;
    let (evidence, mut choice) = timings.time("learn", 0, || choose(&tables, task, progress))?;
    let mut candidates = timings.time("compare", 0, || match &evidence {
        Some(evidence) => Ok(evidence_pairs(evidence, &lists, symbols.squares())),
        None => find(&tables, WeightedLists::new(&lists, &symbols), progress),
    })?;
    let decision = Decision {
        tables: &tables,
        symbols: &symbols,
        lists: &lists,
        task,
        progress,
    };
    let (scorer, accepted) =
        decision.decide(evidence, &mut candidates, &mut choice, &mut timings)?;
    Ok(Linked {
        counts: decision.counts(&candidates, &scorer, &accepted),
        best: best_two(&candidates.pairs, distinct.len()),
        files,
        distinct,
        equivalents,
        symbols,
        lists,
        candidates,
        accepted,
        scorer,
        choice,
        timings,
    })
}

impl Decision<'_> {
    /// The numbers of the search.
    fn counts(&self, candidates: &Candidates, scorer: &Scorer, accepted: &Accepted) -> LinkCounts {
        let Decision {
            tables,
            lists,
            symbols,
            ..
        } = *self;
        let files = tables.files;
        let without_words = (0..tables.rows()).filter(|row| lists.norm(*row) == 0.0);
        let equal_links = accepted
            .joined
            .iter()
            .filter(|joined| joined.place.is_none());
        LinkCounts {
            records_a: files.first.len() as u64,
            records_b: files.second.map_or(0, TokenBatch::len) as u64,
            skipped: 0,
            empty: without_words.count() as u64,
            equal_records: (files.rows() - tables.rows()) as u64,
            symbols: symbols.len() as u64,
            candidate_pairs: match scorer {
                Scorer::Evidence(evidence) => evidence.candidates as u64,
                _ => candidates.pairs.len() as u64,
            },
            pairs_below_floor: candidates.below,
            cut_records: candidates.cut,
            crowded_records: candidates.crowded,
            links: accepted.joined.len() as u64,
            equal_links: equal_links.count() as u64,
            entities: accepted.entities.as_deref().map_or(0, large_entities),
        }
    }
}

/// Looks for evidence in one file, if that is the score or may be; the evidence, if it decides, and why.
fn choose(
    tables: &RecordTables<'_>,
    task: &Link,
    progress: &dyn Progress,
) -> Result<(Option<Evidence>, Choice)> {
    let mut choice = Choice {
        because: None,
        verdict: None,
        contest: None,
    };
    match (task.score, tables.has_two_files(), task.threshold) {
        (Score::Auto, _, Some(_)) => {
            choice.because = Some("a threshold is given, which is a cosine".to_owned());
            return Ok((None, choice));
        }
        (Score::Auto, true, None) => return Ok((None, choice)),
        (Score::Auto | Score::Evidence, ..) => {}
        (Score::Text | Score::Points | Score::Textbook, ..) => return Ok((None, choice)),
    }
    let evidence = Evidence::find(tables, &task.equivalents, &task.field_kinds, progress)?;
    let verdict = evidence.verdict(&task.field_names);
    let copies = |record: u32| tables.distinct.copies(record as usize);
    let report = evidence.report(&verdict, copies);
    let decides = match &verdict {
        Verdict::Texts(because) if task.score == Score::Auto => {
            choice.because = Some(because.clone());
            false
        }
        _ => true,
    };
    choice.verdict = Some((verdict, report));
    Ok((decides.then_some(evidence), choice))
}

/// The pairs that the evidence is of, as far as they are shown: with their scores in bits.
fn evidence_pairs(evidence: &Evidence, lists: &Lists, squares: &[f64]) -> Candidates {
    let scored = evidence.shown.par_iter().map(|pair| {
        let [a, b] = pair.records.map(|record| record as usize);
        RecordPair {
            rows: pair.records,
            score: pair.log_odds / std::f64::consts::LN_2,
            similarity: lists.cosine(a, b, squares),
        }
    });
    let mut pairs: Vec<RecordPair> = scored.collect();
    pairs.par_sort_unstable_by(RecordPair::before);
    Candidates {
        pairs,
        ..Candidates::default()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;

    use super::*;

    /// Stops the search at the first advance in a stage.
    struct StopIn {
        stage: &'static str,
        now: Mutex<&'static str>,
    }

    impl Progress for StopIn {
        fn begin(&self, stage: &'static str, _: u64) {
            *self.now.lock().unwrap() = stage;
        }

        fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
            if *self.now.lock().unwrap() == self.stage {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        }
    }

    #[test]
    fn every_stage_can_be_stopped() {
        let mut table = TokenBatch::default();
        for number in 0..400_u32 {
            table.push_token(
                format!("name{} street{}", number % 200, number % 200 * 7919).as_bytes(),
            );
            table.finish_document();
        }
        for (score, stages) in [
            (Score::Text, &["group", "count", "weigh", "compare"][..]),
            (
                Score::Points,
                &["group", "count", "weigh", "compare", "score", "learn"],
            ),
            (
                Score::Textbook,
                &["group", "count", "weigh", "compare", "score"],
            ),
        ] {
            let task = Link {
                score,
                ..Link::default()
            };
            for stage in stages {
                let now = Mutex::new("");
                let outcome = link(&table, Some(&table), &task, &StopIn { stage, now });
                assert!(matches!(outcome, Err(Error::Stopped)), "{score:?} {stage}");
            }
        }
    }
}
