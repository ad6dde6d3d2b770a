use std::collections::BTreeMap;

use super::blocks::all_pairs;
use super::*;
use crate::evidence::kinds::Kind;
use crate::evidence::values::{Column, Fields};

/// Fields of random values out of so many each.
fn fields(records: u64, values: &[u64]) -> Fields {
    let columns = (0_u64..).zip(values).map(|(field, values)| {
        let value = |row| format!("v{}", fmix64(row << 8 | field) % values);
        Column::new(
            &(0..records).map(value).collect::<Vec<_>>(),
            Some(Kind::Name),
            &|_| None,
        )
    });
    Fields::from_columns(columns)
}

#[test]
fn small_blocks_give_every_pair_once() {
    let fields = fields(300, &[20, 30, 50]).used;
    let found = find(&fields, 300);
    let mut pairs: Vec<[u32; 2]> = found.pairs.iter().map(|pair| pair.records).collect();
    pairs.sort_unstable();
    let shares = |a: usize, b: usize| fields.iter().any(|field| field.codes[a] == field.codes[b]);
    let mut expected = Vec::new();
    for a in 0..300_usize {
        let others = (a + 1..300).filter(|b| shares(a, *b));
        expected.extend(others.map(|b| [number(a), number(b)]));
    }
    assert_eq!(pairs, expected);
    assert!(found.pairs.iter().all(|pair| pair.weight == 1.0));
}

#[test]
fn large_blocks_are_sampled_with_weights() {
    // Three values of two thousand records each, and words that hardly any two share.
    let fields = fields(6000, &[3, 1 << 40]).used;
    let found = find(&fields, 6000);
    let mut pairs_of_value: BTreeMap<u32, f64> = BTreeMap::new();
    for pair in &found.pairs {
        let [a, b] = pair.records.map(|record| fields[0].codes[record as usize]);
        assert_eq!(a, b);
        *pairs_of_value.entry(a).or_default() += f64::from(pair.weight);
    }
    for (value, pairs) in pairs_of_value {
        let records = f64::from(fields[0].records[value as usize]);
        let all = records * (records - 1.0) / 2.0;
        assert!((pairs / all - 1.0).abs() < 1e-3, "{pairs} {all}");
    }
    assert!(found.pairs.len() <= 6000 * PARTNERS);
    assert!(found.largest > 1900);
}

#[test]
fn what_is_left_out_is_counted() {
    // All records share a value, and three quarters of them share one of rarer values with some others.
    let records = 20_000;
    let common = vec!["common".to_owned(); records];
    let rare = (0..records).map(|row| match row % 4 {
        0 => format!("alone{row}"),
        _ => format!("v{}", row / 40),
    });
    let columns = [common, rare.collect()];
    let fields = Fields::from_columns(columns.iter().map(|column| {
        let mut column = column.clone();
        // A field of one value is not used.
        column[0] = "other".to_owned();
        Column::new(&column, None, &|_| None)
    }));
    let found = find(&fields.used, records).left_out;
    let expected = LeftOut {
        groups: 1,
        pairs: 19_999 * 19_998 / 2,
        records: records as u64 / 4 - 1,
        not_drawn: 0,
    };
    assert_eq!(found, expected);
    // Where blocks are drawn from, the others of their pairs are counted.
    let fields = self::fields(6000, &[3, 1 << 40]).used;
    let found = find(&fields, 6000);
    let all: u64 = fields[0]
        .records
        .iter()
        .map(|n| all_pairs(*n as usize))
        .sum();
    assert_eq!(found.left_out.not_drawn, all - 6000 * PARTNERS as u64);
    assert_eq!((found.left_out.groups, found.left_out.records), (0, 0));
}

#[test]
fn pairs_are_bounded() {
    let fields = fields(20_000, &[60, 70, 80, 90]).used;
    let found = find(&fields, 20_000);
    let most = budget(PAIRS_PER_RECORD, 20_000) + budget(SAMPLED_PER_RECORD, 20_000);
    assert!(found.pairs.len() as u64 <= most);
    assert!(found.pairs.len() > 20_000);
}
