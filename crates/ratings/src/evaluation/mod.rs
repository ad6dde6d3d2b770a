//! Evaluation: how far the result of `link`, `dedup` or `pairs` agrees with what is known to be true.
//!
//! By pair: of the pairs found, the share that is right (precision), and of the true pairs, the share that is found
//! (recall). By entity: the same of entities of two or more records, which are right if they are exactly one true entity;
//! and B-cubed, which averages over records (Bagga and Baldwin 1998).
//!
//! ```text
//! found     reads the result: the entity of each record, or pairs
//! truth     reads what is true: pairs of ids, or the entity of each id
//! partition compares two partitions by the sizes of their cells
//! pairs     compares listed pairs with true ones
//! ```
//!
//! **Pairs within entities are counted, never listed**: n records that one entity found and one true entity share are
//! n (n - 1) / 2 right pairs. One entity of 100,000 records has 5 * 10^9.
//!
//! **Intervals are those of Wilson**, at any number of pairs a short formula, where Clopper and Pearson's need a function
//! that no longer converges for 10^12 pairs. They take pairs for independent. Pairs of one entity are not: where few large
//! entities hold most pairs, the truth is wider.

mod measures;

mod partition;

mod pairs;

mod rows;

mod found;

mod truth;

mod comparison;

mod shared_ids;

mod report;

mod run;

pub use measures::{Agreement, BCubed, Share};
pub use report::{
    EvaluationCounts, EvaluationReport, ExamplePair, ResultReport, TruthKind, TruthReport,
};
pub use run::{EvaluationOutcome, EvaluationRun};
pub use truth::TruthFields;
