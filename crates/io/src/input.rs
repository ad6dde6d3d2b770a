//! The files to read: found by name, by folder or by glob.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::arriving::ArrivingLines;
use super::broken_stream;
use super::compression::{Compression, FrameWriter};
use super::find::{BrokenLink, FoundFiles, absolute, common_parent, parent_of, with_slashes};
use super::format::{
    BYTE_ORDER_MARK, Format, Quote, START, Separators, check_ending, check_start, is_code,
    other_encoding, unknown_ending, unknown_start,
};
use super::globs::FileFilter;
use super::longest::LongestRecord;
use super::not_read::NotRead;
use super::refusal::Refusal;
use simgpu::error::{Conflict, Error, Result, check_local_output, remote_input};
use simgpu::progress::{Progress, advance};
use simgpu::store::disk::is_absent;
use simgpu::store::unnamed_file;
use simgpu_base::encoding::{looks_like, other_unicode};

/// A file to read.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct InputFile {
    place: Place,
    /// The path as given, for messages.
    #[doc(hidden)]
    pub named: PathBuf,
    /// The path relative to the common parent of the inputs, with `/`: its name in reports and outputs.
    #[doc(hidden)]
    pub relative: String,
    #[doc(hidden)]
    pub format: Format,
    /// What separates the fields of a record of CSV or TSV.
    pub(crate) separators: Option<Separators>,
    pub(crate) compression: Compression,
    /// The compression of the original, used for kept records. The copy of a stream may be compressed
    /// differently.
    #[doc(hidden)]
    pub original_compression: Compression,
}

/// The location of an input's bytes.
#[derive(Clone, Debug)]
enum Place {
    Path(PathBuf),
    /// A copy of the stream in an unnamed temporary file.
    Copy(Arc<File>),
}

impl InputFile {
    /// Looks at the name and the first bytes of a file, which may be program text if the input `takes_code`.
    pub(super) fn find(
        named: PathBuf,
        relative: String,
        naming: &Naming,
        takes_code: bool,
    ) -> Result<Self> {
        let format = naming.format;
        let format = format.or_else(|| Format::from_name(&relative, takes_code));
        let mut start = Vec::new();
        File::open(&named)
            .map_err(Error::io("open", &named))?
            .take(START as u64)
            .read_to_end(&mut start)
            .map_err(Error::io("read", &named))?;
        if format.is_none() {
            check_ending(&named, &relative)?;
        }
        check_start(&named, &start)?;
        let format = format.ok_or_else(|| unknown_ending(&named, &relative))?;
        let compression = Compression::from_start(&start);
        Ok(InputFile {
            format,
            separators: separators_of(format, naming),
            compression,
            original_compression: compression,
            relative,
            place: Place::Path(named.clone()),
            named,
        })
    }

    /// The folder of an index in place of a file, which has no records to read.
    #[doc(hidden)]
    pub fn from_index(folder: &Path) -> Self {
        InputFile {
            format: Format::JsonLines,
            separators: None,
            compression: Compression::None,
            original_compression: Compression::None,
            relative: folder.display().to_string(),
            place: Place::Path(folder.to_owned()),
            named: folder.to_owned(),
        }
    }

    /// Opens the file at its start. The copy of a stream can be read by only one reader at a time.
    #[doc(hidden)]
    pub fn open(&self) -> io::Result<File> {
        match &self.place {
            Place::Path(path) => File::open(path),
            Place::Copy(file) => {
                let mut file = file.try_clone()?;
                file.rewind()?;
                Ok(file)
            }
        }
    }

    /// The size and time of the file as it is now.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        match &self.place {
            Place::Path(path) => path.metadata(),
            Place::Copy(file) => file.metadata(),
        }
    }

    /// The size of the file as stored.
    #[doc(hidden)]
    pub fn stored_bytes(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }
}

/// How [`Inputs::find_with`] reads names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// The format of all files; `None` lets the ending of each name decide.
    pub format: Option<Format>,
    /// The character between two fields in CSV and TSV files, of ASCII; `None` is a comma for CSV and a tab for
    /// TSV.
    pub delimiter: Option<u8>,
    /// The character around fields of CSV and TSV files that hold a delimiter or a line break; `None` is `"` for CSV, and no
    /// character for TSV.
    pub quote: Option<Quote>,
    /// Whether folders and globs include files and folders whose names start with a dot; default false.
    pub hidden: bool,
    /// Which of the files in folders and globs to read; default all.
    pub filter: FileFilter,
    /// Whether program text, such as `.py` and `.rs`, is read as text in folders and globs, too; default false. Files that
    /// are named themselves always are.
    pub takes_code: bool,
}

/// The input files of a run, in the order in which they were given. Files from a folder or a glob are sorted
/// by name.
///
/// ```no_run
/// use std::path::PathBuf;
/// use simgpu_io::Inputs;
///
/// let inputs = Inputs::find(&[PathBuf::from("corpus"), PathBuf::from("more/*.jsonl.gz")], None)?;
/// println!("{} files", inputs.names().count());
/// # Ok::<(), simgpu::Error>(())
/// ```
pub struct Inputs {
    #[doc(hidden)]
    pub files: Vec<InputFile>,
    not_read: Box<NotRead>,
    /// The folders among the given names.
    folders: Vec<PathBuf>,
    naming: Naming,
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
    /// Folders and globs leave out hidden files and the marks that programs write beside their data, such as
    /// `_SUCCESS`. [`Inputs::find_with`] can include hidden ones. They also leave out what [`Inputs::not_read`] counts:
    /// links that lead nowhere, and files such as `README.md` beside files of records.
    ///
    /// # Errors
    /// [`Error::Input`] if a name matches no file, a file is not a regular file, or a name has an unknown
    /// ending; [`Error::Io`] if a file or folder cannot be opened.
    pub fn find(names: &[PathBuf], format: Option<Format>) -> Result<Self> {
        let naming = Naming {
            format,
            ..Naming::default()
        };
        Inputs::find_with(names, naming)
    }

    /// Finds the files for the given names, like [`Inputs::find`], with more options.
    ///
    /// # Errors
    /// Those of [`Inputs::find`]; [`Error::Parameter`] if the delimiter or quote cannot separate fields, or no input is
    /// CSV or TSV; [`Error::Input`] if the filter accepts no file of a folder or glob.
    pub fn find_with(names: &[PathBuf], naming: Naming) -> Result<Self> {
        let mut found = FoundFiles::new(naming.format, naming.hidden, naming.filter.clone());
        let mut stream_at = None;
        let mut folders = Vec::new();
        for name in names {
            if name.as_os_str() == "-" {
                stream_at.get_or_insert(found.files.len());
                continue;
            }
            match name.metadata() {
                Ok(metadata) if metadata.is_dir() => {
                    folders.push(name.clone());
                    found.folder(name)?;
                }
                Ok(_) => found.file(name.clone(), parent_of(&absolute(name)?))?,
                Err(error) if is_absent(&error) || BrokenLink::find(name).is_some() => {
                    match remote_input(name) {
                        Some(refused) => return Err(refused),
                        None => found.glob(name)?,
                    }
                }
                Err(error) => return Err(Error::io("read", name)(error)),
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
            // A program that is named itself is meant; one in a folder may be there by chance.
            let takes_code = naming.takes_code || names.contains(&named);
            let file = InputFile::find(named, relative, &naming, takes_code);
            files.push(file.map_err(|error| match error {
                Error::Input {
                    path,
                    problem,
                    remedy,
                } if !names.contains(&path) => Error::Input {
                    path,
                    problem,
                    remedy: format!("leave out the file with `exclude` or `include`, {remedy}"),
                },
                error => error,
            })?);
        }
        check_separators(&naming, &files)?;
        let below_common = |named: &Path| {
            let path = absolute(named).unwrap_or_else(|_| named.to_owned());
            with_slashes(path.strip_prefix(&common).unwrap_or(&path))
        };
        Ok(Inputs {
            files,
            not_read: Box::new(found.not_read.with_names(below_common)),
            folders,
            naming,
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

    /// Whether a record may have fields: not if all inputs are text files.
    pub fn have_fields(&self) -> bool {
        let is_text = |format| format == Format::Text;
        let stream_may = self.names_stream() && !self.naming.format.is_some_and(is_text);
        stream_may || self.files.iter().any(|file| !is_text(file.format))
    }

    /// The first file that is read as text for its ending, which is one of programs.
    #[doc(hidden)]
    pub fn first_code(&self) -> Option<&Path> {
        let is_code = |file: &&InputFile| {
            file.format == Format::Text && self.naming.format.is_none() && is_code(&file.relative)
        };
        self.files.iter().find(is_code).map(|file| &*file.named)
    }

    /// The first file whose records get no field for marks.
    #[doc(hidden)]
    pub fn first_without_marks(&self) -> Option<&Path> {
        let has_none = |file: &&InputFile| {
            use Format::{Arrow, Json, JsonLines, Parquet};
            !matches!(file.format, JsonLines | Json | Parquet | Arrow)
        };
        self.files.iter().find(has_none).map(|file| &*file.named)
    }

    /// Whether `-` is among the given names.
    pub fn names_stream(&self) -> bool {
        self.stream_at.is_some()
    }

    /// What the names lead to and a run does not read.
    pub fn not_read(&self) -> &NotRead {
        &self.not_read
    }

    /// The names of the files in reports and outputs, in order: their paths relative to the common parent of
    /// the inputs, with `/`. A stream is not included.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.relative)
    }

    /// An estimate of the bytes of text in all files; `None` with a stream, whose length is unknown.
    pub fn text_bytes(&self) -> Option<u64> {
        /// About what compression, also that within Parquet, saves on text.
        const RATIO: u64 = 4;
        let bytes = |file: &InputFile| {
            let is_plain = file.compression == Compression::None && file.format != Format::Parquet;
            file.stored_bytes() * if is_plain { 1 } else { RATIO }
        };
        (!self.names_stream()).then(|| self.files.iter().map(bytes).sum())
    }

    /// Refuses an output that is an input file, or a folder that contains one.
    #[doc(hidden)]
    pub fn check_not_overwritten_by(&self, outputs: &[PathBuf]) -> Result<()> {
        outputs
            .iter()
            .try_for_each(|output| check_local_output(output))?;
        let named: Vec<&Path> = self.files.iter().map(|file| &*file.named).collect();
        check_not_overwritten(&named, outputs)
    }

    /// Refuses a file that is also among the files of a reference, and a reference that is a stream.
    #[doc(hidden)]
    pub fn check_apart_from(&self, reference: &Inputs) -> Result<()> {
        if reference.names_stream() {
            return Err(Error::Input {
                path: PathBuf::from("-"),
                problem: "a reference cannot be a stream".to_owned(),
                remedy: "give `against` a file".to_owned(),
            });
        }
        let known = reference.files.iter().map(|file| real_path(&file.named));
        let known: HashSet<PathBuf> = known.collect::<Result<_>>()?;
        for file in &self.files {
            if known.contains(&real_path(&file.named)?) {
                return Err(Error::Input {
                    path: file.named.clone(),
                    problem: "it is an input and also in `against`".to_owned(),
                    remedy: "leave it out of one of them".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Refuses an output inside an input folder, because the next run would read it.
    #[doc(hidden)]
    pub fn check_output_outside(&self, output: &Path) -> Result<()> {
        check_local_output(output)?;
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

    /// The lines of the stream as they arrive, if it is the only input and holds lines of JSON; its name in reports beside them.
    #[doc(hidden)]
    pub fn arriving_lines(
        &self,
        longest: LongestRecord,
        progress: &dyn Progress,
    ) -> Result<Option<(ArrivingLines, String)>> {
        let may_be_lines = matches!(self.naming.format, None | Some(Format::JsonLines));
        if !self.names_stream() || !self.files.is_empty() || !may_be_lines {
            return Ok(None);
        }
        let Ok(mut stream) = self.stream.lock() else {
            return Ok(None);
        };
        let Some(opened) = stream.take() else {
            return Ok(None);
        };
        match ArrivingLines::new(opened, longest, progress)? {
            Ok(lines) => {
                let name = format!("stdin{}", Format::JsonLines.ending());
                Ok(Some((lines, name)))
            }
            Err(other) => {
                *stream = Some(other);
                Ok(None)
            }
        }
    }

    /// All files and, if `-` was given, a copy of the stream, which is a temporary file in `folder`: the stage `copy`, whose
    /// total is unknown.
    #[doc(hidden)]
    pub fn with_copy_of_stream(
        &self,
        folder: &Path,
        progress: &dyn Progress,
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
        progress.begin("copy", 0);
        let mut stream = Stoppable {
            stream,
            progress,
            bytes: 0,
        };
        let file = copy_stream(&mut stream, &self.naming, folder)?;
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

fn separators_of(format: Format, naming: &Naming) -> Option<Separators> {
    let usual = format.separators()?;
    Some(Separators {
        delimiter: naming.delimiter.unwrap_or(usual.delimiter),
        quote: match naming.quote {
            None => usual.quote,
            Some(Quote::None) => None,
            Some(Quote::Character(quote)) => Some(quote),
        },
    })
}

/// Refuses a delimiter or a quote that cannot separate fields, or that no input needs.
fn check_separators(naming: &Naming, files: &[InputFile]) -> Result<()> {
    let quote = naming.quote.map(|quote| match quote {
        Quote::None => None,
        Quote::Character(quote) => Some(quote),
    });
    let given = [
        ("`delimiter`", naming.delimiter.map(Some)),
        ("`quote`", quote),
    ];
    let is_needed = naming
        .format
        .is_some_and(|format| format.separators().is_some())
        || files.iter().any(|file| file.separators.is_some());
    for (name, character) in given {
        let Some(character) = character else {
            continue;
        };
        let is_possible = |byte: u8| match name {
            "`delimiter`" => byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n'),
            _ => byte.is_ascii() && !matches!(byte, b'\r' | b'\n'),
        };
        let is_delimiter = |byte: u8| {
            let mut separators = files.iter().filter_map(|file| file.separators);
            name == "`quote`"
                && (naming.delimiter == Some(byte)
                    || naming.delimiter.is_none()
                        && (naming.format.and_then(Format::separators))
                            .is_some_and(|usual| usual.delimiter == byte)
                    || separators.any(|separators| separators.delimiter == byte))
        };
        let expected = match character {
            Some(byte) if !is_possible(byte) && name == "`delimiter`" => {
                "one character of ASCII, no quote and no line break"
            }
            Some(byte) if !is_possible(byte) => "one character of ASCII, no line break",
            Some(byte) if is_delimiter(byte) => "another character than the delimiter",
            _ if !is_needed => "it with CSV or TSV inputs only, or add `format=csv`",
            _ => continue,
        };
        return Err(Error::Parameter {
            name,
            value: character.map_or("none".to_owned(), |byte| format!("{:?}", char::from(byte))),
            expected: expected.to_owned(),
        });
    }
    Ok(())
}

/// Refuses an output that is an input file, or a folder that contains one.
#[doc(hidden)]
pub fn check_not_overwritten(inputs: &[&Path], outputs: &[PathBuf]) -> Result<()> {
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

/// Refuses an output folder that contains the folder of an index, or lies in it.
#[doc(hidden)]
pub fn check_apart(index: &Path, output: &Path) -> Result<()> {
    let (index_is, output_is) = (real_path(index)?, real_path(output)?);
    if index_is.starts_with(&output_is) || output_is.starts_with(&index_is) {
        Err(Error::Output {
            path: output.to_owned(),
            problem: format!("it would overwrite the index {}", index.display()),
            remedy: "choose another output".to_owned(),
        })
    } else {
        Ok(())
    }
}

/// The path with symbolic links resolved. Its last components need not exist.
#[doc(hidden)]
pub fn real_path(path: &Path) -> Result<PathBuf> {
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

/// Reads one text from a stream, which may be compressed, without a byte order mark at its start. Error messages call the
/// stream `name`.
///
/// # Errors
/// [`Error::Io`] if the stream cannot be read; [`Error::Input`] if it is damaged, not UTF-8, or longer than 64 MiB.
pub fn read_text(mut stream: impl Read, name: &Path) -> Result<String> {
    let longest = LongestRecord::fixed();
    let most = longest.bytes() + 1;
    let check = |bytes: &[u8]| {
        if bytes.len() as u64 == most {
            Err(longest.refusal("the text", most).for_file(name))
        } else {
            Ok(())
        }
    };
    let mut stored = Vec::new();
    let read = stream.by_ref().take(most).read_to_end(&mut stored);
    read.map_err(Error::io("read", name))?;
    check(&stored)?;
    let broken = |problem: String, remedy: &str| Refusal::new(problem, remedy).for_file(name);
    let mut bytes = Vec::new();
    let compression = Compression::from_start(&stored);
    let stream = compression.reader(&*stored);
    let read = stream.and_then(|stream| stream.take(most).read_to_end(&mut bytes));
    check(&bytes)?;
    match read {
        Err(error) if compression == Compression::None => {
            return Err(Error::io("read", name)(error));
        }
        Err(error) => {
            let refusal = broken_stream::refusal(compression, &error, Cursor::new(&stored));
            return Err(refusal.for_file(name));
        }
        Ok(_) => {
            let size = stored.len() as u64;
            if let Some(problem) = Compression::problem_of_size(&name.to_string_lossy(), size) {
                return Err(broken(problem, "get the file again from its source"));
            }
        }
    }
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| match other_encoding(error.as_bytes()) {
        Some(encoding) => broken(other_unicode("the text", encoding), "convert it to UTF-8"),
        None => {
            let at = error.utf8_error().valid_up_to();
            let looks_like = looks_like(error.as_bytes());
            let problem = format!("invalid UTF-8 at byte {at}{looks_like}");
            broken(problem, "give a text file, or convert it to UTF-8")
        }
    })
}

/// A stream that reports each read; the progress may stop the run.
struct Stoppable<'a> {
    stream: Box<dyn Read + Send>,
    progress: &'a dyn Progress,
    bytes: u64,
}

/// Wraps the error that stopped a run, to pass it through the `Read` interface.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Stop(Error);

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.stream.read(buffer);
            self.bytes += read.as_ref().map_or(0, |read| *read as u64);
            let advanced = advance(self.progress, self.bytes, 0, self.bytes);
            advanced.map_err(|error| io::Error::other(Stop(error)))?;
            match read {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read,
            }
        }
    }
}

/// Copies a stream to an unnamed temporary file. Compresses the copy, unless the stream is already compressed
/// or is a table, whose reader needs random access.
fn copy_stream(stream: &mut impl Read, naming: &Naming, folder: &Path) -> Result<InputFile> {
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
        .take(START as u64)
        .read_to_end(&mut start)
        .map_err(failed("read", &named))?;
    check_start(&named, &start)?;
    let original_compression = Compression::from_start(&start);
    let is_plain = original_compression == Compression::None;
    let known = match naming.format {
        None if is_plain => Some(Format::from_start(&start).ok_or_else(|| unknown_start(&named))?),
        given => given,
    };
    let mut all = start.as_slice().chain(stream);
    let mut file = unnamed_file(folder).map_err(Error::io("create a temporary file in", folder))?;
    let compression = if is_plain && !known.is_some_and(Format::is_table) {
        Compression::Zstd
    } else {
        original_compression
    };
    let copied = if compression == original_compression {
        io::copy(&mut all, &mut file).map(drop)
    } else {
        let target = file.try_clone();
        target.and_then(|target| {
            let mut writer = FrameWriter::new(target, compression, None);
            io::copy(&mut all, &mut writer).and_then(|_| writer.finish())
        })
    };
    copied.map_err(failed("copy stdin to a temporary file in", folder))?;
    let format = match known {
        Some(format) => format,
        None => format_in(&file, compression).ok_or_else(|| unknown_start(&named))?,
    };
    Ok(InputFile {
        place: Place::Copy(Arc::new(file)),
        named,
        relative: format!("stdin{}{}", format.ending(), original_compression.ending()),
        format,
        separators: separators_of(format, naming),
        compression,
        original_compression,
    })
}

/// The format of a compressed copy, by its first bytes. The run reports damage when it reads the copy.
fn format_in(file: &File, compression: Compression) -> Option<Format> {
    const START: u64 = 4096;
    let start = || {
        let mut copy = file.try_clone()?;
        copy.rewind()?;
        let mut start = Vec::new();
        let mut stream = compression.reader(copy)?.take(START);
        stream.read_to_end(&mut start)?;
        Ok::<_, io::Error>(start)
    };
    Format::from_start(&start().unwrap_or_default())
}
