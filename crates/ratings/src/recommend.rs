//! Recommends items to users.
//!
//! Scores are added in the order of items or users, so that a floating-point sum does not depend on threads.

use rayon::prelude::*;

use super::neighbours::{NeighbourTask, Neighbours, neighbours};
use super::rating::Ratings;
use super::sets::By;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, advance};

/// How to recommend. Change fields of the default as needed.
#[derive(Clone, Debug, PartialEq)]
pub struct RecommendTask {
    /// The neighbours that vote; [`NeighbourTask::top`] of each item or user, default 50.
    pub neighbours: NeighbourTask,
    /// The most recommendations per user; default 10.
    pub top: usize,
}

impl Default for RecommendTask {
    fn default() -> Self {
        RecommendTask {
            neighbours: NeighbourTask {
                top: 50,
                ..NeighbourTask::default()
            },
            top: 10,
        }
    }
}

/// An item recommended to a user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recommendation {
    /// The item, which the user has not rated.
    pub item: u32,
    /// The sum of the similarities that speak for it, less those that speak against it; above 0.
    pub score: f64,
    /// What added most to the score: by item, an item that the user rated; by user, another user.
    pub because: u32,
}

/// Ratings with the neighbours that recommend.
#[derive(Debug)]
pub struct Recommender<'a> {
    ratings: &'a Ratings,
    task: RecommendTask,
    neighbours: Neighbours,
}

/// What speaks for an item.
#[derive(Clone, Copy, Debug, Default)]
struct Votes {
    score: f64,
    /// The greatest addend, and where it is from.
    most: Option<(f64, u32)>,
}

impl<'a> Recommender<'a> {
    /// Finds the neighbours that vote.
    ///
    /// # Errors
    /// Those of [`neighbours`], and [`Error::Parameter`] if [`RecommendTask::top`] is 0.
    pub fn new(
        ratings: &'a Ratings,
        task: &RecommendTask,
        progress: &dyn Progress,
    ) -> Result<Self> {
        if task.top == 0 {
            return Err(Error::Parameter {
                name: "`top`",
                value: "0".to_owned(),
                expected: "at least 1".to_owned(),
            });
        }
        Ok(Recommender {
            ratings,
            task: task.clone(),
            neighbours: neighbours(ratings, &task.neighbours, progress)?,
        })
    }

    /// The neighbours that vote.
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// What to recommend to a user, the highest score first; of equal scores the item with the smaller number.
    ///
    /// By item: each item that the user liked adds its similarity to the scores of its neighbours; with
    /// [`RatedAs::LikedHated`](super::RatedAs::LikedHated), each item that he hated subtracts it. By user: each neighbour
    /// of the user adds its similarity to the scores of what it liked, and subtracts it from those of what it hated. With
    /// [`RatedAs::Seen`](super::RatedAs::Seen), everything rated counts as liked.
    ///
    /// # Panics
    /// If `user` is not below the number of users.
    pub fn recommend(&self, user: u32) -> Vec<Recommendation> {
        self.recommend_with(user, &mut Scores::new(self.ratings.items()))
    }

    fn recommend_with(&self, user: u32, scores: &mut Scores) -> Vec<Recommendation> {
        let NeighbourTask {
            by,
            rated_as,
            scale,
            ..
        } = self.task.neighbours;
        let rated = self.ratings.of_user(user);
        match by {
            By::Item => {
                for rating in rated {
                    let sign = scale.sign(rated_as, rating.stars);
                    if sign != 0.0 {
                        for neighbour in self.neighbours.of(rating.item) {
                            scores.add(neighbour.row, sign * neighbour.similarity, rating.item);
                        }
                    }
                }
            }
            By::User => {
                for neighbour in self.neighbours.of(user) {
                    for rating in self.ratings.of_user(neighbour.row) {
                        let sign = scale.sign(rated_as, rating.stars);
                        if sign != 0.0 {
                            scores.add(rating.item, sign * neighbour.similarity, neighbour.row);
                        }
                    }
                }
            }
        }
        let mut found = scores.drain();
        found.retain(|found| {
            let is_rated = rated.binary_search_by_key(&found.item, |rating| rating.item);
            found.score > 0.0 && is_rated.is_err()
        });
        let order = |a: &Recommendation, b: &Recommendation| {
            b.score.total_cmp(&a.score).then(a.item.cmp(&b.item))
        };
        let top = self.task.top;
        if found.len() > top {
            found.select_nth_unstable_by(top - 1, order);
            found.truncate(top);
        }
        found.sort_unstable_by(order);
        found
    }
}

/// The votes for each item.
pub(super) struct Scores {
    of: Vec<Votes>,
    touched: Vec<u32>,
}

impl Scores {
    fn new(items: u32) -> Self {
        Scores {
            of: vec![Votes::default(); items as usize],
            touched: Vec::new(),
        }
    }

    fn add(&mut self, item: u32, vote: f64, from: u32) {
        let votes = &mut self.of[item as usize];
        if votes.most.is_none() {
            self.touched.push(item);
        }
        votes.score += vote;
        if votes.most.is_none_or(|(most, _)| vote > most) {
            votes.most = Some((vote, from));
        }
    }

    /// All items with votes. None has any afterwards.
    fn drain(&mut self) -> Vec<Recommendation> {
        let votes = &mut self.of;
        let items = self.touched.drain(..);
        items
            .map(|item| {
                let Votes { score, most } = std::mem::take(&mut votes[item as usize]);
                Recommendation {
                    item,
                    score,
                    because: most.map_or(item, |(_, from)| from),
                }
            })
            .collect()
    }
}

/// Users between two calls of [`Progress::advance`].
const BLOCK: usize = 4096;

/// Recommends to many users on the current rayon pool, and calls `each` with every user, in order, and what to recommend
/// to him. Progress shows the stage `recommend`.
///
/// # Errors
/// [`Error::Stopped`] if the progress stops the work, and the first error of `each`, which ends it.
pub fn recommend(
    recommender: &Recommender<'_>,
    users: &[u32],
    progress: &dyn Progress,
    each: &mut dyn FnMut(u32, &[Recommendation]) -> Result<()>,
) -> Result<()> {
    progress.begin("recommend", users.len() as u64);
    let mut done = 0;
    for block in users.chunks(BLOCK) {
        let found_in_block: Vec<Vec<Recommendation>> = block
            .par_iter()
            .map_init(
                || Scores::new(recommender.ratings.items()),
                |scores, user| recommender.recommend_with(*user, scores),
            )
            .collect();
        for (user, found) in block.iter().zip(found_in_block) {
            each(*user, &found)?;
        }
        done += block.len() as u64;
        advance(progress, done, 0, 0)?;
    }
    Ok(())
}
