//! Error of similarity estimates, by scheme.
//!
//! ```text
//! random             reproducible random numbers
//! shingles           shingles of hashed words
//! weights            weights of elements, by law
//! edits              real texts with words replaced
//! input              pairs of sets of known similarity
//! signing_function   what signs them: a scheme, or anything else that signs
//! cell               from matches to errors: a row of errors.csv
//! series             many trials of one kind of pair
//! grid               which series there are, and the number of their trials
//! measure            all of it
//! findings           which schemes deviate from what theory expects
//! ```

mod random;

mod shingles;

mod weights;

mod edits;

mod input;

mod signing_function;

mod cell;

mod series;

mod grid;

mod measure;

mod findings;

pub use self::findings::{Fault, Finding, findings};
pub(crate) use self::findings::{LEAST_SLOTS_OF_COVERAGE, pooled_coverage};
pub use self::input::SetSource;
pub(crate) use self::input::similarity_of;
pub(crate) use self::measure::measure;
pub(crate) use self::random::SplitMix64;
pub use self::series::Series;
pub use self::signing_function::SigningFunction;
pub use self::weights::WeightLaw;
