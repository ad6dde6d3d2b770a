//! Indexes that are searched many times, while more is added.
//!
//! With the feature `index`, `Index` keeps documents in a folder: it finds those that a search of all of them would find.
//! The others keep signatures in memory; they take them one by one, and find similar ones.
//!
//! | index | finds | source |
//! |---|---|---|
//! | [`LshIndex`] | signatures that share a band: probably those above a similarity | MMDS 3.4 |
//! | [`LshForest`] | the `k` signatures with the longest common prefixes: probably the most similar ones | Bawa, Condie and Ganesan 2005 |
//! | [`LshEnsemble`] | sets that probably contain a share of the query's set | Zhu, Nargesian, Pu and Miller 2016 |
//!
//! They find what the indexes of datasketch find. For the duplicates or similar pairs of a whole corpus, use
//! [`search`](crate::search), which reads the corpus once and holds no table of it.
//!
//! **Numbers, not keys.** An index numbers its signatures as they come, from 0, and answers with numbers. Whoever has
//! keys holds a `Vec` of them beside the index, or a map. An index generic over keys was given up: the keys of the Python
//! package are compared by code of their own, which may fail, or use the index itself; and a map of keys that the caller
//! often has already would be held twice.

#[cfg(feature = "index")]
mod store;

#[cfg(feature = "index")]
mod access;

#[cfg(feature = "index")]
mod journals;

#[cfg(feature = "index")]
mod store_copy;

#[cfg(feature = "index")]
mod filter;

#[cfg(feature = "index")]
mod document;

#[cfg(feature = "index")]
mod header;

#[cfg(feature = "index")]
mod lists;

#[cfg(feature = "index")]
mod order;

#[cfg(feature = "index")]
mod prefix;

#[cfg(feature = "index")]
mod signed;

#[cfg(feature = "index")]
mod pending;

#[cfg(feature = "index")]
mod hits;

#[cfg(feature = "index")]
mod persistent;

#[cfg(feature = "index")]
mod store_files;

#[cfg(feature = "index")]
mod store_names;

#[cfg(feature = "index")]
mod maintenance;

#[cfg(feature = "index")]
mod costs;

#[cfg(all(feature = "index", feature = "io"))]
mod adding;

#[cfg(all(feature = "index", feature = "io"))]
mod known;

#[cfg(all(feature = "index", feature = "io"))]
mod bulk;

#[cfg(feature = "index")]
mod snapshot;

#[cfg(all(test, feature = "index"))]
mod tests;

#[cfg(all(test, feature = "index"))]
mod tests_exact;

#[cfg(all(test, feature = "index"))]
mod tests_damage;

mod values;

mod rows;

mod tables;

mod lsh;

mod forest;

mod partitions;

mod ensemble;

#[cfg(all(feature = "index", feature = "io"))]
pub(crate) use bulk::{BulkBuild, SignedForIndex};
#[cfg(feature = "index")]
pub use costs::QueryCosts;
#[cfg(feature = "index")]
pub use document::DocumentId;
pub use ensemble::{Containment, LshEnsemble};
pub use forest::LshForest;
#[cfg(feature = "index")]
pub use header::IndexKind;
#[cfg(feature = "index")]
pub use hits::{FoundBy, Hit, Shares};
#[cfg(all(feature = "index", feature = "io"))]
pub(crate) use known::AskedIndex;
pub use lsh::LshIndex;
#[cfg(feature = "index")]
pub use maintenance::{IndexCheck, IndexStats, IndexedDocument};
pub use partitions::optimal_partitions;
#[cfg(feature = "index")]
pub use persistent::{Durability, Index, OnKnownId, Verdict};
pub use rows::RowBytes;
