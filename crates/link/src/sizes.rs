//! How many entities there are of each size, with an example of each.

use crate::links::Linked;

/// The least sizes that are counted together; the greatest of each is one less than the next.
const LEAST: [u64; 12] = [2, 3, 4, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000];

/// The entities of some sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SizeClass {
    /// The least and the greatest size that occurs.
    pub(crate) sizes: [u64; 2],
    pub(crate) entities: u64,
    pub(crate) records: u64,
    /// The records of the example.
    pub(crate) example_records: u64,
    /// The rows of its first records, those that differ before copies.
    pub(crate) example: Vec<u32>,
}

/// Counts the entities of one file by size; of an example, at most `shown` rows.
pub(crate) fn entity_sizes(linked: &Linked<'_>, shown: usize) -> Vec<SizeClass> {
    let Some(first) = linked.entities() else {
        return Vec::new();
    };
    let distinct = |row: u32| linked.distinct.record(row as usize);
    let mut members: Vec<(u32, u32)> = first.iter().copied().zip(0..).collect();
    members.sort_unstable();
    let mut found: Vec<SizeClass> = Vec::new();
    // Of each range, how many distinct records the example has.
    let mut examples: [Option<(usize, usize)>; LEAST.len()] = [None; LEAST.len()];
    for entity in members.chunk_by(|a, b| a.0 == b.0) {
        let size = entity.len() as u64;
        let Some(range) = LEAST.partition_point(|least| *least <= size).checked_sub(1) else {
            continue;
        };
        let mut rows: Vec<u32> = entity.iter().map(|(_, row)| *row).collect();
        let is_copy = |row: &u32| linked.distinct.first_row(distinct(*row)) != *row;
        rows.sort_by_key(is_copy);
        let differing = rows.iter().filter(|row| !is_copy(row)).count();
        rows.truncate(shown);
        let one = SizeClass {
            sizes: [size; 2],
            entities: 1,
            records: size,
            example_records: size,
            example: rows,
        };
        match &mut examples[range] {
            None => {
                examples[range] = Some((found.len(), differing));
                found.push(one);
            }
            Some((place, most)) => {
                let all = &mut found[*place];
                all.sizes = [all.sizes[0].min(size), all.sizes[1].max(size)];
                all.entities += 1;
                all.records += size;
                if differing > *most {
                    *most = differing;
                    all.example = one.example;
                    all.example_records = size;
                }
            }
        }
    }
    found.sort_by_key(|class| class.sizes);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Link;
    use crate::score::Score;
    use crate::task::link;
    use crate::tests::table;
    use simgpu::progress::Silent;

    #[test]
    fn entities_are_counted_by_size() {
        // Sets of equal records, of one to twelve; one of the pairs differs in a letter.
        let mut rows: Vec<[String; 1]> = Vec::new();
        for size in 1..=12_u32 {
            for _ in 0..size {
                rows.push([format!("name{size} street{size}")]);
            }
        }
        rows.push(["harbour office of westminster".to_owned()]);
        rows.push(["harbour offices of westminster".to_owned()]);
        let records = table(&rows);
        let task = Link {
            score: Score::Text,
            threshold: Some(0.7),
            ..Link::default()
        };
        let linked = link(&records, None, &task, &Silent).unwrap();
        let found = entity_sizes(&linked, 6);
        let counts: Vec<([u64; 2], u64, u64)> = found
            .iter()
            .map(|class| (class.sizes, class.entities, class.records))
            .collect();
        let expected = [
            ([2, 2], 2, 4),
            ([3, 3], 1, 3),
            ([4, 4], 1, 4),
            ([5, 9], 5, 35),
            ([10, 12], 3, 33),
        ];
        assert_eq!(counts, expected);
        assert_eq!(found[0].example, [78, 79], "the pair that differs");
        assert_eq!(found[3].example, [10, 11, 12, 13, 14]);
        assert_eq!((found[4].example.len(), found[4].example_records), (6, 10));
    }
}
