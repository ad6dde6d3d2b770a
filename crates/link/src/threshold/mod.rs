//! The threshold that runners-up suggest, without any labelled pair.
//!
//! # Two files
//! What a record's best score is without a partner, its runner-up shows: the pairs that are accepted once every accepted
//! pair is struck out (the second round). Let g(t) be the share of records whose best wrong pair scores below t, and h(t)
//! the share whose second wrong pair does. If a share e of the records has no partner, then far below the scores of
//! partners
//!
//! ```text
//! first round    b1(t) = e g(t)                only records without a partner score so low
//! second round   b2(t) = (1 - e) g(t) + e h(t)
//! ```
//!
//! The third round lies below the second one as second wrong pairs lie below best ones. So let u be the score with
//! b2(u) = b3(t): then h(t) = g(u), and
//!
//! ```text
//! b2(t) = (1 - e) b1(t) / e + b1(u)      e = b1(t) / (b1(t) + b2(t) - b1(u))
//! ```
//!
//! Pairs of partners below t or u only make e larger, so the least e over all t is taken, with two standard errors of b1
//! added. Above t, n1, n2 and n3 pairs of the rounds are left. With a wrong pairs of records without a partner among them,
//! n2 = (1 - e) a / e + a n3 / n2, since wrong pairs become fewer from round to round by the same factor. The threshold has
//! the greatest expected F1.
//!
//! A few pairs that no runner-up reaches may be chance: of two files that share no record, too, the best pair is the best. So
//! precision and recall are stated only where there is evidence: runners-up, and more links and a greater share of records
//! with a partner than the errors of their estimates.
//!
//! # One file
//! Records have any number of partners, so runners-up say nothing. The numbers of pairs fall from the low scores of
//! records that have nothing to do with each other, and rise again to those of the same entity: the threshold is the lowest
//! point between.
//!
//! # Rejected
//! Two simpler estimates: wrong pairs at random (Poisson) found a share of 0.48 instead of 0.86 with three quarters of
//! the pairs of Abt-Buy; and the ratio of the third round to the second, in place of a map between their scores, found
//! that all made-up records have partners where 30 % had one.

mod estimate;

mod rounds;

mod entities;

#[cfg(test)]
mod tests;

pub(crate) use self::entities::estimate_entities;
pub use self::estimate::Estimate;
pub(crate) use self::estimate::why_rough;
pub(crate) use self::rounds::{RoundScores, estimate_rounds};
