//! Pairs of sets of known similarity.
//!
//! A draw returns one set A and a set B for each requested similarity. Except for edited texts, all sets are windows of
//! one sequence of distinct shingle hashes: A is the first n of them, and a B that shares i elements with A starts at
//! n - i, so that J = i / (2n - i).
//!
//! Of weighted elements, every second one that both sets have weighs the same in both, and the others have two weights.
//! The similarity is that of the weights, the sets are those of copies.

use std::collections::HashSet;

use super::edits::Edits;
use super::random::SplitMix64;
use super::shingles::{SHINGLE_WORDS, distinct_shingles};
use super::weights::WeightLaw;
use crate::BenchCorpus;
use simgpu::Result;
use simgpu::pipeline::ShingleSets;
use simgpu::scheme::Hashes;
use simgpu::scheme::{Copies, ShingleHash, Width, words_v1};

/// The kind of elements in a set.
#[derive(Clone, Debug)]
pub enum SetSource {
    /// Random hashes.
    Random,
    /// Consecutive integers from a random start below 2^31.
    Interval,
    /// Integers below 2^32 with one random odd stride.
    Progression,
    /// Shingles of five words drawn by Zipf's law from 10,000.
    Zipf,
    /// Shingles of five words of a real text, with words replaced.
    Edits(Edits),
    /// Random hashes with weights.
    Weighted(WeightLaw),
}

/// Set A and each set B of one trial.
#[derive(Clone, Debug)]
pub(crate) struct SetPairs {
    wide: Vec<u64>,
    wide_offsets: Vec<i64>,
    narrow: Vec<u32>,
    narrow_offsets: Vec<i64>,
    /// Exact Jaccard similarity of A and each B.
    pub(super) similarities: Vec<f64>,
}

impl SetPairs {
    /// The sets as hashes of a width, A first.
    ///
    /// # Errors
    /// None: offsets fit hashes.
    pub(crate) fn sets(&self, width: Width) -> Result<ShingleSets<'_>> {
        match width {
            Width::U32 => ShingleSets::new(Hashes::U32(&self.narrow), &self.narrow_offsets),
            Width::U64 => ShingleSets::new(Hashes::U64(&self.wide), &self.wide_offsets),
        }
    }

    /// From the sets, A first, and the similarity of each B.
    fn of(sets: &[&[u64]], similarities: Vec<f64>, narrow: impl Fn(u64) -> u32) -> Self {
        let wide = sets.concat();
        let mut offsets = vec![0];
        let mut end = 0;
        for set in sets {
            end += set.len() as i64;
            offsets.push(end);
        }
        SetPairs {
            narrow: wide.iter().map(|hash| narrow(*hash)).collect(),
            narrow_offsets: offsets.clone(),
            wide,
            wide_offsets: offsets,
            similarities,
        }
    }

    /// From weighted elements of a law: the first `set_size`, and as many from each start on.
    fn weighted(
        law: WeightLaw,
        elements: &[u64],
        set_size: usize,
        starts: impl Iterator<Item = usize>,
        random: &mut SplitMix64,
    ) -> Option<Self> {
        let scale = law.scale(set_size).ok()?;
        let mut draw = || scale.fixed(law.draw(random));
        let weights_a: Vec<u64> = elements.iter().map(|_| draw()).collect();
        let mut pairs = SetPairs {
            wide: Vec::new(),
            wide_offsets: vec![0],
            narrow: Vec::new(),
            narrow_offsets: vec![0],
            similarities: Vec::new(),
        };
        for (number, start) in starts.enumerate() {
            let mut in_a = weights_a.clone();
            in_a[set_size..].fill(0);
            let mut own = vec![0; elements.len()];
            for at in start..start + set_size {
                let is_same = number == 0 || at % 2 == 0;
                own[at] = if is_same { weights_a[at] } else { draw() };
                elements[at].for_each_copy(own[at], |copy| pairs.wide.push(copy));
                low_half(elements[at]).for_each_copy(own[at], |copy| pairs.narrow.push(copy));
            }
            pairs.wide_offsets.push(pairs.wide.len() as i64);
            pairs.narrow_offsets.push(pairs.narrow.len() as i64);
            if number > 0 {
                let both = || in_a.iter().zip(&own);
                let lesser: u64 = both().map(|(a, b)| a.min(b)).sum();
                let greater: u64 = both().map(|(a, b)| a.max(b)).sum();
                pairs.similarities.push(lesser as f64 / greater as f64);
            }
        }
        Some(pairs)
    }
}

/// The distinct numbers of shared elements that bring two sets of `set_size` closest to each requested similarity.
pub(super) fn shared_sizes(set_size: usize, similarities: &[f64]) -> Vec<usize> {
    let mut sizes: Vec<usize> = Vec::new();
    for requested in similarities {
        let distance = |shared: &usize| (similarity_of(set_size, *shared) - requested).abs();
        let nearest = (0..=set_size).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        sizes.extend(nearest);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The Jaccard similarity of two sets of `set_size` with `shared` common elements.
pub(crate) fn similarity_of(set_size: usize, shared: usize) -> f64 {
    shared as f64 / (2 * set_size - shared) as f64
}

impl SetSource {
    /// All kinds.
    pub(super) fn all(corpus: &BenchCorpus) -> Vec<SetSource> {
        let unweighted = [
            SetSource::Random,
            SetSource::Interval,
            SetSource::Progression,
            SetSource::Zipf,
            SetSource::Edits(Edits::of(corpus)),
        ];
        let weighted = WeightLaw::ALL.map(SetSource::Weighted);
        unweighted.into_iter().chain(weighted).collect()
    }

    /// The name in the tables.
    pub(super) fn name(&self) -> &'static str {
        match self {
            SetSource::Random => "random",
            SetSource::Interval => "interval",
            SetSource::Progression => "progression",
            SetSource::Zipf => "zipf",
            SetSource::Edits(_) => "edits",
            SetSource::Weighted(law) => law.name(),
        }
    }

    /// Draws A of `set_size` elements, and a B for each number of shared elements. `None` if the corpus is too small.
    pub(crate) fn draw(
        &self,
        set_size: usize,
        shared: &[usize],
        random: &mut SplitMix64,
    ) -> Option<SetPairs> {
        let least = shared.iter().min().copied().unwrap_or(set_size);
        let len = 2 * set_size - least;
        let elements = match self {
            SetSource::Random | SetSource::Weighted(_) => random_hashes(len, random),
            SetSource::Interval => progression(random.next_u64() >> 33, 1, len),
            SetSource::Progression => {
                let start = random.next_u64() >> 33;
                // All elements stay below 2^32, so that they are one progression for every width and modulus.
                let steps = (1 << 30) / len.max(1);
                progression(start, 2 * random.below(steps) as u64 + 1, len)
            }
            SetSource::Zipf => zipf_shingles(len, random),
            SetSource::Edits(edits) => {
                let similarities = shared.iter().map(|shared| similarity_of(set_size, *shared));
                let edited = edits.draw(set_size, &similarities.collect::<Vec<_>>(), random)?;
                let sets: Vec<&[u64]> = edited.sets.iter().map(Vec::as_slice).collect();
                return Some(SetPairs::of(&sets, edited.similarities, u32::of_words));
            }
        };
        let others = shared.iter().map(|shared| set_size - shared);
        let starts = std::iter::once(0).chain(others);
        if let SetSource::Weighted(law) = self {
            return SetPairs::weighted(*law, &elements, set_size, starts, random);
        }
        let windows: Vec<&[u64]> = starts
            .filter_map(|start| elements.get(start..start + set_size))
            .collect();
        let similarities = shared.iter().map(|shared| similarity_of(set_size, *shared));
        let narrow = match self {
            SetSource::Zipf => u32::of_words,
            _ => low_half,
        };
        Some(SetPairs::of(&windows, similarities.collect(), narrow))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "truncation is the purpose")]
fn low_half(hash: u64) -> u32 {
    hash as u32
}

/// Hashes with distinct low halves.
fn random_hashes(len: usize, random: &mut SplitMix64) -> Vec<u64> {
    let mut seen = HashSet::with_capacity(len);
    let hashes = std::iter::repeat_with(|| random.next_u64());
    let distinct = hashes.filter(|hash| seen.insert(low_half(*hash)));
    distinct.take(len).collect()
}

fn progression(start: u64, stride: u64, len: usize) -> Vec<u64> {
    (0..len as u64).map(|i| start + i * stride).collect()
}

/// The first `len` distinct shingles of an endless text.
fn zipf_shingles(len: usize, random: &mut SplitMix64) -> Vec<u64> {
    let mut draws = std::iter::repeat_with(|| zipf_word(random));
    let mut text: Vec<u64> = draws.by_ref().take(len + SHINGLE_WORDS - 1).collect();
    loop {
        let mut shingles = distinct_shingles(&text);
        if shingles.len() >= len {
            shingles.truncate(len);
            return shingles;
        }
        text.extend(draws.by_ref().take(len - shingles.len()));
    }
}

/// Hash of a random word out of 10,000; frequency is about proportional to 1 / rank.
fn zipf_word(random: &mut SplitMix64) -> u64 {
    const WORDS: f64 = 10_000.0;
    // The first r words have a share of about ln(r) / ln(WORDS), so that r = WORDS^u with u uniform.
    let u = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let rank = WORDS.powf(u).floor();
    words_v1::word(format!("w{rank}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::pipeline::jaccard;

    fn sorted<H: Copy + Ord>(hashes: &[H], sets: &ShingleSets<'_>) -> Vec<Vec<H>> {
        let sorted = |i| {
            let mut set = hashes[sets.range(i)].to_vec();
            set.sort_unstable();
            set.dedup();
            set
        };
        (0..sets.len()).map(sorted).collect()
    }

    /// Stated similarities equal those of the sets in both widths.
    #[test]
    fn similarities_are_exact() {
        for input in [
            SetSource::Random,
            SetSource::Interval,
            SetSource::Progression,
            SetSource::Zipf,
        ] {
            for set_size in [1, 2, 8, 1000] {
                let shared = shared_sizes(set_size, &[0.1, 0.5, 0.9]);
                let mut random = SplitMix64::of(&[3]);
                let pairs = input.draw(set_size, &shared, &mut random).unwrap();
                assert_eq!(pairs.similarities.len(), shared.len());
                for width in [Width::U32, Width::U64] {
                    let sets = pairs.sets(width).unwrap();
                    let similarities: Vec<f64> = match sets.hashes() {
                        Hashes::U32(hashes) => similarities(&sorted(hashes, &sets)),
                        Hashes::U64(hashes) => similarities(&sorted(hashes, &sets)),
                    };
                    assert_eq!(similarities, pairs.similarities, "{input:?}");
                }
            }
        }
    }

    fn similarities<H: Ord>(sets: &[Vec<H>]) -> Vec<f64> {
        assert!(sets.iter().all(|set| set.len() == sets[0].len()));
        sets[1..].iter().map(|set| jaccard(&sets[0], set)).collect()
    }

    #[test]
    fn shared_sizes_are_closest_and_distinct() {
        let requested = [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95];
        assert_eq!(shared_sizes(1, &requested), [0, 1]);
        assert_eq!(shared_sizes(2, &requested), [0, 1, 2]);
        assert_eq!(shared_sizes(128, &requested).len(), 7);
        assert_eq!(similarity_of(9, 6), 0.5);
        assert_eq!(shared_sizes(9, &[0.5]), [6]);
    }

    #[test]
    fn progressions_have_one_odd_stride() {
        let mut random = SplitMix64::of(&[4]);
        for (input, is_interval) in [(SetSource::Interval, true), (SetSource::Progression, false)] {
            let pairs = input.draw(5000, &[2500], &mut random).unwrap();
            let set = &pairs.wide[..5000];
            let stride = set[1] - set[0];
            assert!(set.windows(2).all(|pair| pair[1] - pair[0] == stride));
            assert!(stride % 2 == 1 && (stride == 1) == is_interval);
            assert!(
                pairs
                    .wide
                    .iter()
                    .zip(&pairs.narrow)
                    .all(|(wide, narrow)| *wide == u64::from(*narrow))
            );
        }
    }

    /// P(r) = ln((r + 1) / r) / ln(10,000).
    #[test]
    fn word_frequencies_follow_zipf() {
        let word = |rank: u32| words_v1::word(format!("w{rank}").as_bytes());
        let mut random = SplitMix64::of(&[5]);
        let words: Vec<u64> = std::iter::repeat_with(|| zipf_word(&mut random))
            .take(100_000)
            .collect();
        let count = |rank| words.iter().filter(|it| **it == word(rank)).count() as f64;
        assert!(
            (count(1) / count(2) - 1.7).abs() < 0.1,
            "{} {}",
            count(1),
            count(2)
        );
        assert!((count(1) / count(10) - 7.27).abs() < 0.8);
    }
}
