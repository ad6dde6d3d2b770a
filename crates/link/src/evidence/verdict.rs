//! Whether the evidence is enough to link records by it, and what is missing where it is not.

use super::decision::Evidence;
use super::kinds::Kind;
use super::mixture::Mixture;
use super::noise::Suspect;
use simgpu::progress::{counted, grouped};

/// Strong fields that tell records apart together, at least. With two, such as a name and a phone, members of a household are
/// one: on people by phone and surname 20 % of the pairs were right and 98 % expected.
const LEAST_STRONG: usize = 3;

/// Below this expected precision, the estimate is rough.
const LEAST_KNOWN: f64 = 0.9;

/// With so few pairs that the least expected precision is below this one, nothing is told.
const LEAST_OF_RANGE: f64 = 0.5;

/// What the evidence is good for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// Records are linked by it, and so many pairs are expected to be right.
    Links,
    /// No two different records are one thing; what they lack.
    Nothing(String),
    /// Records are linked by it, and it is not told how many pairs are right, since the fields hardly tell records apart; why.
    TooWeak(String),
    /// Records are linked by it, and it is not told how many pairs are right; why.
    Rough(String),
    /// The fields are texts, of which it says too little; why.
    Texts(String),
}

impl Verdict {
    /// What is missing, or what the evidence shows, as a sentence; empty if all is well.
    pub(crate) fn because(&self) -> &str {
        match self {
            Verdict::Links => "",
            Verdict::Nothing(because)
            | Verdict::TooWeak(because)
            | Verdict::Rough(because)
            | Verdict::Texts(because) => because,
        }
    }

    /// Its name in reports.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Verdict::Links => "links",
            Verdict::Nothing(_) => "nothing to link",
            Verdict::TooWeak(_) | Verdict::Rough(_) | Verdict::Texts(_) => "cannot tell",
        }
    }
}

impl Evidence {
    /// What the evidence is good for. `names` are those of all compared fields, if they have any.
    pub(crate) fn verdict(&self, names: &[String]) -> Verdict {
        let strong = self.strong();
        let is_text = |field: &&usize| self.fields.used[**field].kind == Kind::Text;
        let texts = strong.iter().filter(is_text).count();
        let has_too_few_others = texts > 0 && strong.len() - texts < LEAST_STRONG;
        let precision = self.expected.precision().map(|[_, right, _]| right);
        let too_few = (strong.len() < LEAST_STRONG).then(|| self.too_few(names));
        let suspect = self.suspect().map(|suspect| self.either(suspect, names));
        let rough = suspect.or_else(|| self.rough());
        match (precision, too_few, rough) {
            (_, Some(because), _) | (_, None, Some(because)) if has_too_few_others => {
                Verdict::Texts(because)
            }
            (None, None, None) if has_too_few_others => Verdict::Texts(
                "texts that differ show no more agreement than chance explains".to_owned(),
            ),
            (_, Some(because), _) => Verdict::TooWeak(because),
            (_, _, Some(because)) => Verdict::Rough(because),
            (None, ..) => Verdict::Nothing(self.nothing(names)),
            _ => Verdict::Links,
        }
    }

    /// What a field that is at chance where all others agree may be, and what helps.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of pairs"
    )]
    fn either(&self, suspect: Suspect, names: &[String]) -> String {
        format!(
            "{0} agrees no more often than by chance in some {1} pairs that agree in the other fields: either {0} alone tells related things apart, such as members of a household, or it says nothing, and then leave it out of `fields`",
            self.name(suspect.field, names),
            grouped(suspect.pairs.round() as u64),
        )
    }

    /// Why the expected precision is rough, if it is.
    fn rough(&self) -> Option<String> {
        let [least, right, _] = self.expected.precision()?;
        if right < LEAST_KNOWN {
            return Some(format!(
                "by evidence, some {:.0} % of the pairs within entities are right, and below {:.0} % the estimate is rough",
                100.0 * right,
                100.0 * LEAST_KNOWN
            ));
        }
        (least < LEAST_OF_RANGE).then(|| {
            "the pairs within entities are too few to tell how many are right; check them by hand".to_owned()
        })
    }

    /// The expected recall: least, expected, most; or why it cannot be told.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of pairs"
    )]
    pub(crate) fn recall(&self) -> Result<[f64; 3], String> {
        if self.missed.hides_too_many() {
            Err(format!(
                "some {} pairs share at least half of the strong fields and differ in two or more: related things, such as a household, or the same thing with several errors",
                grouped(self.missed.nearly.round() as u64)
            ))
        } else {
            Ok(self.missed.recall(self.expected.right))
        }
    }

    /// The strong fields.
    fn strong(&self) -> Vec<usize> {
        let mixture = self.learned.as_ref().map(|(mixture, _)| mixture);
        let strong = mixture.into_iter().flat_map(Mixture::strong_fields);
        strong.map(|(field, _)| field).collect()
    }

    /// The name of a field that is used.
    fn name(&self, field: usize, names: &[String]) -> String {
        let place = self.fields.used[field].place;
        let name = names.get(place).cloned();
        name.unwrap_or_else(|| format!("field {}", place + 1))
    }

    /// What records that differ lack.
    fn nothing(&self, names: &[String]) -> String {
        let mut strong = self.strong();
        strong.sort_unstable();
        let strong = strong.into_iter().map(|field| self.name(field, names));
        let strong: Vec<String> = strong.collect();
        format!(
            "nothing to link: no two records that differ agree in more of {} than chance and what households share explain",
            strong.join(", ")
        )
    }

    /// Which fields tell records apart, where they are too few.
    fn too_few(&self, names: &[String]) -> String {
        let named = self.strong().into_iter().map(|field| {
            let name = self.name(field, names);
            format!("{name} {:.0} bits", self.rates[field].bits)
        });
        let named: Vec<String> = named.collect();
        let found = match &named[..] {
            [] => "no field tells records apart".to_owned(),
            [one] => format!("only one field tells records apart ({one})"),
            _ => format!(
                "only {} fields tell records apart ({})",
                named.len(),
                named.join(", ")
            ),
        };
        format!(
            "{found}, and {LEAST_STRONG} are needed: compare more `fields`, such as a date of birth, a number, a street"
        )
    }

    /// How many records equal an earlier one although equality of all these fields is no evidence; a sentence, if there are any.
    pub(crate) fn doubt_of_equality(&self, copies: impl Fn(u32) -> u64) -> Option<String> {
        let doubted = self
            .equality
            .iter()
            .filter(|(_, log_odds)| *log_odds <= 0.0);
        let records: u64 = doubted.map(|(record, _)| copies(*record) - 1).sum();
        (records > 0).then(|| {
            format!(
                "{} in every field, which is no evidence here: so many are equal by chance",
                match records {
                    1 => format!("{} equals an earlier one", counted(1, "record")),
                    _ => format!("{} records equal an earlier one", grouped(records)),
                }
            )
        })
    }
}
