//! The threshold, and the bands and rows for it.

use clap::Args;
use simgpu::pipeline::{Banding, Measure};
use simgpu::scheme::Scheme;
use simgpu::search::Search;

use super::numbers::number;
use crate::{Usage, usage};

/// The default of `--threshold`.
const DEFAULT_THRESHOLD: f64 = 0.8;

/// Which pairs become candidates.
#[derive(Clone, Debug, Args)]
pub struct BandingArguments {
    /// Minimum similarity of near-duplicates, above 0 and up to 1: Jaccard, unless --measure names another
    #[arg(
        long,
        short,
        value_name = "S",
        value_parser = number,
        default_value_t = DEFAULT_THRESHOLD,
        help_heading = "Search"
    )]
    pub threshold: f64,

    /// Number of bands; needs --rows [default: chosen for the threshold, or the scheme's]
    #[arg(long, value_name = "B", requires = "rows", help_heading = "Search")]
    pub bands: Option<usize>,

    /// Slots per band; needs --bands
    #[arg(long, value_name = "R", requires = "bands", help_heading = "Search")]
    pub rows: Option<usize>,
}

impl BandingArguments {
    /// The threshold of a measure, and the banding for it.
    ///
    /// # Errors
    /// A usage error unless threshold, bands and rows fit each other and the scheme.
    pub fn resolve(&self, scheme: &Scheme, measure: Measure) -> anyhow::Result<(f64, Banding)> {
        simgpu::pipeline::check_threshold(self.threshold).map_err(usage)?;
        let banding = match requested_banding(self.bands, self.rows, scheme)? {
            Some(banding) => banding,
            None => Search::banding_for(measure, self.threshold, scheme).map_err(usage)?,
        };
        Ok((self.threshold, banding))
    }
}

/// The banding that `bands` and `rows` name.
///
/// # Errors
/// A usage error for one without the other, and for more slots than the scheme has.
pub fn requested_banding(
    bands: Option<usize>,
    rows: Option<usize>,
    scheme: &Scheme,
) -> anyhow::Result<Option<Banding>> {
    match (bands, rows) {
        (Some(bands), Some(rows)) => {
            let banding = Banding::new(bands, rows, scheme.num_perm());
            Ok(Some(banding.map_err(usage)?))
        }
        (None, None) => Ok(None),
        (Some(_), None) => Err(one_of_two("bands", "rows")),
        (None, Some(_)) => Err(one_of_two("rows", "bands")),
    }
}

/// The error of an option without another one that it needs.
pub(super) fn one_of_two(given: &str, missing: &str) -> anyhow::Error {
    Usage::error(&format!(
        "`{given}` needs `{missing}`; add `{missing}`, or omit `{given}`"
    ))
}
