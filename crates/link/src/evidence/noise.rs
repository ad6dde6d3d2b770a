//! Fields that say nothing of whether records are one thing, and hurt: each pair of the same thing differs in them.
//!
//! Such a field is on the levels of chance in the pairs that share all other fields. So is the given name of members of a
//! household, whose surname, street and phone are equal, and the title of the songs of an album: there, the field alone tells
//! the things apart. What tells one from the other:
//!
//! - Numbers, phones and the like are noise: who shares a name and a street shares them, too, or is another one.
//! - A name, a date or a text is noise only where all else is what one thing has, by [`Evidence::is_one_thing_each`].
//!
//! Where the last rule lacks something, nobody can tell which of both it is, and [`Evidence::suspect`] says so.
//!
//! The rule was found on tables without duplicates: households with errors in all that they share, twins, flatmates with
//! full names that occur once, and members of a club with one date of entry for the family, with and without a column of
//! random words. Uniqueness of the values, or a date alone, linked members of such households.

use super::decision::{DOUBTED, DOUBTED_PAIRS, Evidence};
use super::kinds::{Kind, Noise};
use super::mixture::Mixture;
use super::seen::Seen;

/// A field that differs where others agree, and whose levels are this near to those of chance, is noise.
const NOISE_BITS: f64 = 0.15;

/// A strong field that agrees in this share of the pairs of the same thing tells noise.
const AGREEING: f64 = 0.5;

/// Such fields, at least; and more where the field may tell things apart.
const LEAST_BESIDE: usize = 2;
const MORE_BESIDE: usize = 3;

/// A field has errors if this share of the pairs of the same thing are not equal in it.
const ERRORS: f64 = 0.02;

/// Pairs for each record that twins are not, at least: one birth in sixty is one of twins.
const LEAST_PAIRS: f64 = 0.05;

/// Strong texts that members of a household do not have in common, and the share of their values with a digit, at most: an
/// address has one.
const LEAST_TEXTS: usize = 2;
const MOST_WITH_DIGITS: f64 = 0.5;

/// A field that may tell things apart or say nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Suspect {
    pub(crate) field: usize,
    /// The pairs that share all others.
    pub(crate) pairs: f64,
}

impl Evidence {
    /// The fields that never agree beyond chance, and not even nearly, where two strong fields agree; none if another field is
    /// doubted, which may be right to differ.
    pub(super) fn find_noise(&self) -> Vec<usize> {
        let Some((mixture, _)) = &self.learned else {
            return Vec::new();
        };
        let fields = 0..self.fields.used.len();
        let noise = fields.filter(|field| {
            self.is_at_chance(mixture, *field) && self.may_be_noise(mixture, *field)
        });
        let noise: Vec<usize> = noise.collect();
        if self.only_doubts(&noise) {
            noise
        } else {
            Vec::new()
        }
    }

    /// Whether no other field is doubted than these.
    fn only_doubts(&self, fields: &[usize]) -> bool {
        let mut doubted = (0..self.doubted.len()).filter(|field| self.doubted[*field]);
        doubted.all(|field| fields.contains(&field))
    }

    /// Whether the levels of a field are those of chance in pairs that share all others.
    fn is_at_chance(&self, mixture: &Mixture, field: usize) -> bool {
        let seen = mixture.seen_without(field, field);
        seen.pairs >= DOUBTED_PAIRS
            && seen.agrees < DOUBTED
            && seen.divergence < NOISE_BITS
            && self.rates[field].bits > 1.0
    }

    /// The strong fields that agree in pairs that share all but one.
    fn agreeing(mixture: &Mixture, lacks: usize) -> Vec<(usize, Seen)> {
        let strong = mixture.strong_fields().map(|(field, _)| field);
        let seen = strong.map(|field| (field, mixture.seen_without(lacks, field)));
        seen.filter(|(field, seen)| *field != lacks && seen.agrees >= AGREEING)
            .collect()
    }

    /// Whether a field at chance is noise, by its kind and the strong fields that agree.
    fn may_be_noise(&self, mixture: &Mixture, field: usize) -> bool {
        let agreeing = Evidence::agreeing(mixture, field);
        agreeing.len() >= LEAST_BESIDE
            && match self.fields.used[field].kind.noise() {
                Noise::Always => true,
                Noise::OfThings => self.is_one_thing_each(mixture, field, &agreeing),
            }
    }

    /// Whether pairs that share all fields but one are one thing each, and not things that only this field tells apart: no other
    /// field is doubted, it does not agree more often than by chance, three others or more do, with errors in each, the pairs
    /// are more than those of twins, and also more than those that lack one field more, such as brothers and sisters.
    fn is_one_thing_each(
        &self,
        mixture: &Mixture,
        field: usize,
        agreeing: &[(usize, Seen)],
    ) -> bool {
        let Some(pairs) = mixture.pairs_without(field) else {
            return false;
        };
        let seen = mixture.seen_without(field, field);
        self.only_doubts(&[field])
            && !self.may_stand_crosswise(field)
            && !seen.is_beyond_chance(&self.rates[field])
            && agreeing.len() >= MORE_BESIDE
            && with_errors(agreeing) == agreeing.len()
            && self.tell_one_thing(agreeing)
            && pairs >= LEAST_PAIRS * self.clusters.first.len() as f64
            && pairs > mixture.most_without_two(field)
    }

    /// Whether these fields are such as no two things share: a date with a given name and a surname, which stand crosswise in
    /// some records, or two texts.
    fn tell_one_thing(&self, agreeing: &[(usize, Seen)]) -> bool {
        let used = &self.fields.used;
        let has = |field: &usize| agreeing.iter().any(|(other, _)| other == field);
        let has_names = self.crossed.iter().any(|places| places.iter().all(has));
        let fields_of_kind = |kind: Kind| {
            let fields = agreeing.iter().map(|(field, _)| &used[*field]);
            fields.filter(move |field| field.kind == kind)
        };
        let texts = fields_of_kind(Kind::Text).filter(|text| text.with_digits() < MOST_WITH_DIGITS);
        has_names && fields_of_kind(Kind::Date).next().is_some() || texts.count() >= LEAST_TEXTS
    }

    /// Whether values of a name may stand in another one.
    fn may_stand_crosswise(&self, field: usize) -> bool {
        self.crossed.iter().flatten().any(|place| *place == field)
    }

    /// The strong field that is at chance where all others agree, with errors, so that it either says nothing or tells related
    /// things apart.
    pub(crate) fn suspect(&self) -> Option<Suspect> {
        let (mixture, _) = self.learned.as_ref()?;
        let is_suspect = |field: &usize| {
            let agreeing = Evidence::agreeing(mixture, *field);
            (self.doubted[*field] || mixture.is_leading(*field))
                && self.only_doubts(&[*field])
                && self.is_at_chance(mixture, *field)
                && with_errors(&agreeing) >= LEAST_BESIDE
        };
        let field = (0..self.fields.used.len()).find(is_suspect)?;
        let pairs = mixture.pairs_without(field)?;
        Some(Suspect { field, pairs })
    }
}

/// How many of these fields have errors.
fn with_errors(fields: &[(usize, Seen)]) -> usize {
    let with_errors = fields.iter().filter(|(_, seen)| seen.equal < 1.0 - ERRORS);
    with_errors.count()
}

#[cfg(test)]
mod tests {
    use super::super::decision::tests::{date, word};
    use super::super::values::{Column, Fields, Reason};
    use super::super::verdict::Verdict;
    use super::*;
    use simgpu::progress::Silent;
    use simgpu::scheme::fmix64;

    const NAMES: [&str; 7] = [
        "given", "surname", "street", "town", "phone", "born", "extra",
    ];

    type Records = Vec<Vec<String>>;

    fn random(field: u64, of: u64) -> u64 {
        fmix64(fmix64(of) << 8 | field)
    }

    /// A person with given name, surname, street, town, phone and date of birth; all but the given name are those of `born`.
    fn person(given: u64, born: u64) -> Vec<String> {
        vec![
            word(random(0, given) % 60),
            word(random(1, born) % 300),
            word(5000 + random(2, born) % 2000),
            word(9000 + random(3, born) % 100),
            format!("0{}", 100_000_000 + random(4, born) % 900_000_000),
            date(random(5, born)),
        ]
    }

    /// Errors in one field of six: another letter or digit. None in the field `but`.
    fn with_errors(record: u64, mut values: Vec<String>, but: usize) -> Vec<String> {
        for (field, value) in values.iter_mut().enumerate() {
            let random = random(10 + field as u64, record);
            if field == but || !random.is_multiple_of(6) {
                continue;
            }
            let place = value.len() - 1 - usize::from(random.to_le_bytes()[1] % 3);
            let wrong = match value.as_bytes()[place] {
                digit @ b'0'..=b'8' => char::from(digit + 1),
                b'9' => '0',
                _ => 'y',
            };
            value.replace_range(place..=place, &wrong.to_string());
        }
        values
    }

    /// 300 persons twice, with errors.
    fn persons() -> Records {
        let persons = (0..600).map(|record| with_errors(record, person(record / 2, record / 2), 9));
        persons.collect()
    }

    /// 200 households of three, who differ in the given name alone; with errors in all that they share.
    fn households() -> Records {
        let members = (0..600).map(|record| with_errors(record, person(record, record / 3), 0));
        members.collect()
    }

    /// The same with a column more.
    fn beside(records: &Records, value: impl Fn(u64) -> String) -> Records {
        let records = (0..).zip(records);
        let wider = records.map(|(record, values)| {
            let value = value(fmix64(record ^ 0xabcd));
            values.iter().cloned().chain([value]).collect()
        });
        wider.collect()
    }

    fn without(records: &Records, field: usize) -> Records {
        let mut records = records.clone();
        records.iter_mut().for_each(|values| {
            values.remove(field);
        });
        records
    }

    fn evidence(records: &Records) -> Evidence {
        let columns = (0..records[0].len()).map(|field| {
            let texts = records.iter().map(|record| &*record[field]);
            Column::new(&texts.collect::<Vec<&str>>(), None, &|_| None)
        });
        let fields = Fields::from_columns(columns);
        Evidence::decide(fields, &vec![1; records.len()], &Silent).unwrap()
    }

    /// Columns that say nothing: a text, words of which many repeat, words that hardly do, dates.
    fn columns() -> [fn(u64) -> String; 4] {
        [
            |random| {
                let words = (0..6).map(|at| word(fmix64(random + at) % 2000));
                words.collect::<Vec<String>>().join(" ")
            },
            |random| word(20_000 + random % 200),
            word,
            date,
        ]
    }

    #[test]
    fn a_column_that_says_nothing_changes_nothing() {
        let records = persons();
        let alone = evidence(&records);
        let right =
            (0..300).filter(|person| alone.clusters.first[2 * person + 1] as usize == 2 * person);
        assert!(right.count() > 280 && alone.clusters.linked() < 605);
        for (number, column) in columns().into_iter().enumerate() {
            let with_column = evidence(&beside(&records, column));
            let unused = &with_column.fields.unused;
            assert_eq!(unused.len(), 1, "{number}");
            assert_eq!(
                (unused[0].place, &unused[0].why),
                (6, &Reason::Noise),
                "{number}"
            );
            assert_eq!(with_column.clusters.first, alone.clusters.first, "{number}");
            assert_eq!(with_column.expected, alone.expected, "{number}");
        }
    }

    #[test]
    fn members_of_a_household_stay_apart_beside_any_column() {
        // With the date of birth, which they share as if they were born on one day, or entered a club; and without it.
        for records in [households(), without(&households(), 5)] {
            let alone = evidence(&records);
            assert_eq!(alone.clusters.linked(), 0);
            let names = NAMES.map(str::to_owned);
            let Verdict::Rough(because) = alone.verdict(&names) else {
                panic!("it is known that nobody is there twice");
            };
            assert!(
                because.starts_with("given agrees no more often"),
                "{because}"
            );
            for (number, column) in columns().into_iter().enumerate() {
                let with_column = evidence(&beside(&records, column));
                assert_eq!(with_column.clusters.linked(), 0, "{number}");
            }
        }
    }

    #[test]
    fn without_given_names_nobody_can_tell() {
        let records = beside(&without(&persons(), 0), |random| {
            word(20_000 + random % 200)
        });
        let evidence = evidence(&records);
        assert!(evidence.fields.unused.is_empty());
        let suspect = evidence.suspect().unwrap();
        assert_eq!(suspect.field, 5);
        assert!((275.0..325.0).contains(&suspect.pairs), "{suspect:?}");
        assert!(!matches!(
            evidence.verdict(&[]),
            Verdict::Links | Verdict::Nothing(_)
        ));
    }

    #[test]
    fn few_pairs_may_be_twins() {
        // 20 pairs of twins among 1,200: fewer than could be told from one person each.
        let records: Records = (0..1200)
            .map(|record| {
                with_errors(
                    record,
                    person(record, if record < 40 { record / 2 } else { record }),
                    0,
                )
            })
            .collect();
        let evidence = evidence(&records);
        assert_eq!(evidence.clusters.linked(), 0);
        assert!(evidence.fields.unused.is_empty());
    }
}
