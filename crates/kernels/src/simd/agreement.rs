//! How far two places of a text agree, forwards and backwards.
//!
//! Places, not slices: around nearly every place of a text there are 64 bytes to load, so that a short comparison is one
//! load per side without a mask, whatever its limit.

use super::isa::Isa;
use super::kernel::Kernel;
use super::lanes::Lanes;

/// Bytes that are compared at a time.
const BLOCK: usize = 64;

/// The number of bytes from places `a` and `b` on that agree, at most `limit`. Both places have as many.
#[inline]
#[doc(hidden)]
pub fn agree_ahead(isa: Isa, text: &[u8], [a, b]: [usize; 2], limit: usize) -> usize {
    isa.run(Ahead { text, a, b, limit })
}

/// The number of bytes before places `a` and `b` that agree, at most `limit`. Both places have as many.
#[inline]
#[doc(hidden)]
pub fn agree_behind(isa: Isa, text: &[u8], [a, b]: [usize; 2], limit: usize) -> usize {
    isa.run(Behind { text, a, b, limit })
}

struct Ahead<'a> {
    text: &'a [u8],
    a: usize,
    b: usize,
    limit: usize,
}

impl Kernel for Ahead<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let Ahead { text, a, b, limit } = self;
        let mut done = 0;
        while done < limit {
            let block = |place: usize| text.get(place + done..)?.first_chunk::<BLOCK>();
            let (Some(x), Some(y)) = (block(a), block(b)) else {
                let tails = text[a + done..].iter().zip(&text[b + done..]);
                return done + tails.take(limit - done).take_while(|(x, y)| x == y).count();
            };
            let same = lanes.bits(lanes.same(lanes.load_bytes(x), lanes.load_bytes(y)));
            if same != u64::MAX {
                done += same.trailing_ones() as usize;
                break;
            }
            // Not a sum with what was compared: the next loads would wait for these.
            done += BLOCK;
        }
        done.min(limit)
    }
}

struct Behind<'a> {
    text: &'a [u8],
    a: usize,
    b: usize,
    limit: usize,
}

impl Kernel for Behind<'_> {
    type Output = usize;

    #[inline(always)]
    fn run<L: Lanes>(self, lanes: L) -> usize {
        let Behind { text, a, b, limit } = self;
        let mut done = 0;
        while done < limit {
            let block = |place: usize| text.get(..place - done)?.last_chunk::<BLOCK>();
            let (Some(x), Some(y)) = (block(a), block(b)) else {
                let heads = text[..a - done]
                    .iter()
                    .rev()
                    .zip(text[..b - done].iter().rev());
                return done + heads.take(limit - done).take_while(|(x, y)| x == y).count();
            };
            let same = lanes.bits(lanes.same(lanes.load_bytes(x), lanes.load_bytes(y)));
            if same != u64::MAX {
                done += same.leading_ones() as usize;
                break;
            }
            done += BLOCK;
        }
        done.min(limit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::scheme::fmix64;

    proptest! {
        #[test]
        fn every_isa_equals_a_loop_over_bytes(
            alphabet in 1..3u8,
            seed: u64,
            len in 0..400usize,
            places: [prop::sample::Index; 2],
            limit in 0..400usize,
        ) {
            let text: Vec<u8> = (0..len as u64)
                .map(|i| fmix64(seed ^ (i / 40)) % u64::from(alphabet))
                .map(|letter| u8::try_from(letter).unwrap())
                .collect();
            let [a, b] = places.map(|place| place.index(len + 1));
            let ahead = limit.min(len - a.max(b));
            let expected = (0..ahead).take_while(|i| text[a + i] == text[b + i]).count();
            let behind = limit.min(a.min(b));
            let before = (1..=behind).take_while(|i| text[a - i] == text[b - i]).count();
            for isa in Isa::available() {
                prop_assert_eq!(agree_ahead(*isa, &text, [a, b], ahead), expected, "{}", isa);
                prop_assert_eq!(agree_behind(*isa, &text, [a, b], behind), before, "{}", isa);
            }
        }
    }
}
