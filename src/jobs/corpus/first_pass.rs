//! The first pass: all documents are read, shingled, signed and banded, batch by batch, and what the
//! later stages need of them is kept.

use std::cell::Cell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rayon::prelude::*;

use super::{Corpus, Ids, Skipped, Source, SourceFile};
use crate::documents::DocumentBatch;
use crate::error::{BadRecord, Error, Result};
use crate::io::{Chunk, Columns, Event, Fingerprint, OnBadRecord, Record, read_all};
use crate::pipeline::Signatures;
use crate::pipeline::{BandKeys, Banding};
use crate::pipeline::{Scratch, ShingleBatch};
use crate::progress::StageTime;
use crate::scheme::Width;

/// What is done with signatures, batch by batch.
pub(crate) trait SignatureSink: Sync {
    /// Whether documents without shingles, and repeats of a document, are left out.
    fn takes_distinct_only(&self) -> bool;

    /// Takes the signatures of the documents with these ascending rows.
    fn take(&mut self, signatures: &Signatures, rows: &[u32]) -> Result<()>;

    /// Where band keys go, if they are all that is taken: then nobody makes signatures that are not
    /// looked at again.
    fn keys_alone(&mut self) -> Option<&mut BandKeys> {
        None
    }
}

/// What is left of documents that were signed.
enum Signed {
    Signatures(Signatures),
    /// Band keys, `[documents, bands]`.
    Keys {
        bands: usize,
        keys: Vec<u64>,
    },
}

impl Signed {
    fn len(&self) -> usize {
        match self {
            Signed::Signatures(signatures) => signatures.len(),
            Signed::Keys { bands, keys } => keys.len() / bands,
        }
    }

    /// Keeps the documents of which `is_kept` holds.
    fn retain(&mut self, is_kept: &[bool]) {
        match self {
            Signed::Signatures(signatures) => signatures.retain(is_kept),
            Signed::Keys { bands, keys } => {
                let mut of_document = is_kept
                    .iter()
                    .flat_map(|kept| iter::repeat_n(*kept, *bands));
                keys.retain(|_| of_document.next().unwrap_or(false));
            }
        }
    }
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
            all.append(signatures)?;
        }
        Ok(())
    }

    fn keys_alone(&mut self) -> Option<&mut BandKeys> {
        self.signatures.is_none().then_some(&mut self.keys)
    }
}

impl Corpus {
    /// Reads all documents and gives their signatures to `sink`. Files of up to `held_bytes` in all stay
    /// in memory to be read again.
    pub(crate) fn read(
        source: &Source<'_>,
        sink: &mut dyn SignatureSink,
        held_bytes: u64,
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
            banding: sink.keys_alone().map(|keys| keys.banding()),
            sink,
            spent: &spent,
            corpus: Corpus {
                files: files.collect(),
                ids: Some(Ids::default()),
                held: (held_bytes > 0).then(Vec::new),
                ..Corpus::default()
            },
            held_bytes,
            buffers: Mutex::default(),
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
                for event in &events {
                    match event? {
                        Event::Table { .. } => {}
                        Event::Chunk(chunk) => {
                            batch_bytes += chunk.bytes();
                            batch.push(Arc::new(chunk));
                            // A batch is what has come: as long as no more is there, nobody waits for it.
                            if batch_bytes >= source.batch_bytes || events.is_empty() {
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
        // A file without a record begins where the next one does.
        let mut next = corpus.rows;
        for file in corpus.files.iter_mut().rev() {
            if file.records == 0 {
                file.first_row = next;
            }
            next = file.first_row;
        }
        corpus.settle_ids(source)?;
        times.push(StageTime {
            stage: "read",
            elapsed_s: start.elapsed().as_secs_f64(),
            bytes: corpus.bytes,
            is_part: false,
        });
        times.extend(spent.parts().map(|(stage, elapsed_s)| StageTime {
            stage,
            elapsed_s,
            bytes: corpus.bytes,
            is_part: true,
        }));
        Ok(corpus)
    }
}

struct FirstPass<'a> {
    source: &'a Source<'a>,
    sink: &'a mut dyn SignatureSink,
    /// That of the keys, if they are all that is made.
    banding: Option<Banding>,
    spent: &'a Spent,
    corpus: Corpus,
    held_bytes: u64,
    /// As many as chunks were worked on at a time; new memory would cost more than what is done with it.
    buffers: Mutex<Vec<Buffers>>,
    positions_by_digest: HashMap<u128, u32>,
    /// Files whose last chunk has come, and is in the batch at the latest.
    ended: Vec<(usize, Fingerprint)>,
}

impl FirstPass<'_> {
    /// Works on a batch: parsing, shingling and signing chunk by chunk in parallel, then in order what
    /// must be in order.
    fn take(&mut self, batch: Vec<Arc<Chunk>>) -> Result<()> {
        let spent = self.spent;
        self.hold(&batch);
        let signed: Vec<SignedChunk> = timed(&spent.chunks_ns, || {
            let chunks = batch.into_par_iter();
            chunks
                .map(|chunk| {
                    let buffers = self.buffers.lock().ok().and_then(|mut all| all.pop());
                    let mut buffers = buffers.unwrap_or_else(|| Buffers {
                        documents: self.source.fields.empty_batch(),
                        scratch: Scratch::default(),
                        shingles: ShingleBatch::new(self.source.shingler.width()),
                    });
                    let is_giant = chunk.bytes() > GIANT;
                    let signed = self.sign(chunk, &mut buffers);
                    if !is_giant && let Ok(mut all) = self.buffers.lock() {
                        all.push(buffers);
                    }
                    signed
                })
                .collect::<Result<_>>()
        })?;
        // At once, for what takes a GPU's place may take long.
        for notice in self.source.signer.notices() {
            self.source.progress.warn(&notice);
        }
        for chunk in signed {
            self.number(chunk)?;
        }
        for (file, fingerprint) in std::mem::take(&mut self.ended) {
            self.end_file(file, fingerprint)?;
        }
        Ok(())
    }

    /// Keeps a batch for the second pass, or none of them if there are too many bytes.
    fn hold(&mut self, batch: &[Arc<Chunk>]) {
        let new: u64 = batch.iter().map(|chunk| chunk.bytes() as u64).sum();
        let fits = self.corpus.bytes + new <= self.held_bytes;
        match &mut self.corpus.held {
            Some(held) if fits && batch.iter().all(|chunk| chunk.is_whole()) => {
                held.extend(batch.iter().cloned());
            }
            held => *held = None,
        }
    }

    /// Parses, shingles and signs the documents of a chunk, and drops its bytes unless they are held.
    fn sign(&self, chunk: Arc<Chunk>, buffers: &mut Buffers) -> Result<SignedChunk> {
        let (source, spent) = (self.source, self.spent);
        let Buffers {
            documents,
            scratch,
            shingles,
        } = buffers;
        let records = timed_apart(&spent.parse_ns, || {
            chunk.parse(source.fields, |_| true, documents)
        });
        let (file, bytes) = (chunk.file, chunk.bytes());
        drop(chunk);
        let shingler = source.shingler;
        let digests = timed_apart(&spent.shingle_ns, || {
            shingles.clear();
            shingler.shingle_with_digests(documents, scratch, shingles)
        });
        timed_apart(&spent.sign_ns, || {
            let mut seen = HashSet::new();
            let mut shingled = Vec::with_capacity(digests.len());
            for (i, digest) in digests.into_iter().enumerate() {
                let has_shingles = !shingles.sets().range(i).is_empty();
                // A repeat of what comes before it in the batch shows when it is numbered.
                let is_signed = !self.sink.takes_distinct_only()
                    || has_shingles
                        && !self.positions_by_digest.contains_key(&digest)
                        && seen.insert(digest);
                shingled.push(Shingled {
                    length: u32::try_from(documents.bytes(i)).unwrap_or(u32::MAX),
                    digest: has_shingles.then_some(digest),
                    is_signed,
                });
            }
            let is_signed: Vec<bool> = shingled.iter().map(|document| document.is_signed).collect();
            shingles.retain(&is_signed);
            let signer = source.signer;
            let sets = shingles.sets();
            let signed = match self.banding {
                Some(banding) => {
                    let bands = banding.bands();
                    let mut keys = vec![0; sets.len() * bands];
                    signer.band_keys(&sets, banding, &mut keys)?;
                    Signed::Keys { bands, keys }
                }
                None => {
                    let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
                    signatures.sign(signer, &sets)?;
                    Signed::Signatures(signatures)
                }
            };
            Ok(SignedChunk {
                file,
                bytes,
                records,
                shingled,
                signed,
            })
        })
    }

    /// Gives the documents of a chunk their rows, and the sink their signatures.
    fn number(&mut self, chunk: SignedChunk) -> Result<()> {
        let mut signed = chunk.signed;
        let mut is_taken = Vec::with_capacity(signed.len());
        let mut rows = Vec::with_capacity(signed.len());
        timed(&self.spent.number_ns, || {
            self.corpus.bytes += chunk.bytes as u64;
            let mut shingled = chunk.shingled.into_iter();
            for record in chunk.records {
                let row = self.number_record(chunk.file, record)?;
                let (Some(row), Some(document)) = (row, row.and_then(|_| shingled.next())) else {
                    continue;
                };
                let is_new = self.number_document(row, &document);
                if document.is_signed {
                    is_taken.push(is_new);
                    rows.extend(is_new.then_some(row));
                }
            }
            signed.retain(&is_taken);
            Ok(())
        })?;
        timed(&self.spent.band_ns, || match signed {
            Signed::Signatures(signatures) => self.sink.take(&signatures, &rows),
            Signed::Keys { keys, .. } => {
                if let Some(all) = self.sink.keys_alone() {
                    all.push_keys(&keys, &rows);
                }
                Ok(())
            }
        })
    }

    /// Gives a record its row, unless it is bad.
    fn number_record(&mut self, file: usize, record: Record) -> Result<Option<u32>> {
        let corpus = &mut self.corpus;
        let of_file = &mut corpus.files[file];
        if of_file.records == 0 {
            of_file.first_row = corpus.rows;
        }
        let record_row = of_file.records;
        of_file.records += 1;
        let id = match record {
            Record::Document(id) => id,
            Record::Bad { line, problem } => {
                let record = BadRecord {
                    file: self.source.inputs.files[file].named.clone(),
                    row: record_row,
                    line,
                    problem,
                };
                if self.source.on_bad_record == OnBadRecord::Fail {
                    return Err(Error::BadRecord(record));
                }
                corpus.skipped.push(Skipped { file, record });
                return Ok(None);
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
        Ok(Some(row))
    }

    /// Notes what is kept of a document, and says whether the sink takes its signature.
    fn number_document(&mut self, row: u32, document: &Shingled) -> bool {
        let distinct_only = self.sink.takes_distinct_only();
        let corpus = &mut self.corpus;
        corpus.lengths.push(document.length);
        let Some(digest) = document.digest else {
            corpus.without_shingles.push(row);
            return !distinct_only;
        };
        if !distinct_only {
            return true;
        }
        let position = u32::try_from(corpus.distinct.len()).unwrap_or(u32::MAX);
        match self.positions_by_digest.entry(digest) {
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
    }

    /// Notes the end of a file, which must have held something.
    fn end_file(&mut self, file: usize, fingerprint: Fingerprint) -> Result<()> {
        let corpus = &mut self.corpus;
        corpus.files[file].fingerprint = Some(fingerprint);
        if corpus.files[file].records > 0 {
            return Ok(());
        }
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

/// Bytes of a chunk, which then is one record, whose memory is given back.
const GIANT: usize = 4 << 20;

/// Memory that is used again from chunk to chunk.
struct Buffers {
    documents: DocumentBatch,
    scratch: Scratch,
    shingles: ShingleBatch,
}

/// A chunk of which only signatures are left.
struct SignedChunk {
    file: usize,
    bytes: usize,
    records: Vec<Record>,
    /// The documents of the good records.
    shingled: Vec<Shingled>,
    /// Of those that are signed.
    signed: Signed,
}

/// A document that has been cut into shingles.
struct Shingled {
    /// Bytes of its text.
    length: u32,
    /// The digest of its units; none without shingles.
    digest: Option<u128>,
    /// Whether it has a signature, which a document without shingles, or one that is known, has only
    /// where all documents have.
    is_signed: bool,
}

/// Where the time of the first pass goes, besides waiting for the reading thread.
#[derive(Debug, Default)]
struct Spent {
    /// Summed over the threads that work on chunks.
    parse_ns: AtomicU64,
    shingle_ns: AtomicU64,
    sign_ns: AtomicU64,
    /// By the clock on the wall: all chunks of a batch, and what follows.
    chunks_ns: AtomicU64,
    number_ns: AtomicU64,
    band_ns: AtomicU64,
}

impl Spent {
    /// Seconds by the clock on the wall; those of the chunks are shared out as the threads' are.
    fn parts(&self) -> [(&'static str, f64); 5] {
        let seconds = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e9;
        let of_chunks = [&self.parse_ns, &self.shingle_ns, &self.sign_ns].map(seconds);
        let all: f64 = of_chunks.iter().sum();
        let share = seconds(&self.chunks_ns) / all.max(f64::MIN_POSITIVE);
        let [parse_s, shingle_s, sign_s] = of_chunks.map(|seconds| seconds * share);
        [
            ("parse", parse_s),
            ("shingle", shingle_s),
            ("sign", sign_s),
            ("number", seconds(&self.number_ns)),
            ("band", seconds(&self.band_ns)),
        ]
    }
}

fn timed<T>(spent_ns: &AtomicU64, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = run();
    let elapsed = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    spent_ns.fetch_add(elapsed, Ordering::Relaxed);
    result
}

/// The same without what was timed apart in between: while a thread waits for others to sign a part of its
/// chunk, it may work on another chunk.
fn timed_apart<T>(spent_ns: &AtomicU64, run: impl FnOnce() -> T) -> T {
    thread_local! {
        static WITHIN_NS: Cell<u64> = const { Cell::new(0) };
    }
    let before_ns = WITHIN_NS.take();
    let start = Instant::now();
    let result = run();
    let elapsed_ns = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let within_ns = WITHIN_NS.replace(before_ns.saturating_add(elapsed_ns));
    spent_ns.fetch_add(elapsed_ns.saturating_sub(within_ns), Ordering::Relaxed);
    result
}
