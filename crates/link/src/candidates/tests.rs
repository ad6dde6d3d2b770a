use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::distinct::Distinct;
use crate::records::RecordFiles;
use crate::symbols::{Lists, Symbols};
use crate::tests::table;
use crate::words::Equivalents;
use simgpu::documents::TokenBatch;
use simgpu::progress::Silent;
use simgpu::scheme::fmix64;

/// Records of two fields made of few words, some of them with a letter changed, and some empty.
fn texts(seed: u64, count: u64) -> Vec<[String; 2]> {
    let word = |at: u64| {
        let random = fmix64(seed << 32 | at);
        let word = format!("w{}x", random % 40 * (random >> 8 & 3));
        if random >> 16 & 7 == 0 {
            word.replace('w', "V")
        } else {
            word
        }
    };
    let field = |at: u64| {
        let words: Vec<String> = (0..fmix64(at) % 5).map(|i| word(at * 8 + i)).collect();
        words.join(" ")
    };
    (0..count)
        .map(|i| [field(2 * i), field(2 * i + 1)])
        .collect()
}

/// The symbols of a record, as strings.
fn symbols(record: &[String; 2]) -> BTreeSet<String> {
    let mut symbols = BTreeSet::new();
    for (place, field) in record.iter().enumerate() {
        if !field.is_empty() {
            symbols.insert(format!("value {place} {}", field.to_lowercase()));
        }
    }
    for word in record
        .iter()
        .flat_map(|field| field.split(' '))
        .filter(|word| !word.is_empty())
    {
        let word = word.to_lowercase();
        let letters: Vec<char> = format!(" {word} ").chars().collect();
        symbols.insert(format!("word {word}"));
        symbols.extend(
            letters
                .windows(3)
                .map(|window| window.iter().collect::<String>()),
        );
    }
    symbols
}

/// All cosines of at least `floor`, by the definition of the score.
fn cosines(a: &[[String; 2]], b: Option<&[[String; 2]]>, floor: f64) -> BTreeMap<[u32; 2], f64> {
    let all: Vec<BTreeSet<String>> = a.iter().chain(b.unwrap_or(&[])).map(symbols).collect();
    let records = all.len() as f64;
    let weight = |symbol: &String| {
        let with = all
            .iter()
            .filter(|symbols| symbols.contains(symbol))
            .count();
        ((records + 1.0) / with as f64).ln()
    };
    let share = |symbol: &String| {
        if symbol.starts_with("value ") {
            1.0 / 16.0
        } else {
            1.0
        }
    };
    let square = |symbols: &mut dyn Iterator<Item = &String>| -> f64 {
        symbols
            .map(|symbol| share(symbol) * weight(symbol).powi(2))
            .sum()
    };
    let lengths: Vec<f64> = all
        .iter()
        .map(|symbols| square(&mut symbols.iter()).sqrt())
        .collect();
    let mut cosines = BTreeMap::new();
    let first = if b.is_some() { a.len() } else { all.len() };
    for i in 0..first {
        let start = if b.is_some() { a.len() } else { i + 1 };
        for j in start..all.len() {
            let cosine = square(&mut all[i].intersection(&all[j])) / (lengths[i] * lengths[j]);
            if cosine >= floor {
                cosines.insert([i, j].map(|row| u32::try_from(row).unwrap()), cosine);
            }
        }
    }
    cosines
}

fn search(a: &TokenBatch, b: Option<&TokenBatch>, limits: Limits) -> Candidates {
    let files = RecordFiles {
        first: a,
        second: b,
    };
    let distinct = &Distinct::all(&files);
    let tables = RecordTables { files, distinct };
    let equal = Equivalents::default();
    let symbols = Symbols::count(&tables, &equal, &Silent).unwrap();
    let lists = Lists::from_records(&tables, &symbols, &equal, &Silent).unwrap();
    let records = WeightedLists::new(&lists, &symbols);
    find_within(&tables, records, limits, &Silent).unwrap()
}

#[test]
fn every_pair_above_the_floor_is_found() {
    for seed in 0..6 {
        let (a, b) = (texts(seed, 60), texts(seed + 50, 40));
        for b in [None, Some(b)] {
            let truth = cosines(&a, b.as_deref(), 0.1 - 1e-9);
            let second = b.as_deref().map(table);
            let found = search(&table(&a), second.as_ref(), Limits::new(60));
            assert!(truth.len() > 100 && found.cut == 0 && found.crowded == 0);
            assert!(found.pairs.is_sorted_by(|x, y| x.before(y).is_lt()));
            for pair in &found.pairs {
                assert!((truth[&pair.rows] - pair.score).abs() < 1e-9, "{pair:?}");
            }
            let surely = truth
                .values()
                .filter(|cosine| **cosine > 0.1 + 1e-9)
                .count();
            assert!((surely..=truth.len()).contains(&found.pairs.len()));
        }
    }
}

#[test]
fn limits_leave_out_pairs_and_say_so() {
    let a = texts(3, 80);
    let truth = cosines(&a, None, 0.1 - 1e-9);
    let small = |change: fn(&mut Limits)| {
        let mut limits = Limits::new(80);
        change(&mut limits);
        let found = search(&table(&a), None, limits);
        for pair in &found.pairs {
            assert!((truth[&pair.rows] - pair.score).abs() < 1e-9, "{pair:?}");
        }
        assert!(found.pairs.len() < truth.len());
        found
    };
    assert!(small(|limits| (limits.entries, limits.compared) = (100, 3)).cut > 0);
    assert!(small(|limits| limits.candidates = 3).crowded > 0);
    let raised = small(|limits| limits.pairs = 50);
    assert!(raised.floor > 0.1);
    // No record is cut or crowded, so that each pair is kept or counted.
    let seen = raised.pairs.len() as u64 + raised.below;
    assert!((seen as i64 - truth.len() as i64).abs() <= 2, "{seen}");
    let above = truth
        .values()
        .filter(|cosine| **cosine > raised.floor + 1e-9)
        .count();
    assert!(raised.pairs.len() >= above && above >= 20);
}
