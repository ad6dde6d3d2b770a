//! Neighbours, recommendations and hold-outs of ratings against slow references with maps and sets.

#![allow(
    clippy::cast_possible_truncation,
    reason = "small numbers from a formula"
)]

use std::collections::{BTreeMap, BTreeSet};

use simgpu::progress::Silent;
use simgpu_ratings::{
    By, LEAST_LIKED, Neighbour, NeighbourTask, RatedAs, Rating, Ratings, RecommendTask,
    Recommender, Scale, hold_out, neighbours, recommend,
};

const USERS: u32 = 40;
const ITEMS: u32 = 60;

/// Random numbers from a formula (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) % bound
    }
}

/// Ratings in half stars, in random order; some items are rated twice by a user, some ratings have no stars unless
/// `all_stars`.
fn rated(seed: u64, all_stars: bool) -> Vec<Rating> {
    let mut numbers = Numbers(seed);
    let mut rated = Vec::new();
    for user in 0..USERS {
        for _ in 0..numbers.below(2 * u64::from(ITEMS)) {
            // The product makes some items popular.
            let place = numbers.below(u64::from(ITEMS)) * numbers.below(u64::from(ITEMS));
            let half_stars = 1 + numbers.below(10);
            let has_stars = all_stars || numbers.below(8) > 0;
            rated.push(Rating {
                user,
                item: place as u32 / ITEMS,
                stars: has_stars.then_some(half_stars as f64 / 2.0),
                time: numbers.below(50) as i64,
            });
        }
    }
    rated
}

/// The rating that counts, by user and item.
fn last_ratings(rated: &[Rating]) -> BTreeMap<(u32, u32), Rating> {
    let mut last: BTreeMap<(u32, u32), Rating> = BTreeMap::new();
    for rating in rated {
        let known = last.entry((rating.user, rating.item)).or_insert(*rating);
        if rating.time >= known.time {
            *known = *rating;
        }
    }
    last
}

/// A row as a bag: how many half stars, or 1, by element and opinion.
type Bag = BTreeMap<(u32, &'static str), u32>;

fn is_liked(rating: &Rating) -> bool {
    rating.stars.is_none_or(|stars| stars >= 4.0)
}

fn is_hated(rating: &Rating) -> bool {
    rating.stars.is_some_and(|stars| stars <= 2.5)
}

fn bags(last: &BTreeMap<(u32, u32), Rating>, by: By, rated_as: RatedAs) -> Vec<Bag> {
    let rows = if by == By::Item { ITEMS } else { USERS };
    let mut bags = vec![Bag::new(); rows as usize];
    for rating in last.values() {
        let (row, element) = match by {
            By::Item => (rating.item, rating.user),
            By::User => (rating.user, rating.item),
        };
        let (opinion, copies) = match rated_as {
            RatedAs::Seen => ("seen", 1),
            RatedAs::Liked if is_liked(rating) => ("liked", 1),
            RatedAs::LikedHated if is_liked(rating) => ("liked", 1),
            RatedAs::LikedHated if is_hated(rating) => ("hated", 1),
            RatedAs::Liked | RatedAs::LikedHated => continue,
            RatedAs::Stars => ("stars", (2.0 * rating.stars.unwrap()) as u32),
        };
        bags[row as usize].insert((element, opinion), copies);
    }
    bags
}

fn reference_neighbours(bags: &[Bag], row: usize, task: &NeighbourTask) -> Vec<Neighbour> {
    let mut found = Vec::new();
    for (other, other_bag) in bags.iter().enumerate() {
        let bag = &bags[row];
        let keys: BTreeSet<_> = bag.keys().chain(other_bag.keys()).collect();
        let count = |bag: &Bag, key| bag.get(key).copied().unwrap_or(0);
        let pairs = || {
            keys.iter()
                .map(|key| (count(bag, key), count(other_bag, key)))
        };
        let shared: u32 = pairs().map(|(a, b)| a.min(b)).sum();
        let all: u32 = pairs().map(|(a, b)| a.max(b)).sum();
        let support = pairs().filter(|(a, b)| a.min(b) > &0).count() as u32;
        if other != row && support >= task.min_support {
            found.push(Neighbour {
                row: other as u32,
                similarity: f64::from(shared) / f64::from(all),
                support,
                union: keys.len() as u32,
            });
        }
    }
    found.sort_by(|a, b| {
        let order = b.similarity.partial_cmp(&a.similarity).unwrap();
        order
            .then(b.support.cmp(&a.support))
            .then(a.row.cmp(&b.row))
    });
    found.truncate(task.top);
    found
}

/// Every task on every kind of set, with its ratings.
fn cases() -> impl Iterator<Item = (Vec<Rating>, NeighbourTask)> {
    [By::Item, By::User].into_iter().flat_map(|by| {
        RatedAs::ALL.into_iter().flat_map(move |rated_as| {
            (1..=3).map(move |seed| {
                let task = NeighbourTask {
                    by,
                    rated_as,
                    top: 4 * seed as usize,
                    min_support: seed as u32,
                    ..NeighbourTask::default()
                };
                (rated(seed, rated_as == RatedAs::Stars), task)
            })
        })
    })
}

#[test]
fn neighbours_equal_those_of_brute_force() {
    for (rated, task) in cases() {
        let ratings = Ratings::new(USERS, ITEMS, rated.clone()).unwrap();
        let last = last_ratings(&rated);
        assert_eq!(ratings.repeated() as usize, rated.len() - last.len());
        let bags = bags(&last, task.by, task.rated_as);
        let found = neighbours(&ratings, &task, &Silent).unwrap();
        assert_eq!(found.rows() as usize, bags.len());
        let mut total = 0;
        for row in 0..bags.len() {
            let expected = reference_neighbours(&bags, row, &task);
            assert_eq!(found.of(row as u32), expected, "{task:?}, {row}");
            total += expected.len() as u64;
        }
        assert_eq!(found.total(), total);
        assert!(total > 50, "{task:?}: {total}");

        let shared = |a: &Bag, b: &Bag| a.keys().filter(|key| b.contains_key(key)).count();
        let pairs = bags.iter().enumerate().flat_map(|(i, a)| {
            let later = bags[i + 1..].iter();
            later.map(move |b| shared(a, b) as u32)
        });
        let unsupported = pairs.filter(|shared| (1..task.min_support).contains(shared));
        assert_eq!(found.unsupported_pairs(), unsupported.count() as u64);
    }
}

/// The score of each item that the user has not rated, by item number.
fn reference_scores(
    last: &BTreeMap<(u32, u32), Rating>,
    user: u32,
    task: &NeighbourTask,
) -> Vec<f64> {
    let bags = bags(last, task.by, task.rated_as);
    let sign = |rating: &Rating| match task.rated_as {
        RatedAs::Seen => 1.0,
        _ if is_liked(rating) => 1.0,
        RatedAs::LikedHated if is_hated(rating) => -1.0,
        _ => 0.0,
    };
    let mut scores = vec![0.0; ITEMS as usize];
    match task.by {
        By::Item => {
            for rating in last.values().filter(|rating| rating.user == user) {
                for near in reference_neighbours(&bags, rating.item as usize, task) {
                    scores[near.row as usize] += sign(rating) * near.similarity;
                }
            }
        }
        By::User => {
            for near in reference_neighbours(&bags, user as usize, task) {
                for rating in last.values().filter(|rating| rating.user == near.row) {
                    scores[rating.item as usize] += sign(rating) * near.similarity;
                }
            }
        }
    }
    for rating in last.values().filter(|rating| rating.user == user) {
        scores[rating.item as usize] = 0.0;
    }
    scores
}

#[test]
fn recommendations_equal_those_of_brute_force() {
    for (rated, neighbours) in cases() {
        let task = RecommendTask { neighbours, top: 7 };
        let ratings = Ratings::new(USERS, ITEMS, rated.clone()).unwrap();
        let last = last_ratings(&rated);
        let recommender = Recommender::new(&ratings, &task, &Silent).unwrap();
        let users: Vec<u32> = (0..USERS).collect();
        let mut total = 0;
        recommend(&recommender, &users, &Silent, &mut |user, found| {
            assert_eq!(found, recommender.recommend(user));
            let scores = reference_scores(&last, user, &task.neighbours);
            let mut expected: Vec<u32> = (0..ITEMS).collect();
            expected.retain(|item| scores[*item as usize] > 1e-12);
            let order = |a: &u32, b: &u32| {
                let score = |item: &u32| scores[*item as usize];
                score(b).partial_cmp(&score(a)).unwrap().then(a.cmp(b))
            };
            expected.sort_by(order);
            expected.truncate(task.top);
            assert_eq!(found.len(), expected.len(), "{task:?}, {user}");
            for (found, expected) in found.iter().zip(expected) {
                // Sums in another order may differ by a rounding, and with them ties.
                let [score, best] = [found.item, expected].map(|item| scores[item as usize]);
                assert!((found.score - score).abs() < 1e-9, "{task:?}, {user}");
                assert!((score - best).abs() < 1e-9, "{task:?}, {user}");
                let is_rated = |user| last.contains_key(&(user, found.because));
                match task.neighbours.by {
                    By::Item => assert!(is_rated(user)),
                    By::User => assert!(last.contains_key(&(found.because, found.item))),
                }
            }
            total += found.len();
            Ok(())
        })
        .unwrap();
        assert!(total > 20, "{task:?}: {total}");
    }
}

#[test]
fn held_out_items_are_ranked_without_their_ratings() {
    for (rated, neighbours) in cases() {
        let task = RecommendTask {
            neighbours,
            top: 10,
        };
        let last = last_ratings(&rated);
        let mut left = last.clone();
        let mut held = BTreeMap::new();
        for user in 0..USERS {
            let liked = last.values().filter(|it| it.user == user && is_liked(it));
            let liked: Vec<&Rating> = liked.collect();
            if liked.len() > LEAST_LIKED {
                let latest = liked.iter().max_by_key(|it| (it.time, it.item)).unwrap();
                left.remove(&(user, latest.item));
                held.insert(user, latest.item);
            }
        }
        let ratings = Ratings::new(USERS, ITEMS, rated).unwrap();
        let evaluation = hold_out(&ratings, &task, &Silent).unwrap();
        assert!(held.len() > 3);
        let users = evaluation
            .held_out
            .iter()
            .map(|held| (held.user, held.item));
        assert!(users.eq(held.clone()));

        let without = Ratings::new(USERS, ITEMS, left.values().copied().collect()).unwrap();
        let recommender = Recommender::new(&without, &task, &Silent).unwrap();
        let raters = |item: u32| left.keys().filter(|key| key.1 == item).count();
        for held in &evaluation.held_out {
            let found = recommender.recommend(held.user);
            let place = found.iter().position(|found| found.item == held.item);
            assert_eq!(held.rank, place.map(|place| place as u32 + 1));
            let mut popular: Vec<u32> = (0..ITEMS).collect();
            popular.retain(|item| !left.contains_key(&(held.user, *item)));
            popular.sort_by_key(|item| (usize::MAX - raters(*item), *item));
            let place = popular.iter().take(10).position(|item| *item == held.item);
            assert_eq!(held.popularity_rank, place.map(|place| place as u32 + 1));
        }
        let hits = evaluation.held_out.iter().filter(|it| it.rank.is_some());
        assert_eq!(evaluation.hits(), hits.count() as u64);
        let (low, high) = evaluation.interval(evaluation.hits(), 0.95).unwrap();
        let rate = evaluation.hits() as f64 / evaluation.held_out.len() as f64;
        assert!(low <= rate && rate <= high);
    }
}

/// The bags of MMDS 3.1.3: what was rated {a, a, a, b} and {a, a, b, b, c}, with the greater numbers as union.
#[test]
fn bags_have_the_similarity_of_the_book() {
    let stars = [
        (0, 0, 3.0),
        (0, 1, 1.0),
        (1, 0, 2.0),
        (1, 1, 2.0),
        (1, 2, 1.0),
    ];
    let rated = stars.map(|(item, user, stars)| Rating {
        user,
        item,
        stars: Some(stars),
        time: 0,
    });
    let ratings = Ratings::new(3, 2, rated.to_vec()).unwrap();
    let task = NeighbourTask {
        rated_as: RatedAs::Stars,
        min_support: 2,
        ..NeighbourTask::default()
    };
    let found = neighbours(&ratings, &task, &Silent).unwrap();
    assert_eq!(found.of(0)[0].similarity, 0.5);
    assert_eq!((found.of(0)[0].support, found.of(0)[0].union), (2, 3));
}

#[test]
fn intervals_hold_the_similarity() {
    let neighbour = |support: u32, union: u32| Neighbour {
        row: 0,
        similarity: f64::from(support) / f64::from(union),
        support,
        union,
    };
    // Tables of Clopper and Pearson: 5 of 10, and 10 of 10.
    let (low, high) = neighbour(5, 10).interval(0.95).unwrap();
    assert!((low - 0.1871).abs() < 1e-4 && (high - 0.8129).abs() < 1e-4);
    let (low, high) = neighbour(10, 10).interval(0.95).unwrap();
    assert!((low - 0.6915).abs() < 1e-4 && high == 1.0);
    assert!(neighbour(5, 10).interval(1.0).is_err());
}

#[test]
fn tasks_out_of_range_are_refused() {
    let ratings = Ratings::new(USERS, ITEMS, rated(1, false)).unwrap();
    let default = NeighbourTask::default;
    let crossed = Scale {
        liked_from: 2.0,
        hated_to: 3.0,
    };
    let bad = [
        (
            NeighbourTask {
                top: 0,
                ..default()
            },
            "`top`",
        ),
        (
            NeighbourTask {
                min_support: 0,
                ..default()
            },
            "`min_support`",
        ),
        (
            NeighbourTask {
                scale: crossed,
                ..default()
            },
            "`hated_to`",
        ),
        // Some ratings have no stars.
        (
            NeighbourTask {
                rated_as: RatedAs::Stars,
                ..default()
            },
            "has no stars",
        ),
    ];
    for (task, phrase) in bad {
        let error = neighbours(&ratings, &task, &Silent)
            .unwrap_err()
            .to_string();
        assert!(error.contains(phrase), "{error}");
    }
    let none = RecommendTask {
        top: 0,
        ..RecommendTask::default()
    };
    assert!(Recommender::new(&ratings, &none, &Silent).is_err());
    let few = Ratings::new(1, 1, Vec::new()).unwrap();
    let error = hold_out(&few, &RecommendTask::default(), &Silent).unwrap_err();
    assert!(error.to_string().contains("more than 10 items"), "{error}");
}
