//! A deduplication divided among machines. An engine such as Spark moves what these stages make from one to the next.
//!
//! [`sign_batch`] signs any batch of documents. [`Edges`] reads the members of buckets in order of their keys, and unites
//! the documents of each. [`ComponentSearch`] searches whole components, by the code of
//! [`dedup`](simgpu::search::dedup()) and [`pairs`](simgpu::search::pairs()): no bucket, no similar pair and no cluster reaches from one
//! component to another. So the results and counts of all components together are those of one machine.
//!
//! A *place* is the number of a document in the order of all documents. Places need not be consecutive. In a search with a
//! reference, its documents have places below 0, and all others have places from 0 on.
//!
//! A distributed greedy algorithm in rounds was rejected: it would have needed a second definition of the rule for
//! large buckets. Of a bucket, only the first member is held while edges are made. Greedy clustering takes a large
//! component in blocks, beside the kept documents that later ones may be compared with.

mod batch;

mod edges;

mod search;

pub use batch::{Compared, ConnectedBatch};
pub use edges::{Edges, SharedMembers};
pub use search::{ComponentSearch, ComponentTask, FoundPair};
pub use simgpu::search::sign::{SignedDocuments, sign_batch};
