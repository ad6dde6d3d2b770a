//! `simgpu bench`: how fast this machine signs, how accurate estimates are, and how many pairs are found.
//!
//! ```text
//! plan          which backends, schemes, lengths and so on to measure, and for how long
//! environment   what the machine is, and how this program was built
//! corpus        real texts, and the files that hold them
//! stage, case   what a run measures
//! record        the rows of the tables
//! tables        all rows of a folder
//! statistics    medians, intervals, tests
//! cases         runs grouped by case, and the figures of a case
//! targets       where signatures are computed: the backends of this machine with their hardware
//! throughput    how fast every stage is, by backend and scheme
//! error         how far estimates are from the exact similarity, by scheme
//! lsh           which pairs become candidates, and which pairs whole pipelines find
//! summary       a folder as text: summary.md
//! report        a folder as a page with charts: report.html
//! folder        results/<date>-<machine>/, rewritten while rows arrive
//! compare       two folders, with their noise
//! measurement   all parts of a plan, written to a folder
//! ```
//!
//! A measurement hands out [`Row`]s; it neither prints nor writes. `summary.md` and `report.html` follow from the
//! tables alone, so they can be rendered again, and rows of other tools can be added.

mod plan;

pub mod environment;

mod corpus;

mod stage;

mod case;

mod record;

mod tables;

mod statistics;

mod cases;

mod targets;

mod throughput;

pub mod error;

pub mod lsh;

mod summary;

mod report;

mod folder;

pub mod compare;

mod measurement;

pub use self::corpus::BenchCorpus;
pub use self::folder::ResultsFolder;
pub use self::measurement::Measurement;
pub use self::plan::{BenchPart, Effort, Plan, SCHEMES};
pub use self::record::{Absence, CandidateCount, ErrorCell, PipelineResult, Row, TimedRun, Varied};
pub use self::stage::Stage;
pub use self::tables::Tables;
