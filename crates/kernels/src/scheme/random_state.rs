//! NumPy's legacy `RandomState`, from which the Python tools draw their coefficients.
//!
//! MT19937 (Matsumoto and Nishimura 1998) with the classic `init_genrand`, and `randint` by masked rejection.
//! The stream is part of the schemes' definition, so it is written here: a dependency might change it.

const N: usize = 624;
const M: usize = 397;

/// The generator `numpy.random.RandomState(seed)`.
#[derive(Clone, Debug)]
pub(super) struct RandomState {
    state: [u32; N],
    next: usize,
}

impl RandomState {
    pub(super) fn new(seed: u32) -> Self {
        let mut state = [seed; N];
        for (i, index) in (1..N).zip(1u32..) {
            let previous = state[i - 1];
            state[i] = (previous ^ (previous >> 30))
                .wrapping_mul(1_812_433_253)
                .wrapping_add(index);
        }
        RandomState { state, next: N }
    }

    fn u32(&mut self) -> u32 {
        if self.next == N {
            self.twist();
        }
        let mut y = self.state[self.next];
        self.next += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9D2C_5680;
        y ^= (y << 15) & 0xEFC6_0000;
        y ^ (y >> 18)
    }

    /// Combines two 32-bit draws, the first as the high word.
    fn u64(&mut self) -> u64 {
        let high = self.u32();
        u64::from(high) << 32 | u64::from(self.u32())
    }

    fn twist(&mut self) {
        for i in 0..N {
            let y = (self.state[i] & 0x8000_0000) | (self.state[(i + 1) % N] & 0x7FFF_FFFF);
            let odd = if y & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.state[i] = self.state[(i + M) % N] ^ (y >> 1) ^ odd;
        }
        self.next = 0;
    }

    /// `randint(low, last + 1)`: uniform over `low..=last`.
    pub(super) fn randint(&mut self, low: u64, last: u64) -> u64 {
        let range = last - low;
        if range == 0 {
            return low;
        }
        let mask = u64::MAX >> range.leading_zeros();
        loop {
            let draw = if range <= u64::from(u32::MAX) {
                u64::from(self.u32())
            } else {
                self.u64()
            };
            if draw & mask <= range {
                return low + (draw & mask);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_equals_that_of_mt19937() {
        // mt19937ar's first outputs for init_genrand(5489), the generator's documented default.
        let mut random = RandomState::new(5489);
        assert_eq!([random.u32(), random.u32()], [3_499_211_612, 581_869_302]);
        let mut random = RandomState::new(5489);
        let last = (0..10_000).map(|_| random.u32()).last();
        assert_eq!(last, Some(4_123_659_995));
    }

    #[test]
    fn first_draws_equal_those_of_numpy() {
        let p61 = (1 << 61) - 1;
        let mut random = RandomState::new(1);
        let draws: Vec<_> = (0..2)
            .map(|_| (random.randint(1, p61 - 1), random.randint(0, p61 - 1)))
            .collect();
        assert_eq!(
            draws,
            [
                (775_169_054_918_279_404, 1_758_426_461_858_698_312),
                (2_109_959_069_025_162, 965_365_488_286_768_773)
            ]
        );
    }
}
