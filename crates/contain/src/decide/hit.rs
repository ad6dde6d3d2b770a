//! The evidence of a hit: n-grams, their rarity, and where they are.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::class::{Class, Hit, ItemPart};
use crate::document::Document;
use crate::lack::Lack;
use crate::part::Part;
use crate::scan::{Contain, Grams, distinct};
use crate::words::Words;

impl Contain {
    /// The share of the n-grams of an item's passage that are found; 0 without one.
    pub(super) fn share_of_passage(&self, item: usize, found: Option<&Grams>) -> f64 {
        let passage = self.item_parts[item].passage;
        let all = passage.map_or(0, |passage| self.parts[passage].distinct);
        found.map_or(0, |grams| distinct(grams)) as f64 / all.max(1) as f64
    }

    /// The words of a document from the first to the last of these n-grams.
    pub(super) fn extent(&self, grams: &Grams) -> Range<usize> {
        let start = grams.first().map_or(0, |(at, _)| *at);
        let end = grams.last().map_or(0, |(at, _)| at + self.table.size());
        start..end
    }

    pub(super) fn passage_hit(
        &self,
        item: usize,
        part: &Part,
        document: Document<'_>,
        grams: &Grams,
    ) -> Hit {
        let found: BTreeSet<u32> = grams.iter().map(|(_, gram)| *gram).collect();
        let places = part
            .grams
            .iter()
            .enumerate()
            .filter(|(_, gram)| found.contains(gram));
        let places: Vec<usize> = places.map(|(at, _)| at).collect();
        let (first, last) = (
            places.first().copied().unwrap_or(0),
            places.last().copied().unwrap_or(0),
        );
        let mut hit = self.hit(item, part, document, grams);
        hit.class = Class::Passage;
        hit.lacks = vec![Lack::Question];
        hit.parts = vec![ItemPart::Passage];
        hit.bytes = document.original(self.extent(grams));
        hit.item_bytes = Words::read(&part.text).span_of(first..last + self.table.size());
        hit
    }

    /// The evidence for a part in these n-grams; class, parts and places are left to the caller.
    pub(crate) fn hit(
        &self,
        item: usize,
        part: &Part,
        document: Document<'_>,
        grams: &[(usize, u32)],
    ) -> Hit {
        const LISTED: usize = 3;
        let weight =
            |gram: &u32| (self.parts.len() as f64 / self.table.parts(*gram).len() as f64).ln();
        let all = part.distinct_grams();
        let mut first: Vec<(u32, usize)> = grams.iter().map(|(at, gram)| (*gram, *at)).collect();
        first.sort_unstable();
        first.dedup_by_key(|(gram, _)| *gram);
        let found: Vec<u32> = first.iter().map(|(gram, _)| *gram).collect();
        // The sum of nothing is -0.
        let sum = |grams: &Vec<u32>| {
            grams
                .iter()
                .map(weight)
                .fold(0.0, |sum, weight| sum + weight)
        };
        let [weight_found, weight_all] = [&found, &all].map(sum);
        let count = |(gram, at): &(u32, usize)| (self.table.parts(*gram).len(), *at, *gram);
        let mut rarest: Vec<(usize, usize, u32)> = first.iter().map(count).collect();
        rarest.sort_unstable();
        let rarest = rarest
            .into_iter()
            .take(LISTED)
            .map(|(count, at, _)| (document.joined(at..at + self.table.size()), count));
        Hit {
            item,
            class: Class::Template,
            score: if weight_all > 0.0 {
                weight_found / weight_all
            } else {
                // Where all items have the same n-grams, none is rarer.
                found.len() as f64 / all.len().max(1) as f64
            },
            parts: Vec::new(),
            bytes: 0..0,
            also: Vec::new(),
            item_bytes: 0..0,
            found: found.len(),
            ngrams: all.len(),
            content: [0, part.content],
            own: found.iter().filter(|gram| self.is_own(**gram)).count(),
            lacks: Vec::new(),
            rarest: rarest.collect(),
        }
    }
}
