use super::*;
use simgpu::scheme::fmix64;

fn slots_of(seed: u64, count: u64, num_perm: u64, distinct: u64) -> Vec<Vec<u64>> {
    let slot = |row: u64, place: u64| fmix64(seed << 40 | row << 20 | place) % distinct;
    let row = |row| (0..num_perm).map(|place| slot(row, place)).collect();
    (0..count).map(row).collect()
}

fn banding(trees: usize, depth: usize) -> Banding {
    Banding::new(trees, depth, trees * depth).unwrap()
}

fn filled(mut forest: LshForest, signatures: &[Vec<u64>]) -> LshForest {
    for (number, slots) in signatures.iter().enumerate() {
        assert_eq!(forest.insert(Slots::U64(slots)).unwrap() as usize, number);
    }
    forest
}

/// The shape of a forest.
#[derive(Clone, Copy, Debug)]
struct ForestShape {
    trees: usize,
    depth: usize,
    /// Values per slot.
    values: usize,
}

/// Compares all signatures: per length of a common prefix in slots, longest first, per tree, and within a tree by
/// slots and number.
fn find_by_comparison(
    signatures: &[(u32, &Vec<u64>)],
    query: &[u64],
    shape: ForestShape,
    k: usize,
) -> Vec<u32> {
    let ForestShape {
        trees,
        depth,
        values,
    } = shape;
    let mut found = Vec::new();
    for slots in (1..=depth).rev() {
        for tree in 0..trees {
            let start = tree * depth * values;
            let end = start + depth * values;
            let has_prefix = |row: &&(u32, &Vec<u64>)| {
                (start..start + slots * values).all(|place| row.1[place] == query[place])
            };
            let mut rows: Vec<_> = signatures.iter().filter(has_prefix).collect();
            rows.sort_by_key(|row| (row.1[start..end].to_vec(), row.0));
            for (number, _) in rows {
                if !found.contains(number) {
                    found.push(*number);
                }
            }
        }
    }
    found.truncate(k);
    found
}

/// Trees, depth, values per slot, values per signature, signatures and distinct values.
const SIZES: [(usize, usize, usize, u64, u64, u64); 7] = [
    (1, 1, 1, 1, 6, 2),
    (1, 6, 1, 6, 200, 2),
    (4, 3, 1, 13, 0, 3),
    (4, 3, 1, 13, 1, 3),
    (4, 3, 1, 12, 250, 3),
    (3, 2, 2, 13, 250, 2),
    (8, 16, 1, 128, 60, 2),
];

/// The order of the rows of a tree with a longer prefix, found before, does not matter: all come before the others.
#[test]
fn a_forest_finds_what_a_comparison_of_prefixes_finds() {
    for (trees, depth, values, num_perm, count, distinct) in SIZES {
        let signatures = slots_of(1, count, num_perm, distinct);
        let per_slot = NonZeroUsize::new(values).unwrap();
        let shape = banding(trees, depth * values);
        let forest = LshForest::with_slot_values(shape, Width::U64, per_slot);
        let mut forest = filled(forest, &signatures);
        assert!(!forest.is_empty() || count == 0);
        forest.index();
        let all: Vec<_> = (0..).zip(&signatures).collect();
        let others = slots_of(2, 30, num_perm, distinct);
        for query in signatures.iter().take(30).chain(&others) {
            for k in [0, 1, 2, 7, 50, 1000] {
                let found = forest.query(Slots::U64(query), k).unwrap();
                let shape = ForestShape {
                    trees,
                    depth,
                    values,
                };
                let expected = find_by_comparison(&all, query, shape, k);
                assert_eq!(found, expected, "{trees} {depth} {values} {k}");
            }
        }
    }
}

#[test]
fn signatures_are_found_after_the_next_index() {
    let mut forest = LshForest::new(banding(2, 2), Width::U32);
    assert!(forest.is_empty());
    let first = forest.insert(Slots::U32(&[1, 2, 3, 4])).unwrap();
    assert_eq!((first, forest.len()), (0, 1));
    assert!(
        forest
            .query(Slots::U32(&[1, 2, 3, 4]), 5)
            .unwrap()
            .is_empty()
    );
    assert!(forest.sorted(0).is_empty());
    forest.index();
    assert_eq!(forest.query(Slots::U32(&[1, 2, 3, 4]), 5).unwrap(), [0]);
    // The second tree has its slots already, the first one has not.
    forest.insert(Slots::U32(&[1, 1, 3, 4])).unwrap();
    assert_eq!(
        (forest.sorted(0), forest.sorted(1)),
        (&[0][..], &[0, 1][..])
    );
    assert_eq!(forest.query(Slots::U32(&[1, 1, 9, 9]), 5).unwrap(), [0]);
    assert_eq!(forest.query(Slots::U32(&[9, 9, 3, 4]), 5).unwrap(), [0, 1]);
    forest.insert(Slots::U32(&[1, 3, 2, 4])).unwrap();
    assert_eq!(forest.sorted(1), [0, 1]);
    forest.index();
    assert_eq!(
        (forest.sorted(0), forest.sorted(1)),
        (&[1, 0, 2][..], &[2, 0, 1][..])
    );
    assert!(forest.sorted(2).is_empty());
    assert_eq!(
        forest.query(Slots::U32(&[1, 3, 9, 9]), 5).unwrap(),
        [2, 1, 0]
    );
}

/// PackedRows that are searchable in some trees only are found by those.
#[test]
fn a_forest_that_grows_finds_what_its_trees_hold() {
    let signatures = slots_of(3, 120, 6, 2);
    let mut forest = LshForest::new(banding(3, 2), Width::U64);
    for (step, slots) in signatures.iter().enumerate() {
        forest.insert(Slots::U64(slots)).unwrap();
        if step == 1 || step == 5 {
            forest.index();
        }
    }
    for tree in 0..3 {
        let range = tree * 2..tree * 2 + 2;
        let slots = |number: u32| &signatures[number as usize][range.clone()];
        let known: Vec<&[u64]> = (0..6).map(slots).collect();
        let mut expected: Vec<u32> = (0..120).filter(|n| known.contains(&slots(*n))).collect();
        expected.sort_by_key(|number| (slots(*number), *number));
        assert_eq!(forest.sorted(tree), expected);
    }
}

#[test]
fn signatures_come_back() {
    let mut forest = LshForest::new(banding(2, 2), Width::U32);
    forest.insert(Slots::U32(&[1, 2, 3, 4, 5])).unwrap();
    assert_eq!(forest.signature(0), Some(vec![1u32, 2, 3, 4].into()));
    assert_eq!(forest.tree(0, 1), Some(vec![3u32, 4].into()));
    assert!(forest.tree(0, 2).is_none() && forest.tree(1, 0).is_none());
    assert!(forest.signature(1).is_none());
    assert_eq!(
        (forest.banding(), forest.slot_width()),
        (banding(2, 2), Width::U32)
    );
    for bad in [Slots::U32(&[1, 2, 3]), Slots::U64(&[1, 2, 3, 4])] {
        assert!(forest.insert(bad).is_err() && forest.query(bad, 1).is_err());
    }
    assert_eq!(forest.len(), 1);
}

#[test]
fn bytes_restore_a_forest() {
    let signatures = slots_of(4, 100, 6, 2);
    let empty = LshForest::new(banding(3, 2), Width::U64);
    let mut forest = filled(empty.clone(), &signatures[..90]);
    forest.index();
    let forest = filled_from(forest, &signatures[90..]);
    let sorted: Vec<Vec<u32>> = (0..3).map(|tree| forest.sorted(tree).to_vec()).collect();
    let mut restored = filled(empty.clone(), &signatures[..3]);
    restored
        .restore(&forest.to_bytes(), sorted.clone())
        .unwrap();
    assert_eq!(restored.len(), 100);
    for query in &signatures {
        let query = Slots::U64(query);
        assert_eq!(
            restored.query(query, 9).unwrap(),
            forest.query(query, 9).unwrap()
        );
    }
    let bytes = forest.to_bytes();
    assert!(
        LshForest::new(banding(3, 60), Width::U64)
            .restore(&bytes, sorted.clone())
            .is_err()
    );
    let damages: [fn(&mut Vec<Vec<u32>>); 5] = [
        |sorted| sorted[1].swap(3, 4),
        |sorted| sorted[2][5] = 100,
        |sorted| sorted[0][1] = sorted[0][0],
        |sorted| drop(sorted.pop()),
        |sorted| sorted.push(Vec::new()),
    ];
    for damage in damages {
        let mut sorted = sorted.clone();
        damage(&mut sorted);
        let mut other = filled(empty.clone(), &signatures[..3]);
        let error = other.restore(&bytes, sorted).unwrap_err();
        assert!(
            matches!(error, Error::DamagedIndex) && other.len() == 3,
            "{error}"
        );
    }
}

fn filled_from(mut forest: LshForest, signatures: &[Vec<u64>]) -> LshForest {
    for slots in signatures {
        forest.insert(Slots::U64(slots)).unwrap();
    }
    forest
}
