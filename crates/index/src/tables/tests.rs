use std::collections::BTreeMap;

use super::*;
use simgpu::scheme::fmix64;

/// PackedRows of values below `distinct`, different ones in each place.
fn rows_of(count: u64, values: u64, distinct: u64) -> Vec<Vec<u64>> {
    let value = |row: u64, place: u64| fmix64(row << 20 | place) % distinct * 1000 + place;
    let row = |row| (0..values).map(|place| value(row, place)).collect();
    (0..count).map(row).collect()
}

fn filled(examples: &[Vec<u64>], bands: usize, values_per_band: usize) -> (PackedRows, Tables) {
    let mut rows = PackedRows::new(bands * values_per_band);
    let mut tables = Tables::new(bands, values_per_band);
    for row in examples {
        let number = rows.push(row).unwrap();
        tables.insert(&rows, number, row);
    }
    (rows, tables)
}

/// Compares each bucket of each band with a map that a sorted tree holds.
fn assert_all_found(rows: &PackedRows, tables: &Tables, examples: &[Vec<u64>]) {
    for band in 0..tables.bands() {
        let mut expected: BTreeMap<&[u64], Vec<u32>> = BTreeMap::new();
        for number in rows.numbers() {
            let values = &examples[number as usize][tables.range(band)];
            expected.entry(values).or_default().push(number);
        }
        for (values, numbers) in expected {
            let mut found = Vec::new();
            tables.find_in_band(rows, band, values, &mut found);
            found.sort_unstable();
            assert_eq!(found, numbers, "band {band}");
        }
    }
}

#[test]
fn tables_find_what_a_map_finds() {
    for (count, bands, values_per_band, distinct) in [
        (1, 1, 1, 1),
        (40, 3, 1, 2),
        (65, 2, 2, 3),
        (2000, 5, 3, 4),
        (2000, 3, 9, 1 << 40),
        (3000, 4, 1, 40),
        (20_000, 1, 1, 1 << 40),
    ] {
        let values = (bands * values_per_band) as u64;
        let examples = rows_of(count, values, distinct);
        let (rows, mut tables) = filled(&examples, bands, values_per_band);
        assert_all_found(&rows, &tables, &examples);
        tables.rebuild(&rows);
        assert_all_found(&rows, &tables, &examples);
    }
}

#[test]
fn absent_values_are_not_found() {
    let examples = rows_of(20_000, 2, 1 << 40);
    let (rows, tables) = filled(&examples, 2, 1);
    let mut found = Vec::new();
    for row in rows_of(1000, 2, 1 << 30) {
        let other = [row[0] + 500, row[1] + 500];
        tables.find(&rows, &other, 2, &mut found);
        // What one band holds is not in the other.
        let [first, second] = [examples[0][0], examples[0][1]];
        tables.find(&rows, &[second, first], 2, &mut found);
    }
    assert!(found.is_empty());
}

#[test]
fn the_first_bands_alone_are_searched() {
    let (rows, tables) = filled(&[vec![1, 2, 3], vec![4, 2, 3], vec![5, 6, 3]], 3, 1);
    for (bands, expected) in [
        (0, &[][..]),
        (1, &[0]),
        (2, &[0, 0, 1]),
        (3, &[0, 0, 0, 1, 1, 2]),
        (9, &[0, 0, 0, 1, 1, 2]),
    ] {
        let mut found = Vec::new();
        tables.find(&rows, &[1, 2, 3], bands, &mut found);
        found.sort_unstable();
        assert_eq!(found, expected, "{bands} bands");
    }
}

#[test]
fn rebuilt_tables_hold_the_rows_that_are_left() {
    let mut examples = rows_of(3000, 4, 20);
    let (mut rows, mut tables) = filled(&examples, 2, 2);
    for number in (0..3000).filter(|number| number % 4 != 0) {
        rows.remove(number);
    }
    tables.rebuild(&rows);
    assert_all_found(&rows, &tables, &examples);
    rows.compact();
    tables.rebuild(&rows);
    let mut number = 0;
    examples.retain(|_| {
        number += 1;
        (number - 1) % 4 == 0
    });
    assert_all_found(&rows, &tables, &examples);
    for row in rows_of(500, 4, 25) {
        let number = rows.push(&row).unwrap();
        tables.insert(&rows, number, &row);
        examples.push(row);
    }
    assert_all_found(&rows, &tables, &examples);
}

/// A table of four buckets doubles when its 56 entries are taken.
#[test]
fn full_tables_double() {
    let examples = rows_of(57, 1, 1 << 40);
    let (_, tables) = filled(&examples[..56], 1, 1);
    assert_eq!(
        (tables.tables[0].taken, tables.tables[0].buckets.len()),
        (56, 4)
    );
    let (_, tables) = filled(&examples, 1, 1);
    assert_eq!(
        (tables.tables[0].taken, tables.tables[0].buckets.len()),
        (57, 8)
    );
    let (_, tables) = filled(&vec![vec![5]; 300], 1, 1);
    assert_eq!(
        (tables.tables[0].taken, tables.tables[0].buckets.len()),
        (1, 4)
    );
}

/// An entry of ones is an empty one, so no number has all of its bits set.
#[test]
fn numbers_leave_a_bit_unset() {
    let examples = rows_of(300, 1, 1 << 40);
    let mut rows = PackedRows::new(1);
    let mut tables = Tables::new(1, 1);
    for row in &examples {
        let number = rows.push(row).unwrap();
        tables.insert(&rows, number, row);
        assert!(number < tables.tables[0].number_mask());
    }
}

/// Seed, places and order of values decide about the hash; pairs of values of 32 bits stay whole.
#[test]
fn hashes_spread() {
    let [seed, other_seed] = [7, 8].map(fmix64);
    for length in 1..=9u64 {
        let row: Vec<u64> = (0..length).collect();
        let flipped = |place: usize, bit: u32| {
            let mut other = row.clone();
            other[place] ^= 1 << bit;
            hash(seed, &other)
        };
        let mut hashes = vec![hash(seed, &row), hash(other_seed, &row)];
        for place in 0..row.len() {
            hashes.extend([0, 31].map(|bit| flipped(place, bit)));
            assert!(
                [32, 63]
                    .iter()
                    .all(|bit| !hashes[..2].contains(&flipped(place, *bit)))
            );
        }
        let reversed: Vec<u64> = row.iter().rev().copied().collect();
        hashes.extend((length > 1).then(|| hash(seed, &reversed)));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count, "{length} values");
    }
}
