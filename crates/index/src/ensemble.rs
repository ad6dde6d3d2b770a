//! Sets that contain a share of a query (Zhu, Nargesian, Pu and Miller 2016, *LSH Ensemble: Internet-Scale Domain
//! Search*).

use std::collections::BTreeMap;

use super::lsh::LshIndex;
use super::partitions::optimal_partitions;
use simgpu::error::{Conflict, Error, Result};
use simgpu::pipeline::{Banding, ErrorRanges, ErrorWeights, Signatures};
use simgpu::scheme::Slots;

/// The share of a query that a set shall contain, and how an ensemble looks for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Containment {
    /// The least share, from 0 to 1.
    pub threshold: f64,
    /// The most rows per band. An ensemble takes up to so many times the memory of an [`LshIndex`].
    pub max_rows: usize,
    /// Weights of false positives and false negatives.
    pub weights: ErrorWeights,
}

impl Containment {
    /// At most 8 rows, and equal weights, as in datasketch.
    #[must_use]
    pub fn new(threshold: f64) -> Self {
        Containment {
            threshold,
            max_rows: 8,
            weights: ErrorWeights::EQUAL,
        }
    }

    /// The banding of at most `num_perm` slots with the least weighted error, where an indexed set has `ratio` times the
    /// size of the query.
    ///
    /// A set of `ratio` times the size that contains the share t has the Jaccard similarity `t / (1 + ratio - t)`, and t
    /// is at most `ratio`.
    ///
    /// ```
    /// use simgpu_index::Containment;
    ///
    /// // A set of ten times the size of the query that contains half of it has a similarity of 0.5 / 10.5 only.
    /// let containment = Containment::new(0.5);
    /// let rows = |ratio| containment.banding(128, ratio).map(|banding| banding.rows());
    /// assert_eq!((rows(1.0)?, rows(10.0)?), (4, 1));
    /// # Ok::<(), simgpu::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Parameter`] if the threshold lies outside 0 to 1, the ratio is no positive number, `max_rows` is 0, or
    /// `num_perm` is 0.
    pub fn banding(&self, num_perm: usize, ratio: f64) -> Result<Banding> {
        let Containment {
            threshold,
            max_rows,
            weights,
        } = *self;
        check(
            "threshold",
            threshold,
            (0.0..=1.0).contains(&threshold),
            "a share from 0 to 1",
        )?;
        check("max_rows", max_rows, max_rows > 0, "at least 1")?;
        let is_ratio = ratio > 0.0 && ratio.is_finite();
        check("ratio", ratio, is_ratio, "a positive number")?;
        // No set contains more than `ratio` of the query.
        let most = ratio.min(1.0);
        let ranges = ErrorRanges {
            below: 0.0..threshold.min(most),
            above: threshold.min(most)..most,
            similarity: |containment: f64| containment / (1.0 + ratio - containment),
        };
        ranges.least_error(num_perm, max_rows, weights)
    }
}

/// Refuses a parameter out of range.
fn check(name: &'static str, value: impl ToString, is_fit: bool, expected: &str) -> Result<()> {
    if is_fit {
        return Ok(());
    }
    Err(Error::Parameter {
        name,
        value: value.to_string(),
        expected: expected.to_owned(),
    })
}

/// An index of sets of known sizes: finds those that probably contain a share of a query's set, as datasketch's
/// `MinHashLSHEnsemble` does.
///
/// The Jaccard similarity of a large set that contains a small query is low. So the sets are cut into partitions of
/// similar sizes ([`optimal_partitions`]), and each is searched with the banding that suits the ratio of its greatest size
/// to that of the query. Each partition has an [`LshIndex`] per number of rows that some ratio needs; a query looks at as
/// many of its bands as the banding has.
///
/// Signatures are indexed at once, because the partitions depend on all sizes.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu_index::{Containment, LshEnsemble};
/// use simgpu::pipeline::{ShingleSets, Signatures};
/// use simgpu::scheme::{Hashes, Scheme};
///
/// let scheme = Scheme::default();
/// let signer = Backend::Auto.signer(&scheme)?;
/// let sign = |sets: &[Vec<u32>]| {
///     let ends = sets.iter().scan(0, |end, set| {
///         *end += set.len() as i64;
///         Some(*end)
///     });
///     let offsets: Vec<i64> = std::iter::once(0).chain(ends).collect();
///     let hashes = sets.concat();
///     let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
///     signatures.sign(&*signer, &ShingleSets::new(Hashes::U32(&hashes), &offsets)?)?;
///     Ok::<_, simgpu::Error>(signatures)
/// };
///
/// // The values of three columns of tables, and those that a query looks for.
/// let columns = sign(&[(0..50).collect(), (0..45).collect(), (900..960).collect()])?;
/// let query = sign(&[(0..45).collect()])?;
/// let ensemble = LshEnsemble::new(Containment::new(0.8), 16, &columns, &[50, 45, 60])?;
/// assert_eq!(ensemble.query(query.row(0), 45)?, [0, 1]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LshEnsemble {
    /// The bandings for [`ratios`].
    bandings: Vec<Banding>,
    partitions: Vec<Partition>,
}

/// The sets in a range of sizes.
#[derive(Clone, Debug)]
struct Partition {
    /// The greatest size.
    upper: u64,
    /// The row of each set, ascending: a number in the indexes is a place here.
    rows: Vec<u32>,
    /// An index per number of rows of a band, with as many bands as there are slots for.
    indexes: BTreeMap<usize, LshIndex>,
}

/// The ratios of the size of an indexed set to that of the query for which there are bandings: e^-5 to e^5.
fn ratios() -> impl Iterator<Item = f64> {
    (0..10u32).map(|step| (f64::from(step) * (10.0 / 9.0) - 5.0).exp())
}

impl LshEnsemble {
    /// Indexes signatures of sets of these sizes, in at most `partitions` partitions. datasketch's default is 16.
    ///
    /// # Errors
    /// [`Error::Parameter`] as [`Containment::banding`], if `max_rows` exceeds the slots of a signature, or a size or
    /// `partitions` is 0; [`Error::Conflict`] if there are more or fewer sizes than signatures.
    pub fn new(
        containment: Containment,
        partitions: usize,
        signatures: &Signatures,
        sizes: &[u64],
    ) -> Result<Self> {
        let num_perm = signatures.num_perm();
        check("partitions", partitions, partitions > 0, "at least 1")?;
        let max_rows = containment.max_rows;
        let fits = max_rows <= num_perm;
        check(
            "max_rows",
            max_rows,
            fits,
            &format!("at most {num_perm}, the slots of a signature"),
        )?;
        check("size", 0, !sizes.contains(&0), "sizes of at least 1")?;
        if sizes.len() != signatures.len() {
            return Err(Conflict::SizeCount {
                signatures: signatures.len(),
                sizes: sizes.len(),
            }
            .into());
        }
        let bandings = ratios().map(|ratio| containment.banding(num_perm, ratio));
        let mut ensemble = LshEnsemble {
            bandings: bandings.collect::<Result<_>>()?,
            partitions: Vec::new(),
        };
        for upper in upper_sizes(sizes, partitions)? {
            let partition = ensemble.partition(upper, signatures)?;
            ensemble.partitions.push(partition);
        }
        for (row, size) in (0..).zip(sizes) {
            let place = ensemble
                .partitions
                .partition_point(|part| part.upper < *size);
            ensemble.partitions[place].insert(row, signatures)?;
        }
        Ok(ensemble)
    }

    /// An empty partition.
    fn partition(&self, upper: u64, signatures: &Signatures) -> Result<Partition> {
        let num_perm = signatures.num_perm();
        let index = |banding: &Banding| {
            let rows = banding.rows();
            let banding = Banding::new(num_perm / rows, rows, num_perm)?;
            Ok((rows, LshIndex::new(banding, signatures.slot_width())))
        };
        Ok(Partition {
            upper,
            rows: Vec::new(),
            indexes: self.bandings.iter().map(index).collect::<Result<_>>()?,
        })
    }

    /// Number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.partitions.iter().map(|part| part.rows.len()).sum()
    }

    /// Whether there is no set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.partitions.is_empty()
    }

    /// The greatest set size of each partition, ascending.
    pub fn upper_sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.partitions.iter().map(|part| part.upper)
    }

    /// The rows of the sets that probably contain the share of a set of `size` members with this signature, ascending.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the size is 0; [`Error::Conflict`] if the signature has slots of another width, or too few
    /// for the bands.
    pub fn query(&self, signature: Slots<'_>, size: u64) -> Result<Vec<u32>> {
        check("size", size, size > 0, "at least 1")?;
        let mut found = Vec::new();
        for partition in &self.partitions {
            let banding = self.banding(partition.upper, size);
            if let Some(index) = partition.indexes.get(&banding.rows()) {
                let numbers = index.query_bands(signature, banding.bands())?;
                found.extend(
                    numbers
                        .iter()
                        .map(|number| partition.rows[*number as usize]),
                );
            }
        }
        found.sort_unstable();
        Ok(found)
    }

    /// The banding for sets of at most `upper` members and a query of `size`: that of the next ratio, or the last one.
    #[allow(clippy::cast_precision_loss, reason = "a ratio of sizes")]
    fn banding(&self, upper: u64, size: u64) -> Banding {
        let ratio = upper as f64 / size as f64;
        let place = ratios().take_while(|known| *known < ratio).count();
        self.bandings[place.min(self.bandings.len() - 1)]
    }
}

impl Partition {
    fn insert(&mut self, row: u32, signatures: &Signatures) -> Result<()> {
        for index in self.indexes.values_mut() {
            index.insert(signatures.row(row as usize))?;
        }
        self.rows.push(row);
        Ok(())
    }
}

/// The greatest size of each of at most `partitions` partitions, ascending.
#[allow(clippy::cast_precision_loss, reason = "sizes and counts below 2^53")]
fn upper_sizes(sizes: &[u64], partitions: usize) -> Result<Vec<u64>> {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    for size in sizes {
        *counts.entry(*size).or_default() += 1;
    }
    if counts.is_empty() {
        return Ok(Vec::new());
    }
    let distinct: Vec<u64> = counts.keys().copied().collect();
    let sizes: Vec<f64> = distinct.iter().map(|size| *size as f64).collect();
    let documents: Vec<f64> = counts.values().copied().map(f64::from).collect();
    let ends = optimal_partitions(&sizes, &documents, partitions.min(distinct.len()))?;
    Ok(ends.iter().map(|end| distinct[*end]).collect())
}

#[cfg(test)]
mod tests;
