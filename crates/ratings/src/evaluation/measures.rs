//! Precision, recall and F1, with their intervals.

use serde::Serialize;

/// The quantile of the normal distribution for intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A share, with its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Share {
    /// The share, from 0 to 1.
    pub share: f64,
    /// The confidence interval, 95 % (Wilson 1927).
    pub interval: (f64, f64),
}

impl Share {
    /// The share `part` of `whole`; `None` of nothing.
    fn new(part: u64, whole: u128) -> Option<Self> {
        if whole == 0 {
            return None;
        }
        let (k, n) = (part as f64, whole as f64);
        let share = k / n;
        let scale = 1.0 + Z * Z / n;
        let centre = (share + Z * Z / (2.0 * n)) / scale;
        let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt() / scale;
        let low = if part == 0 { 0.0 } else { centre - half };
        let high = if u128::from(part) == whole {
            1.0
        } else {
            centre + half
        };
        Some(Share {
            share,
            interval: (low.max(0.0), high.min(1.0)),
        })
    }

    /// The same through an ascending function.
    fn map(self, function: impl Fn(f64) -> f64) -> Self {
        let (low, high) = self.interval;
        Share {
            share: function(self.share),
            interval: (function(low), function(high)),
        }
    }
}

/// How far what was found agrees with what is true.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Agreement {
    /// How many were found.
    pub found: u64,
    /// How many are true.
    #[serde(rename = "true")]
    pub true_: u64,
    /// How many were found and are true.
    pub right: u64,
    /// The share of those found that are true; `None` if none was found.
    pub precision: Option<Share>,
    /// The share of the true ones that were found; `None` if none is true.
    pub recall: Option<Share>,
    /// The harmonic mean of precision and recall; `None` if none was found or is true. It is 2 s / (1 + s), where s is the
    /// share of the right ones among all that were found or are true: its interval is that of s.
    pub f1: Option<Share>,
}

impl Agreement {
    /// The agreement of so many found and true ones, of which `right` are both.
    pub(super) fn new(found: u64, true_: u64, right: u64) -> Self {
        let either = (u128::from(found) + u128::from(true_)).saturating_sub(right.into());
        let f1 = Share::new(right, either);
        Agreement {
            found,
            true_,
            right,
            precision: Share::new(right, found.into()),
            recall: Share::new(right, true_.into()),
            f1: f1.map(|share| share.map(|share| 2.0 * share / (1.0 + share))),
        }
    }
}

/// The means over all records: of the share of the found entity of a record that is of its true entity (precision), and of
/// the share of its true entity that is in its found one (recall).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BCubed {
    /// The mean precision.
    pub precision: f64,
    /// The mean recall.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

impl BCubed {
    pub(super) fn new(precision: f64, recall: f64) -> Self {
        BCubed {
            precision,
            recall,
            f1: 2.0 * precision * recall / (precision + recall),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(share: &Share, low: f64, high: f64) -> bool {
        let interval = share.interval;
        (interval.0 - low).abs() < 5e-4 && (interval.1 - high).abs() < 5e-4
    }

    #[test]
    fn intervals_are_those_of_the_literature() {
        // Newcombe 1998, table I, method 3.
        for (part, whole, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let share = Share::new(part, whole).unwrap();
            assert!(is_near(&share, low, high), "{share:?}");
        }
        assert_eq!(Share::new(7, 7).unwrap().interval.1, 1.0);
        assert_eq!(Share::new(0, 0), None);
        let large = Share::new(u64::MAX, 2 * u128::from(u64::MAX)).unwrap();
        assert!(is_near(&large, 0.5, 0.5));
    }

    #[test]
    fn f1_is_the_harmonic_mean() {
        let agreement = Agreement::new(8, 10, 6);
        let (precision, recall) = (agreement.precision.unwrap(), agreement.recall.unwrap());
        assert_eq!((precision.share, recall.share), (0.75, 0.6));
        let f1 = agreement.f1.unwrap();
        assert!((f1.share - 2.0 * 0.75 * 0.6 / 1.35).abs() < 1e-12);
        assert!(f1.interval.0 < f1.share && f1.share < f1.interval.1);
        let none = Agreement::new(0, 3, 0);
        assert_eq!((none.precision, none.f1.unwrap().share), (None, 0.0));
        assert_eq!(Agreement::new(0, 0, 0).f1, None);
        // No sum of counts overflows.
        let most = Agreement::new(u64::MAX, u64::MAX, u64::MAX);
        assert_eq!(most.f1.unwrap().share, 1.0);
    }
}
