//! The links among records, and why each of them is one.

mod scorer;

mod accepted;

mod explanation;

mod pairs;

pub use self::accepted::ScoreBin;
pub(crate) use self::accepted::{Accepted, Bins, best_two};
pub use self::explanation::Explanation;
pub(crate) use self::scorer::{Choice, Scorer};
use crate::candidates::{Candidates, LEAST_COSINE};
use crate::contest::Contest;
use crate::distinct::Distinct;
use crate::evidence::EvidenceReport;
use crate::points::FieldPoints;
use crate::records::RecordFiles;
use crate::score::Score;
use crate::symbols::{Lists, Symbols};
use crate::threshold::Estimate;
use crate::words::Equivalents;
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
}
