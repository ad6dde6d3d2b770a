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
//! [`search`](simgpu::search), which reads the corpus once and holds no table of it.
//!
//! **Numbers, not keys.** An index numbers its signatures as they come, from 0, and answers with numbers. Whoever has
//! keys holds a `Vec` of them beside the index, or a map. An index generic over keys was given up: the keys of the Python
//! package are compared by code of their own, which may fail, or use the index itself; and a map of keys that the caller
//! often has already would be held twice.

mod store;

mod access;

mod journals;

mod store_copy;

mod filter;

mod document;

mod header;

mod lists;

mod order;

mod prefix;

mod signed;

mod pending;

mod hits;

mod persistent;

mod store_files;

mod store_names;

mod maintenance;

mod costs;

mod adding;

mod known;

mod bulk;

mod snapshot;

#[cfg(test)]
mod tests;

mod values;

mod rows;

mod tables;

mod lsh;

mod forest;

mod partitions;

mod ensemble;

#[doc(hidden)]
pub use bulk::{BulkBuild, SignedForIndex};
pub use costs::QueryCosts;
pub use document::DocumentId;
pub use ensemble::{Containment, LshEnsemble};
pub use forest::LshForest;
pub use header::IndexKind;
pub use hits::{FoundBy, Hit, Shares};
#[doc(hidden)]
pub use known::AskedIndex;
pub use lsh::LshIndex;
pub use maintenance::{IndexCheck, IndexStats, IndexedDocument};
pub use partitions::optimal_partitions;
pub use persistent::{Durability, Index, OnKnownId, Verdict};
pub use rows::RowBytes;
#[doc(hidden)]
pub use snapshot::left_beside_copy;
