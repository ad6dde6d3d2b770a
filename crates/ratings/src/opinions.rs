//! What a rating says: liked, hated or neither; and what it adds to a set.

use std::str::FromStr;

use simgpu::error::{Error, Result};

/// What is in a set (MMDS 3.1.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RatedAs {
    /// Everyone who rated, or everything that was rated: ratings do not matter.
    Seen,
    /// Only what was liked; low ratings are left out.
    #[default]
    Liked,
    /// Two elements for each: liked, and hated.
    LikedHated,
    /// A bag: n stars are n copies.
    Stars,
}

impl RatedAs {
    /// All, in the order of their names in messages.
    pub const ALL: [RatedAs; 4] = [
        RatedAs::Seen,
        RatedAs::Liked,
        RatedAs::LikedHated,
        RatedAs::Stars,
    ];

    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            RatedAs::Seen => "seen",
            RatedAs::Liked => "liked",
            RatedAs::LikedHated => "liked-hated",
            RatedAs::Stars => "stars",
        }
    }

    /// Whether sets depend on the stars.
    pub fn needs_stars(self) -> bool {
        self != RatedAs::Seen
    }
}

impl FromStr for RatedAs {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = RatedAs::ALL.into_iter().find(|it| it.name() == name);
        known.ok_or_else(|| Error::UnknownName {
            what: "reading of ratings",
            name: name.to_owned(),
            known: RatedAs::ALL.map(RatedAs::name).join(", "),
        })
    }
}

/// The stars that mean liked and hated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Liked from this number of stars on; default 4.
    pub liked_from: f64,
    /// Hated up to this number of stars; default 2.5.
    pub hated_to: f64,
}

impl Default for Scale {
    fn default() -> Self {
        Scale {
            liked_from: 4.0,
            hated_to: 2.5,
        }
    }
}

/// What a user thinks of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// It is good.
    Liked,
    /// It is bad.
    Hated,
    /// Neither.
    Neutral,
}

/// Copies that stand for a star, so that stars may have three decimals.
const COPIES: f64 = 1000.0;

/// The most stars of a bag.
const MOST_STARS: f64 = 1e6;

impl Scale {
    /// Refuses a scale on which an item is both liked and hated.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless `hated_to` is less than `liked_from`, and both are finite.
    pub fn check(&self) -> Result<()> {
        let is_good = self.liked_from.is_finite()
            && self.hated_to.is_finite()
            && self.hated_to < self.liked_from;
        if is_good {
            Ok(())
        } else {
            Err(Error::Parameter {
                name: "`hated_to`",
                value: self.hated_to.to_string(),
                expected: format!(
                    "fewer stars than `liked_from`, which is {}",
                    self.liked_from
                ),
            })
        }
    }

    /// The opinion behind stars. What has no stars is liked.
    pub fn opinion(&self, stars: Option<f64>) -> Opinion {
        match stars {
            Some(stars) if stars <= self.hated_to => Opinion::Hated,
            Some(stars) if stars < self.liked_from => Opinion::Neutral,
            _ => Opinion::Liked,
        }
    }

    /// How a rating counts for recommendations: 1 for what the user liked, -1 for what he hated, else 0.
    pub(super) fn sign(&self, rated_as: RatedAs, stars: Option<f64>) -> f64 {
        match (rated_as, self.opinion(stars)) {
            (RatedAs::Seen, _) | (_, Opinion::Liked) => 1.0,
            (RatedAs::LikedHated, Opinion::Hated) => -1.0,
            _ => 0.0,
        }
    }
}

impl RatedAs {
    /// The copies that stars stand for in a bag.
    ///
    /// # Errors
    /// What is wrong, unless the stars are between 0 and a million with at most three decimals.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 1e9"
    )]
    pub(crate) fn copies(stars: Option<f64>) -> std::result::Result<u32, String> {
        let Some(stars) = stars else {
            return Err("has no stars".to_owned());
        };
        let copies = (stars * COPIES).round();
        let is_near = (stars * COPIES - copies).abs() <= 1e-9 * copies.max(1.0);
        if (0.0..=MOST_STARS).contains(&stars) && is_near {
            Ok(copies as u32)
        } else {
            Err(format!(
                "is {stars}, not a number of stars from 0 to 1,000,000 with at most three decimals"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_become_opinions() {
        let scale = Scale::default();
        let opinions = [5.0, 4.0, 3.5, 2.5, -1.0].map(|stars| scale.opinion(Some(stars)));
        let [a, b, c, d, e] = opinions;
        assert_eq!(
            (a, b, c),
            (Opinion::Liked, Opinion::Liked, Opinion::Neutral)
        );
        assert_eq!((d, e), (Opinion::Hated, Opinion::Hated));
        assert_eq!(scale.opinion(None), Opinion::Liked);
        let crossed = Scale {
            hated_to: 4.0,
            ..scale
        };
        assert!(crossed.check().is_err());
    }

    #[test]
    fn copies_are_exact() {
        assert_eq!(RatedAs::copies(Some(3.5)), Ok(3500));
        assert_eq!(RatedAs::copies(Some(0.1 + 0.2)), Ok(300));
        assert_eq!(RatedAs::copies(Some(0.0)), Ok(0));
        for bad in [-0.5, 1e6 + 1.0, 0.1234, f64::NAN] {
            assert!(RatedAs::copies(Some(bad)).is_err(), "{bad}");
        }
    }
}
