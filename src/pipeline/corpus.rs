//! The first pass: all documents are read, shingled, signed and banded, batch by batch, and what the
//! later stages need of them is kept. The texts are not.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow_schema::SchemaRef;
use parquet::file::metadata::ParquetMetaData;
use rayon::prelude::*;

use super::band::{BandKeys, Banding};
use super::progress::{Progress, StageTime};
use super::shingle::{Scratch, ShingleBatch, Shingler};
use super::sign::{Signatures, Signer};
use super::verify::ExactSets;
use crate::error::{BadRecord, Error, Result};
use crate::io::{
    Chunk, Columns, Event, Fields, Fingerprint, Inputs, OnBadRecord, ParsedChunk, Record,
    json_string, read_all,
};
use crate::scheme::Width;

/// Where documents come from and how they are signed.
#[allow(missing_debug_implementations, reason = "a signer has nothing to show")]
pub struct Source<'a> {
    /// The files.
    pub inputs: &'a Inputs,
    /// Where a record holds text and id.
    pub fields: &'a Fields,
    /// What happens to a record that cannot be read.
    pub on_bad_record: OnBadRecord,
    /// Whether two documents with one id are an error.
    pub unique_ids: bool,
    /// Bytes of text that are worked on at a time.
    pub batch_bytes: usize,
    /// How documents become sets.
    pub shingler: &'a Shingler,
    /// What signs them.
    pub signer: &'a dyn Signer,
    /// Who is told how far it has come.
    pub progress: &'a dyn Progress,
}

/// What is done with signatures, batch by batch.
pub(crate) trait SignatureSink {
    /// Whether documents without shingles, and repeats of a document, are left out.
    fn takes_distinct_only(&self) -> bool;

    /// Takes the signatures of the documents with these ascending rows.
    fn take(&mut self, signatures: &Signatures, rows: &[u32]) -> Result<()>;
}

/// Keeps band keys, and signatures if verification needs them.
#[derive(Debug)]
pub(crate) struct Banded {
    pub(crate) keys: BandKeys,
    pub(crate) signatures: Option<Signatures>,
}

impl Banded {
    pub(crate) fn new(banding: Banding, signatures: Option<(usize, Width)>) -> Self {
        Banded {
            keys: BandKeys::new(banding),
            signatures: signatures.map(|(num_perm, width)| Signatures::new(num_perm, width)),
        }
    }
}

impl SignatureSink for Banded {
    fn takes_distinct_only(&self) -> bool {
        true
    }

    fn take(&mut self, signatures: &Signatures, rows: &[u32]) -> Result<()> {
        self.keys.push(signatures, rows);
        if let Some(all) = &mut self.signatures {
            all.append(signatures);
        }
        Ok(())
    }
}

/// What is kept of the documents: where each one lies, its id, which ones are identical.
///
/// A document is known by its row, its number among all documents. The distinct documents that have
/// shingles are known by their position among those, too: signatures and band keys exist for them
/// alone.
#[derive(Debug, Default)]
pub struct Corpus {
    /// For each file its first row, its records and by what it is known again.
    files: Vec<SourceFile>,
    rows: u32,
    /// Bad records, in order.
    pub(crate) skipped: Vec<Skipped>,
    ids: Option<Ids>,
    /// Files without a record.
    pub(crate) empty_files: Vec<usize>,
    /// Documents whose id another one has.
    pub(crate) repeated_ids: u64,
    /// The row of each position, ascending.
    distinct: Vec<u32>,
    /// The row of each further document with the units of another, ascending, and the other's position.
    repeats: Vec<(u32, u32)>,
    /// Rows without a shingle, ascending.
    pub(crate) without_shingles: Vec<u32>,
    /// Bytes of the text of each row.
    lengths: Vec<u32>,
    /// Decompressed bytes of all files.
    pub(crate) bytes: u64,
}

#[derive(Clone, Debug)]
struct SourceFile {
    /// As it is named in reports.
    relative: String,
    first_row: u32,
    records: u64,
    fingerprint: Option<Fingerprint>,
}

/// A bad record, with the number of its file.
#[derive(Clone, Debug)]
pub(crate) struct Skipped {
    pub(crate) file: usize,
    pub(crate) record: BadRecord,
}

/// Ids as JSON, back to back.
#[derive(Debug, Default)]
struct Ids {
    json: String,
    ends: Vec<u64>,
}

impl Ids {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "they are lengths of a string in memory"
    )]
    fn get(&self, row: usize) -> &str {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.json[start as usize..self.ends[row] as usize]
    }
}

/// Seconds that threads spent on each part of the first pass.
#[derive(Debug, Default)]
struct Spent {
    parse_ns: AtomicU64,
    shingle_ns: AtomicU64,
    sign_ns: AtomicU64,
    band_ns: AtomicU64,
}

fn timed<T>(spent_ns: &AtomicU64, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    spent_ns.fetch_add(elapsed, Ordering::Relaxed);
    result
}

/// A chunk of which only sets are left.
struct ShingledChunk {
    file: usize,
    bytes: usize,
    parsed: Vec<Record>,
    lengths: Vec<u32>,
    shingles: ShingleBatch,
    digests: Vec<u128>,
}

impl Corpus {
    /// Reads all documents and gives their signatures to `sink`.
    pub(crate) fn read(
        source: &Source<'_>,
        sink: &mut dyn SignatureSink,
        times: &mut Vec<StageTime>,
    ) -> Result<Self> {
        let start = Instant::now();
        let spent = Spent::default();
        let stored = source.inputs.stored_bytes();
        source.progress.begin("read", stored);
        let files = source.inputs.files.iter().map(|file| SourceFile {
            relative: file.relative.clone(),
            first_row: 0,
            records: 0,
            fingerprint: None,
        });
        let mut pass = FirstPass {
            source,
            sink,
            spent: &spent,
            corpus: Corpus {
                files: files.collect(),
                ids: Some(Ids::default()),
                ..Corpus::default()
            },
            positions_by_digest: HashMap::new(),
            ended: Vec::new(),
        };
        let (inputs, fields) = (source.inputs, source.fields);
        read_all(
            inputs,
            fields,
            Columns::Needed,
            source.batch_bytes,
            |events, consumed| {
                let mut batch = Vec::new();
                let mut batch_bytes = 0;
                for event in events {
                    match event? {
                        Event::Table { .. } => {}
                        Event::Chunk(chunk) => {
                            batch_bytes += chunk.bytes();
                            batch.push(chunk);
                            if batch_bytes >= source.batch_bytes {
                                pass.take(std::mem::take(&mut batch))?;
                                batch_bytes = 0;
                            }
                        }
                        Event::End { file, fingerprint } => pass.ended.push((file, fingerprint)),
                    }
                    let (rows, bytes) = (u64::from(pass.corpus.rows), pass.corpus.bytes);
                    source
                        .progress
                        .advance(consumed.load(Ordering::Relaxed), rows, bytes);
                }
                pass.take(batch)
            },
        )?;
        let mut corpus = pass.corpus;
        corpus.settle_ids(source)?;
        times.push(StageTime {
            stage: "read",
            elapsed_s: start.elapsed().as_secs_f64(),
            bytes: corpus.bytes,
            is_part: false,
        });
        for (stage, spent_ns) in [
            ("parse", &spent.parse_ns),
            ("shingle", &spent.shingle_ns),
            ("sign", &spent.sign_ns),
            ("band", &spent.band_ns),
        ] {
            times.push(StageTime {
                stage,
                elapsed_s: spent_ns.load(Ordering::Relaxed) as f64 / 1e9,
                bytes: corpus.bytes,
                is_part: true,
            });
        }
        Ok(corpus)
    }

    /// Number of documents.
    pub fn documents(&self) -> u64 {
        u64::from(self.rows)
    }

    /// Number of records, bad ones included.
    pub(crate) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.records).sum()
    }

    /// Number of distinct documents that have shingles.
    pub(crate) fn positions(&self) -> usize {
        self.distinct.len()
    }

    /// The row of each position, ascending.
    pub(crate) fn distinct(&self) -> &[u32] {
        &self.distinct
    }

    /// Rows of further documents with the units of the one at a position, ascending by row.
    pub(crate) fn repeats(&self) -> &[(u32, u32)] {
        &self.repeats
    }

    /// Bytes of the text of a document.
    pub(crate) fn length(&self, row: u32) -> u32 {
        self.lengths[row as usize]
    }

    /// The name of a document's file, relative to the inputs' common parent, and the number of its
    /// record there, from 0.
    pub(crate) fn place(&self, row: u32) -> (&str, u64) {
        let file = self.files.partition_point(|file| file.first_row <= row) - 1;
        // Files without documents share their first row with the next; the last one has it.
        let nth = u64::from(row - self.files[file].first_row);
        let skipped = self.skipped_in(file);
        // The i-th bad record has record.row - i good ones before it.
        let good_before = |(i, skipped): (u64, &Skipped)| skipped.record.row - i;
        let before = (0..)
            .zip(skipped)
            .take_while(|pair| good_before(*pair) <= nth)
            .count();
        (&self.files[file].relative, nth + before as u64)
    }

    fn skipped_in(&self, file: usize) -> &[Skipped] {
        let start = self.skipped.partition_point(|skipped| skipped.file < file);
        let end = self.skipped.partition_point(|skipped| skipped.file <= file);
        &self.skipped[start..end]
    }

    /// A document's id as JSON: its own, or `file:row` if some document has none.
    pub(crate) fn id(&self, row: u32) -> std::borrow::Cow<'_, str> {
        match &self.ids {
            Some(ids) => ids.get(row as usize).into(),
            None => {
                let (file, record) = self.place(row);
                json_string(&format!("{file}:{record}")).into()
            }
        }
    }

    /// The files in order: name, first row.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, u32)> {
        let files = self.files.iter();
        files.map(|file| (file.relative.as_str(), file.first_row))
    }

    /// Counts repeated ids, or refuses them.
    fn settle_ids(&mut self, source: &Source<'_>) -> Result<()> {
        let Some(ids) = &self.ids else {
            return Ok(());
        };
        let mut hashed: Vec<(u64, u32)> = (0..self.rows)
            .into_par_iter()
            .map(|row| {
                (
                    xxhash_rust::xxh3::xxh3_64(ids.get(row as usize).as_bytes()),
                    row,
                )
            })
            .collect();
        hashed.par_sort_unstable();
        let mut repeated = 0;
        let mut first_repeat: Option<(u32, u32)> = None;
        for run in hashed
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|run| run.len() > 1)
        {
            let mut rows: Vec<u32> = run.iter().map(|(_, row)| *row).collect();
            rows.sort_by_key(|row| (ids.get(*row as usize), *row));
            for same in rows.chunk_by(|a, b| ids.get(*a as usize) == ids.get(*b as usize)) {
                repeated += same.len() as u64 - 1;
                if same.len() > 1 && first_repeat.is_none_or(|(_, second)| same[1] < second) {
                    first_repeat = Some((same[0], same[1]));
                }
            }
        }
        self.repeated_ids = repeated;
        match first_repeat {
            Some((first, second)) if source.unique_ids => {
                let place = |row| {
                    let (file, record) = self.place(row);
                    format!("{file}, row {record}")
                };
                Err(Error::RepeatedId {
                    id: ids.get(first as usize).to_owned(),
                    first: place(first),
                    second: place(second),
                })
            }
            _ => Ok(()),
        }
    }

    /// Reads the files again and has `each` take every chunk, with the row of each of its records;
    /// bad records have none.
    ///
    /// # Errors
    /// [`Error::InputChanged`] when a file is not what it was.
    pub(crate) fn read_again(
        &self,
        source: &Source<'_>,
        columns: Columns,
        mut each: impl FnMut(Again) -> Result<()>,
    ) -> Result<()> {
        let mut rows = Rows::of(self, 0);
        let mut documents = 0;
        let mut bytes = 0;
        let (inputs, fields) = (source.inputs, source.fields);
        read_all(
            inputs,
            fields,
            columns,
            source.batch_bytes,
            |events, consumed| {
                for event in events {
                    let changed = |file: usize| Error::InputChanged {
                        path: inputs.files[file].named.clone(),
                    };
                    match event? {
                        Event::Table { schema, metadata } => each(Again::Table(schema, metadata))?,
                        Event::Chunk(chunk) => {
                            let file = chunk.file;
                            let of_records = rows.next(chunk.records());
                            let of_records = of_records.ok_or_else(|| changed(file))?;
                            documents += of_records.iter().flatten().count() as u64;
                            bytes += chunk.bytes() as u64;
                            each(Again::Chunk(chunk, of_records))?;
                        }
                        Event::End { file, fingerprint } => {
                            let known = self.files[file].fingerprint.as_ref();
                            let same =
                                known.is_some_and(|known| fingerprint.is_of_same_file(known));
                            if !same || !rows.is_at_end() {
                                return Err(changed(file));
                            }
                            each(Again::End)?;
                            rows = Rows::of(self, file + 1);
                        }
                    }
                    let consumed = consumed.load(Ordering::Relaxed);
                    source.progress.advance(consumed, documents, bytes);
                }
                Ok(())
            },
        )
    }

    /// Reads the documents at the positions that `wanted` marks again, as sets for exact similarity.
    pub(crate) fn read_exact_sets(
        &self,
        source: &Source<'_>,
        wanted: &[bool],
        sets: &mut ExactSets,
    ) -> Result<()> {
        source
            .progress
            .begin("read again", source.inputs.stored_bytes());
        let position_of = |row: u32| {
            let position = self.distinct.binary_search(&row).ok()?;
            wanted[position].then_some(position)
        };
        let mut batch = Vec::new();
        let mut batch_bytes = 0;
        let mut store = |batch: &mut Vec<(Chunk, Vec<Option<usize>>)>| {
            let parsed: Vec<_> = batch
                .par_drain(..)
                .map(|(chunk, positions)| exact_sets_of(source, &chunk, &positions))
                .collect();
            for of_chunk in parsed {
                for (position, set) in of_chunk? {
                    sets.insert(position, &set)?;
                }
            }
            Ok(())
        };
        self.read_again(source, Columns::Needed, |again| {
            if let Again::Chunk(chunk, rows) = again {
                let positions: Vec<_> = rows.iter().map(|row| row.and_then(position_of)).collect();
                if positions.iter().any(Option::is_some) {
                    batch_bytes += chunk.bytes();
                    batch.push((chunk, positions));
                }
                if batch_bytes >= source.batch_bytes {
                    batch_bytes = 0;
                    store(&mut batch)?;
                }
            }
            Ok(())
        })?;
        store(&mut batch)
    }
}

/// The sets of the records of a chunk that have a position, with it.
fn exact_sets_of(
    source: &Source<'_>,
    chunk: &Chunk,
    positions: &[Option<usize>],
) -> Result<Vec<(usize, Vec<u64>)>> {
    let at = |record: u64| {
        positions
            .get(usize::try_from(record).ok()?)
            .copied()
            .flatten()
    };
    let parsed = chunk.parse(source.fields, |record| at(record).is_some());
    let wanted = positions.iter().flatten();
    if parsed.documents.len() != wanted.clone().count() {
        // What could be read the first time can be read again, unless it changed.
        return Err(Error::InputChanged {
            path: source.inputs.files[chunk.file].named.clone(),
        });
    }
    let mut scratch = Scratch::default();
    let sets = wanted.enumerate().map(|(i, position)| {
        let mut set = Vec::new();
        let shingler = source.shingler;
        shingler.exact_set(&parsed.documents, i, &mut scratch, &mut set);
        (*position, set)
    });
    Ok(sets.collect())
}

/// What reading again meets, file by file.
pub(crate) enum Again {
    /// A table begins, with this schema.
    Table(SchemaRef, Arc<ParquetMetaData>),
    /// A chunk, with the row of each of its records; bad records have none.
    Chunk(Chunk, Vec<Option<u32>>),
    /// A file is done.
    End,
}

/// The rows of the records of one file, in order.
struct Rows<'a> {
    next_row: u32,
    next_record: u64,
    records: u64,
    skipped: &'a [Skipped],
}

impl<'a> Rows<'a> {
    fn of(corpus: &'a Corpus, file: usize) -> Self {
        match corpus.files.get(file) {
            Some(source) => Rows {
                next_row: source.first_row,
                next_record: 0,
                records: source.records,
                skipped: corpus.skipped_in(file),
            },
            None => Rows {
                next_row: 0,
                next_record: 0,
                records: 0,
                skipped: &[],
            },
        }
    }

    fn is_at_end(&self) -> bool {
        self.next_record == self.records
    }

    /// The rows of the next so many records, if there are as many.
    fn next(&mut self, records: u64) -> Option<Vec<Option<u32>>> {
        let end = self.next_record + records;
        if end > self.records {
            return None;
        }
        let rows = (self.next_record..end).map(|record| match self.skipped {
            [first, rest @ ..] if first.record.row == record => {
                self.skipped = rest;
                None
            }
            _ => {
                self.next_row += 1;
                Some(self.next_row - 1)
            }
        });
        let rows = rows.collect();
        self.next_record = end;
        Some(rows)
    }
}

struct FirstPass<'a> {
    source: &'a Source<'a>,
    sink: &'a mut dyn SignatureSink,
    spent: &'a Spent,
    corpus: Corpus,
    positions_by_digest: HashMap<u128, u32>,
    /// Files whose last chunk has come, and is in the batch at the latest.
    ended: Vec<(usize, Fingerprint)>,
}

impl FirstPass<'_> {
    /// Works on a batch: parsing and shingling chunk by chunk in parallel, then in order what must
    /// be in order, then signing and banding in parallel.
    fn take(&mut self, batch: Vec<Chunk>) -> Result<()> {
        let (source, spent) = (self.source, self.spent);
        let shingled: Vec<ShingledChunk> = batch
            .into_par_iter()
            .map(|chunk| shingle(source, spent, chunk))
            .collect();
        let mut distinct = ShingleBatch::new(source.shingler.width());
        let mut rows = Vec::new();
        for chunk in shingled {
            self.number(chunk, &mut distinct, &mut rows)?;
        }
        let mut signatures = Signatures::new(source.signer.num_perm(), source.signer.slot_width());
        timed(&spent.sign_ns, || {
            signatures.sign(source.signer, &distinct.sets())
        })?;
        timed(&spent.band_ns, || self.sink.take(&signatures, &rows))?;
        for (file, fingerprint) in std::mem::take(&mut self.ended) {
            self.end_file(file, fingerprint)?;
        }
        Ok(())
    }

    /// Gives the documents of a chunk their rows and collects the sets to be signed.
    fn number(
        &mut self,
        chunk: ShingledChunk,
        to_sign: &mut ShingleBatch,
        rows: &mut Vec<u32>,
    ) -> Result<()> {
        let distinct_only = self.sink.takes_distinct_only();
        let corpus = &mut self.corpus;
        corpus.bytes += chunk.bytes as u64;
        let mut document = 0;
        for record in chunk.parsed {
            let file = &mut corpus.files[chunk.file];
            if file.records == 0 {
                file.first_row = corpus.rows;
            }
            let record_row = file.records;
            file.records += 1;
            let id = match record {
                Record::Document(id) => id,
                Record::Bad { line, problem } => {
                    let record = BadRecord {
                        file: self.source.inputs.files[chunk.file].named.clone(),
                        row: record_row,
                        line,
                        problem,
                    };
                    if self.source.on_bad_record == OnBadRecord::Fail {
                        return Err(Error::BadRecord(record));
                    }
                    let file = chunk.file;
                    corpus.skipped.push(Skipped { file, record });
                    continue;
                }
            };
            let row = corpus.rows;
            if row >= u32::MAX - 1 {
                return Err(Error::TooManyDocuments);
            }
            corpus.rows += 1;
            match (&mut corpus.ids, id) {
                (Some(ids), Some(id)) => {
                    ids.json.push_str(&id);
                    ids.ends.push(ids.json.len() as u64);
                }
                (ids, _) => *ids = None,
            }
            corpus.lengths.push(chunk.lengths[document]);
            let has_shingles = !chunk.shingles.sets().range(document).is_empty();
            let is_new = if !has_shingles {
                corpus.without_shingles.push(row);
                false
            } else if distinct_only {
                let position = u32::try_from(corpus.distinct.len()).unwrap_or(u32::MAX);
                match self.positions_by_digest.entry(chunk.digests[document]) {
                    Entry::Vacant(entry) => {
                        entry.insert(position);
                        corpus.distinct.push(row);
                        true
                    }
                    Entry::Occupied(entry) => {
                        corpus.repeats.push((row, *entry.get()));
                        false
                    }
                }
            } else {
                true
            };
            if is_new || !distinct_only {
                to_sign.push_set_of(&chunk.shingles, document);
                rows.push(row);
            }
            document += 1;
        }
        Ok(())
    }

    /// Notes the end of a file, which must have held something.
    fn end_file(&mut self, file: usize, fingerprint: Fingerprint) -> Result<()> {
        let corpus = &mut self.corpus;
        corpus.files[file].fingerprint = Some(fingerprint);
        if corpus.files[file].records > 0 {
            return Ok(());
        }
        corpus.files[file].first_row = corpus.rows;
        if self.source.on_bad_record == OnBadRecord::Fail {
            return Err(Error::Input {
                path: self.source.inputs.files[file].named.clone(),
                problem: "the file is empty: it holds no record".to_owned(),
                remedy: "leave it out, or pass --on-bad-record skip to go on without it".to_owned(),
            });
        }
        corpus.empty_files.push(file);
        Ok(())
    }
}

/// Parses and shingles a chunk, and drops its bytes.
fn shingle(source: &Source<'_>, spent: &Spent, chunk: Chunk) -> ShingledChunk {
    let ParsedChunk { documents, records } =
        timed(&spent.parse_ns, || chunk.parse(source.fields, |_| true));
    let (file, bytes) = (chunk.file, chunk.bytes());
    drop(chunk);
    let (shingles, digests) = timed(&spent.shingle_ns, || {
        source.shingler.shingle_with_digests(&documents)
    });
    let length = |i| u32::try_from(documents.bytes(i)).unwrap_or(u32::MAX);
    ShingledChunk {
        file,
        bytes,
        parsed: records,
        lengths: (0..documents.len()).map(length).collect(),
        shingles,
        digests,
    }
}
