//! Finds all similar pairs of documents in a file of signatures.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::outcome::{Outcome, warn_of_repeated_ids};
use super::pairs::{PairsOutput, Target, describe};
use super::run::{RunOptions, search_parameters};
#[cfg(doc)]
use simgpu::error::Conflict;
use simgpu::error::{BadRecord, Error, Result, check_local_output};
use simgpu::pipeline::Pairing;
use simgpu::pipeline::Signatures;
use simgpu::progress::{Progress, Timings, advance};
use simgpu::scheme::Scheme;
#[cfg(doc)]
use simgpu::search::Verification;
use simgpu::search::{
    Context, Corpus, PairSearch, Pairs, Searched, SignedRows, Sink, check_search,
};
use simgpu_io::{
    DocumentIds, Places, REPORT_VERSION, Report, Seal, SignatureDescription, SignatureReader,
    Skipped, SkippedRecord, SourceFile, check_not_overwritten, damaged, description_of,
    misdescribed,
};

/// An open file of signatures that [`Run::sign`](super::Run::sign) wrote.
///
/// ```no_run
/// use std::path::Path;
/// use simgpu::search::{Pairs, Search, Verification};
/// use simgpu_files::{PairsOutput, SignatureFile, SignatureRun};
///
/// let signatures = SignatureFile::open(Path::new("signatures.parquet"))?;
/// let mut task = Pairs::new(Search::new(0.8, signatures.scheme())?);
/// task.search.verification = Verification::Signature;
/// SignatureRun::new(signatures).pairs(&task, PairsOutput::File(Path::new("pairs.jsonl")))?;
/// # Ok::<(), simgpu::Error>(())
/// ```
pub struct SignatureFile {
    pub(super) path: PathBuf,
    pub(super) reader: SignatureReader,
    scheme: Scheme,
    pub(super) description: SignatureDescription,
}

impl std::fmt::Debug for SignatureFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignatureFile")
            .field("path", &self.path)
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}

impl SignatureFile {
    /// Opens a `.parquet` file, or a `.npy` file with its `.npy.json`, and checks its description.
    ///
    /// # Errors
    /// [`Error::Input`] if the file is damaged, or its description is missing or does not match the signatures;
    /// [`Error::Io`] if it cannot be read.
    pub fn open(path: &Path) -> Result<Self> {
        let reader = SignatureReader::open(path)?;
        let opened = parse(&reader).and_then(|description| {
            let scheme = check(&description, &reader)?;
            Ok((description, scheme))
        });
        let (description, scheme) =
            opened.map_err(|problem| misdescribed(path, reader.is_matrix(), &problem))?;
        Ok(SignatureFile {
            path: path.to_owned(),
            reader,
            scheme,
            description,
        })
    }

    /// The scheme of the signatures.
    pub fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    /// The number of documents, which is the number of signatures.
    pub fn documents(&self) -> u64 {
        self.reader.rows
    }

    /// A description of the signed shingles: `5 words (words-v1)`, or `5 words (words-v1), counted`.
    pub fn shingles(&self) -> String {
        let stated = &self.description.parameters;
        let (hash, unit) = (&stated.hash, &stated.unit);
        let counted = match (stated.count, stated.weight_scale) {
            (true, _) => ", counted".to_owned(),
            (false, Some(scale)) => format!(", weighted at {scale} copies per unit of weight"),
            (false, None) => String::new(),
        };
        match stated.size {
            Some(size) => format!("{size} {unit} ({hash}){counted}"),
            None => format!("{unit} ({hash}){counted}"),
        }
    }

    /// Whether the file holds the ids of the documents. Only Parquet does.
    pub fn has_ids(&self) -> bool {
        !self.reader.is_matrix()
    }

    /// The size of the file in bytes.
    pub fn bytes(&self) -> u64 {
        self.reader.bytes
    }

    /// Refuses an output that is the file, its description, or a folder that contains them.
    fn check_not_overwritten_by(&self, outputs: &[PathBuf]) -> Result<()> {
        outputs
            .iter()
            .try_for_each(|output| check_local_output(output))?;
        check_not_overwritten(&[&self.path, &description_of(&self.path)], outputs)
    }
}

/// A run over a file of signatures.
///
/// Documents with equal signatures count as identical, even if their units differ: they are pairs of similarity
/// 1 with every verification. Ids come from the file; if some documents had numbers and others strings, all are
/// strings. In a `.npy` file, which has no ids, the id is `file:row`.
#[must_use]
pub struct SignatureRun<'a> {
    #[doc(hidden)]
    pub signatures: SignatureFile,
    /// What it has in common with other runs.
    pub options: RunOptions<'a>,
    /// As [`Run::on_known_id`](super::Run::on_known_id).
    pub on_known_id: simgpu_index::OnKnownId,
}

impl std::fmt::Debug for SignatureRun<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignatureRun")
            .field("signatures", &self.signatures)
            .finish_non_exhaustive()
    }
}

impl<'a> SignatureRun<'a> {
    /// Makes a run over a file of signatures.
    pub fn new(signatures: SignatureFile) -> Self {
        SignatureRun {
            signatures,
            options: RunOptions::default(),
            on_known_id: simgpu_index::OnKnownId::default(),
        }
    }

    /// Finds all similar pairs and writes them like [`Run::pairs`](super::Run::pairs). The output is the same,
    /// byte for byte, as for the documents with the same scheme.
    ///
    /// # Errors
    /// [`Conflict::ExactWithoutDocuments`] for [`Verification::Exact`]; otherwise the same as
    /// [`Run::pairs`](super::Run::pairs).
    pub fn pairs(self, task: &Pairs, mut output: PairsOutput<'_>) -> Result<Outcome> {
        let search = &task.search;
        let SignatureRun {
            signatures,
            options,
            ..
        } = self;
        let progress = options.progress;
        check_search(search)?;
        signatures.check_not_overwritten_by(&output.names())?;
        let mut target = Target::open(&mut output, options.overwrite, options.compression_level)?;
        target.set_page(false)?;
        let scheme = signatures.scheme();
        let num_perm = scheme.num_perm();
        let mut banded = search.banded(num_perm);
        let mut parameters = signatures.description.parameters.clone();
        let mut timings = Timings::default();
        let bytes = signatures.bytes();
        let (corpus, places) =
            timings.time("read", bytes, || signatures.read(&mut banded, progress))?;
        let context = &mut Context {
            search,
            pairing: Pairing::Across,
            progress,
            timings: &mut timings,
        };
        let searched = Searched::from_banded(corpus, banded, num_perm, context)?;
        let pairs = PairSearch::new(searched, task, progress, &mut timings)?;
        parameters.search = Some(search_parameters(pairs.search(), num_perm));
        let streamed = timings.time("compare and write", 0, || {
            target.write(&pairs, &places, &|_| (), progress)
        })?;
        let compared = streamed.documents as u64;
        let found = pairs.found(streamed, timings, progress);
        let mut counts = found.counts.clone();
        counts.documents = places.records();
        counts.skipped = places.skipped.len() as u64;
        counts.repeated_ids = places.repeated_ids;
        warn_of_repeated_ids(progress, counts.repeated_ids);
        let mut report = Report::new("pairs", counts, parameters);
        report.empty_files = places.empty_files();
        report.skipped = places.skipped_records();
        describe(&mut report, task, &found);
        target.commit(&report, progress, compared)?;
        let mut timings = found.timings;
        let elapsed_s = timings.complete(options.started);
        Ok(Outcome {
            report,
            timings,
            elapsed_s,
            resumed: 0,
        })
    }
}

fn parse(reader: &SignatureReader) -> std::result::Result<SignatureDescription, String> {
    serde_json::from_str(&reader.description)
        .map_err(|error| format!("it does not describe how the documents were signed ({error})"))
}

/// Checks that the description matches the file, and returns the scheme.
fn check(
    description: &SignatureDescription,
    reader: &SignatureReader,
) -> std::result::Result<Scheme, String> {
    if description.simgpu_report != REPORT_VERSION {
        return Err(format!(
            "its layout is version {}, but this program reads version {REPORT_VERSION}",
            description.simgpu_report
        ));
    }
    let stated = &description.parameters;
    let scheme = Scheme::named(&stated.scheme)
        .and_then(|scheme| scheme.with_num_perm(stated.num_perm))
        .map_err(|error| error.to_string())?
        .with_seed(stated.seed);
    if scheme.num_perm() != reader.columns {
        return Err(format!(
            "it states {} permutations, but the signatures have {} slots",
            stated.num_perm, reader.columns
        ));
    }
    let width = scheme.family().slot_width();
    if width != reader.width {
        return Err(format!(
            "{scheme} has slots of {} bits, but the signatures have slots of {} bits",
            8 * width.bytes(),
            8 * reader.width.bytes()
        ));
    }
    let skipped = description.skipped.len() as u64;
    if description.counts.documents.checked_sub(skipped) != Some(reader.rows) {
        return Err(format!(
            "it states {} documents, {skipped} of them skipped, but there are {} signatures",
            description.counts.documents, reader.rows
        ));
    }
    let starts = || {
        description
            .files
            .iter()
            .map(|file| u64::from(file.first_row))
    };
    let begins = starts().next().is_none_or(|first| first == 0);
    if !begins || !starts().is_sorted() || starts().any(|first| first > reader.rows) {
        return Err("the first rows of its files do not ascend from 0".to_owned());
    }
    if description.files.is_empty() && reader.rows > 0 {
        return Err("it lists no signed file".to_owned());
    }
    Ok(scheme)
}

/// The places of the documents, from the files and bad records of the description.
fn places_of(description: SignatureDescription, rows: u32) -> std::result::Result<Places, String> {
    let ends = description.files.iter().skip(1).map(|file| file.first_row);
    let ends: Vec<u32> = ends.chain([rows]).collect();
    let files = description
        .files
        .into_iter()
        .zip(ends)
        .map(|(file, end)| SourceFile {
            relative: file.file,
            first_row: file.first_row,
            records: u64::from(end - file.first_row),
            fingerprint: None,
        });
    let files: Vec<SourceFile> = files.collect();
    let empty: HashSet<&str> = description.empty_files.iter().map(String::as_str).collect();
    let is_empty = |file: &SourceFile| empty.contains(&*file.relative);
    let numbered = files.iter().enumerate();
    let empty_files = numbered.filter_map(|(number, file)| is_empty(file).then_some(number));
    let mut places = Places {
        empty_files: empty_files.collect(),
        files,
        repeated_ids: description.counts.repeated_ids,
        ..Places::default()
    };
    let (mut file, mut least) = (0, 0);
    for SkippedRecord {
        file: name, row, ..
    } in description.skipped
    {
        while places.files.get(file).is_some_and(|at| at.relative != name) {
            (file, least) = (file + 1, 0);
        }
        let source = places.files.get_mut(file).filter(|_| row >= least);
        let Some(source) = source else {
            return Err(format!(
                "its bad records are out of order at {name}, row {row}"
            ));
        };
        source.records += 1;
        least = row.saturating_add(1);
        places.skipped.push(Skipped {
            file,
            record: BadRecord {
                file: PathBuf::from(name),
                row,
                line: None,
                problem: String::new(),
            },
        });
    }
    Ok(places)
}

impl SignatureFile {
    /// Reads the signatures and passes the distinct ones, except empty ones, to `sink`. This replaces the first
    /// pass over documents; equal signatures take the place of equal units.
    fn read(self, sink: &mut dyn Sink, progress: &dyn Progress) -> Result<(Corpus, Places)> {
        let scheme = self.scheme.clone();
        let mut numbered = SignedRows::new(&scheme, self.reader.bytes);
        let (has_ids, mut all_ids) = (self.has_ids(), DocumentIds::default());
        let places = self.for_each_batch(progress, |batch, ids, _| {
            numbered.take(batch.slots(), sink)?;
            ids.iter().try_for_each(|id| all_ids.push(id))
        })?;
        let places = Places {
            ids: has_ids.then_some(all_ids),
            ..places
        };
        Ok((numbered.corpus, places))
    }

    /// Calls `each` with all signatures, in batches, their ids as JSON, if the file has any, and the places of all documents.
    /// Returns the places, without ids.
    pub(super) fn for_each_batch(
        self,
        progress: &dyn Progress,
        mut each: impl FnMut(&Signatures, &[String], &Places) -> Result<()>,
    ) -> Result<Places> {
        let SignatureFile {
            path,
            mut reader,
            scheme,
            mut description,
        } = self;
        let is_matrix = reader.is_matrix();
        let rows = u32::try_from(reader.rows)
            .ok()
            .filter(|rows| *rows < u32::MAX);
        let rows = rows.ok_or(Error::TooManyDocuments)?;
        let stated_digest = description.matrix_blake3_128.take();
        let places = places_of(description, rows);
        let mut places = places.map_err(|problem| misdescribed(&path, is_matrix, &problem))?;
        if is_matrix {
            places.repeated_ids = 0;
            progress.tell("the matrix holds no ids; documents are identified by file and row");
        }
        let mut batch = Signatures::new(scheme.num_perm(), reader.width);
        let mut ids = Vec::new();
        let mut read = 0;
        progress.begin("read", reader.rows);
        loop {
            reader.next(&mut batch, &mut ids)?;
            if batch.is_empty() {
                break;
            }
            read += batch.len() as u64;
            if read > u64::from(rows) {
                return Err(damaged(
                    &path,
                    "it holds more rows than its metadata states",
                ));
            }
            each(&batch, &ids, &places)?;
            advance(progress, read, read, 0)?;
        }
        if read != u64::from(rows) {
            let problem = format!("its metadata states {rows} signatures, but it holds {read}");
            return Err(damaged(&path, &problem));
        }
        match reader.seal(stated_digest.as_deref()) {
            Seal::Intact => {}
            Seal::Broken => {
                let problem = "its digest does not match the signatures";
                return Err(misdescribed(&path, is_matrix, problem));
            }
            Seal::Missing => progress.warn(&format!(
                "{} states no digest, so that damage to it may not show; sign the documents again to have one",
                path.display()
            )),
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests;
