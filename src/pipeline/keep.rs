//! Order of preference among similar documents.

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
                let mut order: Vec<u32> = (0..positions).collect();
                order.sort_by_key(|position| std::cmp::Reverse(length(*position)));
                let mut ranks = vec![0; order.len()];
                for (rank, position) in (0..).zip(order) {
                    ranks[position as usize] = rank;
                }
                Some(ranks)
            }
        }
    }

    /// Whether to keep a document of `length` bytes in place of an earlier one of `earlier` bytes.
    pub(crate) fn prefers(self, length: u32, earlier: u32) -> bool {
        self == KeepPolicy::Longest && length > earlier
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
        assert!(KeepPolicy::Longest.prefers(6, 5) && !KeepPolicy::Longest.prefers(5, 5));
    }
}
