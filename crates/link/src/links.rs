//! The links among records, and why each of them is one.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::candidates::{Candidates, LEAST_COSINE, RecordPair};
use crate::contest::Contest;
use crate::distinct::Distinct;
use crate::evidence::{Evidence, EvidenceReport, Verdict};
use crate::matching::Joined;
use crate::points::{FieldPoints, Points};
use crate::records::RecordFiles;
use crate::score::Score;
use crate::symbols::{Lists, SymbolScratch, SymbolText, Symbols, for_each_shared, for_each_symbol};
use crate::tables::RecordTables;
use crate::textbook::FieldTexts;
use crate::threshold::Estimate;
use crate::words::{Equivalents, Words};
use simgpu::progress::{Timings, counted, grouped};

/// Two records that describe the same thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordLink {
    /// The row of the record of the first file. In one file, the earlier record.
    pub a: u32,
    /// The row of the record of the second file, from 0. In one file, the later record.
    pub b: u32,
    /// Their score.
    pub score: f64,
    /// The cosine of the weights of the symbols of both, from 0 to 1: the score of texts.
    pub similarity: f64,
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
    /// For each field, its points; empty for the score of texts.
    pub points: Vec<f64>,
    /// For each field, the level of its likeness, for the score of evidence; empty for others. `unused` for a field that is
    /// not used.
    pub levels: Vec<String>,
    /// The points of the similarity of the whole records, for learned points; those of all other explanations, for evidence.
    /// With those of the fields, they add up to the score.
    pub whole_points: Option<f64>,
    /// The rarest symbols that both records have, and the number of records that have each of them. `_` marks the
    /// beginning or the end of a word.
    pub shared: Vec<(String, u32)>,
}

/// The numbers of a search for links.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
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
    /// Records that equal an earlier one of their file in all fields. They are compared as one.
    pub equal_records: u64,
    /// Distinct words, windows and values that two records have, of either file.
    pub symbols: u64,
    /// Candidate pairs of distinct records.
    pub candidate_pairs: u64,
    /// Pairs that are no candidates because there were too many of them, as far as they were seen.
    pub pairs_below_floor: u64,
    /// Records whose commonest symbols were left out in the search for candidates, to bound its time.
    pub cut_records: u64,
    /// Records with more candidates than are kept.
    pub crowded_records: u64,
    /// Links.
    pub links: u64,
    /// Those of them, in one file, between records that are equal in every field.
    pub equal_links: u64,
    /// Entities of two or more records, in one file.
    pub entities: u64,
}

/// A bin of the histogram of scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ScoreBin {
    /// Pairs that are accepted if the threshold is left out. In one file, candidate pairs within an entity.
    pub accepted: u64,
    /// Pairs that would be accepted without those. In one file, candidate pairs of two entities.
    pub runners_up: u64,
}

/// What another threshold would change.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Nearby {
    /// The threshold; for evidence, the bits that a pair would need instead of 0.
    pub threshold: f64,
    /// The links there would be.
    pub links: u64,
    /// The entities of two or more records there would be, in one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entities: Option<u64>,
    /// The expected precision, with two files; `None` if it cannot be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_precision: Option<f64>,
}

/// How the pairs were scored, and what explains a score.
#[derive(Debug)]
pub(crate) enum Scorer {
    /// By their similarity.
    Text,
    /// By learned points.
    Points(Points),
    /// By the rule of the textbook.
    Textbook(FieldTexts),
    /// By evidence.
    Evidence(Box<Evidence>),
}

/// Why pairs are scored as they are, where that was not given.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Why by this score; `None` if the score was given, or is evidence.
    pub(crate) because: Option<String>,
    /// What the evidence of one file is good for, if it was looked for.
    pub(crate) verdict: Option<(Verdict, EvidenceReport)>,
    /// Whether two files share records at all, if nothing else told.
    pub(crate) contest: Option<Contest>,
}

impl Scorer {
    /// The score of a distinct record and its copy.
    pub(crate) fn score_of_copies(
        &self,
        record: usize,
        tables: &RecordTables<'_>,
        equivalents: &Equivalents,
    ) -> f64 {
        match self {
            Scorer::Text => 1.0,
            Scorer::Points(points) => {
                let mut words = Words::default();
                let equal_fields = tables.fields(record).map(|field| {
                    words.read(&String::from_utf8_lossy(field), equivalents);
                    (words.iter().len() > 0).then_some(1.0)
                });
                let all: Vec<Option<f64>> = equal_fields.chain([Some(1.0)]).collect();
                points.points_of(&all).iter().sum()
            }
            Scorer::Textbook(texts) => texts.points([record; 2]).sum(),
            Scorer::Evidence(evidence) => {
                evidence.log_odds_of_copies(record) / std::f64::consts::LN_2
            }
        }
    }
}

/// The numbers of pairs by score.
#[derive(Debug)]
pub(crate) struct Bins {
    bins: BTreeMap<i64, ScoreBin>,
    /// The scores of a bin, a multiple of which it begins at.
    width: f64,
}

impl Bins {
    pub(crate) fn new(scorer: &Scorer) -> Self {
        let width = match scorer {
            Scorer::Text => 0.02,
            Scorer::Points(_) | Scorer::Evidence(_) => 1.0,
            Scorer::Textbook(_) => 10.0,
        };
        let bins = BTreeMap::new();
        Bins { bins, width }
    }

    /// The bin of a score.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "saturates, and scores are small"
    )]
    pub(crate) fn at(&mut self, score: f64) -> &mut ScoreBin {
        let bin = (score / self.width).floor() as i64;
        self.bins.entry(bin).or_default()
    }
}

/// Which pairs of records are links.
#[derive(Debug)]
pub(crate) struct Accepted {
    /// The links, in the order of acceptance.
    pub(crate) joined: Vec<Joined>,
    /// In one file: for each record, the first record of its entity.
    pub(crate) entities: Option<Vec<u32>>,
    pub(crate) estimate: Estimate,
    /// The numbers of pairs by score.
    pub(crate) bins: Bins,
    /// What a lower threshold would change, and a higher one.
    pub(crate) nearby: Vec<Nearby>,
}

impl Accepted {
    /// Links in any order.
    pub(crate) fn new(
        mut joined: Vec<Joined>,
        entities: Option<Vec<u32>>,
        estimate: Estimate,
        bins: Bins,
    ) -> Self {
        joined.par_sort_unstable_by(|x, y| x.pair.before(&y.pair));
        Accepted {
            joined,
            entities,
            estimate,
            bins,
            nearby: Vec::new(),
        }
    }

    /// The same with what other thresholds would change.
    pub(crate) fn with_nearby(self, nearby: Vec<Nearby>) -> Self {
        Accepted { nearby, ..self }
    }
}

/// For each row, the places of the first two pairs that have it.
pub(crate) fn best_two(pairs: &[RecordPair], rows: usize) -> Vec<[Option<usize>; 2]> {
    let mut best = vec![[None; 2]; rows];
    for (place, pair) in pairs.iter().enumerate() {
        for row in pair.rows {
            let places: &mut [Option<usize>; 2] = &mut best[row as usize];
            if let Some(free) = places.iter_mut().find(|place| place.is_none()) {
                *free = Some(place);
            }
        }
    }
    best
}

/// The links among the records of one or two files, and what explains them.
#[derive(Debug)]
pub struct Linked<'a> {
    pub(crate) files: RecordFiles<'a>,
    pub(crate) distinct: Distinct,
    pub(crate) equivalents: &'a Equivalents,
    pub(crate) symbols: Symbols,
    pub(crate) lists: Lists,
    pub(crate) candidates: Candidates,
    /// For each distinct record, the places of its best two candidates.
    pub(crate) best: Vec<[Option<usize>; 2]>,
    pub(crate) accepted: Accepted,
    pub(crate) scorer: Scorer,
    pub(crate) choice: Choice,
    /// The numbers.
    pub counts: LinkCounts,
    /// The elapsed times of the stages.
    pub timings: Timings,
}

impl Linked<'_> {
    /// The links, by descending score, then by rows.
    pub fn links(&self) -> impl ExactSizeIterator<Item = RecordLink> {
        self.accepted.joined.iter().map(|joined| self.link(joined))
    }

    /// The threshold, and what is expected of it.
    pub fn estimate(&self) -> &Estimate {
        &self.accepted.estimate
    }

    /// What a threshold a tenth lower would change, and one a tenth higher; for evidence, odds that are a tenth lower or
    /// higher. Empty if no two records share anything.
    pub fn nearby(&self) -> &[Nearby] {
        &self.accepted.nearby
    }

    /// What the search left out, and so may have missed: a sentence for each bound that it met.
    pub fn warnings(&self) -> Vec<String> {
        let counts = &self.counts;
        let (floor, threshold) = (self.candidates.floor, self.estimate().threshold);
        // By a cosine above the floor, no pair is lost.
        let is_felt = floor > LEAST_COSINE && (self.score() != Score::Text || floor > threshold);
        let alone = match &self.scorer {
            Scorer::Evidence(evidence) => evidence.left_out.records,
            _ => 0,
        };
        let sentences = [
            (alone > 0).then(|| {
                format!(
                    "{} only values that are too common to compare all their records by: their links are missing; compare more `fields`",
                    match alone {
                        1 => "1 record shares".to_owned(),
                        records => format!("{} records share", grouped(records)),
                    }
                )
            }),
            is_felt.then(|| {
                format!(
                    "{} or more with a cosine from {LEAST_COSINE} to below {floor:.3} were left out, to bound memory: links among them are missing; compare more `fields`",
                    counted(counts.pairs_below_floor, "pair")
                )
            }),
            (counts.cut_records > 0).then(|| {
                format!(
                    "{} were searched by their rarest words only, to bound time: some of their links may be missing",
                    counted(counts.cut_records, "record")
                )
            }),
            (counts.crowded_records > 0).then(|| {
                format!(
                    "{} had more candidates than are kept, and only the best were compared: some of their links may be missing",
                    counted(counts.crowded_records, "record")
                )
            }),
        ];
        sentences.into_iter().flatten().collect()
    }

    /// The least cosine of a candidate pair: every pair with at least this one was compared, but for the records that
    /// [`LinkCounts`] states. `None` for the score of evidence, whose candidates share values or words.
    pub fn floor(&self) -> Option<f64> {
        (self.score() != Score::Evidence).then_some(self.candidates.floor)
    }

    /// Why the score is what it is, where it was chosen.
    pub fn because(&self) -> Option<&str> {
        self.choice.because.as_deref()
    }

    /// What the fields of one file say of its records, if that was looked for.
    pub fn evidence(&self) -> Option<&EvidenceReport> {
        self.choice.verdict.as_ref().map(|(_, report)| report)
    }

    /// Whether two files share records at all, where nothing else told how many links are right.
    pub fn contest(&self) -> Option<&Contest> {
        self.choice.contest.as_ref()
    }

    /// For each record of one file, the first record of its entity; `None` with two files.
    pub fn entities(&self) -> Option<&[u32]> {
        self.accepted.entities.as_deref()
    }

    /// The numbers of pairs by score, with the least score of each bin, as if there were no threshold.
    pub fn histogram(&self) -> impl Iterator<Item = (f64, ScoreBin)> {
        let Bins { bins, width } = &self.accepted.bins;
        bins.iter()
            .map(move |(bin, pairs)| (*bin as f64 * width, *pairs))
    }

    /// The difference between the least scores of two neighbouring bins of the histogram.
    pub fn bin_width(&self) -> f64 {
        self.accepted.bins.width
    }

    /// How the pairs were scored.
    pub fn score(&self) -> Score {
        match &self.scorer {
            Scorer::Text => Score::Text,
            Scorer::Points(_) => Score::Points,
            Scorer::Textbook(_) => Score::Textbook,
            Scorer::Evidence(_) => Score::Evidence,
        }
    }

    /// What each level of each field is worth; `None` unless the score is learned points.
    pub fn points(&self) -> Option<Vec<FieldPoints>> {
        match &self.scorer {
            Scorer::Points(points) => Some(points.table()),
            Scorer::Text | Scorer::Textbook(_) | Scorer::Evidence(_) => None,
        }
    }

    /// The pairs next to the threshold, and whether each is accepted. With one file, those below it are of two entities.
    pub fn examples(&self) -> Vec<(RecordLink, bool)> {
        const EACH: usize = 5;
        let pairs = &self.candidates.pairs;
        let joined = &self.accepted.joined;
        let accepted = joined[joined.len().saturating_sub(EACH)..].iter().copied();
        let threshold = self.estimate().threshold;
        let reaching = match self.score() {
            // Entities follow from all pairs between them: pairs with high scores may be rejected.
            Score::Evidence => 0,
            _ => pairs.partition_point(|pair| pair.score >= threshold),
        };
        let first_rows = |place: usize| Joined {
            pair: RecordPair {
                rows: pairs[place]
                    .rows
                    .map(|record| self.distinct.first_row(record as usize)),
                ..pairs[place]
            },
            place: Some(place),
        };
        let is_within = |joined: &Joined| {
            let [a, b] = joined.pair.rows.map(|row| row as usize);
            let entities = self.accepted.entities.as_ref();
            entities.is_some_and(|first| first[a] == first[b])
        };
        let below = (reaching..pairs.len()).map(first_rows);
        let rejected = below.filter(|joined| !is_within(joined)).take(EACH);
        let accepted = accepted.map(|joined| (self.link(&joined), true));
        let rejected = rejected.map(|joined| (self.link(&joined), false));
        accepted.chain(rejected).collect()
    }

    /// The values of both records of a link: first all fields of one.
    pub fn values(&self, link: &RecordLink) -> Vec<Vec<String>> {
        let values = |row: usize| self.fields_of(row);
        self.global_rows(link).map(values).into()
    }

    /// The values of the fields of a record, whose row is among those of both files.
    pub(crate) fn fields_of(&self, row: usize) -> Vec<String> {
        let fields = self.files.fields(row);
        fields
            .map(|field| String::from_utf8_lossy(field).into_owned())
            .collect()
    }

    /// The row of the first record of the file of the second record of a pair.
    fn start_of_b(&self) -> usize {
        match self.files.second {
            Some(_) => self.files.first.len(),
            None => 0,
        }
    }

    /// The rows of both records among the records of both files.
    fn global_rows(&self, link: &RecordLink) -> [usize; 2] {
        [link.a as usize, self.start_of_b() + link.b as usize]
    }

    /// The rows of a pair, each counted in its own file.
    fn rows_of(&self, pair: &RecordPair) -> [u32; 2] {
        let [a, b] = pair.rows;
        [a, b - u32::try_from(self.start_of_b()).unwrap_or(0)]
    }

    fn link(&self, joined: &Joined) -> RecordLink {
        let pair = &joined.pair;
        let [a, b] = self.rows_of(pair);
        let others = pair
            .rows
            .iter()
            .filter_map(|row| self.other_than(joined, *row));
        RecordLink {
            a,
            b,
            score: pair.score,
            similarity: pair.similarity,
            runner_up: others.min_by(RecordPair::before).map(|other| {
                let [a, b] = self.rows_of(&other);
                let score = other.score;
                RunnerUp { a, b, score }
            }),
        }
    }

    /// The best pair of one record of a link, besides the link.
    fn other_than(&self, joined: &Joined, row: u32) -> Option<RecordPair> {
        let record = self.distinct.record(row as usize);
        let with = |other: u32, of: RecordPair| {
            let rows = [row.min(other), row.max(other)];
            (other != row && rows != joined.pair.rows).then_some(RecordPair { rows, ..of })
        };
        let copies = match self.files.second {
            Some(_) => &[][..],
            None => self.distinct.rows(record),
        };
        if let Some(other) = copies
            .iter()
            .find(|other| with(**other, joined.pair).is_some())
        {
            let tables = self.tables();
            let equal = RecordPair {
                rows: [0; 2],
                score: self
                    .scorer
                    .score_of_copies(record, &tables, self.equivalents),
                similarity: 1.0,
            };
            return with(*other, equal);
        }
        let places = self.best[record].iter().flatten();
        let mut pairs = places.flat_map(|place| {
            let pair = self.candidates.pairs[*place];
            let [a, b] = pair.rows.map(|row| row as usize);
            let other = if a == record { b } else { a };
            let rows = self.distinct.rows(other).iter();
            rows.filter_map(move |other| with(*other, pair))
        });
        pairs.next()
    }

    fn tables(&self) -> RecordTables<'_> {
        RecordTables {
            files: self.files,
            distinct: &self.distinct,
        }
    }

    /// Why the records of a link are linked.
    pub fn explain(&self, link: &RecordLink) -> Explanation {
        let rows = self.global_rows(link);
        let mut scratch = SymbolScratch::default();
        let fields = self.files.fields(rows[0]).zip(self.files.fields(rows[1]));
        let similarities: Vec<Option<f64>> = fields
            .enumerate()
            .map(|(place, (a, b))| {
                let lists = [a, b].map(|field| {
                    let field = std::iter::once((place, field));
                    self.symbols.list(field, self.equivalents, &mut scratch)
                });
                let has_words = lists.iter().all(|list| list.norm > 0.0);
                has_words.then(|| lists[0].cosine(&lists[1], self.symbols.squares()))
            })
            .collect();
        let mut levels = Vec::new();
        let (points, whole_points) = match &self.scorer {
            Scorer::Text => (Vec::new(), None),
            Scorer::Evidence(evidence) => {
                let records = rows.map(|row| self.distinct.record(row));
                let explained = evidence.explain(records, similarities.len());
                let (names, points): (Vec<String>, Vec<f64>) = explained.into_iter().unzip();
                levels = names;
                let others = link.score - points.iter().sum::<f64>();
                (points, Some(others))
            }
            Scorer::Points(points) => {
                let mut all = similarities.clone();
                all.push(Some(link.similarity));
                let mut column_points = points.points_of(&all);
                let whole = column_points.pop();
                (column_points, whole)
            }
            Scorer::Textbook(texts) => {
                let records = rows.map(|row| self.distinct.record(row));
                (texts.points(records).collect(), None)
            }
        };
        Explanation {
            similarities,
            points,
            levels,
            whole_points,
            shared: self.rarest_shared(rows),
        }
    }

    /// The rarest symbols that two records share.
    fn rarest_shared(&self, rows: [usize; 2]) -> Vec<(String, u32)> {
        const MOST: usize = 5;
        let [a, b] = rows.map(|row| self.lists.numbers(self.distinct.record(row)));
        let fields = self.files.field_count();
        let mut numbers = Vec::new();
        for_each_shared(a, b, |number| {
            // The values among them have no name.
            if numbers.len() < MOST + fields {
                numbers.push(number);
            }
        });
        let mut named = vec![None; numbers.len()];
        let mut words = Words::default();
        for field in self.files.fields(rows[0]) {
            words.read(&String::from_utf8_lossy(field), self.equivalents);
            for_each_symbol(&words, |key, text: SymbolText<'_>| {
                let number = self.symbols.find(key).0;
                let place = numbers.iter().position(|known| Some(*known) == number);
                if let Some(place) = place {
                    named[place] = Some((text.to_string(), self.symbols.records_with(key)));
                }
            });
        }
        named.into_iter().flatten().take(MOST).collect()
    }
}
