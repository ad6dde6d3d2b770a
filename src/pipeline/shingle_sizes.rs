//! Sizes of shingles to choose from, by what random documents of a sample share (MMDS 3.2.2).

use super::banding::Banding;
use super::shingle::{Scratch, Shingler, Shingling};
use super::verify::jaccard;
use crate::documents::Documents;
use crate::error::Result;
use crate::scheme::{Scheme, fmix64};
use crate::threads::{collect_blocks, even_block, sort};

/// The sizes that [`survey_sizes`] tries.
const SIZES: std::ops::RangeInclusive<usize> = 1..=12;

/// Most random pairs.
const PAIRS: usize = 20_000;

/// What shingles of each size do in a sample; the result of [`survey_sizes`].
#[derive(Clone, Debug, PartialEq)]
pub struct SizeSurvey {
    /// Number of documents.
    pub documents: usize,
    /// Number of random pairs of documents; all pairs if there are few.
    pub pairs: usize,
    /// Sizes from 1 to 12.
    pub sizes: Vec<SizeEffect>,
}

/// Why [`SizeSurvey::choice`] chose a size: the least of 1 to 12 for which this holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeRule {
    /// 99 of 100 random pairs have at most the similarity [`SizeSurvey::LITTLE`].
    NearlyAllPairs,
    /// Random pairs have at most this mean similarity. The second choice, for documents of which many share whole
    /// passages: no size makes these pairs dissimilar.
    MeanOfPairs,
}

impl SizeSurvey {
    /// The similarity that counts as little.
    pub const LITTLE: f64 = 0.05;

    /// The least size at which random documents share little, by the first rule that any size obeys; `None` if no size
    /// obeys either.
    pub fn choice(&self) -> Option<(SizeRule, &SizeEffect)> {
        let least = |rule, of: fn(&SizeEffect) -> f64| {
            let mut sizes = self.sizes.iter();
            let least = sizes.find(|effect| of(effect) <= Self::LITTLE);
            least.map(|effect| (rule, effect))
        };
        let mean_rule = || least(SizeRule::MeanOfPairs, SizeEffect::mean_similarity);
        least(SizeRule::NearlyAllPairs, SizeEffect::high_similarity).or_else(mean_rule)
    }
}

/// What shingles of one size do in a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeEffect {
    /// Units per shingle.
    pub size: usize,
    /// Mean number of distinct shingles of a document.
    pub mean_shingles: f64,
    /// Number of distinct shingles in all documents.
    pub distinct_shingles: usize,
    /// Exact Jaccard similarities of the random pairs, ascending.
    similarities: Vec<f64>,
}

impl SizeEffect {
    /// The mean of a function of the similarity over the random pairs; 0 without pairs.
    fn mean(&self, of: impl Fn(f64) -> f64) -> f64 {
        let sum: f64 = self.similarities.iter().map(|s| of(*s)).sum();
        sum / self.similarities.len().max(1) as f64
    }

    /// The mean similarity of random pairs.
    pub fn mean_similarity(&self) -> f64 {
        self.mean(|similarity| similarity)
    }

    /// The similarity that 99 of 100 random pairs do not exceed: their 99th percentile by nearest rank.
    pub fn high_similarity(&self) -> f64 {
        let rank = (99 * self.similarities.len()).div_ceil(100);
        let highest = rank.checked_sub(1).and_then(|at| self.similarities.get(at));
        highest.copied().unwrap_or_default()
    }

    /// The expected share of random pairs that become candidates.
    pub fn candidate_share(&self, banding: Banding) -> f64 {
        self.mean(|similarity| banding.candidate_probability(similarity))
    }
}

/// Cuts documents into shingles of 1 to 12 units, and compares random pairs of them exactly. `shingling` decides all
/// but the size; `seed` draws the pairs.
///
/// ```
/// use simgpu::pipeline::{Shingling, Unit, survey_sizes};
/// use simgpu::scheme::Scheme;
///
/// let texts = ["the plane was ready", "she read the same plan", "where the easy reader stays"];
/// let survey = survey_sizes(&texts, &Shingling::of(Unit::Chars), &Scheme::default(), 1)?;
/// // They have most letters in common, and no seven letters in a row.
/// assert!(survey.sizes[0].mean_similarity() > 0.6);
/// assert_eq!(survey.sizes[6].mean_similarity(), 0.0);
/// assert!(survey.choice().unwrap().1.size > 1);
/// # Ok::<(), simgpu::Error>(())
/// ```
///
/// # Errors
/// [`Conflict::SizeOfUnit`](crate::error::Conflict::SizeOfUnit) if the size of the unit is fixed; errors of
/// [`Shingler::new`] and [`Shingler::check_forms`].
pub fn survey_sizes<D: Documents + Sync + ?Sized>(
    documents: &D,
    shingling: &Shingling,
    scheme: &Scheme,
    seed: u32,
) -> Result<SizeSurvey> {
    let pairs = random_pairs(documents.len(), seed);
    let effect = |size: usize| {
        let size = std::num::NonZeroUsize::MIN.saturating_add(size - 1);
        let shingler = Shingler::new(shingling.clone().with_size(size)?, scheme, None)?;
        shingler.check_forms(documents)?;
        let rows = documents.len();
        let sets = collect_blocks(rows, even_block(rows), |range| {
            let mut scratch = Scratch::default();
            let exact_set = |row| {
                let mut set = Vec::new();
                shingler.exact_set(documents.get(row), &mut scratch, &mut set);
                set
            };
            range.map(exact_set).collect::<Vec<Vec<u64>>>()
        });
        let similarity = |(a, b): &(usize, usize)| jaccard(&sets[*a], &sets[*b]);
        let mut similarities = collect_blocks(pairs.len(), even_block(pairs.len()), |range| {
            pairs[range].iter().map(similarity).collect()
        });
        similarities.sort_unstable_by(f64::total_cmp);
        let mut all = sets.concat();
        let shingles = all.len();
        sort(&mut all);
        all.dedup();
        Ok(SizeEffect {
            size: size.get(),
            mean_shingles: shingles as f64 / documents.len().max(1) as f64,
            distinct_shingles: all.len(),
            similarities,
        })
    };
    Ok(SizeSurvey {
        documents: documents.len(),
        pairs: pairs.len(),
        sizes: SIZES.map(effect).collect::<Result<_>>()?,
    })
}

/// Random pairs of different rows; all pairs if they are no more than [`PAIRS`].
fn random_pairs(rows: usize, seed: u32) -> Vec<(usize, usize)> {
    if rows * rows.saturating_sub(1) / 2 <= PAIRS {
        return (1..rows)
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .collect();
    }
    // The upper half of a product is below the factor, so it fits.
    let draw = |number: u64, below: usize| {
        let random = u128::from(fmix64(u64::from(seed) << 32 ^ fmix64(number)));
        usize::try_from((random * below as u128) >> 64).unwrap_or(0)
    };
    let pair = |number: u64| {
        let a = draw(2 * number, rows);
        // One of the others.
        let b = draw(2 * number + 1, rows - 1);
        (a, b + usize::from(b >= a))
    };
    (0..PAIRS as u64).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::shingle::Unit;
    use super::*;

    #[test]
    fn random_pairs_are_spread_evenly() {
        assert_eq!(random_pairs(3, 1), [(0, 1), (0, 2), (1, 2)]);
        assert!(random_pairs(1, 1).is_empty() && random_pairs(0, 1).is_empty());
        let pairs = random_pairs(1000, 1);
        assert_eq!(pairs.len(), PAIRS);
        assert!(pairs.iter().all(|(a, b)| a != b && a.max(b) < &1000));
        let mean = |of: fn(&(usize, usize)) -> usize| pairs.iter().map(of).sum::<usize>() / PAIRS;
        assert!(mean(|(a, _)| *a).abs_diff(500) < 10 && mean(|(_, b)| *b).abs_diff(500) < 10);
        let distinct: BTreeSet<_> = pairs.iter().collect();
        assert!(distinct.len() > PAIRS * 95 / 100);
        assert_ne!(random_pairs(1000, 2), pairs);
    }

    /// All figures against sets of strings.
    #[test]
    fn figures_match_their_definitions() {
        let texts = ["abcabc", "bcd", "xyz", "abxy"];
        let shingling = Shingling::of(Unit::Chars);
        let survey = survey_sizes(&texts, &shingling, &Scheme::default(), 1).unwrap();
        assert_eq!(
            (survey.documents, survey.pairs, survey.sizes.len()),
            (4, 6, 12)
        );
        for effect in &survey.sizes {
            // A text shorter than a shingle is one.
            let set = |text: &'static str| {
                let size = effect.size.min(text.len());
                let starts = 0..=text.len() - size;
                starts
                    .map(|at| &text[at..at + size])
                    .collect::<BTreeSet<_>>()
            };
            let sets = texts.map(set);
            let all: BTreeSet<&str> = sets.iter().flatten().copied().collect();
            assert_eq!(effect.distinct_shingles, all.len());
            let sum: usize = sets.iter().map(BTreeSet::len).sum();
            assert_eq!(effect.mean_shingles, sum as f64 / 4.0);
            let mut similarities: Vec<f64> = random_pairs(4, 1)
                .iter()
                .map(|(a, b)| {
                    let shared = sets[*a].intersection(&sets[*b]).count();
                    shared as f64 / sets[*a].union(&sets[*b]).count() as f64
                })
                .collect();
            similarities.sort_by(f64::total_cmp);
            assert_eq!(effect.similarities, similarities);
            assert!(
                (effect.mean_similarity() - similarities.iter().sum::<f64>() / 6.0).abs() < 1e-12
            );
            assert_eq!(effect.high_similarity(), similarities[5]);
            let banding = Banding::new(2, 1, 2).unwrap();
            let share = similarities
                .iter()
                .map(|s| 1.0 - (1.0 - s) * (1.0 - s))
                .sum::<f64>()
                / 6.0;
            assert!((effect.candidate_share(banding) - share).abs() < 1e-12);
        }
        // "ab", "bc" and "xy" are shared; of three letters in a row, none is.
        let (rule, effect) = survey.choice().unwrap();
        assert_eq!((rule, effect.size), (SizeRule::NearlyAllPairs, 3));
    }

    /// Two of ten documents are equal, at every size; or all are.
    #[test]
    fn repeated_passages_leave_the_mean_to_choose() {
        let mut texts: Vec<String> = (0..9).map(|i| format!("{i}{}", i + 1)).collect();
        texts.push("01".to_owned());
        let survey = |texts: &Vec<String>| {
            let shingling = Shingling::of(Unit::Chars);
            survey_sizes(texts, &shingling, &Scheme::default(), 1).unwrap()
        };
        // One pair of 45 has similarity 1, more than one of 100. Neighbours share a digit of three.
        let survey_of_ten = survey(&texts);
        let (rule, effect) = survey_of_ten.choice().unwrap();
        assert_eq!((rule, effect.size), (SizeRule::MeanOfPairs, 2));
        assert_eq!(effect.mean_similarity(), 1.0 / 45.0);
        assert_eq!(survey(&vec!["the same text".to_owned(); 3]).choice(), None);
    }

    #[test]
    fn a_sample_without_pairs_has_no_similarity() {
        let none: [&str; 0] = [];
        let survey = survey_sizes(&none, &Shingling::default(), &Scheme::default(), 1).unwrap();
        let (_, effect) = survey.choice().unwrap();
        assert_eq!(
            (survey.pairs, effect.mean_shingles, effect.mean_similarity()),
            (0, 0.0, 0.0)
        );
        let fixed = Shingling::of(Unit::StopWords(super::super::StopWords::english()));
        assert!(survey_sizes(&none, &fixed, &Scheme::default(), 1).is_err());
    }
}
