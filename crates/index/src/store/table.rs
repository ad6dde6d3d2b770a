//! The tables of a store.

use fjall::config::{BlockSizePolicy, CompressionPolicy, PartitioningPolicy};
use fjall::{CompressionType, KeyspaceCreateOptions};

/// The tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// Numbers that the whole index has.
    State,
    /// The rows of the documents that share the key of a band, or a shingle.
    Bands,
    /// The same of the documents that a bulk build wrote. No key is added to it, so that a filter has them all.
    Built,
    /// The documents, by row.
    Documents,
    /// The row of each id.
    Ids,
    /// The shingles of the documents, by row.
    Sets,
}

impl Table {
    /// All of them, each at its number.
    pub(super) const ALL: [Table; 6] = [
        Table::State,
        Table::Bands,
        Table::Built,
        Table::Documents,
        Table::Ids,
        Table::Sets,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Table::State => "state",
            Table::Bands => "bands",
            Table::Built => "built",
            Table::Documents => "documents",
            Table::Ids => "ids",
            Table::Sets => "sets",
        }
    }

    pub(super) fn options(self) -> KeyspaceCreateOptions {
        // A file of 64 MiB has filters of 7 MiB. As one block, they would be read as a whole for each lookup, once the filters of all
        // files exceed the cache.
        let in_parts = PartitioningPolicy::all(true);
        let options = KeyspaceCreateOptions::default()
            .max_memtable_size(NEW_KEYS)
            .filter_block_partitioning_policy(in_parts.clone())
            .index_block_partitioning_policy(in_parts);
        match self {
            // Neighbouring keys have bytes in common.
            Table::Bands | Table::Built => options
                .data_block_size_policy(BlockSizePolicy::all(16 << 10))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
                .expect_point_read_hits(self == Table::Built),
            // Signatures and hashes are random. Only rows that lists have are looked up, so that a filter would rarely help.
            _ => options
                .data_block_size_policy(BlockSizePolicy::all(4 << 10))
                .data_block_compression_policy(CompressionPolicy::all(CompressionType::None))
                .expect_point_read_hits(self != Table::Ids),
        }
    }
}

/// Bytes of new keys and values of a table that are held in memory until they are written to a file. The store's own 64 MiB would
/// be more than the cache for all tables.
const NEW_KEYS: u64 = 16 << 20;

/// Bytes that are held in memory: blocks, and pages of the filter. With 128 MiB, the filters of ten million documents did not fit,
/// which have 1.25 bytes for each of the 16 bands.
pub(super) const CACHE: u64 = 256 << 20;
