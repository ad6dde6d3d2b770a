//! What a document holds: hits, and what counts for phrases.

use xxhash_rust::xxh3::xxh3_64;

use crate::asked::Place;
use crate::class::Hit;

/// Words in the place of others that tell texts apart.
const TOLD: usize = 8;

/// What a document holds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Findings {
    /// The items in it, by the number of the item.
    pub hits: Vec<Hit>,
    /// The questions of which it holds half, with what it lacks of them.
    pub(super) parts: Vec<PartOfQuestion>,
    /// The n-grams that open candidates, outside of items that it asks; ascending.
    pub(super) grams: Vec<u32>,
}

/// A question of which a document holds half, and what it lacks of it.
#[derive(Clone, Debug)]
pub(super) struct PartOfQuestion {
    /// The number of the part.
    pub(super) part: usize,
    /// Words in place.
    in_place: usize,
    /// Words outside the template that are not in place, and a hash of the words there instead.
    pub(super) lacking: Vec<(usize, u64)>,
}

impl PartOfQuestion {
    /// What a place has of a question; `None` if less than half. Its options count as all that it lacks.
    pub(super) fn new(part: usize, place: Place<'_>, has_options: bool) -> Option<Self> {
        if place.content_share() < 0.5 {
            return None;
        }
        let lacking = if has_options {
            Vec::new()
        } else {
            let content = place.detail.content.iter().copied();
            let lacking = content.filter(|i| !place.aligned.has(*i));
            lacking.map(|i| (i, instead(place, i))).collect()
        };
        Some(PartOfQuestion {
            part,
            in_place: place.aligned.count(),
            lacking,
        })
    }

    /// The one with more words in place, the other of equals.
    pub(super) fn or_better(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.in_place >= self.in_place => other,
            _ => self,
        }
    }
}

/// A hash of the words of the document that stand in the place of a missing word and its neighbours.
fn instead(place: Place<'_>, word: usize) -> u64 {
    let document = place.document;
    let before = (0..word)
        .rev()
        .find_map(|i| Some((i, place.aligned.get(i)?)));
    let behind = (word + 1..place.part.len()).find_map(|i| Some((i, place.aligned.get(i)?)));
    let range = match (before, behind) {
        (Some((_, start)), Some((_, end))) => start + 1..end,
        (Some((i, start)), None) => {
            let missing = place.part.len() - 1 - i;
            start + 1..(start + 1 + missing).min(document.len())
        }
        (None, Some((i, end))) => end.saturating_sub(i)..end,
        (None, None) => 0..0,
    };
    let end = range.end.min(range.start + TOLD);
    xxh3_64(document.joined(range.start..end).as_bytes())
}
