//! Worked examples, figures and exercises from *Mining of Massive Datasets*, chapter 3 (Leskovec, Rajaraman, Ullman), and
//! of lectures on it. One file per section; a test has the name of its section, example or exercise.

mod support;

mod sets;

mod shingles;

mod minhash;

#[cfg(feature = "internals")]
mod permutations;

mod banding;

mod distances;

mod applications;

#[cfg(feature = "internals")]
mod high_similarity;
