//! Ratings in memory, by user.

use rayon::prelude::*;

use simgpu::error::{Error, Result};

/// A rating of an item by a user. Both are numbers from 0; names belong to the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rating {
    /// The user.
    pub user: u32,
    /// The item.
    pub item: u32,
    /// The stars; `None` for what is no rating but, say, a purchase, which counts as liked.
    pub stars: Option<f64>,
    /// When: a greater number is later.
    pub time: i64,
}

/// Ratings, at most one per user and item.
#[derive(Clone, Debug)]
pub struct Ratings {
    users: u32,
    items: u32,
    /// Ascending by user and item.
    ratings: Vec<Rating>,
    /// Where the ratings of each user start, and the number of all.
    starts: Vec<usize>,
    repeated: u64,
}

impl Ratings {
    /// Takes ratings in any order. Of several ratings of an item by a user, the latest counts, and of equally late ones
    /// the last. O(n log n).
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are more than 2^31 users or items, a number is not below theirs, or stars are not
    /// finite.
    pub fn new(users: u32, items: u32, mut ratings: Vec<Rating>) -> Result<Self> {
        for (name, number) in [("users", users), ("items", items)] {
            // An element of a set is a user or item, and whether it was liked.
            if number > 1 << 31 {
                return Err(Error::Parameter {
                    name,
                    value: number.to_string(),
                    expected: "at most 2,147,483,648".to_owned(),
                });
            }
        }
        let is_good = |rating: &Rating| {
            rating.user < users && rating.item < items && rating.stars.is_none_or(f64::is_finite)
        };
        if let Some(bad) = ratings.iter().find(|rating| !is_good(rating)) {
            return Err(Error::Parameter {
                name: "rating",
                value: format!("{bad:?}"),
                expected: format!(
                    "a user below {users}, an item below {items}, and a finite number of stars"
                ),
            });
        }
        // Stable: the last of equally late ratings stays the last.
        ratings.par_sort_by_key(|rating| (rating.user, rating.item, rating.time));
        let before = ratings.len();
        ratings.reverse();
        ratings.dedup_by_key(|rating| (rating.user, rating.item));
        ratings.reverse();
        let mut starts = vec![0; users as usize + 1];
        for rating in &ratings {
            starts[rating.user as usize + 1] += 1;
        }
        for user in 0..users as usize {
            starts[user + 1] += starts[user];
        }
        Ok(Ratings {
            users,
            items,
            repeated: (before - ratings.len()) as u64,
            ratings,
            starts,
        })
    }

    /// The number of users.
    pub fn users(&self) -> u32 {
        self.users
    }

    /// The number of items.
    pub fn items(&self) -> u32 {
        self.items
    }

    /// The number of ratings that a later rating of the same item by the same user replaced.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }

    /// All ratings, ascending by user and item.
    pub fn all(&self) -> &[Rating] {
        &self.ratings
    }

    /// The ratings by a user, ascending by item.
    ///
    /// # Panics
    /// If `user` is not below the number of users.
    pub fn of_user(&self, user: u32) -> &[Rating] {
        let user = user as usize;
        &self.ratings[self.starts[user]..self.starts[user + 1]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rating(user: u32, item: u32, stars: f64, time: i64) -> Rating {
        Rating {
            user,
            item,
            stars: Some(stars),
            time,
        }
    }

    #[test]
    fn the_latest_rating_counts() {
        let rated = [
            rating(1, 0, 3.0, 5),
            rating(0, 0, 1.0, 9),
            rating(0, 0, 2.0, 7),
            rating(1, 0, 4.0, 5),
        ];
        let ratings = Ratings::new(2, 1, rated.to_vec()).unwrap();
        assert_eq!(ratings.repeated(), 2);
        assert_eq!(ratings.of_user(0), [rating(0, 0, 1.0, 9)]);
        assert_eq!(ratings.of_user(1), [rating(1, 0, 4.0, 5)]);
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for bad in [
            rating(1, 0, 1.0, 0),
            rating(0, 1, 1.0, 0),
            rating(0, 0, f64::NAN, 0),
        ] {
            assert!(Ratings::new(1, 1, vec![bad]).is_err());
        }
    }
}
