//! What the unit tests of this room share: corpora, the definition of their results, and documents that go to disk.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::corpus::Corpus;
use super::first_pass::{FirstPass, NumbersRead};
use super::parameters::{CandidateMethod, Search};
use super::source::{Classify, InMemory, LinesOfIds, NextPreference, SetsByRow, Source};
use crate::bits::Bits;
use crate::documents::{Documents, TokenBatch};
use crate::engine::Engine;
use crate::error::Result;
use crate::pipeline::{Banding, KeepPolicy, Shingling, Unit};
use crate::progress::{Progress, StageTime};
use crate::scheme::fmix64;
use crate::store::Texts;
use crate::store::spill::{Budget, RunIdentity, Unfinished};

/// A document as a list of tokens.
pub(super) type List = Vec<u64>;

/// Families of edited copies among each other: some are equal, some have their tokens in another order, some have two
/// lengths, and a few documents are empty.
pub(super) fn families(seed: u64, count: u64) -> Vec<List> {
    let random = |of: u64, at: u64| fmix64(seed << 40 | of << 16 | at);
    let mut lists = Vec::new();
    for family in 0..count {
        let size = 8 + random(family, 0) % 6;
        let tokens: List = (0..size)
            .map(|at| random(family, 100 + at) % 1_000)
            .collect();
        for member in 0..random(family, 1) % 6 {
            let mut list = tokens.clone();
            for edit in 0..random(family, 2 + member) % 4 {
                let at = random(family, 200 + 10 * member + edit);
                let place = usize::try_from(at % size).unwrap_or(0);
                list[place] = at % 1_000;
            }
            if member % 3 == 2 {
                list.reverse();
            }
            list.truncate(list.len() - usize::from(member % 4 == 3));
            lists.push(list);
        }
    }
    lists.extend([vec![], vec![], vec![7], vec![7]]);
    let mut order: Vec<u64> = (0..).take(lists.len()).collect();
    order.sort_by_key(|at| random(*at, 999));
    let place = |at: u64| usize::try_from(at).unwrap_or(0);
    order.iter().map(|at| lists[place(*at)].clone()).collect()
}

/// One chain: each document is similar to the next ones alone.
pub(super) fn chain(documents: u64) -> Vec<List> {
    (0..documents)
        .map(|first| (first..first + 6 + first % 3).collect())
        .collect()
}

/// Families, and parts of some of them: some whole, some with a token of their own, some many times smaller.
pub(super) fn nested(seed: u64, count: u64) -> Vec<List> {
    let mut lists = families(seed, count);
    let wholes = lists.clone();
    for (at, whole) in (0..).zip(wholes.iter().filter(|list| list.len() > 4)) {
        let random = |of: u64| fmix64(seed << 50 | at << 8 | of);
        let place = |of: u64, below: usize| usize::try_from(random(of)).unwrap_or(0) % below;
        let start = place(1, whole.len() - 3);
        let end = start + 1 + place(2, whole.len() - start);
        let mut part = whole[start..end].to_vec();
        if at % 3 == 1 {
            part.push(1_000 + at);
        }
        if at % 3 == 2 {
            part.extend(&wholes[place(3, wholes.len())]);
        }
        lists.push(part);
    }
    lists
}

pub(super) fn batch(lists: &[List]) -> TokenBatch {
    let mut batch = TokenBatch::default();
    for list in lists {
        list.iter()
            .for_each(|token| batch.push_token(token.to_string().as_bytes()));
        batch.finish_document();
    }
    batch
}

/// An engine for single tokens.
pub(super) fn engine_of_tokens() -> Engine {
    let builder = Engine::builder().shingling(Shingling::of(Unit::Tokens));
    builder.work_bytes(1).build().unwrap()
}

/// A search that misses no similar pair.
pub(super) fn joined(threshold: f64, engine: &Engine) -> Search {
    Search {
        candidates: CandidateMethod::Join,
        ..Search::new(threshold, engine.scheme()).unwrap()
    }
}

/// A search through bands of one row, which miss hardly any pair.
pub(super) fn through_bands(threshold: f64, engine: &Engine) -> Search {
    let num_perm = engine.scheme().num_perm();
    Search {
        candidates: CandidateMethod::Lsh,
        banding: Banding::new(24, 2, num_perm).unwrap(),
        ..Search::new(threshold, engine.scheme()).unwrap()
    }
}

/// The Jaccard similarity of two documents; `None` if one is empty.
pub(super) fn jaccard(a: &[u64], b: &[u64]) -> Option<f64> {
    let [a, b]: [HashSet<_>; 2] = [a, b].map(|list| list.iter().collect());
    let union = a.union(&b).count();
    (!a.is_empty() && !b.is_empty()).then(|| a.intersection(&b).count() as f64 / union as f64)
}

/// The share of the tokens of the smaller of two documents that the larger has; `None` if one is empty.
pub(super) fn contained(a: &[u64], b: &[u64]) -> Option<f64> {
    let [a, b]: [HashSet<_>; 2] = [a, b].map(|list| list.iter().collect());
    let smaller = a.len().min(b.len());
    (smaller > 0).then(|| a.intersection(&b).count() as f64 / smaller as f64)
}

/// The number of distinct tokens.
pub(super) fn distinct(list: &[u64]) -> usize {
    list.iter().collect::<HashSet<_>>().len()
}

/// The share of the tokens of `a` that `b` lacks; `None` if one is empty.
pub(super) fn lost(a: &[u64], b: &[u64]) -> Option<f64> {
    let [a, b]: [HashSet<_>; 2] = [a, b].map(|list| list.iter().collect());
    let lacking = a.difference(&b).count() as f64;
    (!a.is_empty() && !b.is_empty()).then(|| lacking / a.len() as f64)
}

/// The bytes of a document.
fn length(list: &[u64]) -> usize {
    list.iter().map(|token| token.to_string().len()).sum()
}

/// The order in which documents are kept, by row.
pub(super) fn keep_order<'a>(
    lists: &'a [List],
    policy: KeepPolicy,
    classes: Option<&'a [u64]>,
) -> impl Fn(u32) -> (u64, Reverse<usize>, u32) + 'a {
    move |row| {
        let length = match policy {
            KeepPolicy::First => 0,
            KeepPolicy::Longest => length(&lists[row as usize]),
        };
        let class = classes.map_or(0, |classes| classes[row as usize]);
        (class, Reverse(length), row)
    }
}

/// The rows of equal documents that are not empty, by the first of them.
pub(super) fn groups(lists: &[List]) -> BTreeMap<u32, Vec<u32>> {
    let mut rows_of: HashMap<&List, Vec<u32>> = HashMap::new();
    for (row, list) in (0..).zip(lists).filter(|(_, list)| !list.is_empty()) {
        rows_of.entry(list).or_default().push(row);
    }
    rows_of.into_values().map(|rows| (rows[0], rows)).collect()
}

/// A removed document: its row, that of the kept one, the similarity, and whether both are identical.
pub(super) type Removal = (u32, u32, Option<f64>, bool);

/// How similar two documents are.
type Similarity = fn(&[u64], &[u64]) -> Option<f64>;

/// Greedy clustering as its definition says it, with every pair compared.
pub(super) fn greedy<K: Ord>(
    lists: &[List],
    threshold: f64,
    key: impl Fn(u32) -> K,
) -> Vec<Removal> {
    greedy_by(jaccard, lists, threshold, key)
}

/// The same by another measure.
pub(super) fn greedy_by<K: Ord>(
    similarity: Similarity,
    lists: &[List],
    threshold: f64,
    key: impl Fn(u32) -> K,
) -> Vec<Removal> {
    let keeper = |rows: &Vec<u32>| rows.iter().copied().min_by_key(|row| key(*row));
    let groups = groups(lists).into_values();
    let mut groups: Vec<(u32, Vec<u32>)> = groups
        .filter_map(|rows| Some((keeper(&rows)?, rows)))
        .collect();
    groups.sort_by_key(|(keeper, _)| key(*keeper));
    let (mut kept, mut removed): (Vec<u32>, Vec<Removal>) = (Vec::new(), Vec::new());
    for (keeper, rows) in groups {
        let mut best: Option<(u32, f64)> = None;
        for other in &kept {
            let similarity = similarity(&lists[keeper as usize], &lists[*other as usize]);
            if let Some(similarity) = similarity.filter(|similarity| *similarity >= threshold)
                && best.is_none_or(|(_, known)| similarity > known)
            {
                best = Some((*other, similarity));
            }
        }
        match best {
            Some((other, similarity)) => {
                removed.extend(
                    rows.iter()
                        .map(|row| (*row, other, Some(similarity), false)),
                );
            }
            None => {
                kept.push(keeper);
                let others = rows.iter().filter(|row| **row != keeper);
                removed.extend(others.map(|row| (*row, keeper, Some(1.0), true)));
            }
        }
    }
    removed.sort_by_key(|removal| removal.0);
    removed
}

/// Documents in memory that go on on disk when they take more than a budget. They have ids, and perhaps classes.
pub(super) struct Spilling<'a, D> {
    pub(super) memory: InMemory<'a, D>,
    pub(super) budget: Budget,
}

impl<'a, D: Documents> Spilling<'a, D> {
    pub(super) fn new(
        documents: &'a D,
        folder: &Path,
        memory: usize,
        progress: &'a dyn Progress,
    ) -> Self {
        Spilling {
            memory: InMemory {
                documents,
                reference: None,
                classes: None,
                progress,
            },
            budget: Budget::new(folder, memory),
        }
    }

    pub(super) fn classes(mut self, classes: Option<&'a [u64]>) -> Self {
        self.memory.classes = classes;
        self
    }

    /// A run that can be stopped, and goes on where one in the same folder was stopped.
    pub(crate) fn resumable(mut self) -> Self {
        let unfinished = Unfinished::find(&self.budget.folder, OUTPUT).unwrap();
        self.budget.unfinished = unfinished.map(|run| run.resume(self.budget.memory).unwrap());
        self.budget.run = Some(Arc::new(RunIdentity {
            output: OUTPUT.to_owned(),
            version: String::new(),
            format: RunIdentity::FORMAT,
            parameters: BTreeMap::new(),
            inputs: Vec::new(),
        }));
        self
    }
}

/// The name of the results of a run that can be stopped.
const OUTPUT: &str = "out";

/// The id of a document, as JSON.
pub(super) fn id_of(row: u32) -> String {
    format!("\"d{row}\"")
}

impl<D: Documents> Source for Spilling<'_, D> {
    fn read(&mut self, mut pass: FirstPass<'_>, times: &mut Vec<StageTime>) -> Result<Corpus> {
        const READ: &str = "read";
        if let Some(spill) = pass.unfinished()
            && let Some(numbers) = spill.state::<NumbersRead>(READ)
        {
            pass.restore(&spill, &numbers, &mut ())?;
            return pass.finish(times);
        }
        self.memory.end_reference(&mut pass);
        let signing = pass.signing();
        for piece in self.memory.pieces() {
            pass.number(signing.sign(&self.memory, piece)?, &mut ())?;
            self.memory.end_reference(&mut pass);
        }
        if let Some(spill) = pass.on_disk() {
            let numbers = pass.save()?;
            spill.note(READ, &numbers)?;
        }
        pass.finish(times)
    }

    fn held_bytes(&self) -> u64 {
        0
    }

    fn classes(&self) -> Option<&[u64]> {
        self.memory.classes
    }

    fn classes_on_disk(&self) -> Option<(Box<dyn Classify>, NextPreference<'_>)> {
        let mut classes = self.memory.classes?.iter();
        let next = move || Ok((0, classes.next().copied().unwrap_or(0).to_string()));
        Some((Box::new(ByNumber), Box::new(next)))
    }

    fn read_exact_sets(
        &self,
        engine: &Engine,
        wanted: &Bits,
        sets: &mut dyn SetsByRow,
    ) -> Result<()> {
        self.memory.read_exact_sets(engine, wanted, sets)
    }

    fn budget(&self) -> Option<Budget> {
        Some(self.budget.clone())
    }

    fn ids(&self) -> Result<Option<LinesOfIds<'_>>> {
        let line = |row| id_of(row) + "\n";
        Ok(Some(Box::new(move |rows| Ok(rows.map(line).collect()))))
    }
}

/// Classifies documents by values that are numbers.
#[derive(Debug)]
struct ByNumber;

impl Classify for ByNumber {
    fn classes(&self, _: &[u32], values: Texts) -> Result<Vec<u64>> {
        Ok(values.iter().map(|value| value.parse().unwrap()).collect())
    }
}

/// Notes all messages, and stops a run at one of the calls of a stage.
pub(super) struct Told {
    stop_in: &'static str,
    last: usize,
    stage: Mutex<&'static str>,
    pub(super) calls: AtomicUsize,
    pub(super) messages: Mutex<Vec<String>>,
}

impl Told {
    /// Stops at the call `last` of a stage, from 0.
    pub(super) fn stop_in(stage: &'static str, last: usize) -> Self {
        Told {
            stop_in: stage,
            last,
            stage: Mutex::new(""),
            calls: AtomicUsize::new(0),
            messages: Mutex::default(),
        }
    }

    /// Never stops.
    pub(super) fn new() -> Self {
        Told::stop_in("", usize::MAX)
    }

    /// Whether a message has these words.
    pub(super) fn has(&self, words: &str) -> bool {
        let messages = self.messages.lock().unwrap();
        messages.iter().any(|message| message.contains(words))
    }
}

impl Progress for Told {
    fn begin(&self, stage: &'static str, _: u64) {
        *self.stage.lock().unwrap() = stage;
    }

    fn advance(&self, _: u64, _: u64, _: u64) -> ControlFlow<()> {
        if *self.stage.lock().unwrap() != self.stop_in {
            return ControlFlow::Continue(());
        }
        if self.calls.fetch_add(1, Ordering::Relaxed) >= self.last {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn tell(&self, message: &str) {
        self.messages.lock().unwrap().push(message.to_owned());
    }

    fn warn(&self, message: &str) {
        self.tell(message);
    }
}
