//! Which document of a group is kept.

/// The order in which documents have a claim to be kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepPolicy {
    /// The earliest first.
    #[default]
    First,
    /// The longest text first, in bytes; of equals the earliest.
    Longest,
}

impl KeepPolicy {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            KeepPolicy::First => "first",
            KeepPolicy::Longest => "longest",
        }
    }

    /// The rank of each position, from the lengths of texts by position: the lower, the better the
    /// claim. `None` where positions are ranks.
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

    /// Whether a document of that length is to be kept rather than an earlier one of the other.
    pub fn prefers(self, length: u32, earlier: u32) -> bool {
        self == KeepPolicy::Longest && length > earlier
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_first_and_of_equals_the_earliest() {
        let lengths = [5, 9, 5, 9, 7];
        let ranks = KeepPolicy::Longest.ranks(|i| lengths[i as usize], 5);
        assert_eq!(ranks.unwrap(), [3, 0, 4, 1, 2]);
        assert!(KeepPolicy::First.ranks(|_| 0, 5).is_none());
        assert!(KeepPolicy::Longest.prefers(6, 5) && !KeepPolicy::Longest.prefers(5, 5));
    }
}
