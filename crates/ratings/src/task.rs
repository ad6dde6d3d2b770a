//! What to find in ratings.

use super::read::RatingNeeds;
use super::{NeighbourTask, RecommendTask};

/// What to find in ratings.
#[derive(Clone, Debug, PartialEq)]
pub enum RatingsTask {
    /// The neighbours of every item or user.
    Neighbours(NeighbourTask),
    /// Recommendations.
    Recommend(RecommendTask, Recommendees),
    /// How often recommendations find the item that a user liked last ([`hold_out`](crate::hold_out)).
    HoldOut(RecommendTask),
}

/// To whom to recommend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recommendees {
    /// To all users, in the order of their first ratings.
    All,
    /// To the users with these ids, in this order.
    Users(Vec<String>),
}

impl RatingsTask {
    /// The parameters of the neighbours.
    pub fn neighbours(&self) -> &NeighbourTask {
        match self {
            RatingsTask::Neighbours(task) => task,
            RatingsTask::Recommend(task, _) | RatingsTask::HoldOut(task) => &task.neighbours,
        }
    }

    pub(crate) fn needs(&self) -> RatingNeeds {
        RatingNeeds {
            rated_as: self.neighbours().rated_as,
            time: matches!(self, RatingsTask::HoldOut(_)),
        }
    }
}
