//! Whether the fields of linked records agree: members of a household share a street, and not their dates of birth.

use crate::candidates::RecordPair;
use crate::symbols::{SymbolScratch, Symbols};
use crate::tables::RecordTables;
use crate::words::Equivalents;

/// Pairs that are looked at, at most.
const SAMPLED: usize = 1000;

/// The greatest share of pairs in which a field may differ: more is not by errors of writing. On the FEBRL set with most errors
/// it was 0.55, all pairs being right; in households without any duplicate, 0.99.
const MOST_DIFFERENT: f64 = 0.6;

/// A field that differs in many pairs of records that have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Disagreement {
    /// The place of the field.
    pub(crate) field: usize,
    /// Pairs whose records both have the field.
    pub(crate) compared: usize,
    /// Those of them with two different values.
    pub(crate) different: usize,
}

impl Disagreement {
    /// Finds the field that differs most often, of those that most pairs have, if it differs too often for errors of writing. Looks
    /// at pairs at equal distances.
    pub(crate) fn find(
        tables: &RecordTables<'_>,
        symbols: &Symbols,
        equivalents: &Equivalents,
        pairs: &[&RecordPair],
    ) -> Option<Self> {
        let step = pairs.len().div_ceil(SAMPLED).max(1);
        let sampled: Vec<&&RecordPair> = pairs.iter().step_by(step).collect();
        let mut counts = vec![Disagreement::default(); tables.field_count()];
        let mut scratch = SymbolScratch::default();
        for pair in &sampled {
            let [a, b] = pair.rows.map(|row| tables.fields(row as usize));
            for (place, ((a, b), disagreement)) in a.zip(b).zip(&mut counts).enumerate() {
                disagreement.field = place;
                let [a, b] = [a, b].map(|field| {
                    let field = std::iter::once((place, field));
                    symbols.list(field, equivalents, &mut scratch)
                });
                if a.norm > 0.0 && b.norm > 0.0 {
                    let similarity = a.cosine(&b, symbols.squares());
                    disagreement.compared += 1;
                    disagreement.different += usize::from(similarity < 1.0);
                }
            }
        }
        let too_often = counts.into_iter().filter(|disagreement| {
            let most = MOST_DIFFERENT * disagreement.compared as f64;
            2 * disagreement.compared >= sampled.len() && disagreement.different as f64 > most
        });
        too_often.max_by_key(|disagreement| {
            (
                disagreement.different,
                std::cmp::Reverse(disagreement.field),
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::Distinct;
    use crate::records::RecordFiles;
    use simgpu::documents::TokenBatch;
    use simgpu::progress::Silent;

    #[test]
    fn a_field_that_mostly_differs_is_found() {
        let mut table = TokenBatch::default();
        for row in 0..6 {
            for field in [
                "Oak Street".to_owned(),
                ["OAK street", "Oak Street"][row % 2].to_owned(),
                format!("19{row}0"),
                // In two records only.
                if row < 2 {
                    row.to_string()
                } else {
                    String::new()
                },
            ] {
                table.push_token(field.as_bytes());
            }
            table.finish_document();
        }
        let files = RecordFiles {
            first: &table,
            second: None,
        };
        let distinct = &Distinct::all(&files);
        let tables = RecordTables { files, distinct };
        let pair = |rows| RecordPair {
            rows,
            score: 1.0,
            similarity: 1.0,
        };
        let pairs = [pair([0, 1]), pair([2, 3]), pair([4, 5])];
        let pairs: Vec<&RecordPair> = pairs.iter().collect();
        let names = Equivalents::default();
        let symbols = Symbols::count(&tables, &names, &Silent).unwrap();
        let found = Disagreement::find(&tables, &symbols, &names, &pairs).unwrap();
        assert_eq!((found.field, found.compared, found.different), (2, 3, 3));
        assert_eq!(Disagreement::find(&tables, &symbols, &names, &[]), None);
    }
}
