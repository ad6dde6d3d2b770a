//! An index as the reference of a search.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::UNIX_EPOCH;

use rayon::prelude::*;

use super::adding::Adding;
use super::document::{DocumentId, Record};
use super::header::{HEADER, IndexKind};
use super::hits::Comparison;
use super::lists::{self, ListKey};
use super::persistent::{Index, OnKnownId, State};
use super::signed::Signed;
use super::store::{Snapshot, damaged};
use simgpu::documents::{Documents, digest};
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::scheme::fmix64;
use simgpu::search::{AddingRun, InterruptedRun, KnownDocument, KnownIndex, Search, Verification};
use simgpu::store::disk::metadata;

/// The number of a band, and a key of it.
type BandKey = (usize, u64);

/// An index at one moment, and its documents that are similar to some that were looked up.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct AskedIndex<'a> {
    index: &'a Index,
    /// Its number among those that are asked.
    number: usize,
    at: Snapshot<'a>,
    /// The number of batches of this moment.
    batches: u64,
    state: State,
    /// Whether it is asked without what was added since an interrupted run began to add.
    is_before: bool,
    /// The band keys of each of these documents, by row, as far as they were found through them.
    found: Mutex<BTreeMap<u32, Vec<Option<u64>>>>,
}

impl<'a> AskedIndex<'a> {
    /// An index that is asked beside so many others.
    #[doc(hidden)]
    pub fn new(index: &'a Index, number: usize) -> Self {
        // Nothing is stored between the two.
        let state = index.state();
        AskedIndex {
            index,
            number,
            at: index.store.snapshot(),
            batches: state.batches,
            state: *state,
            is_before: false,
            found: Mutex::default(),
        }
    }

    fn noted(&self) -> MutexGuard<'_, BTreeMap<u32, Vec<Option<u64>>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The documents that are similar to one of these, and the bands that it shares with each.
    fn find_one(&self, signed: &Signed, i: usize) -> Result<Vec<(u32, Option<BandKey>)>> {
        let mut hits = self.comparison().stored_hits(&self.at, signed, i)?;
        hits.retain(|hit| hit.row < self.state.next_row);
        if self.index.kind() == IndexKind::Exact {
            return Ok(hits.iter().map(|hit| (hit.row, None)).collect());
        }
        let mut shared = Vec::new();
        if hits.is_empty() {
            return Ok(shared);
        }
        let mut rows = Vec::new();
        for (key, _) in signed.lists(i) {
            rows.clear();
            lists::read(&self.at, key, &mut rows)?;
            // A list ascends.
            let shares = |row: &u32| rows.binary_search(row).is_ok();
            let in_list = hits.iter().map(|hit| hit.row).filter(shares);
            let band = match key {
                ListKey::Band(band, _) => {
                    let key = signed.keys(i).get(usize::from(band));
                    key.map(|key| (usize::from(band), *key))
                }
                ListKey::Digest(_) => None,
            };
            shared.extend(in_list.map(|row| (row, band)));
        }
        Ok(shared)
    }

    fn comparison(&self) -> Comparison<'_> {
        self.index.comparison(self.index.search().threshold)
    }

    fn record(&self, number: u32) -> Result<Record> {
        let record = self.comparison().record(&self.at, number)?;
        record.ok_or_else(|| self.damaged("a record is missing"))
    }

    /// The set of shingles of a document, ascending; empty unless shingles verify.
    fn set(&self, number: u32) -> Result<Vec<u64>> {
        let mut set = self.comparison().set(&self.at, number)?;
        // An index of kind `exact` has an order of its own.
        set.sort_unstable();
        Ok(set)
    }

    /// Refuses documents whose id the index has meanwhile for another document.
    fn check_added(&self, documents: &dyn Documents, ids: &[DocumentId]) -> Result<()> {
        let signed = self.index.sign(documents, false)?;
        let at = self.index.store.snapshot();
        for (i, id) in ids.iter().enumerate() {
            let Some(row) = self.index.row_of(&at, id)? else {
                continue;
            };
            let stored = self.comparison().record(&at, row)?;
            if stored.is_some_and(|stored| stored.digest != signed.digest(i)) {
                return Err(Error::Input {
                    path: self.index.folder().to_owned(),
                    problem: format!(
                        "it has another document of the id {} by now, which is kept",
                        id.as_json()
                    ),
                    remedy: "give each document an id of its own".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn damaged(&self, problem: &str) -> Error {
        damaged(self.index.folder(), problem)
    }
}

impl KnownIndex for AskedIndex<'_> {
    fn folder(&self) -> &Path {
        self.index.folder()
    }

    fn documents(&self) -> u64 {
        self.state.documents
    }

    fn identity(&self) -> Result<String> {
        let header = metadata(&self.index.folder().join(HEADER))?;
        let built = header.and_then(|header| header.modified().ok());
        let since = built.and_then(|built| built.duration_since(UNIX_EPOCH).ok());
        Ok(format!(
            "{} of {} at batch {}",
            self.index.folder().display(),
            since.map_or(0, |since| since.as_nanos()),
            self.batches
        ))
    }

    fn check_fits(&self, engine: &Engine, search: &Search) -> Result<()> {
        let (own, wanted) = (self.index.kind(), IndexKind::from_search(search));
        if own != wanted {
            return Err(Error::Input {
                path: self.index.folder().to_owned(),
                problem: format!(
                    "this is an index of kind {}, and `candidates` is {}",
                    own.name(),
                    search.candidates.name()
                ),
                remedy: format!(
                    "omit `candidates`, or build an index of kind {}",
                    wanted.name()
                ),
            });
        }
        let verification = search.index_verification.unwrap_or(search.verification);
        let asked = Search {
            verification,
            ..search.clone()
        };
        let checked = self.index.check_fits(engine, &asked);
        checked.map_err(|error| match error {
            Error::Input { path, problem, .. } if problem.starts_with("the index has verify") => {
                Error::Input {
                    path,
                    problem,
                    remedy: "omit `verify`: then pairs among the inputs are compared exactly, and those with the index as it does"
                        .to_owned(),
                }
            }
            error => error,
        })
    }

    fn check_writable(&self) -> Result<()> {
        self.index.check_writable()
    }

    fn find(&self, documents: &dyn Documents) -> Result<()> {
        let signed = self.index.sign(documents, false)?;
        let shared: Vec<Vec<(u32, Option<BandKey>)>> = (0..signed.len())
            .into_par_iter()
            .map(|i| self.find_one(&signed, i))
            .collect::<Result<_>>()?;
        let bands = match self.index.kind() {
            IndexKind::Lsh => self.index.search().banding.bands(),
            IndexKind::Exact => 0,
        };
        let mut found = self.noted();
        for (row, key) in shared.into_iter().flatten() {
            let keys = found.entry(row).or_insert_with(|| vec![None; bands]);
            if let Some((band, key)) = key {
                keys[band] = Some(key);
            }
        }
        Ok(())
    }

    fn found(&self) -> Vec<u32> {
        self.noted().keys().copied().collect()
    }

    fn id(&self, number: u32) -> Result<String> {
        Ok(self.record(number)?.id.as_json().to_owned())
    }

    fn compared(&self, number: u32) -> Result<Vec<u64>> {
        if self.index.search().verification == Verification::Signature {
            return Ok(self.record(number)?.signature);
        }
        self.set(number)
    }

    fn document(&self, number: u32) -> Result<KnownDocument> {
        let record = self.record(number)?;
        let keys = self.noted().get(&number).cloned().unwrap_or_default();
        // Another key would be found to be that of a document by chance alone, and the two compared.
        let own = digest(
            &[
                &b"a document of an index "[..],
                &self.number.to_be_bytes(),
                &number.to_be_bytes(),
            ]
            .concat(),
        );
        let none =
            |band: u64| fmix64(fmix64(self.number as u64) ^ (u64::from(number) << 16 | band));
        let keys = (0..).zip(keys).map(|(band, key)| key.unwrap_or(none(band)));
        Ok(KnownDocument {
            id: record.id.as_json().to_owned(),
            // Built of signatures, an index knows no digests.
            digest: record.digest.or(record.has_shingles.then_some(own)),
            has_shingles: record.has_shingles,
            keys: keys.collect(),
            signature: record.signature,
            set: self.set(number)?,
        })
    }

    fn has(&self, id: &str) -> Result<bool> {
        match DocumentId::from_json(id) {
            Some(id) => {
                let row = self.index.row_of(&self.at, &id)?;
                Ok(row.is_some_and(|row| row < self.state.next_row))
            }
            None => Ok(false),
        }
    }

    fn add(&self, documents: &dyn Documents, ids: &[String]) -> Result<()> {
        let own = ids.iter().map(|id| DocumentId::from_json(id));
        let own = own.collect::<Option<Vec<_>>>();
        let own =
            own.ok_or_else(|| Error::Defect("an id is neither text nor number".to_owned()))?;
        if self.is_before {
            self.check_added(documents, &own)?;
        }
        let on_known_id = if self.is_before {
            OnKnownId::Skip
        } else {
            OnKnownId::Fail
        };
        self.index.add(documents, &own, on_known_id).map(|_| ())
    }

    fn interrupted(&self, output: &str) -> Result<Option<InterruptedRun>> {
        let folder = self.index.folder();
        let adding = Adding::read(folder, output)?;
        Ok(adding.map(|adding| InterruptedRun {
            run: adding.run,
            report: adding.report,
            has_added: self.state.next_row != adding.before.next_row,
            note: Adding::path(folder, output),
        }))
    }

    fn go_back(&mut self, output: &str) -> Result<()> {
        if let Some(adding) = Adding::read(self.index.folder(), output)? {
            (self.state, self.is_before) = (adding.before, true);
        }
        Ok(())
    }

    fn begin_adding(&self, run: &AddingRun, report: String) -> Result<()> {
        // What the note says of the index may not be more durable than the index.
        self.index.sync()?;
        let adding = Adding {
            run: run.clone(),
            report,
            before: self.state,
        };
        adding.write(self.index.folder())
    }

    fn end_adding(&self, output: &str, is_cancelled: bool) -> Result<()> {
        if is_cancelled && self.is_before {
            return Ok(());
        }
        Adding::remove(self.index.folder(), output)
    }

    fn sync(&self) -> Result<()> {
        self.index.sync()
    }
}
