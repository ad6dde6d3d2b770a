//! The first pass: all documents are read, shingled, signed and banded, batch by batch, and what the
//! later stages need of them is kept. The texts are not.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::{Corpus, Ids, Skipped, Source, SourceFile};
use crate::error::{BadRecord, Error, Result};
use crate::io::{Chunk, Columns, Event, Fingerprint, OnBadRecord, ParsedChunk, Record, read_all};
use crate::pipeline::band::{BandKeys, Banding};
use crate::pipeline::progress::StageTime;
use crate::pipeline::shingle::{Scratch, ShingleBatch};
use crate::pipeline::sign::Signatures;
use crate::scheme::Width;

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
        let shingled: Vec<ShingledChunk> = timed(&spent.chunks_ns, || {
            let chunks = batch.into_par_iter();
            chunks
                .map_init(Scratch::default, |scratch, chunk| {
                    shingle(source, spent, scratch, chunk)
                })
                .collect()
        });
        let mut distinct = ShingleBatch::new(source.shingler.width());
        let mut rows = Vec::new();
        timed(&spent.number_ns, || {
            let mut chunks = shingled.into_iter();
            chunks.try_for_each(|chunk| self.number(chunk, &mut distinct, &mut rows))
        })?;
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
fn shingle(
    source: &Source<'_>,
    spent: &Spent,
    scratch: &mut Scratch,
    chunk: Chunk,
) -> ShingledChunk {
    let ParsedChunk { documents, records } =
        timed(&spent.parse_ns, || chunk.parse(source.fields, |_| true));
    let (file, bytes) = (chunk.file, chunk.bytes());
    drop(chunk);
    let (shingles, digests) = timed(&spent.shingle_ns, || {
        source.shingler.shingle_with_digests(&documents, scratch)
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

/// A chunk of which only sets are left.
struct ShingledChunk {
    file: usize,
    bytes: usize,
    parsed: Vec<Record>,
    lengths: Vec<u32>,
    shingles: ShingleBatch,
    digests: Vec<u128>,
}

/// Where the time of the first pass goes, besides waiting for the reading thread.
#[derive(Debug, Default)]
struct Spent {
    /// Summed over the threads that work on chunks.
    parse_ns: AtomicU64,
    shingle_ns: AtomicU64,
    /// By the clock on the wall: all chunks of a batch, and what follows.
    chunks_ns: AtomicU64,
    number_ns: AtomicU64,
    sign_ns: AtomicU64,
    band_ns: AtomicU64,
}

impl Spent {
    /// Seconds by the clock on the wall; those of the chunks are shared out as the threads' are.
    fn parts(&self) -> [(&'static str, f64); 5] {
        let seconds = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e9;
        let (parse_s, shingle_s) = (seconds(&self.parse_ns), seconds(&self.shingle_ns));
        let share = seconds(&self.chunks_ns) / (parse_s + shingle_s).max(f64::MIN_POSITIVE);
        [
            ("parse", parse_s * share),
            ("shingle", shingle_s * share),
            ("number", seconds(&self.number_ns)),
            ("sign", seconds(&self.sign_ns)),
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
