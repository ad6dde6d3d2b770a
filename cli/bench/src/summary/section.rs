//! A table under its heading.

use super::table::Table;

/// The subject of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "titles describe them")]
pub(crate) enum Topic {
    Machine,
    Findings,
    Backends,
    Lengths,
    Slots,
    Threads,
    Texts,
    Stages,
    Growth,
    Dedup,
    Device,
    Errors,
    ErrorBackends,
    ErrorSizes,
    ErrorInputs,
    ErrorSlots,
    Bits,
    Curve,
    Found,
    Peers,
    PeersDedup,
    Warnings,
    Absent,
}

impl Topic {
    /// The heading, which identifies a table of summary.md.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Topic::Machine => "Machine",
            Topic::Findings => "Findings",
            Topic::Backends => "Signing by backend",
            Topic::Lengths => "Signing by length",
            Topic::Slots => "Signing by slots",
            Topic::Threads => "Threads",
            Topic::Texts => "Signing from text",
            Topic::Stages => "Stages",
            Topic::Growth => "Growth with documents",
            Topic::Dedup => "Deduplication",
            Topic::Device => "Device",
            Topic::Errors => "Estimation error",
            Topic::ErrorBackends => "Error by backend",
            Topic::ErrorSizes => "Error by set size",
            Topic::ErrorInputs => "Bias by input",
            Topic::ErrorSlots => "Error by slots",
            Topic::Bits => "Packed slots",
            Topic::Curve => "S-curve",
            Topic::Found => "Recall and precision",
            Topic::Peers => "Peers",
            Topic::PeersDedup => "Peers end to end",
            Topic::Warnings => "Warnings",
            Topic::Absent => "Not measured",
        }
    }
}

/// A table under its heading, with notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Subject.
    pub topic: Topic,
    /// Explanation of the table, in sentences.
    pub note: String,
    /// The table, with at least one row.
    pub table: Table,
}
