//! Why two records are linked: what each field says, and the rarest symbols that both have.

use super::scorer::Scorer;
use super::{Linked, RecordLink};
use crate::symbols::{SymbolScratch, SymbolText, for_each_shared, for_each_symbol};
use crate::words::Words;

/// Why two records are linked.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// For each field, the cosine of its symbols in both records; `None` if either lacks the field.
    pub similarities: Vec<Option<f64>>,
    /// For each field, its points; empty for the score of texts.
    pub points: Vec<f64>,
    /// For each field, the level of its likeness, for the score of evidence; empty for others. `unused` for a field that is
    /// not used.
    pub levels: Vec<String>,
    /// The points of the similarity of the whole records, for learned points; those of all other explanations, for evidence.
    /// With those of the fields, they add up to the score.
    pub whole_points: Option<f64>,
    /// The rarest symbols that both records have, and the number of records that have each of them. `_` marks the
    /// beginning or the end of a word.
    pub shared: Vec<(String, u32)>,
}

impl Linked<'_> {
    /// Why the records of a link are linked.
    pub fn explain(&self, link: &RecordLink) -> Explanation {
        let rows = self.global_rows(link);
        let mut scratch = SymbolScratch::default();
        let fields = self.files.fields(rows[0]).zip(self.files.fields(rows[1]));
        let similarities: Vec<Option<f64>> = fields
            .enumerate()
            .map(|(place, (a, b))| {
                let lists = [a, b].map(|field| {
                    let field = std::iter::once((place, field));
                    self.symbols.list(field, self.equivalents, &mut scratch)
                });
                let has_words = lists.iter().all(|list| list.norm > 0.0);
                has_words.then(|| lists[0].cosine(&lists[1], self.symbols.squares()))
            })
            .collect();
        let mut levels = Vec::new();
        let (points, whole_points) = match &self.scorer {
            Scorer::Text => (Vec::new(), None),
            Scorer::Evidence(evidence) => {
                let records = rows.map(|row| self.distinct.record(row));
                let explained = evidence.explain(records, similarities.len());
                let (names, points): (Vec<String>, Vec<f64>) = explained.into_iter().unzip();
                levels = names;
                let others = link.score - points.iter().sum::<f64>();
                (points, Some(others))
            }
            Scorer::Points(points) => {
                let mut all = similarities.clone();
                all.push(Some(link.similarity));
                let mut column_points = points.points_of(&all);
                let whole = column_points.pop();
                (column_points, whole)
            }
            Scorer::Textbook(texts) => {
                let records = rows.map(|row| self.distinct.record(row));
                (texts.points(records).collect(), None)
            }
        };
        Explanation {
            similarities,
            points,
            levels,
            whole_points,
            shared: self.rarest_shared(rows),
        }
    }

    /// The rarest symbols that two records share.
    fn rarest_shared(&self, rows: [usize; 2]) -> Vec<(String, u32)> {
        const MOST: usize = 5;
        let [a, b] = rows.map(|row| self.lists.numbers(self.distinct.record(row)));
        let fields = self.files.field_count();
        let mut numbers = Vec::new();
        for_each_shared(a, b, |number| {
            // The values among them have no name.
            if numbers.len() < MOST + fields {
                numbers.push(number);
            }
        });
        let mut named = vec![None; numbers.len()];
        let mut words = Words::default();
        for field in self.files.fields(rows[0]) {
            words.read(&String::from_utf8_lossy(field), self.equivalents);
            for_each_symbol(&words, |key, text: SymbolText<'_>| {
                let number = self.symbols.find(key).0;
                let place = numbers.iter().position(|known| Some(*known) == number);
                if let Some(place) = place {
                    named[place] = Some((text.to_string(), self.symbols.records_with(key)));
                }
            });
        }
        named.into_iter().flatten().take(MOST).collect()
    }
}
