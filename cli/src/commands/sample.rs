//! What `simgpu tune --sample` shows: sizes of shingles, and the cost of all pairs.

use std::fmt::Write as _;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use indicatif::HumanCount;
use simgpu::pipeline::{Banding, SizeEffect, SizeRule, SizeSurvey, Unit, survey_sizes};
use simgpu::scheme::Scheme;
use simgpu_io::{FieldPath, Fields, Inputs, read_documents};

use crate::arguments::{
    UnitArgument, check_field, shingling_of, unit_modes, whole_number, whole_number_or_0,
};
use crate::options::Mode;
use crate::terminal::counted;
use crate::{Usage, usage};

/// A sample of documents.
#[derive(Args, Debug)]
pub struct SampleArguments {
    /// Files, folders or globs of documents like those to search, in any format that dedup reads; repeat it
    /// for more
    #[arg(long, value_name = "INPUT", help_heading = "Sample")]
    pub sample: Vec<PathBuf>,

    /// Read only the first N records of the sample; all of them are held in memory
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<NonZeroU64>,
        default_value = "10000",
        help_heading = "Sample"
    )]
    pub limit: NonZeroU64,

    /// Field with the text [default: text]
    #[arg(long, value_name = "FIELD", help_heading = "Sample")]
    pub text_field: Option<String>,

    /// Field with the array of tokens; needs --unit tokens [default: tokens]
    #[arg(
        long,
        value_name = "FIELD",
        conflicts_with = "text_field",
        help_heading = "Sample"
    )]
    pub tokens_field: Option<String>,

    /// Unit of shingles [default: words, or the scheme's]
    #[arg(long, value_enum, help_heading = "Sample")]
    pub unit: Option<UnitArgument>,

    /// Number of documents to search, such as 1e9 [default: those of the sample]
    #[arg(long, value_name = "N", value_parser = documents, help_heading = "Sample")]
    pub documents: Option<u64>,
}

/// A number of documents, which may have an exponent: `1e9`.
fn documents(text: &str) -> Result<u64, String> {
    let with_exponent = text.split_once(['e', 'E']).and_then(|(digits, exponent)| {
        let digits: u64 = digits.parse().ok()?;
        digits.checked_mul(10u64.checked_pow(exponent.parse().ok()?)?)
    });
    match with_exponent {
        Some(documents) => Ok(documents),
        None if text
            .parse::<f64>()
            .is_ok_and(|number| number > u64::MAX as f64) =>
        {
            Err("is too large".to_owned())
        }
        None => whole_number_or_0(text),
    }
}

/// The pairs that become candidates, as a sample leads to expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampledCandidates {
    /// The size of shingles to take.
    pub size: usize,
    /// Pairs among the documents to search, about.
    pub pairs: f64,
}

/// The seed of the random pairs.
const SEED: u32 = 1;

/// A survey of a sample, and what it is printed with.
#[derive(Debug)]
pub struct SampleSurvey {
    /// What shingles of each size do.
    pub survey: SizeSurvey,
    unit: Unit,
    /// The size that a search takes by default.
    pub default_size: usize,
    /// The number of documents to search.
    pub documents: u64,
}

impl SampleArguments {
    /// The modes that the sample leads to.
    ///
    /// # Errors
    /// None that can occur.
    pub fn modes(&self, scheme: &Scheme) -> anyhow::Result<&'static [Mode]> {
        if self.sample.is_empty() {
            Ok(&[Mode::NoSample])
        } else {
            Ok(unit_modes(&shingling_of(self.unit, scheme)?.unit))
        }
    }

    /// Reads the sample, if there is one, and surveys sizes of shingles.
    ///
    /// # Errors
    /// A usage error for a unit of fixed size; errors of reading.
    pub fn survey(&self, scheme: &Scheme) -> anyhow::Result<Option<SampleSurvey>> {
        if self.sample.is_empty() {
            return Ok(None);
        }
        let shingling = shingling_of(self.unit, scheme)?;
        if !shingling.unit.takes_size() {
            return Err(Usage::error(
                "shingles of stop words have a fixed size; choose another `unit`",
            ));
        }
        let is_tokens = shingling.unit == Unit::Tokens;
        let (named, default) = if is_tokens {
            (&self.tokens_field, "tokens")
        } else {
            (&self.text_field, "text")
        };
        let fields = Fields {
            content: vec![FieldPath::new(named.as_deref().unwrap_or(default))],
            is_tokens,
            ..Fields::default()
        };
        check_field("text_field", self.text_field.as_ref())?;
        check_field("tokens_field", self.tokens_field.as_ref())?;
        let inputs = Inputs::find(&self.sample, None).map_err(simgpu::error::without_piping)?;
        let documents = read_documents(&inputs, &fields, Some(self.limit))?;
        if documents.len() < 2 {
            let held = counted(documents.len() as u64, "document");
            return Err(Usage::error(&format!(
                "the sample has {held}, and sizes are chosen by pairs of documents; give a larger `sample`, or raise `limit`"
            )));
        }
        let survey = survey_sizes(&documents, &shingling, scheme, SEED).map_err(usage)?;
        Ok(Some(SampleSurvey {
            documents: self.documents.unwrap_or(survey.documents as u64),
            survey,
            default_size: shingling.size.get(),
            unit: shingling.unit,
        }))
    }
}

impl SampleSurvey {
    /// A table of sizes, the size to take, and the cost of all pairs.
    ///
    /// # Errors
    /// None that can occur.
    pub fn write(&self, page: &mut String, banding: Banding) -> std::fmt::Result {
        let survey = &self.survey;
        let documents = HumanCount(self.documents);
        let documents = format!("{documents} documents");
        let width = documents.len().max(21);
        writeln!(page)?;
        writeln!(
            page,
            "sample of {} documents, {} random pairs (seed {SEED})",
            HumanCount(survey.documents as u64),
            HumanCount(survey.pairs as u64)
        )?;
        writeln!(page)?;
        let unit = format!("{} of", self.unit);
        writeln!(
            page,
            "{unit:>9}   shingles per    shingles in   similarity of random pairs     candidates among"
        )?;
        writeln!(
            page,
            "a shingle       document     the sample          mean         99 % below {documents:>width$}"
        )?;
        for effect in &survey.sizes {
            writeln!(
                page,
                "{:>9} {:>14.1} {:>14} {:>13.4} {:>18.4} {:>width$}",
                effect.size,
                effect.mean_shingles,
                HumanCount(effect.distinct_shingles as u64).to_string(),
                effect.mean_similarity(),
                effect.high_similarity(),
                about(effect.candidate_share(banding) * self.pairs())
            )?;
        }
        writeln!(page)?;
        self.write_choice(page)?;
        self.write_cost(page, banding)
    }

    /// All pairs of the documents to search.
    fn pairs(&self) -> f64 {
        pairs_of(self.documents) as f64
    }

    /// What shingles of the size to take do: of the least size that the sample allows, or of the default if it is larger.
    fn to_take(&self) -> Option<&SizeEffect> {
        let sizes = &self.survey.sizes;
        let chosen = self.survey.choice().map(|(_, effect)| effect);
        let chosen = chosen.or(sizes.last())?;
        let default = sizes.iter().find(|effect| effect.size == self.default_size);
        Some(
            default
                .filter(|default| default.size > chosen.size)
                .unwrap_or(chosen),
        )
    }

    /// The size of shingles to take, and the pairs among the documents to search that become candidates, as estimated
    /// from the sample.
    pub(super) fn candidates(&self, banding: Banding) -> Option<SampledCandidates> {
        let effect = self.to_take()?;
        Some(SampledCandidates {
            size: effect.size,
            pairs: effect.candidate_share(banding) * self.pairs(),
        })
    }

    fn write_choice(&self, page: &mut String) -> std::fmt::Result {
        let (least, default) = (SizeSurvey::LITTLE, self.default_size);
        match self.survey.choice() {
            Some((SizeRule::NearlyAllPairs, effect)) => writeln!(
                page,
                "Take --size {} or more: the least size at which 99 of 100 random pairs have a similarity of\n\
                 at most {least}. The default is {default}.",
                effect.size
            ),
            Some((SizeRule::MeanOfPairs, effect)) => writeln!(
                page,
                "Take --size {} or more: the least size at which random pairs have a mean similarity of at\n\
                 most {least}. Many documents share passages: no size up to 12 makes 99 of 100 pairs so dissimilar.\n\
                 The default is {default}.",
                effect.size
            ),
            None => writeln!(
                page,
                "Take another --unit, or --size 12 or more: at each size shown, random pairs have a mean\n\
                 similarity above {least}. The default is {default}."
            ),
        }
    }

    /// The cost of all pairs at a microsecond each, as in example 3.9 of MMDS, beside that of the candidates.
    fn write_cost(&self, page: &mut String, banding: Banding) -> std::fmt::Result {
        writeln!(
            page,
            "{} documents have {} pairs: {} at a microsecond each.",
            HumanCount(self.documents),
            digits_in_groups(&pairs_of(self.documents).to_string()),
            duration(self.pairs() / 1e6)
        )?;
        let Some(SampledCandidates {
            size,
            pairs: candidates,
        }) = self.candidates(banding)
        else {
            return Ok(());
        };
        writeln!(
            page,
            "At --size {size}, {} x {} compares {}, as estimated from the random pairs: {}.",
            banding.bands(),
            banding.rows(),
            about(candidates),
            duration(candidates / 1e6)
        )
    }
}

/// All pairs of a number of documents. Those of 2^64 documents are less than 2^127.
fn pairs_of(documents: u64) -> u128 {
    let documents = u128::from(documents);
    documents * documents.saturating_sub(1) / 2
}

/// An estimated number, in three significant digits.
pub(super) fn about(number: f64) -> String {
    let magnitude = number.abs().max(1.0).log10().floor();
    let step = 10f64.powf((magnitude - 2.0).max(0.0));
    // A step may be off by its last bit, which shows in the digits of a large number.
    let (leading, step) = ((number / step).round(), step.log10().round());
    let zeros = (0..64_u8).take_while(|zero| f64::from(*zero) < step);
    let digits = format!("{leading:.0}{}", zeros.map(|_| '0').collect::<String>());
    digits_in_groups(&digits)
}

/// Digits with commas between thousands.
fn digits_in_groups(digits: &str) -> String {
    let mut groups = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            groups.push(',');
        }
        groups.push(digit);
    }
    groups
}

/// A duration in its largest unit.
pub(super) fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [
        (31_557_600.0, "years"),
        (86_400.0, "days"),
        (3600.0, "hours"),
        (60.0, "minutes"),
    ];
    for (unit, name) in UNITS {
        if seconds >= 1000.0 * unit {
            return format!("{} {name}", about(seconds / unit));
        }
        if seconds >= unit {
            return format!("{:.1} {name}", seconds / unit);
        }
    }
    format!("{seconds:.1} seconds")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_fitting_units() {
        assert_eq!(duration(0.04), "0.0 seconds");
        assert_eq!(duration(90.0), "1.5 minutes");
        assert_eq!(duration(7200.0), "2.0 hours");
        // Example 3.9: half a trillion microseconds.
        assert_eq!(duration(499_999.5), "5.8 days");
        assert_eq!(duration(400.0 * 86_400.0), "1.1 years");
        assert_eq!(duration(5e13), "1,580,000 years");
    }

    #[test]
    fn numbers_of_pairs_are_never_cut_off() {
        let shown = |documents| digits_in_groups(&pairs_of(documents).to_string());
        for (documents, pairs) in [
            (0, "0"),
            (1, "0"),
            (2, "1"),
            (1_000_000, "499,999,500,000"),
            (10_000_000_000, "49,999,999,995,000,000,000"),
            (
                u64::MAX,
                "170,141,183,460,469,231,704,017,187,605,319,778,305",
            ),
        ] {
            assert_eq!(shown(documents), pairs);
        }
        for (number, expected) in [
            (0.0, "0"),
            (0.4, "0"),
            (7.0, "7"),
            (999.6, "1,000"),
            (1234.0, "1,230"),
            (3.4e15, "3,400,000,000,000,000"),
            (4.999e19, "50,000,000,000,000,000,000"),
            (
                1.7e38,
                "170,000,000,000,000,000,000,000,000,000,000,000,000",
            ),
        ] {
            assert_eq!(about(number), expected);
        }
    }
}
