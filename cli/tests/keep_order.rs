//! Which document of a cluster is kept, compared with a reference that compares all pairs of small corpora.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Numbers, Place, Results, lines_of, number_in};

const THRESHOLD: f64 = 0.5;

/// A document of tokens.
struct Document {
    id: usize,
    file: &'static str,
    tokens: Vec<String>,
    score: Option<i64>,
}

impl Document {
    fn set(&self) -> BTreeSet<&str> {
        self.tokens.iter().map(String::as_str).collect()
    }

    fn bytes(&self) -> usize {
        self.tokens.iter().map(String::len).sum()
    }
}

/// Documents near to each other in chains, some of them identical, in three files.
fn corpus(seed: u64) -> Vec<Document> {
    let mut numbers = Numbers(seed);
    let mut documents: Vec<Document> = Vec::new();
    for id in 0..60 {
        let file = ["a.jsonl", "b.jsonl", "c.jsonl"][id / 20];
        let mut tokens = match numbers.below(4) {
            0 => (0..6)
                .map(|_| format!("t{}", numbers.below(1000)))
                .collect(),
            _ if documents.is_empty() => vec!["t1".to_owned(); 2],
            _ => documents[numbers.below(documents.len())].tokens.clone(),
        };
        for _ in 0..numbers.below(3) {
            let at = numbers.below(tokens.len());
            tokens[at] = "u".repeat(1 + numbers.below(9));
        }
        let score = match numbers.below(5) {
            0 => None,
            // Neighbours that an f64 cannot tell apart, and ties.
            _ => Some(9_007_199_254_740_992 + i64::try_from(numbers.below(4)).unwrap()),
        };
        documents.push(Document {
            id,
            file,
            tokens,
            score,
        });
    }
    documents
}

fn jaccard(a: &Document, b: &Document) -> f64 {
    let (a, b) = (a.set(), b.set());
    let shared = a.intersection(&b).count();
    shared as f64 / (a.len() + b.len() - shared) as f64
}

/// A way to choose the document to keep, and the flags for it.
struct Policy {
    flags: &'static str,
    /// Documents with a lower key are kept first; ties go to the first.
    key: fn(&Document) -> (usize, bool, Reverse<i64>),
}

const POLICIES: [Policy; 6] = [
    Policy {
        flags: "--keep first",
        key: |_| (0, false, Reverse(0)),
    },
    Policy {
        flags: "--keep longest",
        key: |document| (0, false, Reverse(document.bytes() as i64)),
    },
    Policy {
        flags: "--keep-by score",
        key: |document| {
            (
                0,
                document.score.is_none(),
                Reverse(document.score.unwrap_or(0)),
            )
        },
    },
    Policy {
        flags: "--keep-by score:asc",
        key: |document| {
            (
                0,
                document.score.is_none(),
                Reverse(-document.score.unwrap_or(0)),
            )
        },
    },
    Policy {
        flags: "--keep longest --prefer-source c*,b.jsonl",
        key: |document| (source_of(document), false, Reverse(document.bytes() as i64)),
    },
    Policy {
        flags: "--keep-by score --prefer-source c*,b.jsonl",
        key: |document| {
            let score = Reverse(document.score.unwrap_or(0));
            (source_of(document), document.score.is_none(), score)
        },
    },
];

fn source_of(document: &Document) -> usize {
    match document.file {
        "c.jsonl" => 0,
        "b.jsonl" => 1,
        _ => 2,
    }
}

/// The removed documents by id: the kept one, and the similarity of the two.
type Removals = Vec<(usize, usize, f64)>;

/// Removes documents by the definitions, over all pairs of documents.
fn removals(documents: &[Document], policy: &Policy, is_greedy: bool) -> Removals {
    let key = |id: usize| ((policy.key)(&documents[id]), id);
    let is_identical = |a: usize, b: usize| documents[a].tokens == documents[b].tokens;
    let all = 0..documents.len();
    // One document of each group of identical ones.
    let keeper = |id: usize| {
        let group = all.clone().filter(|other| is_identical(id, *other));
        group.min_by_key(|id| key(*id)).unwrap()
    };
    let mut keepers: Vec<usize> = all.clone().filter(|id| keeper(*id) == *id).collect();
    keepers.sort_by_key(|id| key(*id));
    let is_near = |a: usize, b: usize| jaccard(&documents[a], &documents[b]) >= THRESHOLD;
    let kept_for: Vec<usize> = if is_greedy {
        let mut kept_for = vec![usize::MAX; documents.len()];
        for (i, id) in keepers.iter().enumerate() {
            let kept = keepers[..i]
                .iter()
                .filter(|kept| kept_for[**kept] == **kept);
            let near = kept.filter(|kept| is_near(**kept, *id));
            // The most similar; of equally similar ones, the first in keep order.
            let best = near.rev().max_by(|a, b| {
                let similarity = |kept: usize| jaccard(&documents[kept], &documents[*id]);
                similarity(**a).total_cmp(&similarity(**b))
            });
            kept_for[*id] = *best.unwrap_or(id);
        }
        kept_for
    } else {
        let mut component: Vec<usize> = all.clone().collect();
        // As long as a component can still grow.
        loop {
            let before = component.clone();
            for (a, b) in keepers
                .iter()
                .flat_map(|a| keepers.iter().map(move |b| (*a, *b)))
            {
                if is_near(a, b) {
                    let least = component[a].min(component[b]);
                    (component[a], component[b]) = (least, least);
                }
            }
            if component == before {
                break;
            }
        }
        let first_of = |id: usize| {
            let mut members = keepers
                .iter()
                .filter(|other| component[**other] == component[id]);
            *members.next().unwrap_or(&id)
        };
        all.clone().map(first_of).collect()
    };
    (0..documents.len())
        .map(|id| (id, kept_for[keeper(id)]))
        .filter(|(id, kept)| id != kept)
        .map(|(id, kept)| (id, kept, jaccard(&documents[id], &documents[kept])))
        .collect()
}

fn removals_in(results: &Results) -> Removals {
    let id = |line: &Value, name: &str| usize::try_from(line[name].as_u64().unwrap()).unwrap();
    let lines = results.removed.iter().zip(&results.removed_lines);
    lines
        .map(|(line, text)| {
            let similarity = number_in(text, "similarity");
            (id(line, "id"), id(line, "kept_id"), similarity)
        })
        .collect()
}

#[test]
fn every_policy_agrees_with_a_comparison_of_all_pairs() {
    let mut differs = BTreeSet::new();
    for seed in 0..5 {
        let documents = corpus(seed);
        let place = Place::new();
        for file in ["a.jsonl", "b.jsonl", "c.jsonl"] {
            let record = |document: &Document| {
                let mut record = json!({"id": document.id, "tokens": document.tokens});
                if let Some(score) = document.score {
                    record["score"] = score.into();
                }
                record
            };
            let of_file = documents.iter().filter(|document| document.file == file);
            place.write(&format!("docs/{file}"), lines_of(of_file.map(record)));
        }
        for is_greedy in [true, false] {
            let cluster = if is_greedy { "greedy" } else { "connected" };
            for policy in &POLICIES {
                let flags = policy.flags;
                let expected = removals(&documents, policy, is_greedy);
                assert!(expected.len() > 10, "{flags}, seed {seed}");
                for candidates in ["--bands 128 --rows 1", "--candidates join"] {
                    let options = format!(
                        "docs --unit tokens --verify exact --threshold {THRESHOLD} {candidates} --cluster {cluster} {flags}"
                    );
                    let results = place.dedup(&options);
                    assert_eq!(removals_in(&results), expected, "{options}, seed {seed}");
                }
                differs.insert((seed, is_greedy, format!("{expected:?}")));
            }
        }
    }
    // No two policies keep the same documents of all corpora.
    assert!(differs.len() > 50, "{}", differs.len());
}
