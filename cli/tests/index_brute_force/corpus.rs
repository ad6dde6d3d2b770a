//! Sets of words, and which of them are pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::scheme::{Scheme, Slots};

use crate::support::{Numbers, lines_of};

/// Slots of a signature, and its bands. Few rows per band let bands miss many pairs near the threshold.
const NUM_PERM: usize = 64;

const BANDS: usize = 8;

const ROWS: usize = 4;

/// How an index finds the documents that resemble one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// All pairs, by the Jaccard similarity of their sets.
    Exact,
    /// All pairs, by the share of the smaller set.
    Contained,
    /// Pairs that share a band, by the Jaccard similarity.
    Lsh,
    /// Pairs that share a band, by 8 bits of each slot.
    LshBySignature,
}

impl Kind {
    pub(super) fn options(self) -> String {
        let bands =
            format!("--kind lsh --num-perm {NUM_PERM} --bands {BANDS} --rows {ROWS} --verify");
        match self {
            Kind::Exact => "--kind exact".to_owned(),
            Kind::Contained => "--kind exact --measure contained".to_owned(),
            Kind::Lsh => format!("{bands} exact"),
            Kind::LshBySignature => format!("{bands} signature"),
        }
    }
}

/// When two documents are a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Criterion {
    pub(super) kind: Kind,
    /// The least similarity.
    pub(super) threshold: f64,
}

/// How a deduplication compares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    /// With documents of the index.
    pub(super) index: Kind,
    /// Among the inputs.
    pub(super) inputs: Kind,
}

/// Sets of words, of which the first ones are in the index.
pub(super) struct Corpus {
    pub(super) texts: Vec<String>,
    pub(super) sets: Vec<BTreeSet<String>>,
    pub(super) signatures: Vec<Vec<u32>>,
    pub(super) in_index: usize,
}

impl Corpus {
    /// Sets in families, whose members differ by a few words, so that many pairs are near any threshold; copies; and sets with the
    /// words of another in another order.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = Numbers(seed);
        let mut lists: Vec<Vec<usize>> = Vec::new();
        for _ in 0..160 {
            let mut list = if lists.is_empty() || random.below(3) == 0 {
                (0..3 + random.below(25))
                    .map(|_| random.below(300))
                    .collect()
            } else {
                lists[random.below(lists.len())].clone()
            };
            match random.below(8) {
                0 => {}
                1 => list.reverse(),
                _ => {
                    for _ in 0..1 + random.below(4) {
                        let at = random.below(list.len());
                        match random.below(2) {
                            0 if list.len() > 2 => drop(list.remove(at)),
                            _ => list.insert(at, random.below(300)),
                        }
                    }
                }
            }
            lists.push(list);
        }
        let words = |list: &Vec<usize>| list.iter().map(|word| format!("w{word}")).collect();
        let words: Vec<Vec<String>> = lists.iter().map(words).collect();
        let texts: Vec<String> = words.iter().map(|words| words.join(" ")).collect();
        let scheme = Scheme::default().with_num_perm(u32::try_from(NUM_PERM).unwrap());
        let engine = Engine::builder()
            .scheme(scheme.unwrap())
            .shingling(Shingling {
                size: NonZeroUsize::MIN,
                ..Shingling::of(Unit::Words)
            })
            .build()
            .unwrap();
        let signed = engine.sign(&texts).unwrap();
        let signatures = (0..texts.len()).map(|row| match signed.row(row) {
            Slots::U32(slots) => slots.to_vec(),
            Slots::U64(_) => panic!("the default scheme has slots of 32 bits"),
        });
        Corpus {
            signatures: signatures.collect(),
            sets: words
                .into_iter()
                .map(|words| words.into_iter().collect())
                .collect(),
            texts,
            in_index: 90,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn lines(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        lines_of(rows.map(|row| json!({"id": row, "text": self.texts[row]})))
    }

    /// The similarity of two documents that are a pair.
    pub(super) fn pair(&self, criterion: Criterion, a: usize, b: usize) -> Option<f64> {
        let [one, other] = [a, b].map(|row| &self.sets[row]);
        let shared = number(one.intersection(other).count());
        let jaccard = shared / number(one.union(other).count());
        let similarity = match criterion.kind {
            Kind::Exact => jaccard,
            Kind::Contained => shared / number(one.len().min(other.len())),
            Kind::Lsh | Kind::LshBySignature if !self.share_a_band(a, b) => return None,
            Kind::Lsh => jaccard,
            Kind::LshBySignature => self.estimate(a, b),
        };
        (similarity >= criterion.threshold).then_some(similarity)
    }

    /// How the documents after one are compared with it.
    fn kind(&self, kinds: Kinds, first: usize) -> Kind {
        if first < self.in_index {
            kinds.index
        } else {
            kinds.inputs
        }
    }

    fn share_a_band(&self, a: usize, b: usize) -> bool {
        let [one, other] = [a, b].map(|row| self.signatures[row].chunks(ROWS).take(BANDS));
        one.zip(other).any(|(one, other)| one == other)
    }

    /// Of two sets, 8 bits of a slot are equal with the probability J + (1 - J) / 256.
    fn estimate(&self, a: usize, b: usize) -> f64 {
        let slots = self.signatures[a].iter().zip(&self.signatures[b]);
        let equal =
            slots.filter(|(one, other)| (mixed(**one) ^ mixed(**other)).trailing_zeros() >= 8);
        let share = number(equal.count()) / number(NUM_PERM);
        (share - 1.0 / 256.0) / (1.0 - 1.0 / 256.0)
    }

    /// The documents that `dedup --cluster greedy` removes: each with the similarity to the most similar kept one, and those that are
    /// as similar.
    pub(super) fn greedy(
        &self,
        kinds: Kinds,
        threshold: f64,
    ) -> BTreeMap<usize, (f64, BTreeSet<usize>)> {
        let mut kept: Vec<usize> = (0..self.in_index).collect();
        let mut removed = BTreeMap::new();
        for row in self.in_index..self.len() {
            let pairs = kept.iter().filter_map(|kept| {
                let kind = self.kind(kinds, *kept);
                let similarity = self.pair(Criterion { kind, threshold }, *kept, row)?;
                Some((*kept, similarity))
            });
            let pairs: Vec<(usize, f64)> = pairs.collect();
            if pairs.is_empty() {
                kept.push(row);
                continue;
            }
            let most = pairs
                .iter()
                .map(|(_, similarity)| *similarity)
                .fold(0.0, f64::max);
            let best = pairs.iter().filter(|(_, similarity)| *similarity == most);
            removed.insert(row, (most, best.map(|(kept, _)| *kept).collect()));
        }
        removed
    }

    /// The documents that `dedup --cluster connected` removes, and what is kept in their place: the first of their component. Pairs
    /// within the index connect nothing.
    pub(super) fn connected(&self, kinds: Kinds, threshold: f64) -> BTreeMap<usize, usize> {
        let pairs = (0..self.len()).flat_map(|a| {
            let others = self.in_index.max(a + 1)..self.len();
            others.map(move |b| (a, b))
        });
        let pairs: Vec<(usize, usize)> = pairs
            .filter(|(a, b)| {
                let kind = self.kind(kinds, *a);
                self.pair(Criterion { kind, threshold }, *a, *b).is_some()
            })
            .collect();
        let mut first: Vec<usize> = (0..self.len()).collect();
        loop {
            let before = first.clone();
            for (a, b) in &pairs {
                let least = first[*a].min(first[*b]);
                (first[*a], first[*b]) = (least, least);
            }
            if before == first {
                break;
            }
        }
        let rows = self.in_index..self.len();
        rows.filter(|row| first[*row] != *row)
            .map(|row| (row, first[row]))
            .collect()
    }
}

/// The finaliser of MurmurHash3.
fn mixed(slot: u32) -> u32 {
    let slot = (slot ^ slot >> 16).wrapping_mul(0x85EB_CA6B);
    let slot = (slot ^ slot >> 13).wrapping_mul(0xC2B2_AE35);
    slot ^ slot >> 16
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap())
}

pub(super) fn row_of(id: &Value) -> usize {
    usize::try_from(id.as_u64().unwrap()).unwrap()
}

impl Corpus {
    /// A removed document is identical to the one that decided, or it is found as both are compared.
    #[track_caller]
    pub(super) fn check_found_by(&self, line: &Value, kinds: Kinds, decided: usize) {
        let expected = match self.kind(kinds, decided) {
            _ if self.texts[row_of(&line["id"])] == self.texts[decided] => "identical",
            Kind::LshBySignature => "signature",
            Kind::Exact | Kind::Contained | Kind::Lsh => "exact",
        };
        assert_eq!(line["found_by"], expected, "{line}");
    }
}
