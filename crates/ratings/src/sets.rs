//! Items as sets of users, or users as sets of items.

use std::str::FromStr;

use super::opinions::{Opinion, RatedAs, Scale};
use super::rating::{Rating, Ratings};
use simgpu::error::{Error, Result};

/// Which side of the ratings is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// Items, as sets of users.
    #[default]
    Item,
    /// Users, as sets of items.
    User,
}

impl By {
    /// The name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            By::Item => "item",
            By::User => "user",
        }
    }
}

impl FromStr for By {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = [By::Item, By::User]
            .into_iter()
            .find(|it| it.name() == name);
        known.ok_or_else(|| Error::UnknownName {
            what: "side of ratings",
            name: name.to_owned(),
            known: "item, user".to_owned(),
        })
    }
}

/// An element of a bag: which, and how many copies; a set has one copy of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    /// The element, or the row that has it.
    pub(super) of: u32,
    pub(super) copies: u32,
}

/// Rows as bags of elements, and elements as lists of rows: two compressed matrices, one the transpose of the other.
#[derive(Debug)]
pub(super) struct Bags {
    /// The elements of each row, ascending.
    pub(super) elements: Compressed,
    /// The rows of each element, ascending.
    pub(super) rows: Compressed,
}

/// Lists in one array.
#[derive(Debug)]
pub(super) struct Compressed {
    starts: Vec<usize>,
    entries: Vec<Copies>,
}

impl Compressed {
    /// `lists` lists; `each` calls its argument with every list and entry, the same ones whenever it is called.
    fn new(lists: usize, each: impl Fn(&mut dyn FnMut(u32, Copies))) -> Self {
        let mut starts = vec![0; lists + 1];
        each(&mut |list, _| starts[list as usize + 1] += 1);
        for list in 0..lists {
            starts[list + 1] += starts[list];
        }
        let mut next = starts.clone();
        let mut entries = vec![Copies::default(); starts[lists]];
        each(&mut |list, entry| {
            let place = &mut next[list as usize];
            entries[*place] = entry;
            *place += 1;
        });
        Compressed { starts, entries }
    }

    pub(super) fn get(&self, list: u32) -> &[Copies] {
        let list = list as usize;
        &self.entries[self.starts[list]..self.starts[list + 1]]
    }
}

impl Bags {
    /// The bags of one side.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a scale that is none, and for stars that cannot be counted as copies.
    pub(super) fn new(ratings: &Ratings, by: By, rated_as: RatedAs, scale: &Scale) -> Result<Self> {
        scale.check()?;
        if rated_as == RatedAs::Stars {
            for rating in ratings.all() {
                RatedAs::copies(rating.stars).map_err(|problem| Error::Parameter {
                    name: "stars",
                    value: format!("those of {rating:?}: the rating {problem}"),
                    expected: "stars that are numbers of copies".to_owned(),
                })?;
            }
        }
        let (rows, others) = match by {
            By::Item => (ratings.items(), ratings.users()),
            By::User => (ratings.users(), ratings.items()),
        };
        // Whoever liked and whoever hated are two elements.
        let sides = 1 + usize::from(rated_as == RatedAs::LikedHated);
        let entry = |rating: &Rating| {
            let (row, other) = match by {
                By::Item => (rating.item, rating.user),
                By::User => (rating.user, rating.item),
            };
            let opinion = scale.opinion(rating.stars);
            let (element, copies) = match rated_as {
                RatedAs::Seen => (other, 1),
                RatedAs::Liked => (other, u32::from(opinion == Opinion::Liked)),
                RatedAs::LikedHated => (
                    2 * other + u32::from(opinion == Opinion::Hated),
                    u32::from(opinion != Opinion::Neutral),
                ),
                RatedAs::Stars => (other, RatedAs::copies(rating.stars).unwrap_or(0)),
            };
            (copies > 0).then_some((row, element, copies))
        };
        let each = |each: &mut dyn FnMut(u32, u32, u32)| {
            for (row, element, copies) in ratings.all().iter().filter_map(entry) {
                each(row, element, copies);
            }
        };
        let elements = Compressed::new(rows as usize, |add| {
            each(&mut |row, of, copies| add(row, Copies { of, copies }));
        });
        let rows = Compressed::new(others as usize * sides, |add| {
            each(&mut |of, element, copies| add(element, Copies { of, copies }));
        });
        Ok(Bags { elements, rows })
    }
}
