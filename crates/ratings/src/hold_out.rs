//! Measures recommendations by items that are held out.
//!
//! One item of every user is hidden at once, and the neighbours are found again without these ratings. Popularity is
//! measured by all ratings, not by the liked ones: on the films of the tests it is the better of the two, so the
//! stronger competitor.

use super::opinions::Opinion;
use super::rating::{Rating, Ratings};
use super::recommend::{RecommendTask, Recommender, recommend};
use simgpu::error::{Error, Result};
use simgpu::pipeline::binomial_interval;
use simgpu::progress::Progress;

/// The fewest liked items that a user must keep to take part.
pub const LEAST_LIKED: usize = 10;

/// The item that was held out of the ratings of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldOut {
    /// The user.
    pub user: u32,
    /// The item that he liked last.
    pub item: u32,
    /// Its place among the recommendations, from 1; `None` if it is not among them.
    pub rank: Option<u32>,
    /// Its place among the items with the most ratings that the user has not rated.
    pub popularity_rank: Option<u32>,
}

/// How often recommendations, and popularity, find what was held out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// One entry per user who took part, ascending by user.
    pub held_out: Vec<HeldOut>,
}

impl Evaluation {
    /// The number of users whose item was recommended.
    pub fn hits(&self) -> u64 {
        let hits = self.held_out.iter().filter(|held| held.rank.is_some());
        hits.count() as u64
    }

    /// The number of users whose item is among the most popular ones.
    pub fn popularity_hits(&self) -> u64 {
        let held = self.held_out.iter();
        held.filter(|held| held.popularity_rank.is_some()).count() as u64
    }

    /// The confidence interval (Clopper and Pearson 1934) of a rate of so many hits among these users.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `confidence` is above 0 and below 1.
    pub fn interval(&self, hits: u64, confidence: f64) -> Result<(f64, f64)> {
        binomial_interval(hits as f64, self.held_out.len() as f64, confidence)
    }
}

/// Holds out the item that each user liked last, recommends from what is left, and looks for the item among the
/// recommendations. Beside it stand the items with the most ratings, without those that the user has rated.
///
/// A user takes part who has at least [`LEAST_LIKED`] more liked items. Of items liked at the same time, the one with the
/// greatest number is the last.
///
/// # Errors
/// [`Error::Parameter`] if no user takes part, and the errors of [`Recommender::new`] and [`recommend`].
pub fn hold_out(
    ratings: &Ratings,
    task: &RecommendTask,
    progress: &dyn Progress,
) -> Result<Evaluation> {
    let scale = task.neighbours.scale;
    let is_liked = |rating: &&Rating| scale.opinion(rating.stars) == Opinion::Liked;
    let mut held: Vec<Option<u32>> = vec![None; ratings.users() as usize];
    let mut users = Vec::new();
    for user in 0..ratings.users() {
        let liked = || ratings.of_user(user).iter().filter(is_liked);
        if liked().count() > LEAST_LIKED {
            users.push(user);
            let last = liked().max_by_key(|rating| (rating.time, rating.item));
            held[user as usize] = last.map(|last| last.item);
        }
    }
    if users.is_empty() {
        return Err(Error::Parameter {
            name: "`hold_out`",
            value: "last".to_owned(),
            expected: format!(
                "it with ratings in which a user liked more than {LEAST_LIKED} items; no user did"
            ),
        });
    }
    let is_left = |rating: &&Rating| held[rating.user as usize] != Some(rating.item);
    let left = ratings.all().iter().filter(is_left).copied().collect();
    let left = Ratings::new(ratings.users(), ratings.items(), left)?;
    let popular = most_popular(&left);
    let recommender = Recommender::new(&left, task, progress)?;
    let mut held_out = Vec::with_capacity(users.len());
    recommend(&recommender, &users, progress, &mut |user, found| {
        let Some(item) = held[user as usize] else {
            return Ok(());
        };
        let rated = left.of_user(user);
        let is_new = |item: &&u32| rated.binary_search_by_key(*item, |it| it.item).is_err();
        let popular = popular.iter().filter(is_new).take(task.top);
        held_out.push(HeldOut {
            user,
            item,
            rank: rank_of(item, found.iter().map(|it| it.item)),
            popularity_rank: rank_of(item, popular.copied()),
        });
        Ok(())
    })?;
    Ok(Evaluation { held_out })
}

/// The place of an item, from 1.
fn rank_of(item: u32, mut items: impl Iterator<Item = u32>) -> Option<u32> {
    let place = items.position(|it| it == item)?;
    u32::try_from(place + 1).ok()
}

/// All items, those with the most ratings first; of equally many the one with the smaller number.
fn most_popular(ratings: &Ratings) -> Vec<u32> {
    let mut raters = vec![0_u32; ratings.items() as usize];
    for rating in ratings.all() {
        raters[rating.item as usize] += 1;
    }
    let mut items: Vec<u32> = (0..ratings.items()).collect();
    items.sort_by_key(|item| std::cmp::Reverse(raters[*item as usize]));
    items
}
