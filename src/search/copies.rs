//! Documents that are identical to earlier ones.

use std::collections::HashMap;

use super::corpus::Corpus;

/// Documents that are identical to earlier ones.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    /// The rows of the documents that repeat a document, ascending, by the row of that document.
    rows: HashMap<u32, Vec<u32>>,
    /// The rows of the repeated documents, ascending.
    pub(super) firsts: Vec<u32>,
    /// The ids of all of them, as JSON, if they were read with their documents.
    ids: Option<HashMap<u32, Box<str>>>,
}

impl Copies {
    pub(super) fn of(corpus: &Corpus) -> Self {
        let mut copies = Copies::default();
        for (row, position) in &corpus.repeats {
            copies.add(corpus.distinct[*position as usize], *row);
        }
        copies.finish();
        copies
    }

    /// Adds a document that repeats the one at row `first`.
    pub(crate) fn add(&mut self, first: u32, row: u32) {
        self.rows.entry(first).or_default().push(row);
    }

    /// Adds the id of a document.
    pub(crate) fn add_id(&mut self, row: u32, id: &str) {
        self.ids.get_or_insert_default().insert(row, id.into());
    }

    /// Ends the adding.
    pub(crate) fn finish(&mut self) {
        self.firsts = self.rows.keys().copied().collect();
        self.firsts.sort_unstable();
        self.rows.values_mut().for_each(|rows| rows.sort_unstable());
    }

    /// The rows of the documents that repeat the one at this row.
    pub(super) fn copies_of(&self, first: u32) -> &[u32] {
        self.rows.get(&first).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_ids(&self) -> bool {
        self.ids.is_some()
    }

    pub(super) fn id(&self, row: u32) -> &str {
        let ids = self.ids.as_ref();
        ids.and_then(|ids| ids.get(&row)).map_or("", |id| id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_of_a_corpus() {
        let corpus = Corpus {
            distinct: vec![5, 0, 7],
            repeats: vec![(9, 0), (8, 1), (6, 0), (3, 1)],
            ..Corpus::default()
        };
        let copies = Copies::of(&corpus);
        assert_eq!(copies.firsts, [0, 5]);
        assert_eq!(copies.copies_of(0), [3, 8]);
        assert_eq!(copies.copies_of(5), [6, 9]);
        assert!(copies.copies_of(7).is_empty() && !copies.has_ids());
    }

    #[test]
    fn ids_are_those_that_were_added() {
        let mut copies = Copies::default();
        copies.add(2, 4);
        copies.add_id(4, "\"x\"");
        copies.finish();
        assert!(copies.has_ids());
        assert_eq!((copies.id(4), copies.id(2)), ("\"x\"", ""));
    }
}
