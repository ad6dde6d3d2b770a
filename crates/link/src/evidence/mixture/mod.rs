//! The mixture: how many pairs share which fields, and what the levels say, by expectation-maximisation.
//!
//! A class of pairs is a set S of fields that both records have from one source: members of a household share street and phone.
//! In class S, the fields of S are on levels as those of one thing are (m), all others as by chance (u). Only the class of all
//! fields is the same thing. Chance, the class of no field, is fixed at its expected number of pairs, so it need not be learned;
//! each other class has as many pairs as explain what chance does not.

mod model;

mod weights;

mod sums;

mod learning;

pub(crate) use self::model::{Mixture, Setting};
pub(crate) use self::weights::Weights;
