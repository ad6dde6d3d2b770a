//! The files to read: found by name, by folder or by glob.

mod file;

mod naming;

mod stream;

mod paths;

use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::arriving::ArrivingLines;
use super::compression::Compression;
use super::find::{BrokenLink, FoundFiles, absolute, common_parent, parent_of, with_slashes};
use super::format::{Format, Quote, is_code};
use super::longest::LongestRecord;
use super::not_read::NotRead;
use simgpu::error::{Conflict, Error, Result, check_local_output, remote_input};
use simgpu::progress::Progress;
use simgpu::store::disk::is_absent;
use stream::{Stoppable, copy_stream};

pub use file::InputFile;
pub use naming::Naming;
pub use paths::{check_apart, check_not_overwritten, real_path};
pub use stream::read_text;

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
            has_failed: false,
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
