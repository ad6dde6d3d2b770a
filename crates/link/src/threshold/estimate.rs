//! A threshold, and what is expected of the pairs that reach it.

use simgpu::progress::grouped;

/// A threshold, and what it is expected to yield.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The least score of an accepted pair.
    pub threshold: f64,
    /// The estimated share of the records, of the file with fewer, that have a partner; `None` if it cannot be told, and with
    /// one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The expected share of correct pairs among the accepted ones, with one file among all pairs within entities; `None` if
    /// it cannot be told.
    pub expected_precision: Option<f64>,
    /// The least and the greatest expected precision. For the score of evidence: if all odds were three times lower or higher,
    /// and a standard error more; with two files: 0.03 and two standard errors off. Absent with other scores of one file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_range: Option<[f64; 2]>,
    /// The expected share of the pairs of the same thing that are accepted, or in one file, within entities; `None` if it
    /// cannot be told.
    pub expected_recall: Option<f64>,
    /// The least and the greatest expected recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_range: Option<[f64; 2]>,
    /// Why the precision cannot be told, and the recall neither.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_because: Option<String>,
    /// Why the recall cannot be told, although the precision can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_unknown_because: Option<String>,
}

impl Estimate {
    /// A threshold of which nothing is expected.
    pub(crate) fn at_threshold(threshold: f64) -> Self {
        Estimate {
            threshold,
            share: None,
            expected_precision: None,
            precision_range: None,
            expected_recall: None,
            recall_range: None,
            unknown_because: None,
            recall_unknown_because: None,
        }
    }

    /// States no precision and no recall, since they cannot be told.
    pub(crate) fn withhold(&mut self, because: String) {
        self.expected_precision = None;
        self.expected_recall = None;
        self.precision_range = None;
        self.recall_range = None;
        self.recall_unknown_because = None;
        self.unknown_because = Some(because);
    }
}

impl Estimate {
    /// States what is expected of so many accepted pairs of two files, of which some are correct.
    pub(super) fn state(&mut self, accepted: f64, correct: f64, recall: [f64; 2]) {
        let precision = correct / accepted;
        let error = BIAS + 2.0 * ((accepted - correct).max(0.0) + 1.0).sqrt() / accepted;
        self.expected_precision = Some(precision);
        self.precision_range = Some([(precision - error).max(0.0), (precision + error).min(1.0)]);
        self.recall_range = Some(recall);
        let [least, most] = recall;
        if most - least <= WIDEST {
            self.expected_recall = Some(f64::midpoint(least, most))
        } else {
            self.recall_unknown_because =
                Some("the number of records with a partner is known too roughly".to_owned());
        }
    }
}

/// A lower expected precision is a guess: with few partners, how far wrong pairs lie apart decides it, which the third
/// round tells only roughly.
const LEAST_KNOWN: f64 = 0.9;

/// How far the expected precision may be off, beside the error of counts. In 24 pairs of tables it was up to 0.037 off.
const BIAS: f64 = 0.03;

/// A recall is stated as one figure if its range is at most this wide.
const WIDEST: f64 = 0.1;

/// Why the expected number of wrong pairs among the accepted ones is rough, if it is; and what to do.
pub(crate) fn why_rough(accepted: usize, wrong: f64, remedy: &str) -> Option<String> {
    let precision = 1.0 - wrong / accepted.max(1) as f64;
    // Two standard errors of a count, as if one pair more had been seen.
    let error = 2.0 * (wrong.max(0.0) + 1.0).sqrt();
    if precision < LEAST_KNOWN {
        return Some(format!(
            "some {:.0} % of the links seem to be correct, and below {:.0} % the estimate is rough{remedy}",
            100.0 * precision.max(0.0),
            100.0 * LEAST_KNOWN
        ));
    }
    (wrong + error > (1.0 - LEAST_KNOWN) * accepted as f64).then(|| {
        format!(
            "{} too few beside the error of the estimate, {error:.0} pairs{remedy}",
            match accepted {
                1 => "1 accepted pair is".to_owned(),
                pairs => format!("{} accepted pairs are", grouped(pairs as u64)),
            }
        )
    })
}
