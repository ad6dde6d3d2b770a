//! Removes the repeats of long lists that consist of few hashes.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use super::occurrences::Mixed;
use crate::scheme::fmix64;

/// Shorter lists are compared fast, however repetitive they are.
const SHORT: usize = 1024;

/// Removes the repeats among the hashes from `start` on, if these are many: a text that says one phrase a thousand times
/// then costs as much as the phrase, whenever its list is compared. Ordinary texts have few repeats, which take less time
/// to compare than to remove. The order of the others stays. One repeat remains, so that a list of several shingles never
/// seems to have one.
pub(super) fn remove_many_repeats(list: &mut Vec<u64>, start: usize) {
    if !is_repetitive(&list[start..]) {
        return;
    }
    let mut seen: HashSet<u64, BuildHasherDefault<Mixed>> = HashSet::default();
    let mut kept = start;
    for at in start..list.len() {
        if seen.insert(list[at]) {
            list[kept] = list[at];
            kept += 1;
        }
    }
    list[kept] = list[start];
    list.truncate(kept + 1);
}

/// Whether a sample of a list meets the same hashes again and again. As many are drawn as the square root of the length,
/// so that this costs next to nothing; then some 16 of 4,096 are met again if there are 128 different ones.
fn is_repetitive(hashes: &[u64]) -> bool {
    if hashes.len() < SHORT {
        return false;
    }
    let draws = hashes.len().isqrt();
    let stride = hashes.len() / draws;
    // One at random in each stretch: the places of a fixed distance could all hold the same shingle of a table.
    let mut drawn: Vec<u64> = (0..draws)
        .map(|draw| hashes[draw * stride + place_below(stride, draw)])
        .collect();
    drawn.sort_unstable();
    let repeats = drawn.windows(2).filter(|pair| pair[0] == pair[1]).count();
    repeats >= 4 + draws / 64
}

/// A random number below `count`.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the result is below `count`"
)]
fn place_below(count: usize, draw: usize) -> usize {
    (fmix64(draw as u64 + 1) % count as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(mut list: Vec<u64>) -> Vec<u64> {
        remove_many_repeats(&mut list, 0);
        list
    }

    #[test]
    fn few_hashes_make_short_lists() {
        for (distinct, len) in [
            (1, 1024),
            (2, 5000),
            (15, 76_000),
            (300, 40_000),
            (5000, 1 << 20),
        ] {
            let list: Vec<u64> = (0..len).map(|at| fmix64(at % distinct)).collect();
            let mut expected: Vec<u64> = (0..distinct).map(fmix64).collect();
            expected.push(expected[0]);
            assert!(shortened(list) == expected, "{distinct} {len}");
        }
        // A phrase, and then another one.
        let list: Vec<u64> = (0..60_000).map(|at| at % 10 + at / 30_000 * 10).collect();
        assert_eq!(shortened(list).len(), 21);
    }

    #[test]
    fn lists_of_many_hashes_stay() {
        let lists: [Vec<u64>; 4] = [
            (0..100_000).map(fmix64).collect(),
            (0..100_000).map(|at| fmix64(at % 60_000)).collect(),
            (0..1023).map(|_| 7).collect(),
            vec![],
        ];
        for list in lists {
            assert!(shortened(list.clone()) == list);
        }
        let mut after = vec![7; 3000];
        let before = after.clone();
        remove_many_repeats(&mut after, 2500);
        assert!(after == before);
    }
}
