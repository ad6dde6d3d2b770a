//! Records of a search on disk, in words of 32 bits that sort as their fields do.
//!
//! A place has 40 bits, so that its highest 32 are the first word, by which records are distributed.
#![allow(
    clippy::cast_possible_truncation,
    reason = "words are parts of numbers whose limits are checked where places are made"
)]

/// Bits of a place.
const PLACE: u32 = 40;

/// Bits of a number of windows of one anchor.
const COUNT: u32 = 12;

const fn mask(bits: u32) -> u64 {
    (1 << bits) - 1
}

/// The end of the first words of places below `end`.
pub(super) fn end_of_words(end: usize) -> u64 {
    (end as u64 >> (PLACE - 32)) + 1
}

fn words(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

fn number(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Windows in a row of one anchor, whose symbols have this hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HashedRegion {
    /// 43 bits of the hash of the anchor's k-gram.
    pub(super) key: u64,
    /// 96 bits of the hash of all symbols.
    pub(super) hash: [u32; 3],
    pub(super) first: usize,
    pub(super) len: usize,
}

impl HashedRegion {
    /// Bits of a key beside the first word.
    const LOW: u32 = 11;

    /// Bits of a key.
    pub(super) const KEY: u32 = 32 + Self::LOW;

    pub(super) fn pack(self) -> [u32; 6] {
        let low = self.key & mask(Self::LOW);
        let place = (self.first as u64) << 24 | (self.len as u64 - 1) << 12 | low;
        let [high, low] = words(place);
        let [a, b, c] = self.hash;
        [(self.key >> Self::LOW) as u32, a, b, c, high, low]
    }

    pub(super) fn unpack([key, a, b, c, high, low]: [u32; 6]) -> Self {
        let place = number(high, low);
        HashedRegion {
            key: u64::from(key) << Self::LOW | place & mask(Self::LOW),
            hash: [a, b, c],
            first: (place >> 24) as usize,
            len: (place >> 12 & mask(COUNT)) as usize + 1,
        }
    }
}

/// Windows of one anchor in a row, which equal others in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MixedWindows {
    pub(super) first: usize,
    pub(super) len: usize,
}

impl MixedWindows {
    pub(super) fn pack(self) -> [u32; 2] {
        words((self.first as u64) << 24 | (self.len as u64 - 1) << 12)
    }

    pub(super) fn unpack([high, low]: [u32; 2]) -> Self {
        let place = number(high, low);
        MixedWindows {
            first: (place >> 24) as usize,
            len: (place >> 12 & mask(COUNT)) as usize + 1,
        }
    }
}

/// A window, by the hash of its symbols.
pub(super) fn pack_window(hash: u128, window: usize) -> [u32; 6] {
    let [a, b] = words((hash >> 64) as u64);
    let [c, d] = words(hash as u64);
    let [high, low] = words(window as u64);
    [a, b, c, d, high, low]
}

/// The window of such a record.
pub(super) fn window_of([.., high, low]: [u32; 6]) -> usize {
    number(high, low) as usize
}

/// Where windows in a row lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// To as many from this place on.
    Place(usize),
    /// Each so many places back, to windows of which the first ones are before these.
    Back(usize),
}

/// Windows in a row, and where they lead. Of a link to a place, there are at most 4,096.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) first: usize,
    pub(super) len: usize,
    pub(super) link: LinkTarget,
}

impl Links {
    /// The window behind the last one.
    pub(super) fn end(self) -> usize {
        self.first + self.len
    }

    /// Whether links to places go on where these end, here and there.
    pub(super) fn is_followed_by(self, next: Links) -> bool {
        match (self.link, next.link) {
            (LinkTarget::Place(place), LinkTarget::Place(next_place)) => {
                (self.end(), place + self.len) == (next.first, next_place)
            }
            _ => false,
        }
    }

    pub(super) fn pack(self) -> [u32; 3] {
        let (is_back, small, large) = match self.link {
            LinkTarget::Place(place) => (0, self.len - 1, place),
            LinkTarget::Back(back) => (1, back - 1, self.len - 1),
        };
        let low = is_back << 55 | (small as u64) << 43 | large as u64;
        let all = (self.first as u128) << 56 | u128::from(low);
        [(all >> 64) as u32, (all >> 32) as u32, all as u32]
    }

    pub(super) fn unpack([high, middle, low]: [u32; 3]) -> Self {
        let low = number(middle, low);
        let first = u64::from(high) << (PLACE - 32) | low >> 56;
        let small = (low >> 43 & mask(COUNT)) as usize + 1;
        let large = (low & mask(PLACE)) as usize;
        let (len, link) = match low >> 55 & 1 {
            0 => (small, LinkTarget::Place(large)),
            _ => (large + 1, LinkTarget::Back(small)),
        };
        Links {
            first: first as usize,
            len,
            link,
        }
    }
}

/// An interval of places, and one more number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: usize,
    pub(super) len: usize,
    pub(super) other: usize,
}

impl Interval {
    pub(super) fn pack(self) -> [u32; 4] {
        let all = (self.start as u128) << 88 | (self.len as u128) << 44 | self.other as u128;
        [96, 64, 32, 0].map(|bits| (all >> bits) as u32)
    }

    pub(super) fn unpack(words: [u32; 4]) -> Self {
        let all = words
            .into_iter()
            .fold(0_u128, |all, word| all << 32 | u128::from(word));
        let low = |bits: u32| (all >> bits) as u64 & mask(44);
        Interval {
            start: (all >> 88) as usize,
            len: low(44) as usize,
            other: low(0) as usize,
        }
    }

    pub(super) fn end(self) -> usize {
        self.start + self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAST: usize = (1 << 40) - 1;

    #[test]
    fn records_come_back_and_sort_by_place() {
        for first in [0, 1, 255, 256, 77_777_777_777, LAST] {
            for len in [1, 2_049, 4_096] {
                let windows = MixedWindows { first, len };
                assert_eq!(MixedWindows::unpack(windows.pack()), windows);
                let region = HashedRegion {
                    key: (1 << 43) - 5,
                    hash: [1, u32::MAX, 3],
                    first,
                    len,
                };
                assert_eq!(HashedRegion::unpack(region.pack()), region);
                for link in [LinkTarget::Place(LAST - first), LinkTarget::Back(len)] {
                    let links = Links { first, len, link };
                    assert_eq!(Links::unpack(links.pack()), links);
                    assert_eq!(u64::from(links.pack()[0]), first as u64 >> 8);
                    assert!(u64::from(links.pack()[0]) < end_of_words(first + 1));
                }
                let links = Links {
                    first,
                    len: LAST,
                    link: LinkTarget::Back(len),
                };
                assert_eq!(Links::unpack(links.pack()), links);
                let interval = Interval {
                    start: first,
                    len: LAST,
                    other: LAST - first,
                };
                assert_eq!(Interval::unpack(interval.pack()), interval);
                assert_eq!(u64::from(interval.pack()[0]), first as u64 >> 8);
            }
            assert_eq!(window_of(pack_window(u128::MAX - 7, first)), first);
        }
        let places = [3_usize, 256, 257, 1 << 33, LAST];
        let link = LinkTarget::Place(LAST);
        let packed = places.map(|first| {
            Links {
                first,
                len: 9,
                link,
            }
            .pack()
        });
        assert!(packed.is_sorted());
    }
}
