//! `simgpu.Index`: documents that were seen, in a folder. [`simgpu_index::Index`] keeps them; here are Python's objects.

mod ids;

mod opened;

mod batch;

mod settings;

mod hits;

mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::{BinaryArray, StringArray};
use batch::DocumentBatch;
use hits::{hit_list, hit_table};
use numpy::PyArray1;
use opened::Opened;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use settings::{Durability, Least, Parameters, Settings, on_known_id_of};
use simgpu_cli::commands::index::stats_of;
use simgpu_index::{Index, OnKnownId, Verdict};

use crate::arguments::optional_argument;
use crate::errors::{OrRaise, exists, parameter_error};
use crate::json;
use crate::table::PyTable;

/// Documents that were seen, in a folder: which of them does a new one resemble?
///
/// An index keeps no text, but what finds and verifies similar documents, and stays on disk. ``Index(path)`` opens it,
/// ``Index.create(path)`` makes one. Any number of threads may use it, and a process may open it several times; other
/// processes get an error that names this one. It closes at the end of ``with``, or by :meth:`close`.
///
/// Args:
///     path: The folder.
///     durability: When what was added or deleted survives a crash of the machine: ``"call"``, once the call returns; or
///         ``"sync"``, once :meth:`sync` or :meth:`close` returns, which makes single additions faster. A crash of the
///         program alone loses nothing either way.
///     threads: Number of threads for a batch; by default ``SIMGPU_NUM_THREADS``, or one per core that this process may
///         use. Single texts are handled by the calling thread.
///
/// Raises:
///     FileNotFoundError: There is no such folder.
///     InputError: It holds no index, one of another version, a damaged one, or one that another process has open.
///     OSError: The system refused to read or write a file.
#[pyclass(frozen, module = "simgpu", name = "Index")]
pub(crate) struct PyIndex {
    path: PathBuf,
    durability: Durability,
    threads: Option<usize>,
    /// `None` once it is closed. Locked only while the interpreter is attached, and never for long.
    opened: Mutex<Option<Opened>>,
}

#[pymethods]
impl PyIndex {
    #[new]
    #[pyo3(signature = (path, *, durability=None, threads=None),
        text_signature = "(path, *, durability=\"call\", threads=None)")]
    fn new(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        durability: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let settings = Settings::new(path, durability, threads)?;
        let opened = Opened::open(py, &settings.path)?;
        Ok(PyIndex::of(settings, opened))
    }

    /// Makes an index in a folder that does not exist, or is empty, and opens it.
    ///
    /// Args:
    ///     path: The folder.
    ///     threshold: Least similarity of documents that resemble each other, above 0 and up to 1.
    ///     kind: ``"lsh"`` finds documents by bands of their signatures, and misses some; ``"exact"`` finds all, by shingles,
    ///         for texts of up to some hundred shingles: titles, messages, memories, questions.
    ///     measure: ``"jaccard"``; or, with ``kind="exact"``, ``"contained"``: the share of the shingles of the smaller
    ///         document that the larger has.
    ///     verify: ``"signature"`` estimates similarities from 8 bits per slot, the default with ``kind="lsh"``;
    ///         ``"exact"`` computes them, from shingles that the index keeps, of 8 bytes each.
    ///     bands: Number of bands, with ``rows``; by default chosen for the threshold, or the scheme's.
    ///     rows: Slots per band, with ``bands``.
    ///     scheme: A Scheme or its name.
    ///     num_perm: Number of permutations, instead of the scheme's.
    ///     seed: Seed of the permutations, instead of the scheme's.
    ///     shingling: A Shingling or the name of its unit; by default the scheme's. With ``"tokens"``, documents are lists
    ///         of tokens.
    ///     exist_ok: Whether to open an index that is there; it must have these parameters.
    ///     durability: As of the class.
    ///     threads: As of the class.
    ///
    /// Raises:
    ///     ParameterError: An argument is unknown or out of range.
    ///     FileExistsError: The folder is an index already.
    ///     OutputError: The folder holds something else.
    ///     InputError: With ``exist_ok``, the index has other parameters; the message names the first.
    #[staticmethod]
    #[pyo3(signature = (path, *, threshold=None, kind=None, measure=None, verify=None, bands=None, rows=None, scheme=None, num_perm=None, seed=None,
        shingling=None, exist_ok=None, durability=None, threads=None),
        text_signature = "(path, *, threshold=0.8, kind=\"lsh\", measure=\"jaccard\", verify=None, bands=None, rows=None, scheme=\"affine32\", \
            num_perm=None, seed=None, shingling=None, exist_ok=False, durability=\"call\", threads=None)")]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn create(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        threshold: Option<&Bound<'_, PyAny>>,
        kind: Option<&Bound<'_, PyAny>>,
        measure: Option<&Bound<'_, PyAny>>,
        verify: Option<&Bound<'_, PyAny>>,
        bands: Option<&Bound<'_, PyAny>>,
        rows: Option<&Bound<'_, PyAny>>,
        scheme: Option<&Bound<'_, PyAny>>,
        num_perm: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        shingling: Option<&Bound<'_, PyAny>>,
        exist_ok: Option<&Bound<'_, PyAny>>,
        durability: Option<&Bound<'_, PyAny>>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let settings = Settings::new(path, durability, threads)?;
        let may_exist = optional_argument(exist_ok, "exist_ok", "True or False")?;
        let parameters = Parameters::new(
            py,
            [kind, measure, verify],
            [threshold, bands, rows],
            [scheme, num_perm, seed, shingling],
        )?;
        let is_index = Index::is_in(&settings.path).or_raise(py)?;
        let opened = match (is_index, may_exist) {
            (false, _) => parameters.create(py, &settings.path)?,
            (true, Some(true)) => parameters.open(py, &settings.path)?,
            (true, _) => {
                let path = settings.path.display();
                let message = format!(
                    "{path} is an index already; open it by Index(path), or pass exist_ok=True"
                );
                return Err(exists(&settings.path, message));
            }
        };
        Ok(PyIndex::of(settings, opened))
    }

    /// The folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// When what was added or deleted survives a crash of the machine: ``"call"`` or ``"sync"``.
    #[getter]
    fn durability(&self) -> &'static str {
        match self.durability {
            Durability::Call => "call",
            Durability::Sync => "sync",
        }
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.opened().is_none()
    }

    /// How documents are found: ``"lsh"`` or ``"exact"``.
    #[getter]
    fn kind(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.open(py)?.index(py)?.kind().name())
    }

    /// The least similarity of documents that resemble each other.
    #[getter]
    fn threshold(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.open(py)?.index(py)?.search().threshold)
    }

    /// The documents that resemble this one, the most similar first: each with ``id``, ``similarity`` and ``found_by``, and of
    /// ``measure="contained"`` with ``query_share`` and ``document_share``.
    ///
    /// Args:
    ///     text: A str, or a list of tokens if the index has documents of tokens.
    ///     threshold: Least similarity, not below that of the index.
    ///     limit: Most documents to return.
    ///
    /// Raises:
    ///     TypeError: The document is of another type.
    ///     ParameterError: The threshold is below that of the index, or the index is closed.
    #[pyo3(signature = (text, *, threshold=None, limit=None))]
    fn check<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        threshold: Option<&Bound<'py, PyAny>>,
        limit: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let least = Least::new(threshold, limit)?;
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let (threshold, limit) = least.of(index);
        let hits = self.with_one(text, index, None, |document| {
            index.query_with(document, threshold, limit)
        })?;
        hit_list(py, hits.into_iter().next().unwrap_or_default())
    }

    /// The same; adds the document if there are none.
    ///
    /// Returns:
    ///     The documents that resemble it; an empty list if it was added.
    ///
    /// Raises:
    ///     ParameterError: It is new, but the index has another document with this id; or the index is closed.
    fn check_or_add<'py>(
        &self,
        text: &Bound<'py, PyAny>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = text.py();
        let id = [ids::id_of(id, "id")?];
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let verdicts = self.with_one(text, index, Some(&opened), |document| {
            let verdicts = index.add_if_new(document, &id, OnKnownId::Fail)?;
            if !matches!(verdicts[..], [Verdict::Seen(_)]) {
                self.keep(index)?;
            }
            Ok(verdicts)
        })?;
        hit_list(
            py,
            match verdicts.into_iter().next() {
                Some(Verdict::Seen(hits)) => hits,
                _ => Vec::new(),
            },
        )
    }

    /// Adds a document, whatever it resembles.
    ///
    /// Args:
    ///     text: As of :meth:`check`.
    ///     id: Its id, a str or an int.
    ///     on_known_id: What happens if the index has a document with this id: ``"fail"``; ``"skip"`` leaves the new one out;
    ///         ``"replace"`` deletes the old one.
    ///
    /// Returns:
    ///     Whether it was added.
    ///
    /// Raises:
    ///     ParameterError: The index has the id; or the index is closed.
    #[pyo3(signature = (text, id, *, on_known_id=None), text_signature = "($self, text, id, *, on_known_id=\"fail\")")]
    fn add(
        &self,
        text: &Bound<'_, PyAny>,
        id: &Bound<'_, PyAny>,
        on_known_id: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let py = text.py();
        let on_known_id = on_known_id_of(py, on_known_id)?;
        let id = [ids::id_of(id, "id")?];
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let verdicts = self.with_one(text, index, Some(&opened), |document| {
            let verdicts = index.add(document, &id, on_known_id)?;
            self.keep(index)?;
            Ok(verdicts)
        })?;
        Ok(verdicts == [Verdict::Added])
    }

    /// The documents that resemble those of a batch.
    ///
    /// Args:
    ///     data: The documents: a list, a numpy array, a Series, an Arrow array, or a table and ``column``.
    ///     column: The column of documents, if ``data`` is a table.
    ///     id: Ids of the documents: a column of ``data``, or a sequence of int or str. They are in the result.
    ///     threshold: As of :meth:`check`.
    ///     limit: Most documents to return for each.
    ///     progress: True draws a bar; a function gets (stage, done, total) and stops the work if it returns False.
    ///
    /// Returns:
    ///     A :class:`Table` of ``row``, ``hit_id``, ``similarity`` and ``found_by``, and with ids ``id``: one row per
    ///     document found, in the order of ``data``, the most similar first. ``hit_id`` is a column of int64 if all ids are
    ///     numbers, else of strings. Of ``measure="contained"``, also ``query_share`` and ``document_share``.
    #[pyo3(signature = (data, column=None, *, id=None, threshold=None, limit=None, progress=None))]
    fn check_many<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        threshold: Option<&Bound<'py, PyAny>>,
        limit: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyTable> {
        let py = data.py();
        let least = Least::new(threshold, limit)?;
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let (threshold, limit) = least.of(index);
        let batch = DocumentBatch::new(data, column, id, index.engine())?.with_progress(progress);
        let hits = self.with_many(py, &batch, |part, _| {
            index.query_with(part, threshold, limit)
        })?;
        hit_table(&hits, index.search().measure, batch.ids.as_ref())
    }

    /// Adds the documents that resemble none of the index and no earlier one of the batch, as if they came one by one.
    ///
    /// Args:
    ///     data: As of :meth:`check_many`.
    ///     column: As of :meth:`check_many`.
    ///     id: Ids of the documents, as of :meth:`check_many`. Required.
    ///     on_known_id: What happens to a new document whose id the index has: ``"fail"``, or ``"skip"`` leaves it out.
    ///     progress: As of :meth:`check_many`.
    ///
    /// Returns:
    ///     ``Checked``: the documents that resemble each, as of :meth:`check_many`, and which ones were ``added``.
    ///
    /// Raises:
    ///     ParameterError: The index has an id. The batch is stored about 1 MiB at a time; what was stored before stays, as
    ///         after Ctrl-C.
    #[pyo3(signature = (data, column=None, *, id=None, on_known_id=None, progress=None),
        text_signature = "($self, data, column=None, *, id, on_known_id=\"fail\", progress=None)")]
    fn check_or_add_many<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        on_known_id: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = data.py();
        let on_known_id = on_known_id_of(py, on_known_id)?;
        if on_known_id == OnKnownId::Replace {
            let message = "on_known_id=\"replace\" would delete a document before it is known whether the other is new; give \"skip\" or \"fail\"";
            return Err(parameter_error(py, message));
        }
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let batch = DocumentBatch::new(data, column, id, index.engine())?.with_progress(progress);
        let ids = batch.required_ids()?;
        let verdicts = self.write_many(py, &opened, &batch, |part, rows| {
            index.add_if_new(part, &ids[rows], on_known_id)
        })?;
        let added: Vec<bool> = verdicts.iter().map(|it| *it == Verdict::Added).collect();
        let known: Vec<bool> = verdicts.iter().map(|it| *it == Verdict::KnownId).collect();
        let hits = verdicts.into_iter().map(|verdict| match verdict {
            Verdict::Seen(hits) => hits,
            Verdict::Added | Verdict::KnownId => Vec::new(),
        });
        let hits: Vec<_> = hits.collect();
        let table = hit_table(&hits, index.search().measure, batch.ids.as_ref())?;
        let (added, known) = (PyArray1::from_vec(py, added), PyArray1::from_vec(py, known));
        let class = py.import("simgpu._index")?.getattr("Checked")?;
        class.call1((table, added, known))
    }

    /// Adds the documents of a batch, whatever they resemble.
    ///
    /// Args:
    ///     data: As of :meth:`check_many`.
    ///     column: As of :meth:`check_many`.
    ///     id: Ids of the documents, as of :meth:`check_many`. Required.
    ///     on_known_id: As of :meth:`add`.
    ///     progress: As of :meth:`check_many`.
    ///
    /// Returns:
    ///     Whether each document was added, an array of bool.
    ///
    /// Raises:
    ///     ParameterError: The index has an id, or two documents have the same. The batch is stored about 1 MiB at a time;
    ///         what was stored before stays, as after Ctrl-C.
    #[pyo3(signature = (data, column=None, *, id=None, on_known_id=None, progress=None),
        text_signature = "($self, data, column=None, *, id, on_known_id=\"fail\", progress=None)")]
    fn add_many<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        column: Option<&Bound<'py, PyAny>>,
        id: Option<&Bound<'py, PyAny>>,
        on_known_id: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let py = data.py();
        let on_known_id = on_known_id_of(py, on_known_id)?;
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let batch = DocumentBatch::new(data, column, id, index.engine())?.with_progress(progress);
        let ids = batch.required_ids()?;
        let verdicts = self.write_many(py, &opened, &batch, |part, rows| {
            index.add(part, &ids[rows], on_known_id)
        })?;
        let added = verdicts.iter().map(|verdict| *verdict == Verdict::Added);
        Ok(PyArray1::from_iter(py, added))
    }

    /// Deletes the documents with an id, or with several; all of them or none. They are found no more at once;
    /// :meth:`compact` frees their space.
    ///
    /// Returns:
    ///     The number of documents deleted. An id that the index does not have counts as none.
    fn delete(&self, ids: &Bound<'_, PyAny>) -> PyResult<usize> {
        let py = ids.py();
        let ids = ids::ids_of(ids, "ids")?;
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        let deleted = py.detach(|| {
            let were_there = index.delete(&ids)?;
            self.keep(index)?;
            Ok(were_there.iter().filter(|was_there| **was_there).count())
        });
        deleted.or_raise(py)
    }

    /// Frees the space of deleted documents. Nothing can be added meanwhile, but queries are answered.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, Index::compact)
    }

    /// Copies the index to a folder that does not exist, with all that is in it. Whoever has the copy may read and change it.
    ///
    /// Args:
    ///     path: The folder of the copy.
    ///
    /// Returns:
    ///     The number of its documents.
    ///
    /// Raises:
    ///     OutputError: There is something at ``path``.
    fn snapshot(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        self.work(py, |index| {
            index.sync()?;
            Index::snapshot(index.folder(), &path)
        })
    }

    /// Waits until everything that was added and deleted is on disk.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.work(py, Index::sync)
    }

    /// Figures of the index, and how it was built, as ``simgpu index stats`` shows them.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        json::of(py, &py.detach(|| stats_of(index)).or_raise(py)?)
    }

    /// Reads the whole index, and checks that each document is found.
    ///
    /// Returns:
    ///     The counts ``documents``, ``deleted``, ``lists`` and ``longest_list``: a query for a document of the longest
    ///     list reads them all.
    ///
    /// Raises:
    ///     InputError: The index is damaged; the message says what is wrong.
    fn verify<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let check = self.work(py, Index::verify)?;
        let counts = PyDict::new(py);
        counts.set_item("documents", check.documents)?;
        counts.set_item("deleted", check.deleted)?;
        counts.set_item("lists", check.lists)?;
        counts.set_item("longest_list", check.longest_list)?;
        Ok(counts)
    }

    /// The documents of the index, in the order in which they were added.
    ///
    /// Returns:
    ///     A :class:`Table` of ``id``; ``digest``, 128 bits of BLAKE3 of the normalised text in hexadecimal digits, null if
    ///     it is blank; and ``signature``, bytes of 8 bits per slot, null if the index keeps none.
    fn export(&self, py: Python<'_>) -> PyResult<PyTable> {
        let documents = self.work(py, |index| {
            let mut documents = Vec::new();
            index.for_each(|document| {
                documents.push(document);
                Ok(())
            })?;
            Ok(documents)
        })?;
        let digests = documents.iter().map(|document| document.digest);
        let digests = digests.map(|digest| digest.map(|digest| format!("{digest:032x}")));
        let signatures = documents.iter().map(|document| {
            let bytes = document
                .signature
                .iter()
                .flat_map(|word| word.to_le_bytes());
            let bytes: Vec<u8> = bytes.collect();
            (!bytes.is_empty()).then_some(bytes)
        });
        PyTable::new(vec![
            ("id", ids::column_of(documents.iter().map(|it| &it.id))),
            ("digest", Arc::new(digests.collect::<StringArray>())),
            ("signature", Arc::new(signatures.collect::<BinaryArray>())),
        ])
    }

    /// Closes the index, once everything is on disk. Whoever else has it open in this process goes on. Does nothing if it is
    /// closed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let Some(opened) = self.opened().take() else {
            return Ok(());
        };
        py.detach(|| opened.close()).or_raise(py)
    }

    fn __enter__(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().open(slf.py())?;
        Ok(slf)
    }

    #[pyo3(signature = (*_raised))]
    fn __exit__(&self, py: Python<'_>, _raised: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// Whether it is open, as of a file: programs ask whether they have an index, not whether it holds documents.
    fn __bool__(&self) -> bool {
        !self.closed()
    }

    /// The number of documents.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let opened = self.open(py)?;
        Ok(usize::try_from(documents_of(py, &opened)?)?)
    }

    /// Whether the index has a document with this id.
    fn __contains__(&self, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = id.py();
        let id = ids::id_of(id, "id")?;
        let opened = self.open(py)?;
        let index = opened.index(py)?;
        py.detach(|| index.contains(&id)).or_raise(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let path = self.path.display();
        let opened = self.open(py);
        let documents = opened.and_then(|opened| documents_of(py, &opened));
        match documents {
            Ok(documents) => format!("<Index {path}: {documents} documents>"),
            Err(_) => format!("<Index {path}, closed>"),
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "an Index cannot be pickled or copied: one process at a time has its folder open; give the other process the path",
        ))
    }
}

/// The number of documents. A writer that has to end first goes on meanwhile.
fn documents_of(py: Python<'_>, opened: &Opened) -> PyResult<u64> {
    let index = opened.index(py)?;
    Ok(py.detach(|| index.stats().documents))
}
