//! How the pairs of a search were scored, and why so.

use crate::contest::Contest;
use crate::evidence::{Evidence, EvidenceReport, Verdict};
use crate::points::Points;
use crate::tables::RecordTables;
use crate::textbook::FieldTexts;
use crate::words::{Equivalents, Words};

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
