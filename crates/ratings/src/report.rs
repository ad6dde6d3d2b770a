//! The report of a run over ratings.

use serde::Serialize;

use super::Evaluation;
use super::rows::CONFIDENCE;
use super::task::{RatingsTask, Recommendees};
use simgpu::error::Result;
use simgpu::progress::{Progress, counted};
use simgpu_io::{NotRead, SkippedRecord, write_json};

/// The counts of a run over ratings. `records = ratings + repeated + skipped`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RatingsCounts {
    /// Records read, including bad ones.
    pub records: u64,
    /// Ratings, one per user and item.
    pub ratings: u64,
    /// Ratings that a later one of the same item by the same user replaced.
    pub repeated: u64,
    /// Bad records skipped.
    pub skipped: u64,
    /// Users.
    pub users: u64,
    /// Items.
    pub items: u64,
    /// Items without a name, if names were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unnamed: Option<u64>,
    /// Rows of results.
    pub results: u64,
    /// Items or users without a neighbour, or users without a recommendation; `None` if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_result: Option<u64>,
    /// Pairs with elements in common, but fewer than the minimum support; `None` if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsupported_pairs: Option<u64>,
}

/// How often recommendations and popularity found the items that were held out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HitRates {
    /// Users who took part.
    pub users: u64,
    /// Users whose item was recommended.
    pub hits: u64,
    /// Their share.
    pub hit_rate: f64,
    /// The confidence interval of the share, 95 %.
    pub interval: (f64, f64),
    /// Users whose item is among the most popular ones.
    pub popularity_hits: u64,
    /// Their share.
    pub popularity_hit_rate: f64,
    /// The confidence interval of that share, 95 %.
    pub popularity_interval: (f64, f64),
}

impl HitRates {
    pub(super) fn new(evaluation: &Evaluation) -> Result<Self> {
        let users = evaluation.held_out.len() as u64;
        let (hits, popularity_hits) = (evaluation.hits(), evaluation.popularity_hits());
        Ok(HitRates {
            users,
            hits,
            hit_rate: hits as f64 / users as f64,
            interval: evaluation.interval(hits, CONFIDENCE)?,
            popularity_hits,
            popularity_hit_rate: popularity_hits as f64 / users as f64,
            popularity_interval: evaluation.interval(popularity_hits, CONFIDENCE)?,
        })
    }
}

/// All parameters that affect the result.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RatingsParameters {
    /// What is compared: `item` or `user`.
    pub by: &'static str,
    /// What is in a set: `seen`, `liked`, `liked-hated` or `stars`.
    #[serde(rename = "as")]
    pub rated_as: &'static str,
    /// Liked from this number of stars on.
    pub liked_from: f64,
    /// Hated up to this number of stars.
    pub hated_to: f64,
    /// The fewest elements in common.
    pub min_support: u32,
    /// The most results of each item or user.
    pub top: usize,
    /// The most neighbours that vote; `None` unless items are recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// The user to whom items are recommended, how many they are, or `all`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommend: Option<String>,
    /// What was held out: `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_out: Option<&'static str>,
}

impl RatingsParameters {
    pub(super) fn new(task: &RatingsTask) -> Self {
        let neighbours = task.neighbours();
        let (top, voting) = match task {
            RatingsTask::Neighbours(task) => (task.top, None),
            RatingsTask::Recommend(task, _) | RatingsTask::HoldOut(task) => {
                (task.top, Some(task.neighbours.top))
            }
        };
        RatingsParameters {
            by: neighbours.by.name(),
            rated_as: neighbours.rated_as.name(),
            liked_from: neighbours.scale.liked_from,
            hated_to: neighbours.scale.hated_to,
            min_support: neighbours.min_support,
            top,
            neighbours: voting,
            recommend: match task {
                RatingsTask::Recommend(_, Recommendees::All) => Some("all".to_owned()),
                RatingsTask::Recommend(_, Recommendees::Users(users)) => Some(match &**users {
                    [user] => user.clone(),
                    users => counted(users.len() as u64, "user"),
                }),
                _ => None,
            },
            hold_out: matches!(task, RatingsTask::HoldOut(_)).then_some("last"),
        }
    }
}

/// The report of a run over ratings. Equal inputs and options make equal reports.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RatingsReport {
    /// The version of the layout.
    pub simgpu_report: u32,
    /// `ratings`.
    pub command: &'static str,
    /// The counts.
    pub counts: RatingsCounts,
    /// The parameters.
    pub parameters: RatingsParameters,
    /// The hit rates, if items were held out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hit_rates: Option<HitRates>,
    /// What the names of inputs lead to and the run did not read.
    #[serde(skip_serializing_if = "NotRead::is_empty")]
    pub not_read: NotRead,
    /// The bad records.
    pub skipped: Vec<SkippedRecord>,
}

impl RatingsReport {
    /// Warns of items without a name.
    pub(crate) fn warn_of_unnamed(&self, names: &str, progress: &dyn Progress) {
        if let Some(unnamed @ 1..) = self.counts.unnamed {
            let items = self.counts.items;
            progress.warn(&format!(
                "{unnamed} of {items} items have no name in {names}"
            ));
        }
    }

    /// Writes the report as JSON, the same bytes as in the file.
    ///
    /// # Errors
    /// Those of the target.
    pub fn write_json(&self, target: &mut impl std::io::Write) -> std::io::Result<()> {
        write_json(target, self)
    }
}
