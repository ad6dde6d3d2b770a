//! Runs larger than memory.
//!
//! While documents are read, their digests, band keys, ids and lengths go to disk ([`DocumentWriter`], [`KeyWriter`]).
//! Then digests are sorted, which finds repeated documents, and the keys of each band are sorted, which finds buckets
//! ([`Connected`]). For an exact join, sets go to disk in place of keys, and their prefixes are sorted (`join`). Buckets
//! connect documents into components. No bucket, no similar pair and no cluster reaches from one
//! component to another. So the components are distributed to parts that fit in memory ([`Parts`]), and each part is
//! searched as a run in memory is: by the same code, with the same result. A document has the number of its row among
//! the rows of its part, so every order by rows is the same, too.
//!
//! Every stage makes checkpoints ([`Spill::checkpoint`](crate::store::spill::Spill::checkpoint)). A run that goes on
//! executes all stages; each finds in its state what it need not do again.
//!
//! A run moves to disk when what it holds while reading exceeds half of its memory, and all later documents follow.
//! Beside its budget, it holds per document 4 bytes of the components and 3 bits. Rejected: a stream of verified pairs
//! sorted by row. It needs all pairs of each bucket, while greedy clustering compares with kept documents alone, and
//! would be a second definition of every clustering.
//!
//! Greedy clustering takes a component that memory does not hold in `blocks`. Connected components and pairs of such a
//! component are searched in memory nevertheless, with a warning.

mod documents;

mod edges;

mod join;

mod components;

mod parts;

mod distribution;

mod blocks;

mod pairs;

mod rarities;

mod removals;

pub(crate) use blocks::Blocks;
pub(crate) use components::Connected;
pub(crate) use distribution::distribute;
pub(crate) use documents::{DocumentWriter, KeyWriter, SpilledDocuments, SpilledKeys};
pub(crate) use pairs::{PairRecord, SpilledPairs};
pub(crate) use parts::Parts;
pub(crate) use rarities::{save_rarities, saved_rarities};
pub(crate) use removals::{RemovalWriter, SpilledRemovals};
