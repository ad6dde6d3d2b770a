//! The stages of a deduplication that Spark or Ray divides among machines, on Arrow columns. `simgpu/_divided` gives
//! them to the engines.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BinaryArray, Float64Array, Int32Array, Int64Array};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu::documents::Documents;
use simgpu::error::Conflict;
use simgpu::pipeline::{Loss, Removal, Weighting};
use simgpu::search::{CandidateMethod, Dedup, Verification, few_shingles_warning};
use simgpu_files::divided::{
    Compared, ComponentSearch, ComponentTask, ConnectedBatch, Edges, FoundPair, SharedMembers,
    SignedDocuments, sign_batch,
};
use simgpu_io::DedupParameters;

use crate::arrow::import;
use crate::beside::integers;
use crate::errors::{OrRaise, parameter_error, spelled, to_python};
use crate::json;
use crate::memory::Prepared;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::{Bytes, Column};

/// A search whose stages run on different machines.
#[pyclass(frozen, module = "simgpu._simgpu")]
pub(crate) struct DividedSearch {
    prepared: Prepared,
    task: Dedup,
}

#[pymethods]
impl DividedSearch {
    #[new]
    fn new(settings: Bound<'_, PyDict>) -> PyResult<Self> {
        let options = Options(settings);
        let py = options.py();
        let prepared = Prepared::new(&options)?;
        let engine = prepared.engines.on_cpu();
        let weighting = engine.shingler().shingling().weighting;
        let method = prepared.search.method(engine).or_raise(py)?;
        if method != CandidateMethod::Lsh || weighting == Weighting::Rarity {
            return Err(parameter_error(
                py,
                "an exact join, and weights by rarity, are not divided among machines; pass candidates=\"lsh\" and no weights",
            ));
        }
        let task = options.clusters()?.task(prepared.search.clone());
        Ok(DividedSearch { prepared, task })
    }

    /// What decides the result, as `report.json` of the command names it.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parameters = self.prepared.parameters(py, CandidateMethod::Lsh)?;
        let search = &self.prepared.search;
        let recall = search
            .detection(self.num_perm())
            .probability(search.threshold);
        parameters.set_item("recall_at_threshold", recall)?;
        Ok(parameters)
    }

    /// The parameters of a deduplication beside these, as `report.json` names them.
    #[getter]
    fn reported<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::of(py, &DedupParameters::new(&self.task, CandidateMethod::Lsh))
    }

    /// The number of bands.
    #[getter]
    fn bands(&self) -> usize {
        self.prepared.search.banding.bands()
    }

    /// The share of truly similar pairs to expect, from what was observed of compared candidates, among so many pairs, of
    /// which so many are known to be of identical documents.
    #[pyo3(signature = (by_matches, known=0, pairs=1))]
    fn expected_precision(&self, by_matches: Vec<u64>, known: u64, pairs: u64) -> Option<f64> {
        let search = &self.prepared.search;
        search.precision_of(self.num_perm(), &by_matches, known, pairs)
    }

    /// The warning of a run of so many documents, of which so many have at most one shingle; ``None`` if they are few.
    fn few_shingles_warning(&self, few: u64, documents: u64) -> Option<String> {
        let engine = self.prepared.engines.on_cpu();
        let warning = few_shingles_warning(engine.shingler().shingling(), few, documents)?;
        Some(spelled(&warning))
    }

    /// Signs documents: a table of digest, length, number of shingles up to 2, keys and signature. Blank documents have no
    /// digest, and documents without shingles no keys.
    fn sign(&self, documents: &Bound<'_, PyAny>) -> PyResult<PyTable> {
        let py = documents.py();
        let column = Column::new(documents, None)?;
        let signed = self.with_documents(&column, |documents| {
            let bytes = (0..documents.len()).map(|row| documents.get(row).bytes());
            let engine = self
                .prepared
                .engines
                .for_bytes(py, bytes.sum::<usize>() as u64)?;
            let search = &self.prepared.search;
            pool::run(py, self.prepared.threads, &mut Display::new(None)?, |_| {
                sign_batch(documents, &engine, search)
            })
        })?;
        self.table_of(&signed)
    }

    /// A search of components, in so much memory: for removals, or for pairs.
    fn components(&self, mib: usize, pairs: bool) -> DividedComponents {
        let task = if pairs {
            ComponentTask::Pairs(self.prepared.search.clone())
        } else {
            ComponentTask::Dedup(self.task.clone())
        };
        let most_bytes = mib.saturating_mul(1 << 20);
        let engine = self.prepared.engines.on_cpu();
        DividedComponents {
            search: ComponentSearch::new(task, most_bytes, engine),
        }
    }
}

impl DividedSearch {
    fn num_perm(&self) -> usize {
        self.prepared.engines.on_cpu().signer().num_perm()
    }

    /// Calls `each` with the texts or lists of tokens of a column.
    fn with_documents<T>(
        &self,
        column: &Column<'_>,
        each: impl FnOnce(&dyn Documents) -> PyResult<T>,
    ) -> PyResult<T> {
        if self.prepared.engines.on_cpu().takes_tokens() {
            let mut lists = Vec::new();
            return each(&column.tokens(&mut lists)?);
        }
        each(&column.texts()?)
    }

    fn table_of(&self, signed: &SignedDocuments) -> PyResult<PyTable> {
        let digests = signed.digests.iter();
        let digest: BinaryArray = digests
            .map(|digest| digest.map(u128::to_le_bytes))
            .collect();
        let lengths = signed.lengths.iter().map(|length| i64::from(*length));
        let rows = signed.digests.len();
        let shingles = signed.shingles.iter().map(|shingles| i32::from(*shingles));
        let has_keys = signed
            .shingles
            .iter()
            .map(|shingles| *shingles > 0)
            .collect();
        let words = signed.signatures.len() / rows.max(1);
        PyTable::new(vec![
            ("digest", Arc::new(digest) as ArrayRef),
            ("length", Arc::new(Int64Array::from_iter_values(lengths))),
            ("shingles", Arc::new(Int32Array::from_iter_values(shingles))),
            ("keys", little_endian(&signed.keys, self.bands(), has_keys)),
            (
                "signature",
                little_endian(&signed.signatures, words, vec![true; rows]),
            ),
        ])
    }
}

/// Rows of words as bytes, little-endian; null where a row has none.
fn little_endian(words: &[u64], row_words: usize, has_words: Vec<bool>) -> ArrayRef {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let row_bytes = row_words * size_of::<u64>();
    let rows = has_words.into_iter().enumerate();
    let rows =
        rows.map(|(row, has_words)| has_words.then(|| &bytes[row * row_bytes..][..row_bytes]));
    Arc::new(rows.collect::<BinaryArray>())
}

/// Searches components whose documents come one after the other.
#[pyclass(module = "simgpu._simgpu")]
pub(crate) struct DividedComponents {
    search: ComponentSearch,
}

#[pymethods]
impl DividedComponents {
    /// Searches the next documents: columns of their components, places, keepers, buckets and, unless pairs are not
    /// verified, of their signatures or texts. In a search with a reference, `inputs` is 1 for a document of the input, or
    /// one that stands for one, and else 0; documents of the reference have places below 0.
    #[pyo3(signature = (by, component, place, keeper, buckets, compared=None, inputs=None))]
    #[expect(clippy::too_many_arguments, reason = "they are the columns of a batch")]
    fn add(
        &mut self,
        by: &DividedSearch,
        component: &Bound<'_, PyAny>,
        place: &Bound<'_, PyAny>,
        keeper: &Bound<'_, PyAny>,
        buckets: &Bound<'_, PyAny>,
        compared: Option<&Bound<'_, PyAny>>,
        inputs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = component.py();
        let (components, places) = (numbers(component)?, numbers(place)?);
        let keepers = numbers(keeper)?;
        let buckets = Column::new(buckets, None)?;
        let buckets = binaries(&buckets)?;
        let inputs = inputs.map(flags).transpose()?;
        let rows = components.len();
        let batch = ConnectedBatch {
            components: &components,
            places: &places,
            keepers: &keepers,
            buckets: &buckets,
            inputs: inputs.as_deref(),
        };
        let search = &mut self.search;
        let prepared = &by.prepared;
        let engine = prepared.engines.on_cpu();
        let is_short = |len: usize| len != rows;
        let input_rows = inputs.as_ref().map_or(rows, Vec::len);
        if [places.len(), keepers.len(), buckets.len(), input_rows]
            .into_iter()
            .any(is_short)
        {
            return Err(foreign(py));
        }
        let mut run = |compared: &Compared<'_>| {
            pool::run(py, prepared.threads, &mut Display::new(None)?, |_| {
                search.add(&batch, compared, engine)
            })
        };
        match (prepared.search.verification, compared) {
            (Verification::None, _) => run(&Compared::Nothing),
            (_, None) => Err(foreign(py)),
            (Verification::Signature, Some(signatures)) => {
                let column = Column::new(signatures, None)?;
                let signatures = binaries(&column)?;
                if signatures.len() == rows {
                    run(&Compared::Signatures(&signatures))
                } else {
                    Err(foreign(py))
                }
            }
            (Verification::Exact, Some(documents)) => {
                let column = Column::new(documents, None)?;
                by.with_documents(&column, |documents| {
                    if documents.len() == rows {
                        run(&Compared::Documents(documents))
                    } else {
                        Err(foreign(py))
                    }
                })
            }
        }
    }

    /// Searches what is left.
    fn finish(&mut self, py: Python<'_>, by: &DividedSearch) -> PyResult<()> {
        let search = &mut self.search;
        pool::run(py, by.prepared.threads, &mut Display::new(None)?, |_| {
            search.finish()
        })
    }

    /// The removals found since the last call: place, kept, similarity, lost_shingles, shingles, via and via_similarity.
    fn take_removals(&mut self) -> PyResult<PyTable> {
        let found = std::mem::take(&mut self.search.removals);
        let places =
            |place: fn(&Removal<i64>) -> i64| Int64Array::from_iter_values(found.iter().map(place));
        let losses = |count: fn(Loss) -> u32| {
            let counts = found.iter().map(|removal| Some(count(removal.loss()?)));
            Int64Array::from_iter(counts.map(|count| count.map(i64::from)))
        };
        let via: Int64Array = found.iter().map(|removal| Some(removal.via?.0)).collect();
        let via_similarities: Float64Array = found.iter().map(|removal| removal.via?.1).collect();
        let similarity: Float64Array = found.iter().map(|removal| removal.similarity).collect();
        PyTable::new(vec![
            (
                "place",
                Arc::new(places(|removal| removal.document)) as ArrayRef,
            ),
            ("kept", Arc::new(places(|removal| removal.kept))),
            ("similarity", Arc::new(similarity)),
            ("lost_shingles", Arc::new(losses(|loss| loss.lost))),
            ("shingles", Arc::new(losses(|loss| loss.shingles))),
            ("via", Arc::new(via)),
            ("via_similarity", Arc::new(via_similarities)),
        ])
    }

    /// The pairs found since the last call: a, b and similarity.
    fn take_pairs(&mut self) -> PyResult<PyTable> {
        let found = std::mem::take(&mut self.search.pairs);
        let places =
            |place: fn(&FoundPair) -> i64| Int64Array::from_iter_values(found.iter().map(place));
        let similarity: Float64Array = found.iter().map(|pair| pair.similarity).collect();
        PyTable::new(vec![
            ("a", Arc::new(places(|pair| pair.a)) as ArrayRef),
            ("b", Arc::new(places(|pair| pair.b))),
            ("similarity", Arc::new(similarity)),
        ])
    }

    /// The counts of everything searched, as the report names them, and of the compared candidates by equal slots.
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.search.counts();
        let counts = PyDict::new(py);
        counts.set_item("candidate_pairs", found.candidate_pairs)?;
        counts.set_item("similar_pairs", found.similar_pairs)?;
        counts.set_item("large_buckets", found.large_buckets)?;
        counts.set_item("omitted_pairs", found.omitted_pairs)?;
        counts.set_item("by_matches", self.search.observed())?;
        Ok(counts)
    }
}

/// Connects the documents of buckets into components.
#[pyclass(module = "simgpu._simgpu")]
#[derive(Default)]
pub(crate) struct DividedEdges {
    edges: Edges,
}

#[pymethods]
impl DividedEdges {
    #[new]
    fn new() -> Self {
        DividedEdges::default()
    }

    /// Adds members of buckets, by ascending band and key. Returns those of buckets of two or more: place, band, key. In a
    /// search with a reference, `inputs` is 1 for the first members of a bucket, and 0 for those of the reference, which are
    /// not compared with each other.
    #[pyo3(signature = (band, key, place, inputs=None))]
    fn add_members(
        &mut self,
        band: &Bound<'_, PyAny>,
        key: &Bound<'_, PyAny>,
        place: &Bound<'_, PyAny>,
        inputs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyTable> {
        let py = place.py();
        let (bands, keys, places) = (numbers(band)?, numbers(key)?, numbers(place)?);
        let inputs = inputs.map_or_else(|| Ok(vec![true; places.len()]), flags)?;
        let mut shared = SharedMembers::default();
        let members = bands.into_iter().zip(keys).zip(places).zip(inputs);
        for (((number, key), place), is_input) in members {
            let band = u32::try_from(number).map_err(|_| foreign(py))?;
            let add = if is_input {
                Edges::add_member
            } else {
                Edges::add_reference
            };
            let key = key.cast_unsigned();
            add(&mut self.edges, band, key, place, &mut shared).or_raise(py)?;
        }
        let bands = shared.bands.into_iter().map(i32::try_from);
        let bands: Vec<i32> = bands.collect::<Result<_, _>>().map_err(|_| foreign(py))?;
        let keys = shared.keys.iter().map(|key| key.cast_signed());
        PyTable::new(vec![
            (
                "place",
                Arc::new(Int64Array::from(shared.places)) as ArrayRef,
            ),
            ("band", Arc::new(Int32Array::from(bands))),
            ("key", Arc::new(Int64Array::from_iter_values(keys))),
        ])
    }

    /// Connects pairs of documents.
    fn add_edges(&mut self, a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = a.py();
        for (a, b) in numbers(a)?.into_iter().zip(numbers(b)?) {
            self.edges.unite(a, b).or_raise(py)?;
        }
        Ok(())
    }

    /// The number of connected documents.
    fn __len__(&self) -> usize {
        self.edges.len()
    }

    /// Takes out the edges, the fewest that leave the same components: least, the least place of a component, and place,
    /// another one of it.
    fn take(&mut self) -> PyResult<PyTable> {
        let (least, places): (Vec<i64>, Vec<i64>) = self.edges.take().into_iter().unzip();
        PyTable::new(vec![
            ("least", Arc::new(Int64Array::from(least)) as ArrayRef),
            ("place", Arc::new(Int64Array::from(places))),
        ])
    }
}

/// The error of a record that this run did not write.
fn foreign(py: Python<'_>) -> PyErr {
    to_python(py, Conflict::ForeignRecord.into())
}

/// The values of a column of integers.
fn numbers(data: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let chunks = import(data, None)?;
    let has_null =
        |chunks: &crate::arrow::Chunks| chunks.arrays.iter().any(|array| array.null_count() > 0);
    let chunks = chunks.filter(|chunks| !has_null(chunks));
    let numbers = chunks.and_then(|chunks| integers(&chunks.arrays));
    numbers.ok_or_else(|| {
        PyTypeError::new_err("places, bands and keys are Arrow columns of integers without nulls")
    })
}

/// The values of a column of zeros and ones.
fn flags(data: &Bound<'_, PyAny>) -> PyResult<Vec<bool>> {
    let numbers = numbers(data)?.into_iter();
    Ok(numbers.map(|number| number != 0).collect())
}

/// The values of a column of binaries.
fn binaries<'a>(column: &'a Column<'_>) -> PyResult<Vec<&'a [u8]>> {
    let wrong = || PyTypeError::new_err("buckets and signatures are Arrow columns of binaries");
    let Column::Arrow(chunks) = column else {
        return Err(wrong());
    };
    let mut values = Vec::new();
    for array in &chunks.arrays {
        let bytes = Bytes::of(array)
            .filter(|_| array.null_count() == 0)
            .ok_or_else(wrong)?;
        values.extend((0..array.len()).map(|row| bytes.value(row)));
    }
    Ok(values)
}
