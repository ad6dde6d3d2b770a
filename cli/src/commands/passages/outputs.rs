//! What becomes of passages, and how their list is written.

use clap::ValueEnum;

/// The value of `--action`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PassageActionArgument {
    /// List them
    Report,
    /// Write the records without them
    Cut,
    /// Write all records, each with their places in a field (--mark-field); JSON, Parquet and Arrow
    Mark,
    /// Write all records except documents that are mostly passages (--max-covered)
    Drop,
}

/// The value of `--passages-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PassagesFormatArgument {
    /// JSON Lines: passages.jsonl
    Jsonl,
    /// Parquet: passages.parquet
    Parquet,
}
