use super::*;
use simgpu::scheme::fmix64;

/// Slots of few distinct values, so that many signatures share bands and some are equal.
fn slots_of(seed: u64, count: u64, num_perm: u64, distinct: u64) -> Vec<Vec<u32>> {
    let slot = |row: u64, place: u64| fmix64(seed << 40 | row << 20 | place) % distinct;
    let row = |row| {
        (0..num_perm)
            .map(|place| u32::try_from(slot(row, place)).unwrap())
            .collect()
    };
    (0..count).map(row).collect()
}

fn banding(bands: usize, rows: usize) -> Banding {
    Banding::new(bands, rows, bands * rows).unwrap()
}

fn filled(banding: Banding, signatures: &[Vec<u32>]) -> LshIndex {
    let mut index = LshIndex::new(banding, Width::U32);
    for (number, slots) in signatures.iter().enumerate() {
        assert_eq!(index.insert(Slots::U32(slots)).unwrap() as usize, number);
    }
    index
}

/// Compares all bands of all signatures, each with its number.
fn find_by_comparison<'a>(
    signatures: impl IntoIterator<Item = (u32, &'a Vec<u32>)>,
    query: &[u32],
    bands: usize,
    rows: usize,
) -> Vec<u32> {
    let shares_band = |slots: &[u32]| {
        (0..bands)
            .any(|band| (0..rows).all(|row| slots[band * rows + row] == query[band * rows + row]))
    };
    let found = signatures
        .into_iter()
        .filter(|(_, slots)| shares_band(slots));
    found.map(|(number, _)| number).collect()
}

/// Bands, rows, slots, signatures and distinct values.
const SIZES: [(usize, usize, u64, u64, u64); 7] = [
    (1, 1, 1, 5, 2),
    (1, 4, 4, 300, 3),
    (4, 3, 13, 0, 3),
    (4, 3, 13, 1, 3),
    (4, 3, 13, 700, 4),
    (16, 8, 128, 150, 2),
    (5, 1, 8, 1500, 300),
];

#[test]
fn an_index_finds_what_a_comparison_of_all_bands_finds() {
    for (bands, rows, num_perm, count, distinct) in SIZES {
        let signatures = slots_of(1, count, num_perm, distinct);
        let index = filled(banding(bands, rows), &signatures);
        assert_eq!((index.len() as u64, index.is_empty()), (count, count == 0));
        let others = slots_of(2, 60, num_perm, distinct);
        for query in signatures.iter().take(60).chain(&others) {
            for bands_searched in [bands, 1, bands / 2, bands + 3] {
                let found = index
                    .query_bands(Slots::U32(query), bands_searched)
                    .unwrap();
                let searched = bands_searched.min(bands);
                let all = (0..).zip(&signatures);
                assert_eq!(found, find_by_comparison(all, query, searched, rows));
            }
            let found = index.query(Slots::U32(query)).unwrap();
            assert_eq!(found, index.query_bands(Slots::U32(query), bands).unwrap());
        }
    }
}

/// Inserts, removes and compacts in turn, beside a list that does the same.
#[test]
fn removed_signatures_are_not_found() {
    for (bands, rows, num_perm, count, distinct) in SIZES {
        let mut left: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut index = LshIndex::new(banding(bands, rows), Width::U32);
        for (step, slots) in (0u64..).zip(slots_of(3, count, num_perm, distinct)) {
            let number = index.insert(Slots::U32(&slots)).unwrap();
            left.push((number, slots));
            if !fmix64(step).is_multiple_of(3) {
                let place = usize::try_from(fmix64(step + 1) % left.len() as u64).unwrap();
                let (number, _) = left.remove(place);
                assert!(index.contains(number));
                assert!(index.remove(number) && !index.remove(number));
                assert!(!index.contains(number));
            }
            if step % 97 == 96 {
                index.compact();
                (0..)
                    .zip(&mut left)
                    .for_each(|(new, (number, _))| *number = new);
            }
        }
        assert_eq!(
            (index.len(), index.is_empty()),
            (left.len(), left.is_empty())
        );
        assert!(index.numbers().eq(left.iter().map(|(number, _)| *number)));
        let live = || left.iter().map(|(number, slots)| (*number, slots));
        for query in slots_of(3, 80, num_perm, distinct) {
            let found = index.query(Slots::U32(&query)).unwrap();
            assert_eq!(found, find_by_comparison(live(), &query, bands, rows));
        }
        for (number, slots) in live() {
            let in_bands = slots[..bands * rows].to_vec();
            assert_eq!(index.signature(number), Some(in_bands.into()));
        }
    }
}

#[test]
fn an_index_of_removed_signatures_is_empty() {
    let mut index = filled(banding(2, 2), &slots_of(4, 100, 4, 2));
    (0..100).for_each(|number| assert!(index.remove(number)));
    assert!(index.is_empty() && index.wants_compaction());
    assert!(index.query(Slots::U32(&[0; 4])).unwrap().is_empty());
    assert_eq!(index.insert(Slots::U32(&[0; 4])).unwrap(), 100);
    index.compact();
    assert!(!index.wants_compaction());
    assert_eq!(index.query(Slots::U32(&[0; 4])).unwrap(), [0]);
}

#[test]
fn equal_signatures_have_numbers_of_their_own() {
    let mut index = filled(banding(2, 2), &vec![vec![1, 2, 3, 4]; 5]);
    assert_eq!(
        index.query(Slots::U32(&[1, 2, 0, 0])).unwrap(),
        [0, 1, 2, 3, 4]
    );
    index.remove(2);
    assert_eq!(
        index.query(Slots::U32(&[0, 0, 3, 4])).unwrap(),
        [0, 1, 3, 4]
    );
}

#[test]
fn wide_slots_are_compared_whole() {
    let mut index = LshIndex::new(banding(2, 1), Width::U64);
    assert_eq!(index.slot_width(), Width::U64);
    let (low, high) = (1u64, 1 << 32 | 1);
    index.insert(Slots::U64(&[low, 0])).unwrap();
    index.insert(Slots::U64(&[high, u64::MAX])).unwrap();
    assert_eq!(index.query(Slots::U64(&[low, 9])).unwrap(), [0]);
    assert_eq!(index.query(Slots::U64(&[high, 9])).unwrap(), [1]);
    assert_eq!(index.signature(1), Some(vec![high, u64::MAX].into()));
    assert_eq!(index.band(1, 1), Some(vec![u64::MAX].into()));
}

#[test]
fn buckets_divide_the_signatures_of_a_band() {
    let signatures = slots_of(5, 200, 6, 3);
    let mut index = filled(banding(3, 2), &signatures);
    (0..200)
        .step_by(7)
        .for_each(|number| assert!(index.remove(number)));
    for band in 0..3 {
        let range = band * 2..band * 2 + 2;
        let slots_of = |number: u32| &signatures[number as usize][range.clone()];
        let buckets = index.buckets(band);
        assert!(buckets.is_sorted_by(|a, b| a[0] < b[0]));
        let total: usize = buckets.iter().map(Vec::len).sum();
        assert_eq!(total, index.len());
        for bucket in buckets {
            let slots = slots_of(bucket[0]);
            let same = index.numbers().filter(|number| slots_of(*number) == slots);
            assert_eq!(bucket, same.collect::<Vec<_>>());
            assert_eq!(index.bucket(band, Slots::U32(slots)).unwrap(), bucket);
            assert_eq!(index.band(bucket[0], band), Some(slots.to_vec().into()));
        }
        assert!(index.bucket(band, Slots::U32(&[7, 7])).unwrap().is_empty());
    }
    assert!(index.buckets(3).is_empty() && index.band(1, 3).is_none());
    assert!(index.band(0, 1).is_none() && index.signature(0).is_none());
    assert!(index.signature(200).is_none());
    assert!(
        index
            .bucket(3, Slots::U32(&signatures[1][..2]))
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_merged_index_holds_the_signatures_of_both() {
    let (own, others) = (slots_of(6, 90, 8, 3), slots_of(7, 120, 8, 3));
    let mut index = filled(banding(4, 2), &own);
    let mut other = filled(banding(4, 2), &others);
    other.remove(0);
    other.remove(50);
    assert_eq!(index.merge(&other).unwrap(), 90..208);
    let merged = others
        .iter()
        .enumerate()
        .filter(|(row, _)| ![0, 50].contains(row));
    let all: Vec<Vec<u32>> = own
        .iter()
        .chain(merged.map(|(_, slots)| slots))
        .cloned()
        .collect();
    for query in &all {
        let found = index.query(Slots::U32(query)).unwrap();
        assert_eq!(found, find_by_comparison((0..).zip(&all), query, 4, 2));
    }
    assert_eq!(other.len(), 118);
    let none = LshIndex::new(banding(4, 2), Width::U32);
    assert_eq!(index.merge(&none).unwrap(), 208..208);
    assert_eq!(index.len(), 208);
}

#[test]
fn indexes_of_other_shapes_are_not_merged() {
    let mut index = filled(banding(4, 2), &slots_of(8, 3, 8, 3));
    for (banding, width) in [
        (banding(2, 4), Width::U32),
        (banding(4, 1), Width::U32),
        (banding(4, 2), Width::U64),
    ] {
        assert!(index.merge(&LshIndex::new(banding, width)).is_err());
    }
    assert_eq!(index.len(), 3);
}

#[test]
fn signatures_of_other_shapes_are_errors() {
    let mut index = LshIndex::new(banding(2, 2), Width::U32);
    for bad in [Slots::U32(&[1, 2, 3]), Slots::U64(&[1, 2, 3, 4])] {
        assert!(index.insert(bad).is_err() && index.query(bad).is_err());
    }
    assert!(index.is_empty());
    assert!(index.insert(Slots::U32(&[1, 2, 3, 4, 5])).is_ok());
    assert!(index.bucket(0, Slots::U32(&[1])).is_err());
    assert!(index.bucket(0, Slots::U32(&[1, 2, 3])).is_err());
    assert!(index.bucket(0, Slots::U64(&[1, 2])).is_err());
}

#[test]
fn bytes_restore_an_index() {
    let signatures = slots_of(9, 150, 9, 3);
    let mut index = filled(banding(3, 3), &signatures);
    (0..150)
        .step_by(4)
        .for_each(|number| assert!(index.remove(number)));
    let bytes = index.to_bytes();
    let restored = LshIndex::from_bytes(index.banding(), Width::U32, &bytes).unwrap();
    index.compact();
    assert_eq!(restored.len(), index.len());
    for query in &signatures {
        let query = Slots::U32(query);
        assert_eq!(restored.query(query).unwrap(), index.query(query).unwrap());
    }
    assert_eq!(restored.to_bytes(), bytes);
    for (banding, width) in [(banding(3, 30), Width::U32), (banding(300, 1), Width::U64)] {
        let error = LshIndex::from_bytes(banding, width, &bytes).unwrap_err();
        assert!(matches!(error, Error::DamagedIndex), "{error}");
    }
}
