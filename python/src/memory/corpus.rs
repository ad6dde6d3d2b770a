//! Documents and their reference, searched in memory.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::progress::Progress;
use simgpu::search::{
    Dedup, Deduplication, DocumentPair, Pairs, PairsFound, dedup_against, dedup_by_class, pairs,
    pairs_against,
};
use simgpu_io::PairsParameters;

use super::parts::{numbers, parts};
use crate::beside::{Preferred, SidedIds};
use crate::json;
use crate::table::PyTable;

/// Documents to search, and the reference that they are compared with, if there is one.
pub(crate) struct Corpus<'a, D: ?Sized> {
    pub(super) documents: &'a D,
    pub(super) reference: Option<&'a D>,
}

impl<D: Documents + ?Sized> Corpus<'_, D> {
    /// Deduplicates the documents, against the reference if there is one.
    pub(super) fn dedup(
        &self,
        preferred: Option<&Preferred>,
        engine: &Engine,
        task: &Dedup,
        progress: &dyn Progress,
    ) -> simgpu::Result<Deduplication> {
        let classes = Preferred::classes(preferred, progress)?;
        let (documents, classes) = (self.documents, classes.as_deref());
        match self.reference {
            None => dedup_by_class(documents, classes, engine, task, progress),
            Some(reference) => dedup_against(documents, reference, classes, engine, task, progress),
        }
    }

    /// Finds pairs of the documents, across if there is a reference.
    pub(super) fn pairs(
        &self,
        engine: &Engine,
        task: &Pairs,
        progress: &dyn Progress,
    ) -> simgpu::Result<CollectedPairs> {
        let documents = self.documents;
        CollectedPairs::collect(|each| match self.reference {
            None => pairs(documents, engine, task, progress, each),
            Some(reference) => pairs_against(documents, reference, engine, task, progress, each),
        })
    }
}

/// All pairs that a search found, and what it says of them.
pub(super) struct CollectedPairs {
    pub(super) summary: PairsFound,
    pairs: Vec<DocumentPair>,
}

impl CollectedPairs {
    /// Finds pairs by `find` and holds them all.
    pub(super) fn collect(
        find: impl FnOnce(
            &mut dyn FnMut(DocumentPair) -> simgpu::Result<()>,
        ) -> simgpu::Result<PairsFound>,
    ) -> simgpu::Result<Self> {
        let mut pairs = Vec::new();
        let summary = find(&mut |pair| {
            pairs.push(pair);
            Ok(())
        })?;
        Ok(CollectedPairs { summary, pairs })
    }

    /// The parts of `Pairs`.
    pub(super) fn parts<'py>(
        &self,
        parameters: &Bound<'py, PyDict>,
        task: &Pairs,
        ids: Option<SidedIds<'_>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let CollectedPairs {
            summary: found,
            pairs,
        } = self;
        // Those of a reference have the first rows, and are on the left.
        let reference = u32::try_from(found.counts.reference.unwrap_or(0))?;
        let left = || pairs.iter().map(|pair| pair.a);
        let right = || pairs.iter().map(|pair| pair.b - reference);
        let measured: (&str, ArrayRef) = if task.search.within.is_some() {
            let distances = pairs.iter().filter_map(|pair| pair.distance);
            let distances = distances
                .map(i64::try_from)
                .collect::<Result<Vec<_>, _>>()?;
            ("distance", Arc::new(Int64Array::from(distances)))
        } else {
            let similarity: Float64Array = pairs.iter().map(|pair| pair.similarity).collect();
            ("similarity", Arc::new(similarity))
        };
        let mut columns: Vec<(&str, ArrayRef)> = vec![
            ("left", numbers(left())),
            ("right", numbers(right())),
            measured,
        ];
        if let Some(ids) = ids {
            if found.counts.reference.is_none() {
                columns.push(("left_id", ids.documents.take(left())));
            } else if let Some(reference_ids) = ids.reference {
                columns.push(("left_id", reference_ids.take(left())));
            }
            columns.push(("right_id", ids.documents.take(right())));
        }
        let parts = parts(parameters, &found.counts, &found.timings)?;
        let reported = json::of(parameters.py(), &PairsParameters::new(task))?;
        parts.set_item("reported", reported)?;
        let table = Bound::new(parameters.py(), PyTable::new(columns)?)?;
        parts.set_item("table", table)?;
        parts.set_item("complete", found.is_complete)?;
        parts.set_item("recall", found.recall_at_threshold)?;
        parts.set_item("expected_precision", found.expected_precision)?;
        Ok(parts)
    }
}
