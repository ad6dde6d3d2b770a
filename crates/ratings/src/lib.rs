//! Ratings: users and items as sets of each other (collaborative filtering, MMDS 3.1.3).
//!
//! An item is the set of the users who rated it, or a user the set of the items that he rated: [`By`] chooses.
//! [`RatedAs`] says what is in a set: all who rated, only those who liked, both who liked and who hated as two elements
//! each, or as many copies as stars. [`neighbours`] finds for each of them the most similar others, by Jaccard
//! similarity, exactly. [`recommend`] scores what a user has not rated by what is similar to it, and [`hold_out`]
//! measures how often that finds an item that the user liked and that was held out.
//!
//! ```
//! use simgpu::progress::Silent;
//! use simgpu_ratings::{NeighbourTask, Rating, Ratings, neighbours};
//!
//! // Users 0 and 1 rated items 0 and 1 alike; item 2 has one rating.
//! let rated = [(0, 0, 5.0), (0, 1, 4.5), (1, 0, 4.0), (1, 1, 5.0), (1, 2, 2.0)];
//! let rated = rated.map(|(user, item, stars)| Rating { user, item, stars: Some(stars), time: 0 });
//! let ratings = Ratings::new(2, 3, rated.to_vec())?;
//! let task = NeighbourTask { min_support: 2, ..NeighbourTask::default() };
//! let found = neighbours(&ratings, &task, &Silent)?;
//! assert_eq!(found.of(0).len(), 1);
//! assert_eq!((found.of(0)[0].row, found.of(0)[0].similarity), (1, 1.0));
//! # Ok::<(), simgpu::Error>(())
//! ```

pub mod evaluation;

mod rating;

mod opinions;

mod sets;

mod neighbours;

mod recommend;

mod hold_out;

mod task;

mod read;

mod rows;

mod report;

mod results;

mod memory;

mod run;

pub use self::{
    memory::RatingsInMemory,
    read::{NameFields, RatingFields},
    report::{HitRates, RatingsCounts, RatingsParameters, RatingsReport},
    run::{NamesFile, RatingsOutcome, RatingsRun},
    task::{RatingsTask, Recommendees},
};
pub use hold_out::{Evaluation, HeldOut, LEAST_LIKED, hold_out};
pub use neighbours::{Neighbour, NeighbourTask, Neighbours, neighbours};
pub use opinions::{Opinion, RatedAs, Scale};
pub use rating::{Rating, Ratings};
pub use recommend::{RecommendTask, Recommendation, Recommender, recommend};
pub use sets::By;
