//! The one error of the crate: what is wrong with which file, record or number, and the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
///
/// A message says what is wrong with which file, record or number, and ends with the remedy. It names
/// parameters in back quotes, such as `` `on_bad_record=skip` ``; [`spell`] rewrites them as a command line or
/// another language spells them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An unknown name.
    #[error("unknown {what} {name:?}; known are {known}")]
    UnknownName {
        /// The kind of thing named.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter out of its range.
    #[error("{name} is {value}; give {expected}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values accepted.
        expected: String,
    },
    /// Values that do not fit together.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// What this machine, or this build, cannot do.
    #[error("unsupported: {0}")]
    Unsupported(Unsupported),
    /// The operating system refused.
    #[error("cannot {action} {}: {cause}; {}", path.display(), remedy(cause))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer, which the message contains.
        cause: io::Error,
    },
    /// An input that is not what it is said to be.
    #[error("{}: {problem}; {remedy}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A record that cannot be read.
    #[error("{0}; correct the record, or pass `on_bad_record=skip` to go on without such records")]
    BadRecord(BadRecord),
    /// A file that changed between two readings.
    #[error("{} changed while it was being read; run again when nothing writes to it", path.display())]
    InputChanged {
        /// The file.
        path: PathBuf,
    },
    /// Two documents with one id where ids must be unique.
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
    /// An output that cannot be written where it should go.
    #[error("{}: {problem}; {remedy}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What is in the way.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Two ways to compute one thing gave different results: a defect of this program, or of the machine.
    #[error("{0}; do not use what this machine computes, run `selftest`, and please report it")]
    Disagreement(String),
    /// What this program ships is wrong in itself: a defect of this program.
    #[error("{0}; this is a defect of simgpu, please report it")]
    Defect(String),
    /// More documents than row numbers.
    #[error("more than {limit} documents; split the input", limit = u32::MAX - 1)]
    TooManyDocuments,
    /// Documents read, kept, removed and skipped do not add up: a defect of this program.
    #[error(
        "{documents} documents came in, but {kept} kept, {removed} removed and {skipped} skipped do not add up to them; please report this"
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
    /// [`Progress`](crate::progress::Progress) stopped the run. No output has its final name.
    #[error("stopped before the run was complete; nothing was written")]
    Stopped,
}

/// Values that do not fit together, each with what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// Signatures of both slot widths where one is needed.
    #[error("signatures of 32-bit and of 64-bit slots do not go together; sign all by one scheme")]
    SlotWidths,
    /// Signatures of different lengths.
    #[error("signatures of {left} and of {right} slots do not go together; sign all by one scheme")]
    SlotCounts {
        /// Slots of one signature.
        left: usize,
        /// Slots of the other.
        right: usize,
    },
    /// Slots that are not whole signatures.
    #[error(
        "{slots} slots are not whole signatures of {num_perm}; give the number of permutations they were signed with"
    )]
    PartialSignature {
        /// The slots given.
        slots: usize,
        /// The slots of a signature.
        num_perm: usize,
    },
    /// A matrix of another shape than the sets need.
    #[error("{sets} sets need {sets} rows of {num_perm} slots, not {rows} of {row_slots}")]
    SignatureShape {
        /// The sets to sign.
        sets: usize,
        /// The slots of a signature.
        num_perm: usize,
        /// The rows given.
        rows: usize,
        /// The slots of a given row.
        row_slots: usize,
    },
    /// Matrices of different lengths where rows are paired.
    #[error("{left} and {right} signatures cannot be merged row by row; give as many")]
    RowCounts {
        /// Rows of one matrix.
        left: usize,
        /// Rows of the other.
        right: usize,
    },
    /// Hashes or slots of a width that the scheme does not have.
    #[error(
        "this scheme takes shingle hashes of {hash_bits} bits and yields slots of {slot_bits} bits"
    )]
    SchemeWidths {
        /// Bits of a shingle hash.
        hash_bits: usize,
        /// Bits of a slot.
        slot_bits: usize,
    },
    /// A shingler, a signer and a scheme that were not made for each other.
    #[error(
        "the shingler and the signer are not both of scheme {scheme}; make them from one scheme"
    )]
    EngineParts {
        /// The scheme.
        scheme: String,
    },
    /// Offsets that do not describe sets.
    #[error("offsets of shingle sets must ascend from 0 to the number of hashes, {hashes}")]
    Offsets {
        /// The hashes given.
        hashes: usize,
    },
    /// A base hash of another width than the scheme takes.
    #[error(
        "base hash {hash} does not yield the {bits}-bit values that scheme {scheme} takes; choose another hash"
    )]
    HashWidth {
        /// The base hash.
        hash: String,
        /// Bits of the scheme's shingle hashes.
        bits: usize,
        /// The scheme.
        scheme: String,
    },
    /// A base hash for words with another unit.
    #[error("base hash words-v1 takes words, not {unit}; choose murmur3-32 or another unit")]
    HashUnit {
        /// The unit.
        unit: String,
    },
    /// A shingle size for a unit that has none.
    #[error("`unit={unit}` takes no `size`; leave it out")]
    SizeOfUnit {
        /// The unit.
        unit: String,
    },
    /// Texts for a shingler of tokens.
    #[error(
        "a shingler of tokens takes no texts; give token documents (Shingler::shingle_documents), or choose another unit"
    )]
    TextsForTokens,
    /// Token documents for a shingler of texts.
    #[error("{unit} are cut from texts, and these documents are tokens; choose `unit=tokens`")]
    TokensForTexts {
        /// The unit.
        unit: String,
    },
    /// More matches than slots, or no slot.
    #[error("{matches} matches do not fit {num_perm} slots; compare signatures of one scheme")]
    Matches {
        /// Slots that agree.
        matches: usize,
        /// Slots of a signature.
        num_perm: usize,
    },
    /// A scheme whose slots do not tell the size of a set.
    #[error("slots of {scheme} do not tell how large a set is; sign it with affine32")]
    CardinalityScheme {
        /// The scheme.
        scheme: String,
    },
    /// Slots that the named scheme did not compute.
    #[error(
        "{slots} slots of {bits} bits are not those of {scheme} with {num_perm} permutations; name the scheme that signed"
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
    /// Too few slots to estimate a size with a finite error.
    #[error("{slots} slots are too few to tell how large a set is; sign with 3 or more")]
    CardinalitySlots {
        /// The slots given.
        slots: usize,
    },
    /// A place for packed slots of the wrong size.
    #[error("{slots} slots of {bits} bits fill {needed} words, not {words}; give as many")]
    PackedRoom {
        /// Slots of the signature.
        slots: usize,
        /// Bits kept of a slot.
        bits: u32,
        /// The words that they fill.
        needed: usize,
        /// The words given.
        words: usize,
    },
    /// Words that are not rows of packed slots.
    #[error(
        "these words are not rows of {num_perm} slots of {bits} bits; give the numbers they were packed with"
    )]
    PackedRows {
        /// Slots of a signature.
        num_perm: usize,
        /// Bits kept of a slot.
        bits: u32,
    },
    /// Packed signatures of different shapes.
    #[error(
        "signatures of {left_slots} slots of {left_bits} bits and of {right_slots} slots of {right_bits} bits do not go together; sign and pack all alike"
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
    /// Bands that need more slots than a signature has.
    #[error(
        "{bands} bands of {rows} need more slots than the {num_perm} of a signature; choose fewer"
    )]
    BandsTooMany {
        /// Bands.
        bands: usize,
        /// Slots of a band.
        rows: usize,
        /// Slots of a signature.
        num_perm: usize,
    },
    /// A place for band keys of the wrong size.
    #[error("{sets} sets need {sets} rows of {bands} band keys, not {keys} keys")]
    BandKeyRoom {
        /// The sets.
        sets: usize,
        /// Bands.
        bands: usize,
        /// The keys given.
        keys: usize,
    },
    /// Exact verification without the documents.
    #[error(
        "signatures alone do not tell exact similarities; verify by signature, or read the documents"
    )]
    ExactWithoutDocuments,
    /// An instruction set that this CPU lacks.
    #[error("this CPU does not have {name}; choose one of {available}")]
    MissingInstructions {
        /// The instruction set.
        name: String,
        /// Those that it has.
        available: String,
    },
    /// Standard input and a file that would be written under one name.
    #[error(
        "stdin would be written as {name}, which is the name of another input; rename that file"
    )]
    StdinName {
        /// The name.
        name: String,
    },
}

/// Rewrites the parameters that a message names in back quotes, by `spelling` of the parameter and the value
/// that the message gives it.
///
/// ```
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
            // A back quote of a file name or of a record.
            spelled.push('`');
            rest = quoted;
        }
    }
    spelled.push_str(rest);
    spelled
}

impl Error {
    /// Wraps the system's refusal to do `action` to `path`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_owned();
        move |cause| Error::Io {
            action,
            path,
            cause,
        }
    }
}

/// What this machine, or this build, cannot do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The backend is not part of this build.
    #[error("this build has no backend {backend}; build it with the feature gpu")]
    NotInBuild {
        /// The backend.
        backend: String,
    },
    /// The machine has no graphics adapter with a driver.
    #[error(
        "no graphics adapter was found; install its driver (Vulkan, Metal or DX12), or choose a backend of the CPU"
    )]
    NoAdapter,
    /// The number of the device is out of range.
    #[error("there is no device {device}, only {adapters}; `simgpu devices` lists them")]
    NoSuchDevice {
        /// The number given.
        device: usize,
        /// Number of adapters of this machine.
        adapters: usize,
    },
    /// The driver refused to open an adapter.
    #[error(
        "{device} cannot be opened: {reason}; choose another with --device, or leave --backend out"
    )]
    CannotOpen {
        /// Name of the adapter.
        device: String,
        /// The driver's answer.
        reason: String,
    },
    /// An open device failed at what it was given to do.
    #[error("{device}: {reason}")]
    DeviceFailed {
        /// Name of the device.
        device: String,
        /// What went wrong.
        reason: String,
    },
    /// The family of the scheme fills slots in rounds, which no device computes.
    #[error(
        "no GPU computes this scheme here: slots that are filled in rounds depend on each other, which suits no GPU; choose --backend simd, or another --scheme"
    )]
    SchemeNotOnDevices,
    /// The slots of the scheme have 64 bits, and the adapter has no 64-bit integers.
    #[error(
        "no GPU computes this scheme here: its slots have 64 bits, and the adapter has no 64-bit integers; choose --backend simd, or another --scheme"
    )]
    NeedsU64,
    /// A device hashes windows of bytes and no other shingles.
    #[error("only windows of bytes are hashed on a device; choose the unit bytes")]
    ShinglesNotOnDevices,
    /// The system refused to start threads.
    #[error("{threads} threads cannot be started: {reason}; give fewer --threads")]
    Threads {
        /// The number of threads asked for.
        threads: u32,
        /// The system's answer.
        reason: String,
    },
}

/// What to do when the system refuses.
fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "check the name",
        io::ErrorKind::PermissionDenied => "ask for the permission, or choose another place",
        io::ErrorKind::StorageFull => "make room, or choose another disk",
        _ => "check the path, or choose another place",
    }
}

/// A record that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The file, as it was named.
    pub file: PathBuf,
    /// Number of the record in its file, from 0.
    pub row: u64,
    /// Line of the record, from 1, in files of lines.
    pub line: Option<u64>,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file.display();
        match self.line {
            Some(line) => write!(f, "{file}, line {line}: {}", self.problem),
            None => write!(f, "{file}, row {}: {}", self.row, self.problem),
        }
    }
}
