//! The parameters of a search for links.

use crate::evidence::Kind;
use crate::matching::Matching;
use crate::score::Score;
use crate::words::Equivalents;
use simgpu::error::{Error, Result};

/// The parameters of a search for records that describe the same thing. Defaults suit most files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Link {
    /// How pairs are scored; default [`Score::Auto`].
    pub score: Score,
    /// How many partners a record of two files may have; default [`Matching::OneToOne`].
    pub matching: Matching,
    /// The least score of a link; `None` lets the runners-up decide.
    pub threshold: Option<f64>,
    /// The share of the records of the smaller file that have a partner; `None` estimates it.
    pub share: Option<f64>,
    /// Names that count as equal.
    pub equivalents: Equivalents,
    /// The names of the fields, for messages; empty to number them.
    pub field_names: Vec<String>,
    /// The kinds of the fields, for [`Score::Evidence`]; empty, or `None`, to find them from the values.
    pub field_kinds: Vec<Option<Kind>>,
}

impl Link {
    /// Refuses parameters that contradict each other, or are out of range for so many fields.
    pub(crate) fn check(&self, fields: usize, has_two_files: bool) -> Result<()> {
        let range = self.score.range(fields);
        let parameter = |name, value: String, expected: &str| {
            Err(Error::Parameter {
                name,
                value,
                expected: expected.to_owned(),
            })
        };
        self.check_evidence(has_two_files)?;
        match (self.threshold, self.share) {
            (Some(threshold), _) if self.score == Score::Evidence => parameter(
                "`threshold`",
                threshold.to_string(),
                "none with `score=evidence`: what is linked follows from all pairs of two entities together",
            ),
            (Some(threshold), _) if !range.contains(&threshold) => {
                // With a threshold, which is a cosine, `auto` is `text`.
                let score = match self.score {
                    Score::Auto => Score::Text,
                    given => given,
                };
                let expected = match score {
                    Score::Points => "a number".to_owned(),
                    score => format!(
                        "a number from {} to {} with `score={}`",
                        range.start(),
                        range.end(),
                        score.name()
                    ),
                };
                parameter("`threshold`", threshold.to_string(), &expected)
            }
            (_, Some(share)) if !(share > 0.0 && share <= 1.0) => {
                parameter("`share`", share.to_string(), "a number above 0 and up to 1")
            }
            (_, Some(share)) if !has_two_files => parameter(
                "`share`",
                share.to_string(),
                "it with two files only: in one file, a record may have several partners",
            ),
            _ if !has_two_files && self.matching != Matching::default() => parameter(
                "`match`",
                self.matching.name().to_owned(),
                "it with two files only: the records of one file form entities of any size",
            ),
            _ => Ok(()),
        }
    }

    /// Refuses evidence of two files, and kinds of fields without it.
    fn check_evidence(&self, has_two_files: bool) -> Result<()> {
        let parameter = |name, value: String, expected: &str| Error::Parameter {
            name,
            value,
            expected: expected.to_owned(),
        };
        if self.score == Score::Evidence && has_two_files {
            let expected = "it with one file only";
            return Err(parameter("`score`", self.score.name().to_owned(), expected));
        }
        let may_be_evidence = match self.score {
            Score::Auto => self.threshold.is_none() && !has_two_files,
            score => score == Score::Evidence,
        };
        match self.field_kinds.iter().flatten().next() {
            Some(kind) if !may_be_evidence => Err(parameter(
                "`fields`",
                format!(":{}", kind.name()),
                "no kind but with `score=evidence` or `score=auto`, and one input: other scores compare words",
            )),
            _ => Ok(()),
        }
    }
}
