//! The one error of the crate: what is wrong with which file, record or number, and the remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// `Result` with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Whatever can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is not known.
    #[error("unknown {what} {name:?}; known are {known}")]
    UnknownName {
        /// What it was to name.
        what: &'static str,
        /// The name given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A parameter out of its range.
    #[error("{name} is {value}; give {expected}")]
    Parameter {
        /// The parameter, as the command line spells it.
        name: &'static str,
        /// The value given.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// Parameters that do not go together; the message says which and what to change.
    #[error("{0}")]
    Conflict(String),
    /// What this machine, or this build, cannot do.
    #[error("unsupported: {0}")]
    Unsupported(Unsupported),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}; {}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// An input that cannot be read as what it is said to be.
    #[error("{}: {problem}; {remedy}", path.display())]
    Input {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// One record that cannot be read.
    #[error("{0}; correct the record, or pass --on-bad-record skip to go on without such records")]
    BadRecord(BadRecord),
    /// A file was not the same when it was read again.
    #[error("{} changed while it was being read; run again when nothing writes to it", path.display())]
    InputChanged {
        /// The file.
        path: PathBuf,
    },
    /// Two documents with one id where ids must be unique.
    #[error(
        "{id} is the id of two documents, {first} and {second}; make ids unique, choose another --id-field, or leave out --unique-ids"
    )]
    RepeatedId {
        /// The id, as JSON.
        id: String,
        /// Where it was met first.
        first: String,
        /// Where it was met again.
        second: String,
    },
    /// Output that cannot go where it was to go.
    #[error("{}: {problem}; {remedy}", path.display())]
    Output {
        /// The file or folder.
        path: PathBuf,
        /// What is in the way.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// Two ways to compute one thing that came to different results: a defect of this program, or of the
    /// machine.
    #[error(
        "{0}; do not use what this machine computes, run `simgpu selftest`, and please report it"
    )]
    Disagreement(String),
    /// More documents than a row number can tell apart.
    #[error("more than {limit} documents; split the input", limit = u32::MAX - 1)]
    TooManyDocuments,
    /// Documents in, kept, removed and skipped do not add up: a defect of this program.
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
}

impl Error {
    /// Wraps the system's refusal to do `action` to `path`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Error {
        let path = path.as_ref().to_owned();
        move |source| Error::Io {
            action,
            path,
            source,
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
