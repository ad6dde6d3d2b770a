//! The error type of the crate.
//!
//! **Messages name parameters, not flags.** A typed parameter in each variant was rejected: every message would have
//! become a template with two renderings.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::encoding::{conversion, with_file};
use crate::remote;

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
///
/// A message says what is wrong and with which file, record or number; the remedy follows after a semicolon.
/// Parameters stand in back quotes, such as `` `on_bad_record=skip` ``; [`spell`] rewrites them as flags or as
/// arguments of another language.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown name.
    #[error("unknown {what} {name:?}; choose one of {known}")]
    UnknownName {
        /// The kind of thing named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The known names, separated by commas.
        known: String,
    },
    /// A parameter is out of range.
    #[error("{name} is {value}; give {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values accepted.
        expected: String,
    },
    /// Arguments contradict each other.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// This machine or this build lacks a capability.
    #[error("unsupported: {0}")]
    Unsupported(Unsupported),
    /// An operation on a file or folder failed.
    #[error("cannot {action} {}: {cause}; {}", path.display(), remedy(action, path, cause))]
    Io {
        /// The operation, a verb: `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system. The message contains it.
        cause: io::Error,
    },
    /// An input cannot be used.
    #[error("{}: {problem}; {remedy}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A record cannot be read.
    #[error("{_0}; {}", _0.remedy("correct the record, or pass `on_bad_record=skip` to leave out bad records"))]
    BadRecord(BadRecord),
    /// Every record of a run is bad, so that none is left.
    #[error(
        "every record is bad, the first in {_0}; {}",
        _0.remedy(_0.usual_of_all("correct the records, or choose their `format` and their field with `text_field`"))
    )]
    NoGoodRecord(BadRecord),
    /// The weights of a document in memory are no weights, or too large.
    #[error("document {row}: {problem}; correct its weights")]
    Weights {
        /// The row of the document.
        row: usize,
        /// What is wrong with them.
        problem: String,
    },
    /// An input changed between the two reads of a run.
    #[error("{} changed while it was being read; run again when nothing is writing to it", path.display())]
    InputChanged {
        /// The file.
        path: PathBuf,
    },
    /// A temporary file of a run is not as the run wrote it.
    #[error(
        "{} is damaged: its bytes are not those that were written; check the disk, and pass `restart` to run again", path.display()
    )]
    DamagedSpill {
        /// The file.
        path: PathBuf,
    },
    /// Two documents have the same id, and ids must be unique.
    #[error(
        "{id} is the id of two documents, {first} and {second}; make ids unique, choose another `id_field`, or leave out `unique_ids`"
    )]
    RepeatedId {
        /// The id, as JSON.
        id: String,
        /// The first document with it.
        first: String,
        /// The second document with it.
        second: String,
    },
    /// An output cannot be written.
    #[error("{}: {problem}; {remedy}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What prevents it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Two computations of the same value differ, because of a bug in simgpu or a fault of the machine.
    #[error(
        "{0}; discard the results of this machine, run `simgpu selftest`, and report its output"
    )]
    Disagreement(String),
    /// A file shipped with simgpu is invalid.
    #[error("{0}; this is a bug in simgpu, please report it")]
    Defect(String),
    /// Records do not show what their fields are worth.
    #[error("cannot learn points: {0}; score by `score=text`")]
    CannotLearn(String),
    /// The input holds more documents than there are row numbers.
    #[error("more than {limit} documents; split the input", limit = u32::MAX - 1)]
    TooManyDocuments,
    /// A document has more shingles than an exact join can number.
    #[error(
        "a document has {shingles} shingles, more than {limit}; split the document, or pass `candidates=lsh`", limit = u32::MAX
    )]
    TooManyShingles {
        /// Its shingles.
        shingles: usize,
    },
    /// An index holds as many signatures as there are numbers.
    #[error("the index cannot hold more than {limit} signatures; use several indexes")]
    FullIndex {
        /// The most signatures.
        limit: usize,
    },
    /// A document has the id of one that is in the index.
    #[error(
        "{id} is the id of a document in the index; give each document an id of its own, or pass `on_known_id=skip` or `on_known_id=replace`"
    )]
    KnownId {
        /// The id, as JSON.
        id: String,
    },
    /// Two records of which an index is built have the same id.
    #[error(
        "{id} is the id of two records of the inputs{}; give each an id of its own, or keep the first by `on_known_id=skip` or the last by `on_known_id=replace`",
        listed_places(places)
    )]
    RepeatedInIndex {
        /// The id, as JSON.
        id: String,
        /// The first two such records: their files, and their numbers there, from 0; empty if these are not known.
        places: Vec<(PathBuf, u64)>,
    },
    /// The bytes of an index are not those that it wrote.
    #[error("the bytes are not those of an index of this banding and slot width; write it again")]
    DamagedIndex,
    /// The counts of a run do not add up, because of a bug in simgpu.
    #[error(
        "read {documents} documents, but counted {kept} kept, {removed} removed and {skipped} skipped; this is a bug in simgpu, please report it"
    )]
    Accounting {
        /// Records read.
        documents: u64,
        /// Kept.
        kept: u64,
        /// Removed.
        removed: u64,
        /// Skipped as bad.
        skipped: u64,
    },
    /// A run on disk ended before it was complete. The same run resumes from its last checkpoint, unless an input is changed.
    #[error("{error}; {} in {}", checkpoint(error), temporary.display())]
    Resumable {
        /// What ended the run. The message contains it.
        error: Box<Error>,
        /// The folder with its temporary files.
        temporary: PathBuf,
    },
    /// [`Progress`](crate::progress::Progress) stopped the run before any output file got its final name.
    #[error("the run was stopped and wrote no output file; run again to get results")]
    Stopped,
}

/// Arguments that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Signatures of 32-bit and of 64-bit slots are combined.
    #[error(
        "cannot combine signatures of 32-bit and of 64-bit slots; sign all documents with one scheme"
    )]
    SlotWidths,
    /// Signatures of different lengths are combined.
    #[error(
        "cannot combine signatures of {left} and of {right} slots; sign all documents with one scheme"
    )]
    SlotCounts {
        /// Slots of one signature.
        left: usize,
        /// Slots of the other.
        right: usize,
    },
    /// A number of slots is not a multiple of the signature length.
    #[error(
        "{slots} slots are not a whole number of signatures of {num_perm} slots; give the number of permutations that they were signed with"
    )]
    PartialSignature {
        /// The slots given.
        slots: usize,
        /// The slots of a signature.
        num_perm: usize,
    },
    /// A signature matrix has the wrong shape for the sets.
    #[error(
        "{sets} sets need {sets} rows of {num_perm} slots, not {rows} rows of {row_slots}; give a matrix of that shape"
    )]
    SignatureShape {
        /// The sets to sign.
        sets: usize,
        /// The slots of a signature.
        num_perm: usize,
        /// The rows given.
        rows: usize,
        /// The slots of each row that was passed in.
        row_slots: usize,
    },
    /// Two matrices to be merged row by row have different numbers of rows.
    #[error(
        "cannot merge {left} and {right} signatures row by row; give two matrices of equal length"
    )]
    RowCounts {
        /// Rows of one matrix.
        left: usize,
        /// Rows of the other.
        right: usize,
    },
    /// Hashes or slots have the wrong width for the scheme.
    #[error(
        "hashes or slots have the wrong width; give hashes of {hash_bits} bits and slots of {slot_bits} bits for this scheme"
    )]
    SchemeWidths {
        /// Bits of a shingle hash.
        hash_bits: usize,
        /// Bits of a slot.
        slot_bits: usize,
    },
    /// A shingler or a signer was made for another scheme.
    #[error("the shingler or the signer was not made for scheme {scheme}; make both for it")]
    EngineParts {
        /// The scheme.
        scheme: String,
    },
    /// Offsets of shingle sets are out of order or out of range.
    #[error(
        "offsets of shingle sets are out of order or out of range; let them ascend from 0 to {hashes}, the number of hashes"
    )]
    Offsets {
        /// The hashes given.
        hashes: usize,
    },
    /// A base hash has the wrong width for the scheme.
    #[error(
        "base hash {hash} does not yield {bits}-bit values, which scheme {scheme} needs; choose another `hash`"
    )]
    HashWidth {
        /// The base hash.
        hash: String,
        /// Bits of the scheme's shingle hashes.
        bits: usize,
        /// The scheme.
        scheme: String,
    },
    /// A base hash of words is used with another unit.
    #[error("base hash words-v1 takes words, not {unit}; choose another `hash`, or `unit=words`")]
    HashUnit {
        /// The unit.
        unit: String,
    },
    /// A unit without a shingle size was given one.
    #[error("`unit={unit}` takes no `size`; leave it out")]
    SizeOfUnit {
        /// The unit.
        unit: String,
    },
    /// A shingler of tokens was given texts.
    #[error(
        "`unit=tokens` takes lists of tokens, not texts; give token documents, or choose another `unit`"
    )]
    TextsForTokens,
    /// A shingler of texts was given lists of tokens.
    #[error("`unit={unit}` takes texts, not lists of tokens; give texts, or choose `unit=tokens`")]
    TokensForTexts {
        /// The unit.
        unit: String,
    },
    /// Weights are given for shingles of several tokens, or of texts.
    #[error(
        "weights belong to single tokens, not to shingles of {size} {unit}; choose `unit=tokens` and `size=1`"
    )]
    WeightedUnit {
        /// The unit.
        unit: String,
        /// Units of a shingle.
        size: usize,
    },
    /// A shingler of weighted tokens was given documents without weights, or another one documents with weights.
    #[error(
        "either the documents or the shingling has weights, but not both; give weights to both, or to neither"
    )]
    WeightedForms,
    /// There are more matches than slots, or no slots.
    #[error(
        "{matches} matches are not possible in {num_perm} slots; give the number of slots in which one pair of signatures agrees"
    )]
    Matches {
        /// Slots that agree.
        matches: usize,
        /// Slots of a signature.
        num_perm: usize,
    },
    /// Signatures of this scheme cannot estimate the size of a set.
    #[error("signatures of scheme {scheme} cannot estimate the size of a set; sign with affine32")]
    CardinalityScheme {
        /// The scheme.
        scheme: String,
    },
    /// Slots cannot be a signature of the given scheme.
    #[error(
        "{slots} slots of {bits} bits are not a signature of scheme {scheme} with {num_perm} permutations; give the scheme that they were signed with"
    )]
    SlotsOfScheme {
        /// The slots given.
        slots: usize,
        /// Bits of a slot.
        bits: usize,
        /// The scheme.
        scheme: String,
        /// The scheme's permutations.
        num_perm: usize,
    },
    /// Too few slots to estimate the size of a set with a finite error.
    #[error("{slots} slots are too few to estimate the size of a set; sign with 3 or more")]
    CardinalitySlots {
        /// The slots given.
        slots: usize,
    },
    /// A buffer for packed slots has the wrong length.
    #[error(
        "{slots} slots of {bits} bits need {needed} 64-bit words, not {words}; give a buffer of {needed} 64-bit words"
    )]
    PackedRoom {
        /// Slots of the signature.
        slots: usize,
        /// Bits kept of a slot.
        bits: u32,
        /// The words needed.
        needed: usize,
        /// The words given.
        words: usize,
    },
    /// A number of words is not a multiple of the packed signature length.
    #[error(
        "the given 64-bit words are not a whole number of rows of {num_perm} slots of {bits} bits; give the number of slots and bits that they were packed with"
    )]
    PackedRows {
        /// Slots of a signature.
        num_perm: usize,
        /// Bits kept of a slot.
        bits: u32,
    },
    /// Packed signatures of different shapes are combined.
    #[error(
        "cannot combine signatures of {left_slots} slots of {left_bits} bits and of {right_slots} slots of {right_bits} bits; sign and pack all of them with the same number of slots and bits"
    )]
    PackedShapes {
        /// Slots of one signature.
        left_slots: usize,
        /// Bits kept of its slots.
        left_bits: u32,
        /// Slots of the other.
        right_slots: usize,
        /// Bits kept of its slots.
        right_bits: u32,
    },
    /// A banding needs more slots than a signature has.
    #[error(
        "{bands} bands of {rows} rows need more than the {num_perm} slots of a signature; choose fewer `bands` or `rows`"
    )]
    BandsTooMany {
        /// Bands.
        bands: usize,
        /// Slots of a band.
        rows: usize,
        /// Slots of a signature.
        num_perm: usize,
    },
    /// Indexes of different bandings are merged.
    #[error(
        "cannot merge an index of {} bands of {} rows and one of {} bands of {}; make both with one banding", left.0, left.1, right.0, right.1
    )]
    Bandings {
        /// Bands and rows of one index.
        left: (usize, usize),
        /// Bands and rows of the other.
        right: (usize, usize),
    },
    /// An ensemble got another number of set sizes than of signatures.
    #[error(
        "{signatures} signatures need as many set sizes, not {sizes}; give the size of each set"
    )]
    SizeCount {
        /// The signatures.
        signatures: usize,
        /// The sizes given.
        sizes: usize,
    },
    /// Set sizes cannot be cut into this number of parts.
    #[error(
        "{sizes} set sizes with {counts} counts cannot be cut into {parts} parts; give as many counts as sizes, and 1 part to as many"
    )]
    Parts {
        /// The sizes given.
        sizes: usize,
        /// The counts given.
        counts: usize,
        /// The parts requested.
        parts: usize,
    },
    /// A buffer for band keys has the wrong length.
    #[error(
        "{sets} sets need {sets} rows of {bands} band keys, not {keys} keys; give a buffer of that length"
    )]
    BandKeyRoom {
        /// The sets.
        sets: usize,
        /// Bands.
        bands: usize,
        /// The keys given.
        keys: usize,
    },
    /// Exact verification was requested without the documents.
    #[error(
        "exact verification needs the documents, not only signatures; pass `verify=signature`, or give the documents"
    )]
    ExactWithoutDocuments,
    /// An exact join was requested without the documents.
    #[error(
        "an exact join needs the documents, not only signatures; pass `candidates=lsh`, or give the documents"
    )]
    JoinWithoutDocuments,
    /// The longest document was requested without the documents.
    #[error(
        "`keep=longest` needs the documents, not only signatures; pass `keep=first`, or give the documents"
    )]
    LongestWithoutDocuments,
    /// Signatures, which do not tell how many shingles a document has, and a limit on shingles.
    #[error(
        "signatures do not tell the number of shingles; omit `min_shingles`, `drop_short` and `drop_empty`, or give the documents"
    )]
    ShortWithoutDocuments,
    /// An exact join was requested with another verification.
    #[error(
        "an exact join computes every similarity exactly; pass `verify=exact`, or `candidates=lsh`"
    )]
    JoinNotExact,
    /// The sets of an exact join need too much memory.
    #[error(
        "the shingles of an exact join need more memory than `join_mib` ({mib} MiB); raise `join_mib`, or pass `candidates=lsh`"
    )]
    JoinMemory {
        /// The limit in MiB.
        mib: usize,
    },
    /// Documents are removed for passages of which all occurrences are covered.
    #[error(
        "documents are removed in order, for passages that occur earlier; pass `occurrences=later`, or omit `min_left` and `action=drop`"
    )]
    PassagesWithoutOrder,
    /// A search for passages needs too much memory.
    #[error(
        "the search for passages needs more memory than `memory` ({mib} MiB); raise `memory`, or search parts of the inputs in several runs, which find no passage across parts"
    )]
    PassageMemory {
        /// The limit in MiB.
        mib: u64,
    },
    /// Documents that buckets link need too much memory.
    #[error(
        "more than {documents} documents that buckets link need more memory than `component_mib` ({mib} MiB); raise `component_mib` or `rows`, or pass `cluster=greedy`"
    )]
    ComponentMemory {
        /// Documents in memory.
        documents: usize,
        /// The limit in MiB.
        mib: usize,
    },
    /// A record of a divided run is of another run.
    #[error(
        "a record of an intermediate table has another length than this run writes; use the same version and parameters on all machines"
    )]
    ForeignRecord,
    /// The tokens of a search by distance need too much memory.
    #[error(
        "the tokens of a search by distance need more memory than `join_mib` ({mib} MiB); raise `join_mib`"
    )]
    DistanceMemory {
        /// The limit in MiB.
        mib: usize,
    },
    /// A search by distance was requested with another method than an exact join.
    #[error(
        "a search by distance is an exact join, whose distances are exact; leave out `candidates` and `verify`"
    )]
    DistanceNotJoined,
    /// A search by distance was requested for other documents than lists of single tokens.
    #[error(
        "a distance compares lists of single tokens, but `unit` is {unit} and `size` is {size}; choose `unit=tokens` and `size=1`"
    )]
    DistanceOfShingles {
        /// The unit.
        unit: String,
        /// Units of a shingle.
        size: usize,
    },
    /// The shingling has other elements than the distance of a search.
    #[error(
        "a Hamming distance needs tokens with their places, and an L1 distance counted tokens; choose that weighting for the shingling"
    )]
    DistanceWeighting,
    /// A distance of sets of weighted elements was requested.
    #[error("weighted sets have no distance; leave out the weights, or search by similarity")]
    DistanceOfWeights,
    /// A search by distance was requested for another result than pairs.
    #[error("only pairs are found by distance; search for pairs, or by similarity")]
    DistanceOfPairs,
    /// A search by containment was requested without exact verification.
    #[error(
        "`measure=contained` is computed from the shingles of both documents; pass `verify=exact`, or leave out `measure`"
    )]
    ContainedNotExact,
    /// A search by containment was requested by distance, too.
    #[error(
        "`measure=contained` compares shares of shingles, not distances; leave out `measure`, or `distance` and `within`"
    )]
    ContainedDistance,
    /// A search by containment was requested for weighted shingles.
    #[error(
        "`measure=contained` counts distinct shingles, whatever they weigh; leave out the weights, or `measure`"
    )]
    ContainedWeights,
    /// A deduplication by containment was requested with connected components.
    #[error(
        "`measure=contained` keeps a document that contains those removed for it, which a chain of pairs does not; pass `cluster=greedy`, or leave out `measure`"
    )]
    ContainedNotGreedy,
    /// A deduplication by containment was requested with another choice of the document to keep.
    #[error(
        "`measure=contained` keeps the document with the most shingles; leave out {option}, or `measure`"
    )]
    ContainedKeep {
        /// What chooses another document.
        option: &'static str,
    },
    /// Parts of a divided search cannot be searched by containment.
    #[error("a divided search compares by the Jaccard similarity alone; leave out `measure`")]
    ContainedDivided,
    /// Weights by rarity were requested outside of a run over all documents.
    #[error(
        "weights by rarity depend on all documents of a run, so signatures cannot be stored or compared; search for duplicates or pairs, or leave out `weights`"
    )]
    RarityOfRun,
    /// A base hash was named for shingles weighed by rarity.
    #[error("weights by rarity have a hash of their own; leave out `hash`, or `weights`")]
    RarityHash,
    /// The counts of weights by rarity need too much memory.
    #[error(
        "the counts of `weights=rarity` need more memory than `join_mib` ({mib} MiB); raise `join_mib`, or leave out `weights`"
    )]
    RarityMemory {
        /// The limit in MiB.
        mib: usize,
    },
    /// This CPU lacks an instruction set.
    #[error("this CPU does not have {name}; choose one of {available}")]
    MissingInstructions {
        /// The instruction set.
        name: String,
        /// The instruction sets that it has.
        available: String,
    },
    /// Two parameters choose the document to keep.
    #[error("`keep=longest` and `keep_by` both choose the document to keep; leave out one of them")]
    KeepTwice,
    /// Standard input and a file have the same output name.
    #[error("stdin and an input file would both be written as {name}; rename the file")]
    StdinName {
        /// The name.
        name: String,
    },
}

/// Spells the parameters in a message as flags of the command: `` `on_bad_record=skip` `` becomes `--on-bad-record skip`.
#[must_use]
pub fn with_flags(message: &str) -> String {
    spell(message, |name, value| {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Some(value) => format!("{flag} {value}"),
            None => flag,
        }
    })
}

/// Rewrites each parameter in back quotes, `` `name` `` or `` `name=value` ``, as `spelling(name, value)`.
///
/// ```
/// # use simgpu_base as simgpu;
/// use simgpu::error::spell;
///
/// let message = "correct the record, or pass `on_bad_record=skip`";
/// let flags = spell(message, |name, value| {
///     let flag = format!("--{}", name.replace('_', "-"));
///     value.map_or(flag.clone(), |value| format!("{flag} {value}"))
/// });
/// assert_eq!(flags, "correct the record, or pass --on-bad-record skip");
/// ```
pub fn spell(message: &str, spelling: impl Fn(&str, Option<&str>) -> String) -> String {
    let is_name = |name: &str| {
        let letters = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        !name.is_empty() && name.chars().all(letters)
    };
    let mut spelled = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, quoted)) = rest.split_once('`') {
        spelled.push_str(before);
        let Some((parameter, after)) = quoted.split_once('`') else {
            spelled.push('`');
            rest = quoted;
            continue;
        };
        let (name, value) = match parameter.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (parameter, None),
        };
        if is_name(name) {
            spelled.push_str(&spelling(name, value));
            rest = after;
        } else {
            // A back quote in a file name or a record.
            spelled.push('`');
            rest = quoted;
        }
    }
    spelled.push_str(rest);
    spelled
}

/// Refuses an output whose name is that of something on another machine, such as `s3://bucket/out`.
///
/// # Errors
/// [`Error::Output`] for a name with a scheme.
#[doc(hidden)]
pub fn check_local_output(path: &Path) -> Result<()> {
    let Some(refused) = remote::refused_output(path) else {
        return Ok(());
    };
    Err(Error::Output {
        path: path.to_owned(),
        problem: refused.problem.to_owned(),
        remedy: refused.remedy,
    })
}

/// The error for an input with such a name, which says which command copies it; `None` for any other name.
#[doc(hidden)]
pub fn remote_input(path: &Path) -> Option<Error> {
    remote::refused_input(path).map(|refused| Error::Input {
        path: path.to_owned(),
        problem: refused.problem.to_owned(),
        remedy: refused.remedy,
    })
}

/// The error of an input that cannot be a stream: one with such a name has no remedy to pipe it in.
#[doc(hidden)]
#[must_use]
pub fn without_piping(error: Error) -> Error {
    match error {
        Error::Input {
            path,
            problem,
            remedy,
        } => Error::Input {
            remedy: remote::copying(&path).unwrap_or(remedy),
            path,
            problem,
        },
        error => error,
    }
}

#[doc(hidden)]
pub use crate::remote::local_folder;

/// The number of a row, or a number of rows. All rows are numbered by 32 bits.
///
/// # Errors
/// [`Error::TooManyDocuments`] for a number of more bits.
#[doc(hidden)]
pub fn row_number(number: impl TryInto<u32>) -> Result<u32> {
    number.try_into().map_err(|_| Error::TooManyDocuments)
}

impl Error {
    /// The error if every record is bad and other parameters than `text_field` choose the fields.
    #[doc(hidden)]
    pub fn no_good_record(first: &BadRecord, remedy: &str) -> Error {
        Error::Input {
            path: first.file.clone(),
            problem: format!("every record is bad, the first in {first}"),
            remedy: first.remedy(first.usual_of_all(remedy)),
        }
    }

    /// Converts an error of the operating system: `read(..).map_err(Error::io("read", path))`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_owned();
        move |cause| Error::Io {
            action,
            path,
            cause,
        }
    }
}

/// A capability that this machine or this build lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// This build lacks the backend.
    #[error("this build has no backend {backend}; build with the feature gpu")]
    NotInBuild {
        /// The backend.
        backend: String,
    },
    /// The machine has no GPU with a driver.
    #[error(
        "found no graphics adapter; install a driver (Vulkan, Metal or DX12), or choose `backend=simd`"
    )]
    NoAdapter,
    /// The device number is out of range.
    #[error(
        "there is no device {device} among the {adapters} found; choose a `device` that `simgpu devices` lists"
    )]
    NoSuchDevice {
        /// The number given.
        device: usize,
        /// The number of adapters.
        adapters: usize,
    },
    /// The driver cannot open an adapter.
    #[error("cannot open {device}: {reason}; choose another `device`, or leave out `backend`")]
    CannotOpen {
        /// The name of the adapter.
        device: String,
        /// The error of the driver.
        reason: String,
    },
    /// A device failed while it computed.
    #[error("{device}: {reason}; choose another `device`, or `backend=simd`")]
    DeviceFailed {
        /// The name of the device.
        device: String,
        /// What went wrong.
        reason: String,
    },
    /// The scheme fills slots in rounds, which GPUs do not compute.
    #[error(
        "GPUs do not compute this scheme: its slots depend on each other; choose `backend=simd`, or another `scheme`"
    )]
    SchemeNotOnDevices,
    /// The scheme has 64-bit slots, and the adapter has no 64-bit integers.
    #[error(
        "this GPU does not compute this scheme: its slots have 64 bits, and the adapter has no 64-bit integers; choose `backend=simd`, or another `scheme`"
    )]
    NeedsU64,
    /// GPUs hash windows of bytes and no other shingles.
    #[error("GPUs hash only windows of bytes; choose `unit=bytes`")]
    ShinglesNotOnDevices,
    /// The operating system did not start the threads.
    #[error(
        "cannot start {threads} thread{}: {reason}; {}", if *threads == 1 { "" } else { "s" }, thread_remedy(*threads)
    )]
    Threads {
        /// The requested number of threads.
        threads: usize,
        /// The error of the operating system.
        reason: String,
    },
}

/// What to say of the checkpoint of a run that this error ended.
fn checkpoint(error: &Error) -> &'static str {
    match error {
        // The same command would fail again, and a run is resumed only with the same input.
        Error::BadRecord(_)
        | Error::NoGoodRecord(_)
        | Error::Input { .. }
        | Error::RepeatedId { .. }
        | Error::RepeatedInIndex { .. }
        | Error::KnownId { .. } => {
            "if you changed an input, pass `restart`, too: it discards the checkpoint"
        }
        _ => "the same command resumes from its last checkpoint,",
    }
}

/// What to do where threads cannot be started.
fn thread_remedy(threads: usize) -> &'static str {
    match threads {
        0 | 1 => "raise the limit of processes of the user (ulimit -u) or of the container",
        _ => {
            "give fewer `threads`, or raise the limit of processes of the user (ulimit -u) or of the container"
        }
    }
}

/// The remedy for an error of the operating system at a path.
fn remedy(action: &str, path: &Path, error: &io::Error) -> Cow<'static, str> {
    if error.kind() == io::ErrorKind::NotFound {
        let remedy = match action {
            "create a folder in" => remote::local_folder(path),
            _ => remote::unread(path),
        };
        if let Some(remedy) = remedy {
            return remedy.into();
        }
    }
    #[cfg(unix)]
    match rustix::io::Errno::from_io_error(error) {
        Some(rustix::io::Errno::MFILE) => return open_files_remedy().into(),
        Some(rustix::io::Errno::NFILE) => {
            return "close other programs, or raise the limit of open files of the machine (sysctl fs.file-max)"
                .into();
        }
        _ => {}
    }
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "check the name",
        io::ErrorKind::PermissionDenied => "change its permissions, or choose another path",
        io::ErrorKind::StorageFull if action.starts_with("copy stdin") => {
            "free some space, or choose another disk for the results, which need room there, too"
        }
        io::ErrorKind::StorageFull => "free some space, or choose another disk",
        io::ErrorKind::FileTooLarge => return file_size_remedy().into(),
        io::ErrorKind::OutOfMemory => {
            "pass a smaller `memory`, or let the process use more (ulimit -v, or the limit of the container)"
        }
        _ => "check the path, or choose another",
    };
    remedy.into()
}

/// What to do where a file may not grow.
#[doc(hidden)]
pub fn file_size_remedy() -> &'static str {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize);
        if limit.current.is_some() {
            return match limit.maximum {
                None => {
                    "the file is larger than the limit of this process; raise it: `ulimit -f unlimited`"
                }
                Some(_) => {
                    "the file is larger than the limit of this process; raise it as root or in the settings of the container: \
                     `ulimit -f unlimited`"
                }
            };
        }
    }
    "the file is larger than the file system allows; choose another disk"
}

/// What to do where the process may open no more files.
#[cfg(unix)]
fn open_files_remedy() -> String {
    /// Enough for all runs whose inputs are few.
    const USUAL: u64 = 4096;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let Some(current) = limit.current else {
        return "close other programs: the system has no more files to open".to_owned();
    };
    let wanted = USUAL.max(current.saturating_mul(4));
    let most = limit.maximum.map_or(wanted, |most| most.min(wanted));
    if most > current {
        format!("the limit is {current} open files; raise it: `ulimit -n {most}`")
    } else {
        format!(
            "the limit is {current} open files; raise it as root or in the settings of the container: `ulimit -n {wanted}`"
        )
    }
}

/// Places of records, in parentheses.
fn listed_places(places: &[(PathBuf, u64)]) -> String {
    let places = places
        .iter()
        .map(|(file, row)| format!("{}, row {row}", file.display()));
    let places: Vec<String> = places.collect();
    if places.is_empty() {
        return String::new();
    }
    format!(" ({})", places.join("; "))
}

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The path of the file, as given.
    pub file: PathBuf,
    /// The number of the record in its file, from 0.
    pub row: u64,
    /// The line on which the record starts, from 1; `None` for Parquet, Arrow and text.
    pub line: Option<u64>,
    /// What is wrong with it.
    pub problem: String,
}

impl BadRecord {
    /// The remedy if all records are as bad as it. The problem of a missing field names the parameter itself.
    fn usual_of_all<'a>(&self, usual: &'a str) -> &'a str {
        if self.problem.contains("choose one with `") {
            "or correct the records"
        } else {
            usual
        }
    }

    /// How to convert its file, if its encoding is the problem; else the `usual` remedy.
    #[doc(hidden)]
    pub fn remedy(&self, usual: &str) -> String {
        conversion(&self.problem, &self.file, usual).unwrap_or_else(|| usual.to_owned())
    }
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, problem) = (self.file.display(), with_file(&self.problem, &self.file));
        match self.line {
            Some(line) => write!(f, "{file}, line {line} (row {}): {problem}", self.row),
            None => write!(f, "{file}, row {}: {problem}", self.row),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_spelled_as_flags() {
        let messages = [
            ("pass `overwrite` to replace", "pass --overwrite to replace"),
            ("pass `on_bad_record=skip`", "pass --on-bad-record skip"),
            ("run `simgpu selftest`", "run `simgpu selftest`"),
            ("a`b: not found", "a`b: not found"),
            ("`A B` and `seed`", "`A B` and --seed"),
        ];
        for (message, expected) in messages {
            assert_eq!(with_flags(message), expected);
        }
    }

    #[test]
    fn remote_names_are_copied() {
        let absent = || io::Error::from(io::ErrorKind::NotFound);
        let told = Error::io("read", "https://host/a.txt")(absent()).to_string();
        assert!(
            told.ends_with("`curl -fL -o a.txt https://host/a.txt`, and give a.txt"),
            "{told}"
        );
        let told = Error::io("create a folder in", "s3://bucket/tmp")(absent()).to_string();
        assert!(
            told.ends_with("it is on another machine; name a folder of this machine"),
            "{told}"
        );
        let told = Error::io("read", "a.txt")(absent()).to_string();
        assert!(told.ends_with("; check the name"), "{told}");
    }

    #[test]
    fn only_what_may_succeed_again_resumes() {
        let told = |error: Error| {
            let (error, temporary) = (Box::new(error), PathBuf::from("ix"));
            Error::Resumable { error, temporary }.to_string()
        };
        let stopped = told(Error::Stopped);
        assert!(stopped.ends_with("; the same command resumes from its last checkpoint, in ix"));
        let id = "\"a\"".to_owned();
        let repeated = told(Error::RepeatedInIndex {
            id,
            places: Vec::new(),
        });
        let end =
            "; if you changed an input, pass `restart`, too: it discards the checkpoint in ix";
        assert!(repeated.ends_with(end), "{repeated}");
    }

    #[test]
    fn a_row_beyond_32_bits_is_an_error() {
        assert_eq!(row_number(u64::from(u32::MAX)).unwrap(), u32::MAX);
        for number in [1 << 32, (1 << 32) + 5, u64::MAX] {
            assert!(matches!(row_number(number), Err(Error::TooManyDocuments)));
        }
    }
}
