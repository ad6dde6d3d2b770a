//! Throughput of every stage, by backend and scheme.
//!
//! ```text
//! clock       time, and the current speed of the core
//! checksum    checksums of results
//! runner      measures workloads in rounds
//! axes        which values each axis takes, and how often a case runs
//! sign        workloads: shingle hashes and texts to signatures
//! stages      workloads: shingling, banding, buckets, verification
//! dedup       workloads: whole runs over files
//! device      workloads: the steps of one load on a GPU
//! cases       the cases of a plan
//! measure     all of it
//! ```

mod clock;

mod checksum;

mod runner;

mod axes;

mod sign;

mod stages;

mod dedup;

#[cfg(feature = "gpu")]
mod device;

mod cases;

mod measure;

pub(crate) use self::measure::measure;

#[cfg(test)]
mod tests;
