//! Warns of documents with few shingles.

use super::corpus::Corpus;
use crate::pipeline::{Shingling, Unit, Weighting};
use crate::progress::{Progress, counted, grouped};

/// A run warns if at least this share of its documents has at most one shingle, in percent.
const PERCENT: u64 = 5;

/// Warns if many documents have at most one shingle.
#[doc(hidden)]
pub fn warn_of_few_shingles(shingling: &Shingling, corpus: &Corpus, progress: &dyn Progress) {
    let few = corpus.few_shingles.unwrap_or(0);
    if let Some(warning) = few_shingles_warning(shingling, few, corpus.inputs()) {
        progress.warn(&warning);
    }
}

/// The warning of a run with `documents`, of which `few` have at most one shingle, and are not blank. `None` if there
/// are less than 5 % of them, or if a shingle cannot be smaller.
pub fn few_shingles_warning(shingling: &Shingling, few: u64, documents: u64) -> Option<String> {
    if few == 0 || few.saturating_mul(100) < documents.saturating_mul(PERCENT) {
        return None;
    }
    let is_single = shingling.size.get() == 1;
    let remedy = match shingling.unit {
        // The single tokens of a document are its set.
        Unit::Tokens | Unit::Bytes | Unit::Chars if is_single => return None,
        // Weights of shingles change nothing here, but places and given weights are those of single tokens.
        Unit::Tokens if shingling.weighting != Weighting::Equal => return None,
        Unit::Tokens | Unit::Bytes | Unit::Chars => "pass a smaller `size`",
        Unit::StopWords(_) => "pass `unit=words` with a small `size`, or `unit=chars`",
        Unit::Words | Unit::Pieces | Unit::Code if is_single => "pass `unit=chars`",
        Unit::Words | Unit::Pieces | Unit::Code => "pass a smaller `size`, or `unit=chars`",
    };
    let percent = 100.0 * few as f64 / documents.max(1) as f64;
    Some(format!(
        "{} of {} ({percent:.1} %) have at most one shingle, so that any edit hides a near-duplicate; {remedy}",
        grouped(few),
        counted(documents, "document"),
    ))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;

    fn warning(unit: Unit, size: usize, few: u64, documents: u64) -> Option<String> {
        let shingling = Shingling {
            size: NonZeroUsize::new(size).unwrap(),
            ..Shingling::of(unit)
        };
        few_shingles_warning(&shingling, few, documents)
    }

    #[test]
    fn one_document_in_twenty_is_many() {
        let of = |few, documents| warning(Unit::Words, 5, few, documents).is_some();
        assert!(of(1, 20) && of(50, 1_000));
        assert!(!of(1, 21) && !of(49, 1_000) && !of(0, 1) && !of(0, 0));
        let told = warning(Unit::Words, 5, 1_500, 20_000).unwrap();
        assert!(told.starts_with("1,500 of 20,000 documents (7.5 %) have"));
    }

    #[test]
    fn the_remedy_fits_the_unit() {
        for (unit, size, remedy) in [
            (
                Unit::Words,
                5,
                Some("pass a smaller `size`, or `unit=chars`"),
            ),
            (Unit::Words, 1, Some("pass `unit=chars`")),
            (Unit::Chars, 5, Some("pass a smaller `size`")),
            (Unit::Chars, 1, None),
            (Unit::Tokens, 1, None),
            (Unit::Tokens, 2, Some("pass a smaller `size`")),
        ] {
            let told = warning(unit, size, 1, 1);
            assert_eq!(told.is_some(), remedy.is_some());
            assert!(told.is_none_or(|told| told.ends_with(remedy.unwrap_or(""))));
        }
    }
}
