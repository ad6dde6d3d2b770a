//! Links the records of one or two files that describe the same thing (MMDS 3.8.1).

use std::collections::BTreeMap;

use crate::documents::TokenBatch;
use crate::error::{Error, Result};
use crate::progress::{Progress, Timings};
use crate::records::{
    Candidates, Equivalents, Estimate, Lists, Matching, Pair, Rounds, Scratch, SymbolText, Symbols,
    Tables, Words, entities, find, for_each_shared, for_each_symbol, of_entities, of_rounds, rounds,
};

/// How pairs of records are scored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Score {
    /// The cosine of the angle between the whole records: words and windows of three characters of all fields, each with a
    /// weight by its rarity. Between 0 and 1.
    #[default]
    Text,
}

impl Score {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Score::Text => "text",
        }
    }
}

/// The parameters of a search for records that describe the same thing. Defaults suit most files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// How pairs are scored; default [`Score::Text`].
    pub score: Score,
    /// How many partners a record of two files may have; default [`Matching::OneToOne`].
    pub matching: Matching,
    /// The least score of a link; `None` lets the runners-up decide.
    pub threshold: Option<f64>,
    /// The share of the records of the smaller file that have a partner; `None` estimates it.
    pub share: Option<f64>,
    /// Names that count as equal.
    pub equivalents: Equivalents,
}

impl Link {
    fn check(&self, has_two_files: bool) -> Result<()> {
        let parameter = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        match (self.threshold, self.share) {
            (Some(threshold), _) if !threshold.is_finite() => {
                parameter("`threshold`", threshold.to_string(), "a number")
            }
            (_, Some(share)) if !(share > 0.0 && share <= 1.0) => parameter(
                "`share`",
                share.to_string(),
                "a number above 0 and up to 1",
            ),
            (_, Some(share)) if !has_two_files => parameter(
                "`share`",
                share.to_string(),
                "it with two files only: in one file, a record may have several partners",
            ),
            _ if !has_two_files && self.matching != Matching::default() => parameter(
                "`match`",
                self.matching.name().to_owned(),
                "it with two files only: the records of one file form entities of any size",
            ),
            _ => Ok(()),
        }
    }
}

/// Two records that describe the same thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordLink {
    /// The row of the record of the first file. In one file, the first record of the entity.
    pub a: u32,
    /// The row of the record of the second file, from 0. In one file, the record that joined the entity.
    pub b: u32,
    /// Their score.
    pub score: f64,
    /// The best other candidate of either record, if there is one.
    pub runner_up: Option<RunnerUp>,
}

/// The best pair that one record of a link would be in without the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunnerUp {
    /// The row of its record of the first file, or its first record.
    pub a: u32,
    /// The row of its other record.
    pub b: u32,
    /// Its score.
    pub score: f64,
}

/// Why two records are linked.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// For each field, the cosine of its symbols in both records; `None` if either lacks the field.
    pub similarities: Vec<Option<f64>>,
    /// The rarest symbols that both records have, and the number of records that have each of them. `_` marks the
    /// beginning or the end of a word.
    pub shared: Vec<(String, u32)>,
}

/// The numbers of a search for links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "io", derive(serde::Serialize))]
#[non_exhaustive]
pub struct LinkCounts {
    /// The records of the first file, or of the only one.
    pub records_a: u64,
    /// The records of the second file.
    pub records_b: u64,
    /// Bad records that were left out.
    pub skipped: u64,
    /// Records without a word in any field, which are never linked.
    pub empty: u64,
    /// Distinct words and windows that two records can share.
    pub symbols: u64,
    /// Candidate pairs.
    pub candidate_pairs: u64,
    /// Records whose commonest symbols were left out in the search for candidates, to bound its time.
    pub cut_records: u64,
    /// Records with more candidates than are kept.
    pub crowded_records: u64,
    /// Links.
    pub links: u64,
    /// Entities of two or more records, in one file.
    pub entities: u64,
}

/// A bin of the histogram of scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "io", derive(serde::Serialize))]
pub struct ScoreBin {
    /// Pairs that are accepted if the threshold is left out. In one file, all candidate pairs.
    pub accepted: u64,
    /// Pairs that would be accepted without those.
    pub runners_up: u64,
}

/// The links among the records of one or two files, and what explains them.
#[derive(Debug)]
pub struct Linked<'a> {
    tables: Tables<'a>,
    equivalents: &'a Equivalents,
    symbols: Symbols,
    squares: Vec<f64>,
    lists: Lists,
    candidates: Candidates,
    /// The accepted pairs, by their places among the candidates.
    accepted: Vec<usize>,
    /// For each row, the places of its best two candidates.
    best: Vec<[Option<u32>; 2]>,
    entities: Option<Vec<u32>>,
    /// The numbers.
    pub counts: LinkCounts,
    /// The threshold, and what is expected of it.
    pub estimate: Estimate,
    /// The least cosine of a candidate.
    pub floor: f64,
    /// The numbers of pairs by score: of each bin.
    bins: BTreeMap<i64, ScoreBin>,
    /// The elapsed times of the stages.
    pub timings: Timings,
}

/// Finds the records of two files, or of one, that describe the same thing.
///
/// A record is a document whose tokens are its fields, in the same order in all records; a missing value is an empty token.
///
/// ```
/// use simgpu::documents::TokenBatch;
/// use simgpu::jobs::{Link, link};
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
/// [`Error::Parameter`] for parameters out of range, and [`Error::Stopped`] if the progress stops the search.
pub fn link<'a>(
    a: &'a TokenBatch,
    b: Option<&'a TokenBatch>,
    task: &'a Link,
    progress: &dyn Progress,
) -> Result<Linked<'a>> {
    task.check(b.is_some())?;
    let tables = Tables {
        first: a,
        second: b,
    };
    if tables.rows() >= u32::MAX as usize {
        return Err(Error::TooManyDocuments);
    }
    let mut timings = Timings::default();
    let equivalents = &task.equivalents;
    let symbols = timings.time("count", 0, || {
        Symbols::count(&tables, equivalents, progress)
    })?;
    let lists = timings.time("weigh", 0, || {
        Lists::of_records(&tables, &symbols, equivalents, progress)
    })?;
    let squares = symbols.squares();
    let candidates = timings.time("compare", 0, || find(&tables, &lists, &squares, progress))?;
    let start = std::time::Instant::now();
    let rows = tables.rows();
    let mut linked = Linked {
        counts: LinkCounts {
            records_a: a.len() as u64,
            records_b: b.map_or(0, TokenBatch::len) as u64,
            empty: (0..rows).filter(|row| lists.norm(*row) == 0.0).count() as u64,
            symbols: symbols.len() as u64,
            candidate_pairs: candidates.pairs.len() as u64,
            cut_records: candidates.cut,
            crowded_records: candidates.crowded,
            ..LinkCounts::default()
        },
        floor: candidates.floor,
        best: best_two(&candidates.pairs, rows),
        tables,
        equivalents,
        symbols,
        squares,
        lists,
        candidates,
        accepted: Vec::new(),
        entities: None,
        estimate: of_entities(&[], (0.0, 1.0), None),
        bins: BTreeMap::new(),
        timings: Timings::default(),
    };
    match b {
        Some(_) => linked.match_files(task),
        None => linked.form_entities(task),
    }
    linked.counts.links = linked.accepted.len() as u64;
    let elapsed_s = start.elapsed().as_secs_f64();
    timings.0.push(crate::progress::StageTime::new("match", elapsed_s, 0));
    linked.timings = timings;
    Ok(linked)
}

/// For each row, the places of the first two pairs that have it.
fn best_two(pairs: &[Pair], rows: usize) -> Vec<[Option<u32>; 2]> {
    let mut best = vec![[None; 2]; rows];
    for (place, pair) in (0..).zip(pairs) {
        for row in pair.rows {
            let of_row: &mut [Option<u32>; 2] = &mut best[row as usize];
            if let Some(free) = of_row.iter_mut().find(|place| place.is_none()) {
                *free = Some(place);
            }
        }
    }
    best
}

impl Linked<'_> {
    fn match_files(&mut self, task: &Link) {
        let pairs = &self.candidates.pairs;
        let found = rounds(pairs, self.tables.rows(), task.matching);
        let scores: Vec<Vec<f64>> = found
            .accepted
            .iter()
            .map(|places| places.iter().map(|place| pairs[*place].score).collect())
            .collect();
        let [first, second] = [false, true].map(|side| self.tables.rows_of(side).len());
        let of_round = crate::records::RoundScores {
            of_round: [&scores[0], &scores[1], &scores[2]],
            records: match task.matching {
                Matching::OneToOne => first.min(second),
                Matching::ManyToOne | Matching::ManyToMany => first,
            },
        };
        self.estimate = of_rounds(&of_round, task.share, task.threshold);
        let Rounds { mut accepted } = found;
        let reaches = |place: &usize| pairs[*place].score >= self.estimate.threshold;
        self.accepted = match task.matching {
            Matching::ManyToMany => (0..pairs.len()).take_while(reaches).collect(),
            _ => accepted.swap_remove(0).into_iter().filter(reaches).collect(),
        };
        for (round, scores) in scores.iter().take(2).enumerate() {
            for score in scores {
                let bin = self.bins.entry(bin(*score)).or_default();
                match round {
                    0 => bin.accepted += 1,
                    _ => bin.runners_up += 1,
                }
            }
        }
    }

    fn form_entities(&mut self, task: &Link) {
        let pairs = &self.candidates.pairs;
        let rows = self.tables.rows();
        let scores: Vec<f64> = pairs.iter().map(|pair| pair.score).collect();
        self.estimate = of_entities(&scores, (self.floor, 1.0), task.threshold);
        let joined = entities(pairs, rows, self.estimate.threshold);
        self.accepted = joined.iter().filter_map(|(_, place)| *place).collect();
        self.accepted.sort_unstable();
        let first: Vec<u32> = joined.iter().map(|(first, _)| *first).collect();
        let mut sizes = vec![0_u32; rows];
        first.iter().for_each(|row| sizes[*row as usize] += 1);
        self.counts.entities = sizes.iter().filter(|size| **size > 1).count() as u64;
        for pair in pairs {
            let is_inside = first[pair.rows[0] as usize] == first[pair.rows[1] as usize];
            let bin = self.bins.entry(bin(pair.score)).or_default();
            match is_inside {
                true => bin.accepted += 1,
                false => bin.runners_up += 1,
            }
        }
        self.entities = Some(first);
    }

    /// The links, by descending score, then by rows.
    pub fn links(&self) -> impl ExactSizeIterator<Item = RecordLink> {
        self.accepted.iter().map(|place| self.link_at(*place))
    }

    /// For each record of one file, the first record of its entity; `None` with two files.
    pub fn entities(&self) -> Option<&[u32]> {
        self.entities.as_deref()
    }

    /// The numbers of pairs by score, with the least score of each bin, as if there were no threshold.
    pub fn histogram(&self) -> impl Iterator<Item = (f64, ScoreBin)> {
        let bins = self.bins.iter();
        bins.map(|(bin, pairs)| (*bin as f64 / 50.0, *pairs))
    }

    /// The pairs next to the threshold, and whether each is accepted.
    pub fn examples(&self) -> Vec<(RecordLink, bool)> {
        const EACH: usize = 5;
        let pairs = &self.candidates.pairs;
        let last = self.accepted.len().saturating_sub(EACH);
        let accepted = self.accepted[last..].iter().copied();
        let reaching = pairs.partition_point(|pair| pair.score >= self.estimate.threshold);
        let rejected = (reaching..pairs.len()).take(EACH);
        let accepted = accepted.map(|place| (self.link_at(place), true));
        let rejected = rejected.map(|place| (self.link_at(place), false));
        accepted.chain(rejected).collect()
    }

    /// The values of both records of a link: first all fields of one.
    pub fn values(&self, link: &RecordLink) -> Vec<Vec<String>> {
        let values = |row: usize| {
            let fields = self.tables.fields(row);
            fields
                .map(|field| String::from_utf8_lossy(field).into_owned())
                .collect()
        };
        self.global_rows(link).map(values).into()
    }

    /// The rows of both records among the records of both files.
    fn global_rows(&self, link: &RecordLink) -> [usize; 2] {
        let second = match self.tables.second {
            Some(_) => self.tables.first.len(),
            None => 0,
        };
        [link.a as usize, second + link.b as usize]
    }

    /// The rows of a pair, each counted in its own file.
    fn rows_of(&self, pair: &Pair) -> [u32; 2] {
        let [a, b] = pair.rows;
        let start = self.tables.rows_of(self.tables.second.is_some()).start;
        [a, b - u32::try_from(start).unwrap_or(0)]
    }

    fn link_at(&self, place: usize) -> RecordLink {
        let pairs = &self.candidates.pairs;
        let pair = &pairs[place];
        let [a, b] = self.rows_of(pair);
        let others = pair.rows.iter().flat_map(|row| self.best[*row as usize]);
        let others = others.flatten().map(|other| other as usize);
        let runner_up = others.filter(|other| *other != place).min();
        RecordLink {
            a,
            b,
            score: pair.score,
            runner_up: runner_up.map(|place| {
                let [a, b] = self.rows_of(&pairs[place]);
                let score = pairs[place].score;
                RunnerUp { a, b, score }
            }),
        }
    }

    /// Why the records of a link are linked.
    pub fn explain(&self, link: &RecordLink) -> Explanation {
        let rows = self.global_rows(link);
        let mut scratch = Scratch::default();
        let fields = self.tables.fields(rows[0]).zip(self.tables.fields(rows[1]));
        let similarities = fields
            .map(|(a, b)| {
                let lists = [a, b].map(|field| {
                    let field = std::iter::once(field);
                    self.symbols.list(field, self.equivalents, &mut scratch)
                });
                let has_words = lists.iter().all(|list| list.norm > 0.0);
                has_words.then(|| lists[0].cosine(&lists[1], &self.squares))
            })
            .collect();
        Explanation {
            similarities,
            shared: self.rarest_shared(rows),
        }
    }

    /// The rarest symbols that two records share.
    fn rarest_shared(&self, rows: [usize; 2]) -> Vec<(String, u32)> {
        const MOST: usize = 5;
        let [a, b] = rows.map(|row| self.lists.numbers(row));
        let mut numbers = Vec::new();
        for_each_shared(a, b, |number| {
            if numbers.len() < MOST {
                numbers.push(number);
            }
        });
        let mut named = vec![None; numbers.len()];
        let mut words = Words::default();
        for field in self.tables.fields(rows[0]) {
            words.read(&String::from_utf8_lossy(field), self.equivalents);
            for_each_symbol(&words, |key, text: SymbolText<'_>| {
                let number = self.symbols.find(key).0;
                let place = numbers.iter().position(|known| Some(*known) == number);
                if let Some(place) = place {
                    named[place] = Some((text.to_string(), self.symbols.records_with(key)));
                }
            });
        }
        named.into_iter().flatten().collect()
    }
}

/// The number of the bin of a score: bins are 0.02 wide.
#[allow(
    clippy::cast_possible_truncation,
    reason = "saturates, and scores are small"
)]
fn bin(score: f64) -> i64 {
    (score * 50.0).floor() as i64
}
