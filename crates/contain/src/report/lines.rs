//! The lines of `hits.jsonl`, `items.jsonl`, `removed.jsonl` and `cuts.jsonl`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::class::Hit;
use crate::scan::Contain;

/// The place of a document.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct FoundAt {
    pub(crate) id: Box<RawValue>,
    pub(crate) file: String,
    pub(crate) row: u64,
}

/// A line of `items.jsonl`.
#[derive(Debug, Serialize)]
pub(crate) struct ItemLine<'a> {
    pub(super) item: &'a str,
    pub(super) benchmark: &'a str,
    /// The ids of its records.
    pub(super) ids: &'a [String],
    /// The first class of its hits; null without any.
    pub(super) class: Option<&'static str>,
    /// Those with another text.
    pub(super) merged: &'a [String],
    /// Whether it can be found where a document holds all of it.
    pub(super) decidable: bool,
    /// The parts found, in any document.
    pub(super) parts: Vec<&'static str>,
    /// Documents by class.
    pub(super) documents: BTreeMap<&'static str, u64>,
    /// The first document with this class.
    pub(super) first: Option<FoundAt>,
}

/// An n-gram of a hit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RareGram {
    pub(crate) ngram: String,
    /// The questions and passages that have it.
    pub(crate) in_parts: usize,
}

/// The text of a hit and around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) before: String,
    pub(crate) text: String,
    pub(crate) after: String,
}

/// What a line of `hits.jsonl` says beside the place of the document.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HitEvidence {
    pub(crate) item: String,
    pub(crate) benchmark: String,
    pub(crate) class: String,
    pub(crate) score: f64,
    pub(crate) parts: Vec<String>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Further places.
    pub(crate) also: Vec<[usize; 2]>,
    pub(crate) item_start: usize,
    pub(crate) item_end: usize,
    pub(crate) found: usize,
    pub(crate) ngrams: usize,
    pub(crate) content: [usize; 2],
    pub(crate) own: usize,
    pub(crate) lacks: Vec<String>,
    pub(crate) rarest: Vec<RareGram>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sample: Option<Sample>,
}

impl HitEvidence {
    pub(crate) fn new(hit: &Hit, contain: &Contain, text: Option<&str>) -> Self {
        const AROUND: usize = 60;
        const MOST: usize = 400;
        let item = &contain.items()[hit.item];
        let rarest = hit.rarest.iter().map(|(ngram, in_parts)| RareGram {
            ngram: ngram.clone(),
            in_parts: *in_parts,
        });
        HitEvidence {
            item: item.id().to_owned(),
            benchmark: item.benchmark.clone(),
            class: hit.class.name().to_owned(),
            // Logarithms differ in their last bit between machines.
            score: (hit.score * 1e6).round() / 1e6,
            parts: hit
                .parts
                .iter()
                .map(|part| part.name().to_owned())
                .collect(),
            start: hit.bytes.start,
            end: hit.bytes.end,
            also: hit.also.iter().map(|at| [at.start, at.end]).collect(),
            item_start: hit.item_bytes.start,
            item_end: hit.item_bytes.end,
            found: hit.found,
            ngrams: hit.ngrams,
            content: hit.content,
            own: hit.own,
            lacks: hit
                .lacks
                .iter()
                .map(|lack| lack.name().to_owned())
                .collect(),
            rarest: rarest.collect(),
            sample: text.map(|text| Sample::new(text, hit, AROUND, MOST)),
        }
    }
}

impl Sample {
    /// The first bytes of what was found, and some on both sides.
    pub(crate) fn new(text: &str, hit: &Hit, around: usize, most: usize) -> Self {
        let boundary = |at: usize| {
            (0..=at.min(text.len()))
                .rev()
                .find(|at| text.is_char_boundary(*at))
        };
        let [before, end, after] = [
            hit.bytes.start.saturating_sub(around),
            hit.bytes.end.min(hit.bytes.start + most),
            hit.bytes.end + around,
        ]
        .map(|at| boundary(at).unwrap_or(0));
        Sample {
            before: text[before..hit.bytes.start].to_owned(),
            text: text[hit.bytes.start..end].to_owned(),
            after: text[hit.bytes.end..after].to_owned(),
        }
    }
}

/// A line of `hits.jsonl`.
#[derive(Serialize)]
pub(crate) struct HitLine<'a> {
    pub(crate) id: Box<RawValue>,
    pub(crate) file: &'a str,
    pub(crate) row: u64,
    #[serde(flatten)]
    pub(crate) evidence: &'a HitEvidence,
}

/// A line of `removed.jsonl`.
#[derive(Serialize)]
pub(crate) struct RemovedLine<'a> {
    pub(crate) id: Box<RawValue>,
    pub(crate) file: &'a str,
    pub(crate) row: u64,
    /// The first class of its hits.
    pub(crate) class: &'a str,
}

/// A line of `cuts.jsonl`.
#[derive(Serialize)]
pub(crate) struct CutLine<'a> {
    pub(crate) id: Box<RawValue>,
    pub(crate) file: &'a str,
    pub(crate) row: u64,
    /// Bytes of the text.
    pub(crate) cuts: Vec<[usize; 2]>,
}
