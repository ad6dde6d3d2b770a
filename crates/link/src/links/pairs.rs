//! The pairs behind the links: their rows, their values, their runners-up, and those next to the threshold.

use super::{Linked, RecordLink, RunnerUp};
use crate::candidates::RecordPair;
use crate::matching::Joined;
use crate::score::Score;
use crate::tables::RecordTables;

impl Linked<'_> {
    /// The pairs next to the threshold, and whether each is accepted. With one file, those below it are of two entities.
    pub fn examples(&self) -> Vec<(RecordLink, bool)> {
        const EACH: usize = 5;
        let pairs = &self.candidates.pairs;
        let joined = &self.accepted.joined;
        let accepted = joined[joined.len().saturating_sub(EACH)..].iter().copied();
        let threshold = self.estimate().threshold;
        let reaching = match self.score() {
            // Entities follow from all pairs between them: pairs with high scores may be rejected.
            Score::Evidence => 0,
            _ => pairs.partition_point(|pair| pair.score >= threshold),
        };
        let first_rows = |place: usize| Joined {
            pair: RecordPair {
                rows: pairs[place]
                    .rows
                    .map(|record| self.distinct.first_row(record as usize)),
                ..pairs[place]
            },
            place: Some(place),
        };
        let is_within = |joined: &Joined| {
            let [a, b] = joined.pair.rows.map(|row| row as usize);
            let entities = self.accepted.entities.as_ref();
            entities.is_some_and(|first| first[a] == first[b])
        };
        let below = (reaching..pairs.len()).map(first_rows);
        let rejected = below.filter(|joined| !is_within(joined)).take(EACH);
        let accepted = accepted.map(|joined| (self.link(&joined), true));
        let rejected = rejected.map(|joined| (self.link(&joined), false));
        accepted.chain(rejected).collect()
    }

    pub(super) fn link(&self, joined: &Joined) -> RecordLink {
        let pair = &joined.pair;
        let [a, b] = self.rows_of(pair);
        let others = pair
            .rows
            .iter()
            .filter_map(|row| self.other_than(joined, *row));
        RecordLink {
            a,
            b,
            score: pair.score,
            similarity: pair.similarity,
            runner_up: others.min_by(RecordPair::before).map(|other| {
                let [a, b] = self.rows_of(&other);
                let score = other.score;
                RunnerUp { a, b, score }
            }),
        }
    }

    /// The best pair of one record of a link, besides the link.
    fn other_than(&self, joined: &Joined, row: u32) -> Option<RecordPair> {
        let record = self.distinct.record(row as usize);
        let with = |other: u32, of: RecordPair| {
            let rows = [row.min(other), row.max(other)];
            (other != row && rows != joined.pair.rows).then_some(RecordPair { rows, ..of })
        };
        let copies = match self.files.second {
            Some(_) => &[][..],
            None => self.distinct.rows(record),
        };
        if let Some(other) = copies
            .iter()
            .find(|other| with(**other, joined.pair).is_some())
        {
            let tables = self.tables();
            let equal = RecordPair {
                rows: [0; 2],
                score: self
                    .scorer
                    .score_of_copies(record, &tables, self.equivalents),
                similarity: 1.0,
            };
            return with(*other, equal);
        }
        let places = self.best[record].iter().flatten();
        let mut pairs = places.flat_map(|place| {
            let pair = self.candidates.pairs[*place];
            let [a, b] = pair.rows.map(|row| row as usize);
            let other = if a == record { b } else { a };
            let rows = self.distinct.rows(other).iter();
            rows.filter_map(move |other| with(*other, pair))
        });
        pairs.next()
    }

    /// The row of the first record of the file of the second record of a pair.
    fn start_of_b(&self) -> usize {
        match self.files.second {
            Some(_) => self.files.first.len(),
            None => 0,
        }
    }

    /// The rows of both records among the records of both files.
    pub(super) fn global_rows(&self, link: &RecordLink) -> [usize; 2] {
        [link.a as usize, self.start_of_b() + link.b as usize]
    }

    /// The rows of a pair, each counted in its own file.
    fn rows_of(&self, pair: &RecordPair) -> [u32; 2] {
        let [a, b] = pair.rows;
        [a, b - u32::try_from(self.start_of_b()).unwrap_or(0)]
    }

    /// The values of both records of a link: first all fields of one.
    pub fn values(&self, link: &RecordLink) -> Vec<Vec<String>> {
        let values = |row: usize| self.fields_of(row);
        self.global_rows(link).map(values).into()
    }

    /// The values of the fields of a record, whose row is among those of both files.
    pub(crate) fn fields_of(&self, row: usize) -> Vec<String> {
        let fields = self.files.fields(row);
        fields
            .map(|field| String::from_utf8_lossy(field).into_owned())
            .collect()
    }

    fn tables(&self) -> RecordTables<'_> {
        RecordTables {
            files: self.files,
            distinct: &self.distinct,
        }
    }
}
