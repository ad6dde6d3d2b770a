//! The files to read: found by name, by folder or by glob.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::compression::{Compression, FrameWriter};
use super::globs::FileFilter;
use crate::error::{Conflict, Error, Result};

/// The format of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON Lines: one JSON object per line.
    JsonLines,
    /// Parquet: one document per row.
    Parquet,
    /// Text: one document per file.
    Text,
}

impl Format {
    /// The format that the extension of a file name stands for; an unknown extension means text.
    fn of_name(name: &str) -> Self {
        let name = Compression::strip_ending(name).to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        match ending {
            "jsonl" | "ndjson" | "json" => Format::JsonLines,
            "parquet" | "pq" => Format::Parquet,
            _ => Format::Text,
        }
    }
}

/// A file to read.
#[derive(Clone, Debug)]
pub(crate) struct InputFile {
    place: Place,
    /// The path as given, for messages.
    pub(crate) named: PathBuf,
    /// The path relative to the common parent of the inputs, with `/`: its name in reports and outputs.
    pub(crate) relative: String,
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    /// The compression of the original, used for kept records. The copy of a stream may be compressed
    /// differently.
    pub(crate) original_compression: Compression,
}

/// The location of an input's bytes.
#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    /// A copy of the stream in an unnamed temporary file.
    Copy(Arc<File>),
}

impl InputFile {
    /// Opens the file at its start. The copy of a stream can be read by only one reader at a time.
    pub(crate) fn open(&self) -> io::Result<File> {
        match &self.place {
            Place::Path(path) => File::open(path),
            Place::Copy(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }

    /// The size of the file as stored.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let metadata = match &self.place {
            Place::Path(path) => path.metadata(),
            Place::Copy(file) => file.metadata(),
        };
        metadata.map_or(0, |metadata| metadata.len())
    }
}

/// The input files of a run, in the order in which they were given. Files from a folder or a glob are sorted
/// by name.
///
/// ```no_run
/// use std::path::PathBuf;
/// use simgpu::io::Inputs;
///
/// let inputs = Inputs::find(&[PathBuf::from("corpus"), PathBuf::from("more/*.jsonl.gz")], None)?;
/// println!("{} files", inputs.names().count());
/// # Ok::<(), simgpu::Error>(())
/// ```
pub struct Inputs {
    pub(crate) files: Vec<InputFile>,
    /// Files that were given more than once. They are read once.
    pub(crate) repeated: Vec<PathBuf>,
    /// The folders among the given names.
    folders: Vec<PathBuf>,
    format: Option<Format>,
    /// The number of files before the stream, if `-` was given.
    stream_at: Option<usize>,
    stream: Mutex<Option<Box<dyn Read + Send>>>,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs")
            .field("files", &self.files)
            .field("stream_at", &self.stream_at)
            .finish_non_exhaustive()
    }
}

impl Inputs {
    /// Finds the files for the given names. A name is a file, a folder (searched recursively), a glob, or `-`
    /// for the stream of [`Inputs::with_stream`]. Without `format`, the extension of each file decides its
    /// format.
    ///
    /// # Errors
    /// [`Error::Input`] if a name matches no file, or a file is not a regular file; [`Error::Io`] if a file or
    /// folder cannot be opened.
    pub fn find(names: &[PathBuf], format: Option<Format>) -> Result<Self> {
        Inputs::find_some(names, format, FileFilter::default())
    }

    /// Like [`Inputs::find`], but finds in folders and by globs only the files that `filter` accepts.
    ///
    /// # Errors
    /// Those of [`Inputs::find`], and [`Error::Input`] if `filter` accepts no file of a folder or glob.
    pub fn find_some(
        names: &[PathBuf],
        format: Option<Format>,
        filter: FileFilter,
    ) -> Result<Self> {
        let mut found = Found {
            filter,
            ..Found::default()
        };
        let mut stream_at = None;
        let mut folders = Vec::new();
        for name in names {
            if name.as_os_str() == "-" {
                stream_at.get_or_insert(found.files.len());
            } else if name.is_dir() {
                folders.push(name.clone());
                found.folder(name)?;
            } else if name.exists() {
                found.file(name.clone(), parent_of(&absolute(name)?))?;
            } else {
                found.glob(name)?;
            }
        }
        let common = found
            .parents
            .iter()
            .cloned()
            .reduce(|a, b| common_parent(&a, &b));
        let common = common.unwrap_or_default();
        let mut files = Vec::with_capacity(found.files.len() + 1);
        for (named, path) in found.files {
            let relative = with_slashes(path.strip_prefix(&common).unwrap_or(&path));
            let compression = Compression::sniff(&named)?;
            files.push(InputFile {
                format: format.unwrap_or_else(|| Format::of_name(&relative)),
                compression,
                original_compression: compression,
                relative,
                place: Place::Path(named.clone()),
                named,
            });
        }
        Ok(Inputs {
            files,
            repeated: found.repeated,
            folders,
            format,
            stream_at,
            stream: Mutex::default(),
        })
    }

    /// Sets the stream that `-` stands for, such as standard input. A run copies it to a temporary file, since
    /// it reads documents twice. If the stream returns `WouldBlock`, the run checks whether it should stop, and
    /// reads again.
    #[must_use]
    pub fn with_stream(self, stream: impl Read + Send + 'static) -> Self {
        Inputs {
            stream: Mutex::new(Some(Box::new(stream))),
            ..self
        }
    }

    /// Whether `-` is among the given names.
    pub fn names_stream(&self) -> bool {
        self.stream_at.is_some()
    }

    /// The names of the files in reports and outputs, in order: their paths relative to the common parent of
    /// the inputs, with `/`. A stream is not included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.relative)
    }

    /// Refuses an output that is an input file, or a folder that contains one.
    pub(crate) fn check_not_overwritten_by(&self, outputs: &[PathBuf]) -> Result<()> {
        let named: Vec<&Path> = self.files.iter().map(|file| &*file.named).collect();
        check_not_overwritten(&named, outputs)
    }

    /// Refuses an output inside an input folder, because the next run would read it.
    pub(crate) fn check_output_outside(&self, output: &Path) -> Result<()> {
        let output_is = real_path(output)?;
        for folder in &self.folders {
            if output_is.starts_with(real_path(folder)?) {
                return Err(Error::Output {
                    path: output.to_owned(),
                    problem: format!("the output is inside the input folder {}", folder.display()),
                    remedy: "choose a folder outside the inputs".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// All files and, if `-` was given, a copy of the stream, which is a temporary file in `folder`. Calls
    /// `advance`
    /// with the bytes copied so far.
    pub(crate) fn with_copy_of_stream(
        &self,
        folder: &Path,
        advance: impl FnMut(u64) -> Result<()>,
    ) -> Result<Vec<InputFile>> {
        let mut files = self.files.clone();
        let Some(at) = self.stream_at else {
            return Ok(files);
        };
        let stream = self.stream.lock().ok().and_then(|mut stream| stream.take());
        let Some(stream) = stream else {
            return Err(Error::Input {
                path: PathBuf::from("-"),
                problem: "no stream was given, or it was already read".to_owned(),
                remedy: "give a file, or a new stream".to_owned(),
            });
        };
        let mut stream = Stoppable {
            stream,
            advance,
            bytes: 0,
        };
        let file = copy_stream(&mut stream, self.format, folder)?;
        if files.iter().any(|other| other.relative == file.relative) {
            return Err(Conflict::StdinName {
                name: file.relative,
            }
            .into());
        }
        files.insert(at, file);
        Ok(files)
    }
}

/// Refuses an output that is an input file, or a folder that contains one.
pub(crate) fn check_not_overwritten(inputs: &[&Path], outputs: &[PathBuf]) -> Result<()> {
    for output in outputs {
        let output_is = real_path(output)?;
        for input in inputs {
            if real_path(input)?.starts_with(&output_is) {
                return Err(Error::Output {
                    path: output.clone(),
                    problem: format!("it would overwrite the input {}", input.display()),
                    remedy: "choose another output".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// The path with symbolic links resolved. Its last components need not exist.
fn real_path(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    for existing in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (existing.canonicalize(), path.strip_prefix(existing)) {
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(path)
}

/// The files found so far.
#[derive(Default)]
struct Found {
    /// The given path of each file, and its absolute path without `..`.
    files: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<PathBuf>,
    parents: Vec<PathBuf>,
    repeated: Vec<PathBuf>,
    /// Which files of folders and globs to take.
    filter: FileFilter,
}

impl Found {
    fn file(&mut self, named: PathBuf, parent: PathBuf) -> Result<()> {
        let path = absolute(&named)?;
        let refuse = |problem: &str, remedy: &str| {
            Err(Error::Input {
                path: named.clone(),
                problem: problem.to_owned(),
                remedy: remedy.to_owned(),
            })
        };
        if !named
            .metadata()
            .map_err(Error::io("open", &named))?
            .is_file()
        {
            return refuse(
                "not a regular file; simgpu reads inputs twice",
                "pipe it in and give -",
            );
        }
        if path.to_str().is_none() {
            return refuse("its name is not UTF-8", "rename the file");
        }
        // Reading a file twice, by another name or a link, would make each document a duplicate of itself.
        let identity = named.canonicalize().map_err(Error::io("open", &named))?;
        if self.seen.insert(identity) {
            self.files.push((named, path));
            self.parents.push(parent);
        } else {
            self.repeated.push(named);
        }
        Ok(())
    }

    /// Whether to take a file of a folder or glob. Sets `left_out` if not.
    fn takes(&self, name: &Path, left_out: &mut bool) -> bool {
        let name = name.to_string_lossy();
        let takes = if cfg!(windows) {
            self.filter.accepts(&name.replace('\\', "/"))
        } else {
            self.filter.accepts(&name)
        };
        *left_out |= !takes;
        takes
    }

    fn folder(&mut self, folder: &Path) -> Result<()> {
        let absolute_folder = absolute(folder)?;
        let before = self.files.len() + self.repeated.len();
        let mut left_out = false;
        let walk = walkdir::WalkDir::new(folder)
            .follow_links(true)
            .sort_by_file_name();
        for entry in walk {
            let entry = entry.map_err(|error| Error::Input {
                path: error.path().unwrap_or(folder).to_owned(),
                problem: match error.io_error() {
                    Some(io) => io.to_string(),
                    None => "its links form a cycle".to_owned(),
                },
                remedy: "make it readable, or give its files one by one".to_owned(),
            })?;
            let name = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            if entry.file_type().is_file() && self.takes(name, &mut left_out) {
                self.file(entry.into_path(), absolute_folder.clone())?;
            }
        }
        if self.files.len() + self.repeated.len() == before {
            if left_out {
                return Err(all_left_out(folder));
            }
            return Err(Error::Input {
                path: folder.to_owned(),
                problem: "the folder holds no file".to_owned(),
                remedy: "choose a folder with documents".to_owned(),
            });
        }
        Ok(())
    }

    fn glob(&mut self, pattern: &Path) -> Result<()> {
        let missing = |problem: &str| Error::Input {
            path: pattern.to_owned(),
            problem: problem.to_owned(),
            remedy: "check the name".to_owned(),
        };
        let text = pattern.to_str().ok_or_else(|| missing("no such file"))?;
        if !text.contains(['*', '?', '[']) {
            return Err(missing("no such file or folder"));
        }
        let paths = glob::glob(text).map_err(|error| missing(&format!("invalid glob: {error}")))?;
        let mut any = false;
        let mut left_out = false;
        for path in paths {
            let path = path.map_err(|error| Error::Io {
                action: "read",
                path: error.path().to_owned(),
                cause: error.into(),
            })?;
            if path.is_file() && self.takes(&path, &mut left_out) {
                any = true;
                let parent = parent_of(&absolute(&path)?);
                self.file(path, parent)?;
            }
        }
        if any {
            Ok(())
        } else if left_out {
            Err(all_left_out(pattern))
        } else {
            Err(missing("no file matches"))
        }
    }
}

/// Reads one text from a stream, which may be plain, gzip or zstd. Error messages call the stream `name`.
///
/// # Errors
/// [`Error::Io`] if the stream cannot be read; [`Error::Input`] if it is damaged or not UTF-8.
pub fn read_text(mut stream: impl Read, name: &Path) -> Result<String> {
    let mut stored = Vec::new();
    let read = stream.read_to_end(&mut stored);
    read.map_err(Error::io("read", name))?;
    let broken = |problem: String, remedy: &str| Error::Input {
        path: name.to_owned(),
        problem,
        remedy: remedy.to_owned(),
    };
    let mut bytes = Vec::new();
    let compression = Compression::of_start(&stored);
    let stream = compression.reader(&*stored);
    let read = stream.and_then(|mut stream| stream.read_to_end(&mut bytes));
    read.map_err(|error| {
        let problem = format!("the compressed stream is damaged ({error})");
        broken(problem, "get the file again from its source")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let problem = format!("invalid UTF-8 at byte {at}");
        broken(problem, "give a text file, or convert it to UTF-8")
    })
}

/// A stream that calls `advance` after each read; `advance` may stop the run.
struct Stoppable<F> {
    stream: Box<dyn Read + Send>,
    advance: F,
    bytes: u64,
}

/// Wraps the error that stopped a run, to pass it through the `Read` interface.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Stop(Error);

impl<F: FnMut(u64) -> Result<()>> Read for Stoppable<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.stream.read(buffer);
            self.bytes += read.as_ref().map_or(0, |read| *read as u64);
            (self.advance)(self.bytes).map_err(|error| io::Error::other(Stop(error)))?;
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Copies a stream to an unnamed temporary file. Compresses the copy, unless the stream is already compressed
/// or is Parquet, whose reader needs random access.
fn copy_stream(stream: &mut impl Read, format: Option<Format>, folder: &Path) -> Result<InputFile> {
    let named = PathBuf::from("stdin");
    let failed = |action, path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| match error.downcast::<Stop>() {
            Ok(Stop(stopped)) => stopped,
            Err(error) => Error::io(action, path)(error),
        }
    };
    let mut start = Vec::new();
    stream
        .take(4)
        .read_to_end(&mut start)
        .map_err(failed("read", &named))?;
    let original_compression = Compression::of_start(&start);
    let is_parquet = format == Some(Format::Parquet) || format.is_none() && start == *b"PAR1";
    let mut all = start.as_slice().chain(stream);
    let mut file =
        tempfile::tempfile_in(folder).map_err(Error::io("create a temporary file in", folder))?;
    let compression = if original_compression == Compression::None && !is_parquet {
        Compression::Zstd
    } else {
        original_compression
    };
    let copied = if compression == original_compression {
        io::copy(&mut all, &mut file).map(drop)
    } else {
        let target = file.try_clone();
        target.and_then(|target| {
            let mut writer = FrameWriter::new(target, compression);
            io::copy(&mut all, &mut writer).and_then(|_| writer.finish())
        })
    };
    copied.map_err(failed("copy stdin to a temporary file in", folder))?;
    let format = match format {
        Some(format) => format,
        None if is_parquet => Format::Parquet,
        None => Format::JsonLines,
    };
    let ending = match format {
        Format::JsonLines => ".jsonl",
        Format::Parquet => ".parquet",
        Format::Text => ".txt",
    };
    Ok(InputFile {
        place: Place::Copy(Arc::new(file)),
        named,
        relative: format!("stdin{ending}{}", original_compression.ending()),
        format,
        compression,
        original_compression,
    })
}

/// The error for a folder or glob of which no file is read.
fn all_left_out(name: &Path) -> Error {
    Error::Input {
        path: name.to_owned(),
        problem: "`include` and `exclude` leave out all of its files".to_owned(),
        remedy: "change them, or leave out this input".to_owned(),
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    // `absolute` keeps `..`, which would break comparisons of prefixes.
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    Ok(plain)
}

fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

fn common_parent(a: &Path, b: &Path) -> PathBuf {
    let shared = a.components().zip(b.components());
    shared
        .take_while(|(a, b)| a == b)
        .map(|(component, _)| component)
        .collect()
}

fn with_slashes(path: &Path) -> String {
    let components = path.components().map(|c| c.as_os_str().to_string_lossy());
    components.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_the_format() {
        for (name, format) in [
            ("a.jsonl", Format::JsonLines),
            ("a.JSONL.zst", Format::JsonLines),
            ("b/a.json.gz", Format::JsonLines),
            ("a.parquet", Format::Parquet),
            ("a.txt.gz", Format::Text),
            ("README", Format::Text),
        ] {
            assert_eq!(Format::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn common_parents_end_between_components() {
        let common = common_parent(Path::new("/a/b/c"), Path::new("/a/bc"));
        assert_eq!(common, Path::new("/a"));
    }
}
