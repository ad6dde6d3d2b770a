//! The first pass: shingles, signs and bands all documents, piece by piece.
//!
//! **One first pass for all sources.** Threads sign pieces; signed pieces come to be numbered in order, one at a time,
//! where the source notes their records, and go to a sink as signatures or band keys. While one piece is numbered,
//! others are signed; to sign, a thread reads which documents are known. Digests are in shards, to which all threads add
//! those of a piece.
//!
//! **Exact sets are handed on** if the hashes that are signed are those of the exact sets, or their high halves (as
//! for words), and if the sets fit in an eighth of the memory, or in 128 MiB. Otherwise, the documents that share a bucket
//! are read again, which doubled the time of a run over near-duplicates.
//!
//! **Texts go to a device** where it hashes such windows: the CPU then only parses, normalises and takes digests.
//! Otherwise the device gets shingle hashes. A piece waits for its rows while later ones are read and numbered; the
//! sink takes all of them in order, and before every checkpoint.
//!
//! **A thread works on a whole chunk of 1 MiB**, in memory that it reuses. Only signatures or band keys wait to be
//! numbered, those of at most 16 MiB of input and one chunk per thread. Before each piece, a thread asks whether the
//! run is stopped: with thousands of permutations, a piece takes seconds.

use std::cell::Cell;
use std::collections::VecDeque;
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use std::time::Instant;

use super::corpus::Corpus;
use super::digests::ByShard;
use super::disk::DocumentWriter;
use super::disk::save_rarities;
use super::known::KnownDocument;
#[doc(hidden)]
pub use super::numbering::NumbersRead;
use super::numbering::{Needed, Numbered};
use super::shingled::{Shingled, ShingledPiece};
use super::short::ShortDocuments;
use crate::clock::Moment;
use crate::documents::{DigestSet, Document, DocumentBatch, DocumentRange, Documents, TextBatch};
use crate::engine::Engine;
use crate::error::{Error, Result, row_number};
use crate::pipeline::{
    Banding, DeviceBatch, DeviceSigner, KeyRows, NormalisedTexts, Scratch, ShingleBatch,
    Signatures, SignedRows, UnfinishedRows, keys_of_rows,
};
use crate::progress::{Progress, StageTime};
use crate::scheme::Width;
use crate::store::spill::{Budget, Spill};

/// A source of documents in pieces. One thread works on one piece: a chunk of a file, or a range of rows.
#[doc(hidden)]
pub trait Pieces: Sync {
    /// A run of consecutive documents.
    type Piece: Send;
    /// What the source notes about their records, once their rows are known.
    type Notes: Send;

    /// Parses a piece. Its documents lie in `buffer`, or in the source. Threads call this in parallel.
    fn parse<'a>(
        &'a self,
        piece: Self::Piece,
        buffer: &'a mut DocumentBatch,
    ) -> Result<Parsed<'a, Self::Notes>>;

    /// An empty buffer for [`Pieces::parse`].
    fn buffer(&self) -> DocumentBatch {
        DocumentBatch::Texts(TextBatch::default())
    }
}

/// A parsed piece.
#[doc(hidden)]
#[derive(Debug)]
pub struct Parsed<'a, R> {
    /// What the source notes about the records.
    #[doc(hidden)]
    pub records: R,
    /// Bytes of input.
    #[doc(hidden)]
    pub bytes: usize,
    /// The documents.
    #[doc(hidden)]
    pub documents: DocumentRange<'a>,
}

/// Receives signed documents.
#[doc(hidden)]
pub trait Sink: Sync {
    /// What the sink needs of documents that are signed from now on. Later it may need less.
    fn wants(&self) -> Wanted;

    /// Makes the sink ready for the next documents.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives the next documents, in order, with their rows.
    fn take(&mut self, batch: SignedBatch, rows: &[u32]) -> Result<()>;

    /// Whether the sink can write what it holds to disk.
    fn may_spill(&self) -> bool {
        false
    }

    /// Whether it has to, whatever the run may hold.
    fn must_spill(&self) -> bool {
        false
    }

    /// Bytes of memory used.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Drops what can be made again, if it takes much memory. Returns whether it did.
    fn give_way(&mut self) -> bool {
        false
    }

    /// Writes what the sink holds of the documents at `rows`, and of all later ones, to disk. Returns the number of files
    /// that are written at the same time.
    fn spill(&mut self, spill: &Arc<Spill>, rows: &[u32]) -> Result<usize> {
        let _ = (spill, rows);
        Ok(0)
    }

    /// Writes everything taken so far, for a checkpoint.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Receives the exact sets of the documents that it takes next, at `rows`, if it wants them or did when they were
    /// signed. The first has the position `first`, and the others follow.
    fn take_sets(&mut self, first: u32, rows: &[u32], sets: PieceSets) -> Result<()> {
        let _ = (first, rows, sets);
        Ok(())
    }
}

/// What a source notes about the records of its pieces, in order.
#[doc(hidden)]
pub trait Notes<R> {
    /// Notes the records of the next piece; the first document has row `first_row`.
    fn note(&mut self, records: R, first_row: u32) -> Result<()>;

    /// Bytes of memory that the notes and the input held for a second reading take.
    fn held_bytes(&self) -> u64 {
        0
    }

    /// Writes the notes to disk, all later ones, too, and holds no input.
    fn spill(&mut self, spill: &Arc<Spill>) -> Result<()> {
        let _ = spill;
        Ok(())
    }
}

/// Notes nothing.
impl Notes<()> for () {
    fn note(&mut self, _records: (), _first_row: u32) -> Result<()> {
        Ok(())
    }
}

/// What a sink needs.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Wanted {
    /// Whether to leave out documents without shingles and repeated documents.
    #[doc(hidden)]
    pub distinct_only: bool,
    /// What it needs of signatures.
    #[doc(hidden)]
    pub signed: SignedForm,
    /// Whether the sink takes exact sets.
    #[doc(hidden)]
    pub sets: bool,
    /// Whether documents without shingles count as others, as the empty set.
    #[doc(hidden)]
    pub empty_sets: bool,
}

/// What a sink needs of signatures.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum SignedForm {
    /// The signatures.
    Signatures,
    /// Only their band keys.
    Keys(Banding),
    /// Nothing.
    Nothing,
    /// Nothing, nor anything else of shingles: only the digests of documents.
    Digests,
}

impl SignedForm {
    fn banding(self) -> Option<Banding> {
        match self {
            SignedForm::Keys(banding) => Some(banding),
            SignedForm::Signatures | SignedForm::Nothing | SignedForm::Digests => None,
        }
    }
}

/// Exact sets of documents: a range of one list of hashes for each.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct PieceSets {
    pub(crate) hashes: Vec<u64>,
    pub(crate) ranges: Vec<Range<usize>>,
    /// The number of hashes of all documents of the piece, repeated ones included.
    pub(crate) all_hashes: usize,
}

impl PieceSets {
    /// Takes the sets out of a batch of 64-bit hashes.
    fn take(batch: &mut ShingleBatch, all_hashes: usize) -> Self {
        let sets = batch.sets();
        let ranges = (0..sets.len()).map(|i| sets.range(i)).collect();
        let mut hashes = batch.take_hashes();
        // Room that stays with a list may be memory that was in use before: three million short documents took 0.8 GB of it.
        hashes.shrink_to_fit();
        PieceSets {
            hashes,
            ranges,
            all_hashes,
        }
    }
}

/// Consecutive documents, signed or under way to a device.
enum Signed<'a> {
    Ready(SignedBatch),
    Sent(Box<dyn UnfinishedRows + 'a>),
}

/// Numbered documents that the sink has not taken yet.
struct Waiting<'a> {
    signed: Signed<'a>,
    /// Which of the signed documents the sink needs.
    needed: Vec<bool>,
    /// Their rows.
    rows: Vec<u32>,
    /// Their exact sets, and the position of the first.
    sets: Option<(u32, PieceSets)>,
}

impl Waiting<'_> {
    fn is_ready(&self) -> bool {
        match &self.signed {
            Signed::Ready(_) => true,
            Signed::Sent(rows) => rows.is_ready(),
        }
    }
}

/// Consecutive documents, signed.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub enum SignedBatch {
    /// Signatures.
    Signatures(Signatures),
    /// Band keys.
    Keys(KeyRows),
    /// What an index knows: band keys, and the words of packed signatures, `[documents, words]`, if there are any.
    Known {
        /// The keys.
        keys: KeyRows,
        /// The number of words of a signature.
        words: usize,
        /// The words of all.
        signatures: Vec<u64>,
    },
    /// Nothing: the documents were not signed.
    Nothing,
}

impl SignedBatch {
    /// Keeps the documents that are marked.
    fn retain(&mut self, kept: &[bool]) {
        match self {
            SignedBatch::Signatures(signatures) => signatures.retain(kept),
            SignedBatch::Keys(keys) => keys.retain(kept),
            SignedBatch::Known {
                keys,
                words,
                signatures,
            } => {
                keys.retain(kept);
                let document_words = |is_kept: &bool| repeat_n(*is_kept, *words);
                let mut kept = kept.iter().flat_map(document_words);
                signatures.retain(|_| kept.next().unwrap_or(true));
            }
            SignedBatch::Nothing => {}
        }
    }
}

/// A run that has read for this long goes on on disk, so that it makes checkpoints.
const PATIENCE: Duration = Duration::from_secs(300);

/// The running first pass. The threads of a source sign pieces ([`Signing::sign`]); it passes them in order to
/// [`FirstPass::number`], and then calls [`FirstPass::finish`].
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct FirstPass<'a> {
    progress: &'a dyn Progress,
    sink: &'a mut dyn Sink,
    start: Moment,
    /// Bytes of input that were read before the run was stopped.
    bytes_before: u64,
    signing: Arc<Signing<'a>>,
    /// The pieces that are numbered, but not with the sink: a device still signs the first of them.
    waiting: VecDeque<Waiting<'a>>,
    /// The memory that the documents may take; `None` if there is no bound.
    budget: Option<Budget>,
}

/// The part of a first pass that all threads share.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct Signing<'a> {
    engine: &'a Engine,
    progress: &'a dyn Progress,
    spent: Spent,
    /// What signs on a device, if there is one.
    device: Option<DeviceSigner<'a>>,
    /// Whether it takes texts. Otherwise, it takes shingles that are made here.
    sends_texts: bool,
    /// Reused buffers, one per piece in progress: allocating new memory takes longer than the work.
    buffers: Mutex<Vec<Buffers>>,
    /// Reused memory of texts and of sets that were sent to a device.
    texts: Mutex<Vec<NormalisedTexts>>,
    sets: Mutex<Vec<ShingleBatch>>,
    known: RwLock<KnownPieces>,
    /// Bytes of input of all giant pieces in progress.
    giant_bytes: AtomicUsize,
}

/// What is known from the pieces that were numbered.
struct KnownPieces {
    wanted: Wanted,
    numbered: Numbered,
}

impl<'a> FirstPass<'a> {
    #[doc(hidden)]
    pub fn new(engine: &'a Engine, progress: &'a dyn Progress, sink: &'a mut dyn Sink) -> Self {
        let device = engine.device_signer();
        let takes_texts = |device: DeviceSigner<'_>| device.0.takes_texts(engine.shingler());
        FirstPass {
            progress,
            start: Moment::now(),
            bytes_before: 0,
            waiting: VecDeque::new(),
            signing: Arc::new(Signing {
                engine,
                progress,
                spent: Spent::default(),
                device,
                sends_texts: device.is_some_and(takes_texts),
                buffers: Mutex::default(),
                texts: Mutex::default(),
                sets: Mutex::default(),
                known: RwLock::new(KnownPieces {
                    wanted: sink.wants(),
                    numbered: Numbered::default(),
                }),
                giant_bytes: AtomicUsize::new(0),
            }),
            budget: None,
            sink,
        }
    }

    /// Leaves out documents that are too short.
    pub(crate) fn leaving_out(self, short: ShortDocuments) -> Self {
        self.signing.known_mut().numbered = Numbered::leaving_out(short);
        self
    }

    /// Goes on on disk when the documents take more memory than this.
    pub(crate) fn within(self, budget: Option<Budget>) -> Self {
        FirstPass { budget, ..self }
    }

    /// The part that signs pieces.
    #[doc(hidden)]
    pub fn signing(&self) -> Arc<Signing<'a>> {
        Arc::clone(&self.signing)
    }

    /// The progress of the run.
    #[doc(hidden)]
    pub fn progress(&self) -> &'a dyn Progress {
        self.progress
    }

    /// The number of documents so far.
    #[doc(hidden)]
    pub fn rows(&self) -> u64 {
        self.signing.known().numbered.corpus().documents()
    }

    /// Bytes of input so far.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        self.signing.known().numbered.corpus().bytes
    }

    /// Numbers the documents of the next piece in order and passes them to the sink. `notes` receives what the source
    /// notes about the records.
    #[doc(hidden)]
    pub fn number<R>(&mut self, piece: SignedPiece<'a, R>, notes: &mut dyn Notes<R>) -> Result<()> {
        let signing = Arc::clone(&self.signing);
        // Warn at once: after the loss of a GPU, the run may take much longer.
        self.warn_of_notices();
        let start = Instant::now();
        let first_row = signing.known().numbered.corpus().rows;
        notes.note(piece.records, first_row)?;
        let finder = {
            let known = signing.known();
            let finds_repeats = known.wanted.distinct_only;
            finds_repeats.then(|| known.numbered.finder())
        };
        let shingled = &piece.shingled;
        let firsts = finder.map(|finder| finder.firsts(shingled)).transpose()?;
        let (first, Needed { needed, rows }) = {
            let numbered = &mut signing.known_mut().numbered;
            numbered.add_bytes(piece.bytes);
            let first = row_number(numbered.corpus().distinct.len())?;
            (first, numbered.add(shingled, firsts.as_deref())?)
        };
        signing.write_numbered(first_row, shingled)?;
        let sets = piece.sets.map(|mut sets| {
            let mut needed = needed.iter();
            sets.ranges.retain(|_| needed.next() == Some(&true));
            (first, sets)
        });
        self.waiting.push_back(Waiting {
            signed: piece.signed,
            needed,
            rows,
            sets,
        });
        add(&signing.spent.number_ns, start);
        let start = Instant::now();
        while self.waiting.front().is_some_and(Waiting::is_ready) {
            self.pass_on_first()?;
        }
        self.spill_if_large(notes)?;
        add(&signing.spent.band_ns, start);
        let wanted = self.sink.wants();
        signing.known_mut().wanted = wanted;
        Ok(())
    }

    /// Numbers documents of an index, which are signed already.
    #[doc(hidden)]
    pub fn number_known<R>(
        &mut self,
        records: R,
        documents: Vec<KnownDocument>,
        notes: &mut dyn Notes<R>,
    ) -> Result<()> {
        let short = *self.signing.known().numbered.short();
        self.number(SignedPiece::from_known(records, documents, short), notes)
    }

    /// Says that the documents numbered so far are those of a reference.
    #[doc(hidden)]
    pub fn end_reference(&mut self) {
        self.signing.known_mut().numbered.end_reference();
    }

    /// Passes the notices of the signer on.
    fn warn_of_notices(&self) {
        for notice in self.signing.engine.signer().notices() {
            self.progress.warn(&notice);
        }
    }

    /// Passes the first waiting piece to the sink, once it is signed.
    fn pass_on_first(&mut self) -> Result<()> {
        let Some(waiting) = self.waiting.pop_front() else {
            return Ok(());
        };
        let mut signed = match waiting.signed {
            Signed::Ready(signed) => signed,
            Signed::Sent(rows) => {
                let (rows, batch) = rows.finish()?;
                self.signing.give_back(batch);
                self.signing.in_wanted_form(rows)
            }
        };
        signed.retain(&waiting.needed);
        if let Some((first, sets)) = waiting.sets {
            self.sink.take_sets(first, &waiting.rows, sets)?;
        }
        self.sink.take(signed, &waiting.rows)?;
        self.sink.prepare()
    }

    /// Passes everything that was numbered to the sink.
    fn pass_on(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            self.pass_on_first()?;
        }
        Ok(())
    }

    /// The folder of the documents on disk; `None` as long as they are in memory.
    #[doc(hidden)]
    pub fn on_disk(&self) -> Option<Arc<Spill>> {
        self.signing.known().numbered.on_disk().cloned()
    }

    /// The folder in which the run was stopped; `None` if it begins.
    #[doc(hidden)]
    pub fn unfinished(&self) -> Option<Arc<Spill>> {
        self.budget.as_ref()?.unfinished.clone()
    }

    /// Goes on from a checkpoint.
    #[doc(hidden)]
    pub fn restore<R>(
        &mut self,
        spill: &Arc<Spill>,
        read: &NumbersRead,
        notes: &mut dyn Notes<R>,
    ) -> Result<()> {
        let signing = Arc::clone(&self.signing);
        signing.known_mut().numbered.restore(read);
        self.bytes_before = self.bytes();
        self.spill(spill, notes)?;
        signing.known_mut().wanted = self.sink.wants();
        Ok(())
    }

    /// Writes everything numbered so far, for a checkpoint.
    #[doc(hidden)]
    pub fn save(&mut self) -> Result<NumbersRead> {
        self.pass_on()?;
        self.sink.flush()?;
        self.signing.known_mut().numbered.save()
    }

    /// Moves everything that grows with the documents to disk if it takes more memory than it may.
    fn spill_if_large<R>(&mut self, notes: &mut dyn Notes<R>) -> Result<()> {
        let Some(budget) = &self.budget else {
            return Ok(());
        };
        let signing = Arc::clone(&self.signing);
        let known = signing.known();
        let numbered = &known.numbered;
        if numbered.on_disk().is_some() || !self.sink.may_spill() {
            return Ok(());
        }
        let giant_bytes = signing.giant_bytes.load(Ordering::Relaxed);
        let held = numbered.held_bytes() + self.sink.held_bytes() + GIANT_FOLD * giant_bytes;
        let held = held as u64 + notes.held_bytes();
        let is_long = budget.run.is_some() && self.start.elapsed() > PATIENCE;
        if held <= budget.held() as u64 && !is_long && !self.sink.must_spill() {
            return Ok(());
        }
        drop(known);
        if !is_long && self.sink.give_way() {
            return Ok(());
        }
        let spill = Spill::new(budget)?;
        if let Some(rarities) = signing.engine.shingler().rarities() {
            save_rarities(&spill, rarities)?;
        }
        self.pass_on()?;
        self.spill(&spill, notes)
    }

    /// Moves everything that grows with the documents to disk.
    fn spill<R>(&mut self, spill: &Arc<Spill>, notes: &mut dyn Notes<R>) -> Result<()> {
        let signing = Arc::clone(&self.signing);
        // While threads write keys, this one may sign another piece, for which it asks what is known: it holds no lock.
        let distinct = std::mem::take(signing.known_mut().numbered.distinct_mut());
        let files = self.sink.spill(spill, &distinct)?;
        *signing.known_mut().numbered.distinct_mut() = distinct;
        notes.spill(spill)?;
        let held = signing.known_mut().numbered.take_held();
        let mut writer = DocumentWriter::new(spill, files);
        held.write(&mut writer)?;
        signing.known_mut().numbered.write_to(writer);
        Ok(())
    }

    /// Ends the pass, and adds its times to `times`.
    #[doc(hidden)]
    pub fn finish(mut self, times: &mut Vec<StageTime>) -> Result<Corpus> {
        let start = Instant::now();
        self.pass_on()?;
        add(&self.signing.spent.band_ns, start);
        self.warn_of_notices();
        let numbered = std::mem::take(&mut self.signing.known_mut().numbered);
        let corpus = numbered.finish()?;
        let bytes = corpus.bytes - self.bytes_before;
        times.push(StageTime::since(self.start, "read", bytes));
        let parts = self.signing.spent.parts();
        times.extend(parts.map(|(stage, elapsed_s)| StageTime {
            is_part: true,
            ..StageTime::new(stage, elapsed_s, bytes)
        }));
        Ok(corpus)
    }
}

impl<'e> Signing<'e> {
    fn known(&self) -> RwLockReadGuard<'_, KnownPieces> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn known_mut(&self) -> RwLockWriteGuard<'_, KnownPieces> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the documents of a piece, the first of which has this row, if they are on disk.
    fn write_numbered(&self, first_row: u32, piece: &ShingledPiece) -> Result<()> {
        let Some(mut writer) = self.known_mut().numbered.take_writer() else {
            return Ok(());
        };
        let written = writer.add(first_row, &piece.lengths, &piece.digests);
        self.known_mut().numbered.write_to(writer);
        written
    }

    /// Parses, shingles and signs a piece, unless the run is stopped.
    #[doc(hidden)]
    pub fn sign<P: Pieces>(
        &self,
        source: &P,
        piece: P::Piece,
    ) -> Result<SignedPiece<'e, P::Notes>> {
        if self.progress.is_stopped() {
            return Err(Error::Stopped);
        }
        let buffers = self.buffers.lock().ok().and_then(|mut all| all.pop());
        let mut buffers = buffers.unwrap_or_else(|| Buffers {
            documents: source.buffer(),
            scratch: Scratch::default(),
            shingles: ShingleBatch::new(self.engine.shingler().width()),
            exact: ShingleBatch::new(Width::U64),
        });
        let signed = self.sign_with(source, piece, &mut buffers)?;
        if signed.bytes <= GIANT
            && let Ok(mut all) = self.buffers.lock()
        {
            all.push(buffers);
        }
        Ok(signed)
    }

    fn sign_with<P: Pieces>(
        &self,
        source: &P,
        piece: P::Piece,
        buffers: &mut Buffers,
    ) -> Result<SignedPiece<'e, P::Notes>> {
        let spent = &self.spent;
        let Buffers {
            documents: buffer,
            scratch,
            shingles,
            exact,
        } = buffers;
        let Parsed {
            records,
            bytes,
            documents,
        } = timed_without_nested(&spent.parse_ns, || source.parse(piece, buffer))?;
        let _in_progress = Giant::of(&self.giant_bytes, bytes);
        self.engine.shingler().check_forms(&documents)?;
        let wanted = self.known().wanted;
        let (shingled, signed, sets) = match (wanted.signed, self.device_for_texts(&wanted)) {
            (SignedForm::Digests, _) => {
                let nothing = Signed::Ready(SignedBatch::Nothing);
                (self.digested(&documents, scratch), nothing, None)
            }
            (_, Some(device)) => {
                let (shingled, signed) = self.send_texts(device, &wanted, &documents, bytes)?;
                (shingled, signed, None)
            }
            (_, None) => self.sign_sets(&wanted, &documents, bytes, scratch, shingles, exact)?,
        };
        Ok(SignedPiece {
            records,
            bytes,
            shingled,
            signed,
            sets,
        })
    }

    /// The documents of a piece, of whose shingles nothing is known.
    fn digested(&self, documents: &DocumentRange<'_>, scratch: &mut Scratch) -> ShingledPiece {
        let digests = timed_without_nested(&self.spent.shingle_ns, || {
            self.engine.shingler().digests(documents, scratch)
        });
        let short = *self.known().numbered.short();
        let sharded = ByShard::of(digests.iter().map(|digest| digest.unwrap_or(0)));
        let shingled = digests.into_iter().enumerate().map(|(i, digest)| Shingled {
            length: documents.get(i).length(),
            digest,
            shingles: 2,
            is_short: false,
            is_signed: false,
        });
        ShingledPiece::of(shingled, sharded, short)
    }

    /// The device that shingles texts itself, where the sink needs no more than it makes.
    fn device_for_texts(&self, wanted: &Wanted) -> Option<DeviceSigner<'e>> {
        let is_enough = !wanted.sets
            && !matches!(wanted.signed, SignedForm::Nothing | SignedForm::Digests)
            && !self.known().numbered.short().counts_shingles();
        self.device.filter(|_| self.sends_texts && is_enough)
    }

    /// Shingles the documents of a piece of so many bytes, and signs those that are chosen. Returns their exact sets, too,
    /// if the sink wants them.
    fn sign_sets(
        &self,
        wanted: &Wanted,
        documents: &DocumentRange<'_>,
        bytes: usize,
        scratch: &mut Scratch,
        shingles: &mut ShingleBatch,
        exact: &mut ShingleBatch,
    ) -> Result<(ShingledPiece, Signed<'e>, Option<PieceSets>)> {
        let spent = &self.spent;
        let shingler = self.engine.shingler();
        let (made, exact_shingles) = if wanted.sets {
            (exact, Some(shingles))
        } else {
            (shingles, None)
        };
        let digests = timed_without_nested(&spent.shingle_ns, || {
            made.clear();
            if exact_shingles.is_some() {
                // One allocation, most of which stays untouched: the sets are handed on as they are.
                made.reserve(bytes / LEAST_BYTES_PER_SHINGLE);
                shingler.exact_with_digests(documents, scratch, made)
            } else {
                shingler.shingle_with_digests(documents, scratch, made)
            }
        });
        if bytes > GIANT {
            // As large as the text.
            *scratch = Scratch::default();
        }
        timed_without_nested(&spent.sign_ns, || {
            let shingles_of = |i| self.shingles_up_to_two(made, i, exact_shingles.is_some());
            let short = *self.known().numbered.short();
            let halved = exact_shingles.is_some()
                && shingler.hashes_exactly()
                && shingler.width() == Width::U32;
            let is_short = |i| {
                let sets = made.sets();
                short.is_short(sets.hashes().range(sets.range(i)), halved)
            };
            let shingled = self.choose(wanted, documents, digests, shingles_of, is_short);
            let all_hashes = made.sets().hashes().len();
            made.retain(&shingled.signed);
            let Some(shingles) = exact_shingles else {
                return Ok((shingled, self.signed(wanted, made)?, None));
            };
            shingles.clear();
            if !matches!(wanted.signed, SignedForm::Nothing) {
                self.hash_exact(made, documents, &shingled.signed, scratch, shingles);
            }
            let signed = self.signed(wanted, shingles)?;
            Ok((shingled, signed, Some(PieceSets::take(made, all_hashes))))
        })
    }

    /// The number of shingles of set `i`, or 2 if there are more. Copies of a weighted shingle look like several: how many
    /// there are depends on whether exact sets are made.
    #[inline]
    fn shingles_up_to_two(&self, made: &ShingleBatch, i: usize, exact: bool) -> usize {
        let takes_weights = self.engine.shingler().takes_weights();
        // Where weights count, a shingle is its hash and its weight.
        let hashes_per_shingle = if exact && takes_weights { 2 } else { 1 };
        match made.sets().range(i).len() / hashes_per_shingle {
            1.. if takes_weights => 2,
            shingles => shingles.min(2),
        }
    }

    /// Makes the hashes that are signed of the documents whose exact sets are in `exact`.
    fn hash_exact(
        &self,
        exact: &ShingleBatch,
        documents: &DocumentRange<'_>,
        is_signed: &[bool],
        scratch: &mut Scratch,
        shingles: &mut ShingleBatch,
    ) {
        let shingler = self.engine.shingler();
        if shingler.hashes_exactly() {
            shingles.high_halves_of(exact);
            return;
        }
        let signed = (0..).zip(is_signed).filter(|(_, is_signed)| **is_signed);
        for (row, _) in signed {
            shingler.shingle_onto(documents.get(row), scratch, shingles);
        }
    }

    /// Sends the texts of a piece to a device, which shingles and signs them.
    fn send_texts(
        &self,
        device: DeviceSigner<'e>,
        wanted: &Wanted,
        documents: &DocumentRange<'_>,
        bytes: usize,
    ) -> Result<(ShingledPiece, Signed<'e>)> {
        let spent = &self.spent;
        let shingler = self.engine.shingler();
        let texts = self.texts.lock().ok().and_then(|mut all| all.pop());
        let mut texts = texts.unwrap_or_default();
        let digests = timed_without_nested(&spent.shingle_ns, || {
            texts.clear(bytes);
            for row in 0..documents.len() {
                if let Document::Text(text) = documents.get(row) {
                    texts.push(text, shingler);
                }
            }
            texts.digests(shingler)
        });
        timed_without_nested(&spent.sign_ns, || {
            let shingles = |i| shingler.windows_up_to_two(texts.bytes(i));
            let least = self.known().numbered.short().min_shingles as usize;
            let is_short = |i| shingles(i) < least;
            let shingled = self.choose(wanted, documents, digests, shingles, is_short);
            let numbered = shingled.signed.iter().enumerate();
            let chosen = numbered.filter_map(|(i, is_signed)| is_signed.then_some(i));
            let chosen = chosen.collect();
            let batch = DeviceBatch::Texts { texts, chosen };
            let sent = device.0.send(batch, shingler, wanted.signed.banding())?;
            Ok((shingled, Signed::Sent(sent)))
        })
    }

    /// Keeps the memory of a batch for later ones.
    fn give_back(&self, batch: DeviceBatch) {
        match batch {
            DeviceBatch::Texts { texts, .. } if texts.capacity() <= GIANT => {
                if let Ok(mut all) = self.texts.lock() {
                    all.push(texts);
                }
            }
            DeviceBatch::Sets(sets) if sets.sets().hashes().len() <= GIANT / 4 => {
                if let Ok(mut all) = self.sets.lock() {
                    all.push(sets);
                }
            }
            DeviceBatch::Texts { .. } | DeviceBatch::Sets(_) => {}
        }
    }

    /// Makes keys of signatures where the sink wants keys, and the device made signatures.
    fn in_wanted_form(&self, rows: SignedRows) -> SignedBatch {
        match (rows, self.known().wanted.signed) {
            (SignedRows::Keys { banding, keys }, _) => {
                SignedBatch::Keys(KeyRows::new(banding.bands(), keys))
            }
            (SignedRows::Signatures(signatures), SignedForm::Keys(banding)) => {
                let bands = banding.bands();
                let mut keys = vec![0; signatures.len() * bands];
                keys_of_rows(&signatures, banding, &mut keys);
                SignedBatch::Keys(KeyRows::new(bands, keys))
            }
            (SignedRows::Signatures(signatures), _) => SignedBatch::Signatures(signatures),
        }
    }

    /// Decides which documents are signed. [`FirstPass::number`] finds repeats of documents in other pieces that are
    /// not numbered yet.
    fn choose(
        &self,
        wanted: &Wanted,
        documents: &DocumentRange<'_>,
        digests: Vec<u128>,
        shingles: impl Fn(usize) -> usize,
        is_short: impl Fn(usize) -> bool,
    ) -> ShingledPiece {
        let shingler = self.engine.shingler();
        let sharded = ByShard::of(digests.iter().copied());
        let (short, known) = {
            let numbered = &self.known().numbered;
            let known = if wanted.distinct_only {
                numbered.known(&digests, &sharded)
            } else {
                Vec::new()
            };
            (*numbered.short(), known)
        };
        let mut seen = DigestSet::default();
        let chosen = digests.into_iter().enumerate().map(|(i, digest)| {
            let shingles = match shingles(i).min(2) {
                // The empty set counts as another one.
                0 if wanted.empty_sets => 1,
                shingles => shingles,
            };
            let is_short = is_short(i);
            let is_signed = !wanted.distinct_only
                || shingles > 0 && !is_short && !known[i] && seen.insert(digest);
            let is_blank = || shingles == 0 && shingler.is_blank(documents.get(i));
            Shingled {
                length: documents.get(i).length(),
                digest: (!is_blank()).then_some(digest),
                shingles,
                is_short,
                is_signed,
            }
        });
        ShingledPiece::of(chosen, sharded, short)
    }

    /// Signs sets as the sink needs it, or sends them to a device. `made` is memory for later sets then.
    fn signed(&self, wanted: &Wanted, made: &mut ShingleBatch) -> Result<Signed<'e>> {
        if matches!(wanted.signed, SignedForm::Nothing) {
            return Ok(Signed::Ready(SignedBatch::Nothing));
        }
        if let Some(device) = self.device {
            let spare = self.sets.lock().ok().and_then(|mut all| all.pop());
            let spare = spare.unwrap_or_else(|| ShingleBatch::new(made.sets().hashes().width()));
            let batch = DeviceBatch::Sets(std::mem::replace(made, spare));
            let banding = wanted.signed.banding();
            let sent = device.0.send(batch, self.engine.shingler(), banding)?;
            return Ok(Signed::Sent(sent));
        }
        let signer = self.engine.signer();
        let sets = made.sets();
        Ok(Signed::Ready(match wanted.signed.banding() {
            Some(banding) => {
                let bands = banding.bands();
                let mut keys = vec![0; sets.len() * bands];
                signer.band_keys(&sets, banding, &mut keys)?;
                SignedBatch::Keys(KeyRows::new(bands, keys))
            }
            None => {
                let mut signatures = Signatures::new(signer.num_perm(), signer.slot_width());
                signatures.sign(signer, &sets)?;
                SignedBatch::Signatures(signatures)
            }
        }))
    }
}

/// Fewer bytes of input per shingle are rare.
const LEAST_BYTES_PER_SHINGLE: usize = 4;

/// If a piece has more bytes than this, its buffers are freed. Only one huge record makes a piece this large.
const GIANT: usize = 4 << 20;

/// Bytes of memory for each byte of a giant piece: its text, and the hashes of its words and shingles.
const GIANT_FOLD: usize = 4;

/// A giant piece in progress.
struct Giant<'a> {
    all: &'a AtomicUsize,
    bytes: usize,
}

impl<'a> Giant<'a> {
    /// Counts a piece of so many bytes, if it is one.
    fn of(all: &'a AtomicUsize, bytes: usize) -> Option<Self> {
        (bytes > GIANT).then(|| {
            all.fetch_add(bytes, Ordering::Relaxed);
            Giant { all, bytes }
        })
    }
}

impl Drop for Giant<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Memory reused from piece to piece.
struct Buffers {
    documents: DocumentBatch,
    scratch: Scratch,
    shingles: ShingleBatch,
    /// Exact sets, if they are wanted.
    exact: ShingleBatch,
}

/// A signed piece, without its text.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only sibling crates see it")]
pub struct SignedPiece<'a, R> {
    records: R,
    bytes: usize,
    shingled: ShingledPiece,
    /// The documents that are signed.
    signed: Signed<'a>,
    /// Their exact sets, if they are wanted and computed on the way.
    sets: Option<PieceSets>,
}

impl<R> SignedPiece<'_, R> {
    /// A piece of documents of an index, which are signed already.
    fn from_known(records: R, documents: Vec<KnownDocument>, short: ShortDocuments) -> Self {
        let (mut keys, mut signatures) = (Vec::new(), Vec::new());
        let mut sets = PieceSets {
            hashes: Vec::new(),
            ranges: Vec::new(),
            all_hashes: 0,
        };
        let (mut bands, mut words) = (0, 0);
        let mut shingled = Vec::with_capacity(documents.len());
        for document in documents {
            shingled.push(Shingled {
                // Documents of a reference come first, however long they are.
                length: 0,
                digest: document.digest,
                shingles: if document.has_shingles { 2 } else { 0 },
                is_short: false,
                is_signed: document.has_shingles,
            });
            if !document.has_shingles {
                continue;
            }
            (bands, words) = (document.keys.len(), document.signature.len());
            keys.extend(document.keys);
            signatures.extend(document.signature);
            let start = sets.hashes.len();
            sets.hashes.extend(document.set);
            sets.ranges.push(start..sets.hashes.len());
        }
        sets.all_hashes = sets.hashes.len();
        let digests = shingled.iter().map(|document| document.digest.unwrap_or(0));
        let sharded = ByShard::of(digests);
        SignedPiece {
            records,
            bytes: 0,
            shingled: ShingledPiece::of(shingled.into_iter(), sharded, short),
            signed: Signed::Ready(SignedBatch::Known {
                keys: KeyRows::new(bands, keys),
                words,
                signatures,
            }),
            sets: Some(sets),
        }
    }
}

/// The time of the first pass, except waiting, summed over threads.
#[derive(Debug, Default)]
struct Spent {
    parse_ns: AtomicU64,
    shingle_ns: AtomicU64,
    sign_ns: AtomicU64,
    number_ns: AtomicU64,
    band_ns: AtomicU64,
}

impl Spent {
    /// Seconds per stage, divided by the number of threads, which work at the same time.
    fn parts(&self) -> [(&'static str, f64); 5] {
        let threads = rayon::current_num_threads() as f64;
        let seconds = |ns: &AtomicU64| ns.load(Ordering::Relaxed) as f64 / 1e9 / threads;
        [
            ("parse", seconds(&self.parse_ns)),
            ("shingle", seconds(&self.shingle_ns)),
            ("sign", seconds(&self.sign_ns)),
            ("number", seconds(&self.number_ns)),
            ("band", seconds(&self.band_ns)),
        ]
    }
}

fn add(spent_ns: &AtomicU64, start: Instant) {
    spent_ns.fetch_add(nanoseconds(start), Ordering::Relaxed);
}

fn nanoseconds(start: Instant) -> u64 {
    // Saturates: after 584 years.
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// Adds the time of a call, without that of nested calls: while a thread waits for others to sign part of its piece, it
/// may work on another piece.
fn timed_without_nested<T>(spent_ns: &AtomicU64, run: impl FnOnce() -> T) -> T {
    thread_local! {
        static NESTED_NS: Cell<u64> = const { Cell::new(0) };
    }
    let before_ns = NESTED_NS.take();
    let start = Instant::now();
    let result = run();
    let elapsed_ns = nanoseconds(start);
    let nested_ns = NESTED_NS.replace(before_ns.saturating_add(elapsed_ns));
    spent_ns.fetch_add(elapsed_ns.saturating_sub(nested_ns), Ordering::Relaxed);
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::BandKeys;
    use crate::progress::Silent;
    use crate::scheme::Scheme;
    use crate::search::source::{InMemory, Source};

    /// Collects what it gets.
    struct Collected {
        wanted: Wanted,
        rows: Vec<u32>,
        keys: Vec<u64>,
        /// The position, row and hashes of each set.
        sets: Vec<(u32, u32, Vec<u64>)>,
    }

    impl Sink for Collected {
        fn wants(&self) -> Wanted {
            self.wanted
        }

        fn take(&mut self, batch: SignedBatch, rows: &[u32]) -> Result<()> {
            self.rows.extend(rows);
            if let SignedBatch::Keys(keys) = batch {
                let mut columns = BandKeys::new(self.wanted.signed.banding().unwrap());
                columns.push_rows(&keys);
                self.keys.extend(keys_of(&columns));
            }
            Ok(())
        }

        fn take_sets(&mut self, first: u32, rows: &[u32], sets: PieceSets) -> Result<()> {
            assert_eq!(rows.len(), sets.ranges.len());
            let sets_of = sets
                .ranges
                .into_iter()
                .map(|range| sets.hashes[range].to_vec());
            let numbered = (first..).zip(rows).zip(sets_of);
            self.sets
                .extend(numbered.map(|((position, row), set)| (position, *row, set)));
            Ok(())
        }
    }

    /// The keys, `[documents, bands]`.
    fn keys_of(columns: &BandKeys) -> Vec<u64> {
        let bands = columns.banding().bands();
        let row_keys = |row| (0..bands).map(move |band| columns.column(band)[row]);
        (0..columns.len()).flat_map(row_keys).collect()
    }

    fn engine() -> Engine {
        let scheme = Scheme::default().with_num_perm(8).unwrap();
        Engine::builder()
            .scheme(scheme)
            .work_bytes(1)
            .build()
            .unwrap()
    }

    /// Reads texts in pieces of these lengths. All pieces are signed before the first of them is numbered if `ahead`.
    fn read(texts: &[&str], pieces: &[usize], ahead: bool, wanted: Wanted) -> (Corpus, Collected) {
        let engine = engine();
        let mut sink = Collected {
            wanted,
            rows: Vec::new(),
            keys: Vec::new(),
            sets: Vec::new(),
        };
        let source = InMemory {
            documents: texts,
            reference: None,
            classes: None,
            progress: &Silent,
        };
        let mut pass = FirstPass::new(&engine, &Silent, &mut sink);
        let signing = pass.signing();
        let mut waiting = Vec::new();
        let mut start = 0;
        for length in pieces {
            let signed = signing.sign(&source, start..start + length).unwrap();
            start += length;
            if ahead {
                waiting.push(signed)
            } else {
                pass.number(signed, &mut ()).unwrap()
            }
        }
        for signed in waiting {
            pass.number(signed, &mut ()).unwrap();
        }
        let corpus = pass.finish(&mut Vec::new()).unwrap();
        (corpus, sink)
    }

    const LONG: &str = "one two three four five six";
    const OTHER: &str = "seven eight nine ten eleven twelve";

    /// Two blank texts, three of less than five words, which are one shingle, and repeats within a piece and beyond.
    const TEXTS: [&str; 9] = [LONG, " ", "short", LONG, OTHER, "short", "two", OTHER, "\n"];

    fn keys(distinct_only: bool, sets: bool) -> Wanted {
        Wanted {
            distinct_only,
            signed: SignedForm::Keys(Banding::new(4, 2, 8).unwrap()),
            sets,
            empty_sets: false,
        }
    }

    #[test]
    fn documents_are_numbered_whatever_pieces_they_come_in() {
        let signed_alone = |text: &str| read(&[text], &[1], false, keys(true, false)).1.keys;
        let expected = [LONG, "short", OTHER, "two"].map(signed_alone).concat();
        for pieces in [&[9][..], &[4, 5], &[1; 9], &[3, 1, 5]] {
            for ahead in [false, true] {
                let (corpus, sink) = read(&TEXTS, pieces, ahead, keys(true, false));
                assert_eq!(corpus.rows, 9);
                // Blank texts are copies of none.
                assert_eq!(corpus.distinct, [0, 2, 4, 6], "{pieces:?}");
                assert_eq!(corpus.repeats, [(3, 0), (5, 1), (7, 2)]);
                assert_eq!((corpus.without_shingles, corpus.few_shingles), (2, Some(3)));
                let lengths = TEXTS.map(|text| u32::try_from(text.len()).unwrap());
                assert_eq!(corpus.lengths, lengths);
                assert_eq!(
                    corpus.bytes,
                    lengths.iter().copied().map(u64::from).sum::<u64>()
                );
                assert_eq!(sink.rows, [0, 2, 4, 6]);
                assert_eq!(sink.keys, expected, "{pieces:?}");
            }
        }
    }

    #[test]
    fn all_documents_are_signed_if_all_are_wanted() {
        let (corpus, sink) = read(&TEXTS, &[4, 5], false, keys(false, false));
        assert_eq!(sink.rows, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(sink.keys.len(), 9 * 4);
        assert!(corpus.distinct.is_empty() && corpus.repeats.is_empty());
    }

    #[test]
    fn sets_come_with_their_positions_and_rows() {
        for ahead in [false, true] {
            let (_, sink) = read(&TEXTS, &[2, 2, 5], ahead, keys(true, true));
            let engine = engine();
            let scratch = &mut Scratch::default();
            let mut set = |text: &str| {
                let mut set = Vec::new();
                let document = Document::Text(text);
                engine.shingler().exact_list(document, scratch, &mut set);
                set
            };
            let expected = [(0, 0, LONG), (1, 2, "short"), (2, 4, OTHER), (3, 6, "two")];
            let expected = expected.map(|(position, row, text)| (position, row, set(text)));
            assert_eq!(sink.sets, expected);
        }
    }

    #[test]
    fn empty_sets_count_as_others_if_they_are_wanted() {
        let wanted = Wanted {
            empty_sets: true,
            ..keys(true, false)
        };
        let (corpus, _) = read(&TEXTS, &[9], false, wanted);
        assert_eq!(corpus.distinct.len() + corpus.repeats.len(), 9);
        assert_eq!(corpus.without_shingles, 0);
    }

    #[test]
    fn a_batch_keeps_what_is_marked() {
        let mut keys = SignedBatch::Keys(KeyRows::new(2, vec![1, 2, 3, 4, 5, 6]));
        keys.retain(&[true, false, true]);
        let SignedBatch::Keys(keys) = keys else {
            panic!()
        };
        assert!(keys.column(0).eq(&[1, 5]) && keys.column(1).eq(&[2, 6]));
        let mut columns = BandKeys::new(Banding::new(2, 1, 2).unwrap());
        columns.push_rows(&keys);
        assert_eq!(keys_of(&columns), [1, 2, 5, 6]);
        let engine = engine();
        let signed = engine.sign(&[LONG, OTHER]).unwrap();
        let mut batch = SignedBatch::Signatures(signed);
        batch.retain(&[false, true]);
        let alone = engine.sign(&[OTHER]).unwrap();
        assert!(matches!(batch, SignedBatch::Signatures(kept) if kept == alone));
    }

    #[test]
    fn a_stopped_run_signs_no_piece() {
        struct Stopped;
        impl Progress for Stopped {
            fn is_stopped(&self) -> bool {
                true
            }
        }
        let engine = engine();
        let mut sink = Collected {
            wanted: keys(true, false),
            rows: Vec::new(),
            keys: Vec::new(),
            sets: Vec::new(),
        };
        let mut source = InMemory {
            documents: &TEXTS,
            reference: None,
            classes: None,
            progress: &Silent,
        };
        let pass = FirstPass::new(&engine, &Stopped, &mut sink);
        assert!(matches!(
            source.read(pass, &mut Vec::new()),
            Err(Error::Stopped)
        ));
    }
}
