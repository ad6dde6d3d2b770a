//! Neighbours and recommendations from ratings, in memory or in files (`files`).

mod task;

mod report;

mod found;

mod memory;

pub(super) use found::{Found, Rated, ordered};
pub use memory::RatingsInMemory;
pub use report::{HitRates, RatingsCounts, RatingsParameters, RatingsReport};
pub use task::{RatingsTask, Recommendees};
