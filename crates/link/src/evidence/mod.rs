//! The decision for one file, by evidence that fields give together and without labels (Fellegi and Sunter, 1969, as a mixture).
//!
//! ```text
//! kinds       date, phone, name and others: how a field is found to be of one, cleaned and compared
//! values      clean the values, find the kind of each field, set copies of other fields aside
//! candidates  pairs of records that share a value, a word or two values
//! levels      how alike both values of a field are: equal, close, near, far, other, crosswise
//! rates       how often that happens by chance (u): each value counts once per entity
//! patterns    pairs with equal levels, as one with a count
//! seen        how a field is in pairs that share all others
//! mixture     which sets of fields pairs share: the same thing shares all; chance is fixed
//! clusters    two clusters join if all pairs between them together are more likely the same than not
//! stated      how many of the pairs within entities are expected to be right
//! missed      how many of the pairs of the same thing are expected to be missed
//! decision    all of that, in rounds
//! noise       fields that differ in all pairs of the same thing are set aside, where they cannot be what tells things apart
//! verdict     what the evidence is good for, and what is missing
//! report      what was learned, so that decisions can be computed by hand
//! ```
//!
//! 1. Pairs of different things agree by chance, or because they share something: members of a household share street and phone.
//! 2. Each set of fields that pairs may share is a class of its own, so that no household is taken for one person.
//! 3. Chance is not learned: its rates follow from the values, and its number of pairs is known.
//! 4. A class counts as far as there are more pairs than chance and the other classes explain.
//! 5. A class that lacks fewer than two strong fields is the same thing with errors, unless a field that differs is doubted.
//! 6. A field is strong if equality by chance is rare: five bits.
//! 7. Strong fields of the same thing must agree in half of the pairs, the leading text in 85 %; else the pairs are related things.
//! 8. Entities form from the best pair on, and two join only if the pairs between them, taken together, speak for it.
//! 9. The rates are counted again with each value once per entity, three times in all.
//! 10. What is stated follows from the odds of all pairs within entities; without enough evidence, nothing is stated.

mod kinds;

mod values;

mod candidates;

mod levels;

mod rates;

mod patterns;

mod seen;

mod mixture;

mod clusters;

mod stated;

mod missed;

mod decision;

mod noise;

mod verdict;

mod report;

pub use self::candidates::LeftOut;
pub(crate) use self::decision::{BARS, Evidence};
pub use self::kinds::Kind;
pub use self::report::{ClassEvidence, EvidenceReport, FieldEvidence, LevelEvidence};
pub(crate) use self::verdict::Verdict;
