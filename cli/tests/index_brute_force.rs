//! Indexes against a brute force that compares all pairs. It shares the signatures with them, and no code that searches: bands,
//! estimates and clusters are computed here from what the documentation says of them.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

use serde_json::{Value, json};
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::scheme::{Scheme, Slots};

use crate::support::{Numbers, Place, lines_of, parse_lines};

/// Slots of a signature, and its bands. Few rows per band let bands miss many pairs near the threshold.
const NUM_PERM: usize = 64;
const BANDS: usize = 8;
const ROWS: usize = 4;

/// How an index finds the documents that resemble one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
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
    fn options(self) -> String {
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
struct Criterion {
    kind: Kind,
    /// The least similarity.
    threshold: f64,
}

/// How a deduplication compares.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    /// With documents of the index.
    index: Kind,
    /// Among the inputs.
    inputs: Kind,
}

/// Sets of words, of which the first ones are in the index.
struct Corpus {
    texts: Vec<String>,
    sets: Vec<BTreeSet<String>>,
    signatures: Vec<Vec<u32>>,
    in_index: usize,
}

impl Corpus {
    /// Sets in families, whose members differ by a few words, so that many pairs are near any threshold; copies; and sets with the
    /// words of another in another order.
    fn new(seed: u64) -> Self {
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

    fn len(&self) -> usize {
        self.texts.len()
    }

    fn lines(&self, rows: std::ops::Range<usize>) -> Vec<u8> {
        lines_of(rows.map(|row| json!({"id": row, "text": self.texts[row]})))
    }

    /// The similarity of two documents that are a pair.
    fn pair(&self, criterion: Criterion, a: usize, b: usize) -> Option<f64> {
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
    fn greedy(&self, kinds: Kinds, threshold: f64) -> BTreeMap<usize, (f64, BTreeSet<usize>)> {
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
    fn connected(&self, kinds: Kinds, threshold: f64) -> BTreeMap<usize, usize> {
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

fn row_of(id: &Value) -> usize {
    usize::try_from(id.as_u64().unwrap()).unwrap()
}

fn place(corpus: &Corpus, criterion: Criterion) -> Place {
    let Criterion { kind, threshold } = criterion;
    let place = Place::new();
    place.write("old.jsonl", corpus.lines(0..corpus.in_index));
    place.write("new.jsonl", corpus.lines(corpus.in_index..corpus.len()));
    let options = format!(
        "{} --threshold {threshold} --unit words --size 1",
        kind.options()
    );
    place
        .run(&format!(
            "index build old.jsonl --index seen --quiet {options}"
        ))
        .succeeded();
    place
}

/// Compares what an index of these documents finds with all pairs. Returns how many there are.
#[track_caller]
fn check_query(
    place: &Place,
    index: &str,
    corpus: &Corpus,
    criterion: Criterion,
    stored: &[usize],
) -> usize {
    let query = format!("index query new.jsonl --index {index} -o - --quiet");
    let lines = parse_lines(&place.run(&query).succeeded().stdout);
    assert_eq!(lines.len(), corpus.len() - corpus.in_index);
    let mut pairs = 0;
    for line in lines {
        let row = row_of(&line["id"]);
        let hits = line["hits"].as_array().unwrap();
        let found: BTreeMap<usize, f64> = hits
            .iter()
            .map(|hit| (row_of(&hit["id"]), hit["similarity"].as_f64().unwrap()))
            .collect();
        assert_eq!(found.len(), hits.len(), "a document is found twice");
        let expected = stored.iter().filter_map(|known| {
            let similarity = corpus.pair(criterion, *known, row)?;
            Some((*known, similarity))
        });
        let expected: BTreeMap<usize, f64> = expected.collect();
        assert!(
            found.keys().eq(expected.keys())
                && found
                    .values()
                    .zip(expected.values())
                    .all(|(a, b)| (a - b).abs() < 1e-9),
            "{criterion:?} {row}: {found:?}, not {expected:?}"
        );
        pairs += found.len();
    }
    pairs
}

#[test]
fn queries_find_what_a_brute_force_finds() {
    for (seed, threshold) in [(1, 0.5), (2, 0.6), (3, 0.75), (4, 0.9), (5, 1.0)] {
        let corpus = Corpus::new(seed);
        let stored: Vec<usize> = (0..corpus.in_index).collect();
        for kind in [
            Kind::Exact,
            Kind::Contained,
            Kind::Lsh,
            Kind::LshBySignature,
        ] {
            let criterion = Criterion { kind, threshold };
            let place = place(&corpus, criterion);
            let pairs = check_query(&place, "seen", &corpus, criterion, &stored);
            assert!(pairs > 5, "{criterion:?}: {pairs}");
        }
    }
}

#[test]
fn dedup_against_an_index_is_a_brute_force() {
    let (mut missed_by_bands, mut by_estimate, mut exact) = (0, 0, 0);
    for (seed, threshold) in [(11, 0.5), (12, 0.6), (13, 0.75)] {
        let corpus = Corpus::new(seed);
        for (index, inputs, options) in [
            (Kind::Exact, Kind::Exact, ""),
            (Kind::Lsh, Kind::Lsh, "--max-bucket 100000"),
            (Kind::LshBySignature, Kind::Lsh, "--max-bucket 100000"),
            (
                Kind::LshBySignature,
                Kind::LshBySignature,
                "--max-bucket 100000 --verify signature",
            ),
        ] {
            let kinds = Kinds { index, inputs };
            let place = place(
                &corpus,
                Criterion {
                    kind: index,
                    threshold,
                },
            );
            let greedy = corpus.greedy(kinds, threshold);
            let all = Kinds {
                index: Kind::Exact,
                inputs: Kind::Exact,
            };
            let of_all = corpus.greedy(all, threshold);
            missed_by_bands += of_all.len().abs_diff(greedy.len());
            assert!(greedy.len() > 20 && greedy.len() < corpus.len() - corpus.in_index);
            for (run, memory) in ["", "--memory 1KB"].into_iter().enumerate() {
                for add in ["", "--add"] {
                    let case = Case {
                        index: format!("seen{run}{add}"),
                        out: format!("out{run}{add}"),
                        options: format!("{options} {memory}"),
                        add,
                    };
                    let found_by = case.check(&place, &corpus, kinds, threshold);
                    by_estimate += found_by["signature"];
                    exact += found_by["exact"];
                }
            }
        }
    }
    // Near the threshold, bands miss what a comparison of all pairs finds.
    assert!(missed_by_bands > 5, "{missed_by_bands}");
    assert!(by_estimate > 100 && exact > 100, "{by_estimate} {exact}");
}

/// A deduplication against an index.
struct Case {
    index: String,
    out: String,
    options: String,
    add: &'static str,
}

impl Case {
    /// Compares what it removes with a brute force. Returns how many are removed greedily, by the way in which they are found.
    fn check(
        &self,
        place: &Place,
        corpus: &Corpus,
        kinds: Kinds,
        threshold: f64,
    ) -> BTreeMap<String, usize> {
        let Case {
            index,
            out,
            options,
            add,
        } = self;
        let what = format!("{threshold} {kinds:?} {options} {add}");
        let (greedy, connected) = (
            corpus.greedy(kinds, threshold),
            corpus.connected(kinds, threshold),
        );
        place
            .run(&format!("index snapshot seen {index} --quiet"))
            .succeeded();
        let dedup = format!("dedup new.jsonl --against {index} --quiet {options} -o {out}");
        place
            .run(&format!("{dedup} --cluster connected"))
            .succeeded();
        let removals = removed(place, out);
        let found: BTreeMap<usize, usize> = removals
            .iter()
            .map(|line| (row_of(&line["id"]), row_of(&line["kept_id"])))
            .collect();
        assert_eq!(found, connected, "{what}");
        for line in &removals {
            let decided = [&line["via_id"], &line["kept_id"]];
            let decided = decided.into_iter().find(|id| id.is_number()).unwrap();
            corpus.check_found_by(line, kinds, row_of(decided));
        }
        place
            .run(&format!("{dedup} --cluster greedy {add} --overwrite"))
            .succeeded();
        let removals = removed(place, out);
        let rows: Vec<usize> = removals.iter().map(|line| row_of(&line["id"])).collect();
        assert!(
            rows.iter().eq(greedy.keys()),
            "{what}: {rows:?}, not {greedy:?}"
        );
        let ways = ["identical", "signature", "exact"].map(|way| (way.to_owned(), 0));
        let mut found_by = BTreeMap::from(ways);
        for line in &removals {
            let (similarity, kept) = &greedy[&row_of(&line["id"])];
            let stated = line["similarity"].as_f64().unwrap();
            assert!((stated - similarity).abs() < 1e-9, "{what}: {line}");
            assert!(
                kept.contains(&row_of(&line["kept_id"])),
                "{what}: {line}, {kept:?}"
            );
            corpus.check_found_by(line, kinds, row_of(&line["kept_id"]));
            let way = line["found_by"].as_str().unwrap();
            *found_by.get_mut(way).unwrap() += 1;
        }
        let report: Value =
            serde_json::from_slice(&place.read(&format!("{out}/report.json"))).unwrap();
        let is_mixed = kinds.index != kinds.inputs;
        let index_verify = &report["parameters"]["index_verify"];
        assert_eq!(*index_verify == "signature", is_mixed, "{what}");
        let is_added =
            |row: &usize| *row < corpus.in_index || !add.is_empty() && !greedy.contains_key(row);
        let stored: Vec<usize> = (0..corpus.len()).filter(is_added).collect();
        let criterion = Criterion {
            kind: kinds.index,
            threshold,
        };
        check_query(place, index, corpus, criterion, &stored);
        found_by
    }
}

impl Corpus {
    /// A removed document is identical to the one that decided, or it is found as both are compared.
    #[track_caller]
    fn check_found_by(&self, line: &Value, kinds: Kinds, decided: usize) {
        let expected = match self.kind(kinds, decided) {
            _ if self.texts[row_of(&line["id"])] == self.texts[decided] => "identical",
            Kind::LshBySignature => "signature",
            Kind::Exact | Kind::Contained | Kind::Lsh => "exact",
        };
        assert_eq!(line["found_by"], expected, "{line}");
    }
}

fn removed(place: &Place, out: &str) -> Vec<Value> {
    parse_lines(&place.read(&format!("{out}/removed.jsonl")))
}
