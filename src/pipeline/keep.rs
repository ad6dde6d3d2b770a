//! Order of preference among similar documents.

use std::cmp::Reverse;

/// Which of several similar documents to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepPolicy {
    /// The earliest document.
    #[default]
    First,
    /// The document with the longest text in bytes; ties go to the earliest.
    Longest,
}

impl KeepPolicy {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            KeepPolicy::First => "first",
            KeepPolicy::Longest => "longest",
        }
    }

    /// The keep order of the positions `0..positions`: entry i is the rank of position i, and lower ranks are
    /// kept first. `None` if the order is that of the positions. `length` returns the bytes of a text by
    /// position.
    pub fn ranks(self, length: impl Fn(u32) -> u32, positions: u32) -> Option<Vec<u32>> {
        match self {
            KeepPolicy::First => None,
            KeepPolicy::Longest => {
                Some(ranks_by(0..positions, |position| Reverse(length(position))))
            }
        }
    }
}

/// The ranks of the positions `0..positions` by this key. Ties go to the lower position.
fn ranks_by<K: Ord>(positions: impl Iterator<Item = u32>, key: impl Fn(u32) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = positions.collect();
    order.sort_by_key(|position| key(*position));
    let mut ranks = vec![0; order.len()];
    for (rank, position) in (0..).zip(order) {
        ranks[position as usize] = rank;
    }
    ranks
}

/// The order in which documents are kept: by class, then by policy, then by row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeepOrder<'a> {
    pub(crate) policy: KeepPolicy,
    /// The class of each document, by row; a lower class is kept first. `None` if all are of one class.
    pub(crate) classes: Option<&'a [u64]>,
    /// The bytes of text of each document, by row.
    pub(crate) lengths: &'a [u32],
    /// The number of documents of a reference, which have the first rows. They come before all others, by row.
    pub(crate) reference: u32,
}

impl KeepOrder<'_> {
    fn key(&self, row: u32) -> (bool, u64, Reverse<u32>, u32) {
        if row < self.reference {
            return (false, 0, Reverse(0), row);
        }
        let class = self.classes.map_or(0, |classes| classes[row as usize]);
        let length = match self.policy {
            KeepPolicy::First => 0,
            KeepPolicy::Longest => self.lengths[row as usize],
        };
        (true, class, Reverse(length), row)
    }

    /// Whether to keep the document `row` rather than the document `other`.
    pub(crate) fn prefers(&self, row: u32, other: u32) -> bool {
        self.key(row) < self.key(other)
    }

    /// The ranks of documents, given by their rows: lower ranks are kept first. `None` if the order is that of
    /// ascending rows, and the rows ascend.
    pub(crate) fn ranks(&self, rows: &[u32]) -> Option<Vec<u32>> {
        if self.policy == KeepPolicy::First && self.classes.is_none() {
            return None;
        }
        let positions = (0..).zip(rows).map(|(position, _)| position);
        Some(ranks_by(positions, |position| {
            self.key(rows[position as usize])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_first_with_ties_by_position() {
        let lengths = [5, 9, 5, 9, 7];
        let ranks = KeepPolicy::Longest.ranks(|i| lengths[i as usize], 5);
        assert_eq!(ranks.unwrap(), [3, 0, 4, 1, 2]);
        assert!(KeepPolicy::First.ranks(|_| 0, 5).is_none());
    }

    #[test]
    fn classes_come_before_lengths_and_rows() {
        let order = KeepOrder {
            policy: KeepPolicy::Longest,
            classes: Some(&[1, 0, 1, 0]),
            lengths: &[9, 5, 9, 6],
            reference: 0,
        };
        assert_eq!(order.ranks(&[0, 1, 2, 3]).unwrap(), [2, 1, 3, 0]);
        assert!(order.prefers(3, 1) && order.prefers(1, 0) && !order.prefers(2, 0));
        let first = KeepOrder {
            policy: KeepPolicy::First,
            classes: None,
            ..order
        };
        assert!(first.ranks(&[0, 1, 2, 3]).is_none() && first.prefers(0, 1));
        let against = KeepOrder {
            reference: 3,
            ..order
        };
        assert_eq!(against.ranks(&[0, 1, 2, 3]).unwrap(), [0, 1, 2, 3]);
        assert!(against.prefers(0, 1) && against.prefers(2, 3));
    }
}
