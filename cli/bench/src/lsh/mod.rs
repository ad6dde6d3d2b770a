//! Which pairs become candidates, and which true pairs whole pipelines find.
//!
//! ```text
//! s_curve   share of pairs that become candidates, by similarity: rows of candidates.csv
//! truth     all pairs of a corpus whose exact similarity reaches a threshold
//! found     which of them a pipeline finds: rows of found.csv
//! measure   all of it
//! ```

mod s_curve;

mod truth;

mod found;

mod measure;

pub use self::found::{EvaluationCorpus, PipelineSettings};
pub(crate) use self::measure::measure;
pub use self::s_curve::measure_candidates;
pub use self::truth::{exact_sets, similar_pairs};
