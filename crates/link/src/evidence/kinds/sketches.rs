//! Sketches of values: which letters one has, so that most pairs of values that differ much need no comparison.

/// Letters are in so many groups, of which each has two bits: whether the value has one of them, and whether it has two.
const GROUPS: u32 = 32;

/// The group of the rarest letters and of all other signs.
const OTHERS: u32 = GROUPS - 1;

/// How much more a name's common beginning may add (Winkler): a tenth of what is missing for each of four letters.
const WINKLER: f64 = 0.4;

/// The least Jaro similarity to which a common beginning adds.
const WINKLER_FROM: f64 = 0.7;

/// Rounding errors of similarities are smaller.
const ROUNDING: f64 = 1e-9;

/// The letters of a value, roughly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    groups: u64,
    length: u32,
    /// Letters beyond the first two of their group.
    further: u32,
}

impl Sketch {
    pub(crate) fn new(value: &str) -> Self {
        let mut sketch = Sketch::default();
        for letter in value.chars() {
            let group = 2 * group(letter);
            sketch.length += 1;
            match sketch.groups >> group & 0b11 {
                0b00 => sketch.groups |= 0b01 << group,
                0b01 => sketch.groups |= 0b10 << group,
                _ => sketch.further += 1,
            }
        }
        sketch
    }

    /// How many letters two values share, at most.
    fn most_shared(self, other: Sketch) -> u32 {
        (self.groups & other.groups).count_ones() + self.further.min(other.further)
    }

    /// The number of edits between two values, at least: each makes at most one letter of the longer value a shared one.
    pub(crate) fn least_edits(self, other: Sketch) -> usize {
        let longer = self.length.max(other.length);
        longer.saturating_sub(self.most_shared(other)) as usize
    }

    /// The Jaro-Winkler similarity of two values, at most.
    pub(crate) fn most_jaro_winkler(self, other: Sketch) -> f64 {
        let shared = f64::from(self.most_shared(other));
        if shared == 0.0 {
            return 0.0;
        }
        let share = |length: u32| (shared / f64::from(length)).min(1.0);
        let jaro = (share(self.length) + share(other.length) + 1.0) / 3.0 + ROUNDING;
        if jaro > WINKLER_FROM {
            jaro + WINKLER * (1.0 - jaro).max(0.0)
        } else {
            jaro
        }
    }
}

/// The group of a letter: one for each digit and for each of the commonest letters.
fn group(letter: char) -> u32 {
    match letter {
        '0'..='9' => u32::from(letter) - u32::from('0'),
        'a'..='i' => 10 + u32::from(letter) - u32::from('a'),
        'k'..='p' => 19 + u32::from(letter) - u32::from('k'),
        'r'..='u' => 25 + u32::from(letter) - u32::from('r'),
        'w' => 29,
        'y' => 30,
        _ => OTHERS,
    }
}

#[cfg(test)]
mod tests {
    use super::super::likeness::{edits, jaro_winkler};
    use super::*;
    use simgpu::scheme::fmix64;

    /// Values of few letters, so that they repeat, and values near to others.
    fn values() -> Vec<String> {
        let letters: Vec<char> = "aabcjqz019 @éß漢".chars().collect();
        let value = |seed: u64| -> String {
            let length = fmix64(seed << 8) % 12;
            let letter = |at: u64| {
                let random = fmix64(seed << 8 | (at + 1));
                letters[usize::try_from(random % letters.len() as u64).unwrap()]
            };
            (0..length).map(letter).collect()
        };
        let mut values: Vec<String> = (0..200).map(value).collect();
        for seed in 0..100_usize {
            let changed: String = values[seed].chars().rev().collect();
            values.push(changed);
            let swapped = values[seed].replacen('a', "b", 1);
            values.push(swapped);
        }
        values
    }

    #[test]
    fn bounds_hold() {
        let values = values();
        let mut bounded = 0;
        for a in &values {
            for b in &values {
                let [sketch_a, sketch_b] = [a, b].map(|value| Sketch::new(value));
                let least = sketch_a.least_edits(sketch_b);
                assert!(least <= edits(a, b), "{a:?} {b:?}");
                if a.is_empty() || b.is_empty() {
                    continue;
                }
                let most = sketch_a.most_jaro_winkler(sketch_b);
                assert!(jaro_winkler(a, b) <= most, "{a:?} {b:?}");
                bounded += usize::from(most < 0.65);
            }
        }
        assert!(bounded > 0);
    }

    #[test]
    fn most_names_need_no_comparison() {
        let names = ["martha", "robert", "ingrid", "paul", "susan", "kim"].map(Sketch::new);
        let pairs = (0..6).flat_map(|a| (a + 1..6).map(move |b| [a, b]));
        let bounded = pairs.filter(|[a, b]| names[*a].most_jaro_winkler(names[*b]) < 0.65);
        assert!(bounded.count() >= 12);
    }

    #[test]
    fn letters_have_groups() {
        for letter in ('a'..='z').chain('0'..='9').chain([' ', 'é', '漢']) {
            assert!(group(letter) < GROUPS, "{letter}");
        }
        let alone = ('a'..='z').filter(|letter| group(*letter) < OTHERS);
        let mut groups: Vec<u32> = alone.chain('0'..='9').map(group).collect();
        let letters = groups.len();
        groups.sort_unstable();
        groups.dedup();
        assert_eq!((groups.len(), letters), (31, 31));
    }
}
