//! `simgpu bench`: how fast this machine signs, how far estimates are off, and how many pairs are found.
//!
//! ```text
//! plan          which backends, schemes, lengths and so on are measured, and how long that may take
//! corpus        real texts, and the file that they are in
//! throughput    how fast the stages are, with every backend and scheme
//! error         how far estimates are from the exact similarity, scheme by scheme
//! lsh           which pairs become candidates, and what whole pipelines find
//! record        what each of them gives: rows of the folder's tables
//! folder        results/<date>-<machine>/, which is rewritten while rows come
//! cases         runs by what they measured, and what they come to
//! summary       the folder as text: summary.md
//! report        the folder as a page with charts: report.html
//! compare       two folders, with their noise taken into account
//! ```
//!
//! A measurement gives [`Record`]s and neither prints nor writes. `summary.md` and `report.html` follow from
//! the tables alone, so that they can be made again, and rows of other tools can be added.

pub mod plan;

pub mod corpus;

pub mod environment;

pub mod throughput;

pub mod error;

pub mod lsh;

pub mod statistics;

pub mod record;

pub mod folder;

pub mod cases;

pub mod summary;

pub mod report;

pub mod compare;

pub use corpus::Corpus;
pub use plan::{Effort, Part, Plan};
pub use record::{Absence, Candidates, ErrorCell, Found, Record, Run, Stage, Varied};
