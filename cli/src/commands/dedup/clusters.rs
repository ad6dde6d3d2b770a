//! Which documents of a group stay, and what happens to short ones.

use std::num::{NonZeroU32, NonZeroUsize};

use clap::{Args, ValueEnum};
use simgpu::pipeline::{Clustering, KeepPolicy};
use simgpu::search::{Dedup, Search, ShortDocuments};

use crate::arguments::whole_number;

/// How similar documents form clusters, and which of each to keep.
#[derive(Args, Debug)]
pub struct ClusterArguments {
    /// Which document of each cluster to keep
    #[arg(
        long,
        value_enum,
        value_name = "DOCUMENT",
        default_value = "first",
        help_heading = "Search"
    )]
    pub keep: KeepArgument,

    /// How to form clusters of near-duplicates
    #[arg(
        long,
        value_enum,
        value_name = "METHOD",
        default_value = "greedy",
        help_heading = "Search"
    )]
    pub cluster: ClusterArgument,

    /// Maximum number of documents of one LSH bucket to compare a further document with; a warning counts the
    /// pairs that this leaves out; an exact join leaves out none
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroUsize>,
        default_value = "4096",
        help_heading = "Search",
        // After the options of the search.
        display_order = 1000
    )]
    pub max_bucket: NonZeroUsize,
}

/// What happens to documents of few shingles.
#[derive(Args, Debug, Default)]
pub struct ShortArguments {
    /// Compare only documents with at least this many distinct shingles; keep those with fewer, even copies
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroU32>,
        help_heading = "Search"
    )]
    pub min_shingles: Option<NonZeroU32>,

    /// Remove documents with fewer shingles than --min-shingles
    #[arg(long, help_heading = "Search")]
    pub drop_short: bool,

    /// Remove documents without shingles
    #[arg(long, help_heading = "Search")]
    pub drop_empty: bool,
}

impl ShortArguments {
    /// What a deduplication does with them.
    pub fn documents(&self) -> ShortDocuments {
        ShortDocuments {
            min_shingles: self.min_shingles.map_or(0, NonZeroU32::get),
            drop_short: self.drop_short,
            drop_empty: self.drop_empty,
        }
    }
}

impl ClusterArguments {
    /// A deduplication by a search.
    pub fn task(&self, search: Search) -> Dedup {
        Dedup {
            search,
            clustering: match self.cluster {
                ClusterArgument::Greedy => Clustering::Greedy,
                ClusterArgument::Connected => Clustering::Connected,
            },
            keep: match self.keep {
                KeepArgument::First => KeepPolicy::First,
                KeepArgument::Longest => KeepPolicy::Longest,
            },
            max_bucket: self.max_bucket.get(),
            short: ShortDocuments::default(),
        }
    }
}

/// The value of `--keep`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum KeepArgument {
    /// The first in the order of the inputs
    First,
    /// The one with the longest text; if several are equally long, the first
    Longest,
}

/// The value of `--cluster`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ClusterArgument {
    /// Remove a document only if it is similar to a kept one
    Greedy,
    /// Keep one document of each set of documents that chains of similar pairs connect
    Connected,
}
