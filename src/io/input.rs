//! Which files there are to read, and in what form.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::compression::{Compression, FrameWriter};
use crate::error::{Error, Result};

/// How a file holds documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object a line.
    JsonLines,
    /// One document a row.
    Parquet,
    /// One document a file.
    Text,
}

impl Format {
    /// The format that a file name speaks of; what nothing speaks of is text.
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

/// One file to read.
#[derive(Clone, Debug)]
pub struct InputFile {
    /// The file to open.
    pub(crate) path: PathBuf,
    /// The file as it was named, for messages.
    pub(crate) named: PathBuf,
    /// Its path relative to the inputs' common parent, with `/`: its name in reports and in the output.
    pub(crate) relative: String,
    pub(crate) format: Format,
    pub(crate) compression: Compression,
    /// How it came, and how what is kept of it is written: stdin is compressed on its way.
    pub(crate) arrived: Compression,
    /// Whether it is stdin, copied.
    pub(crate) is_spool: bool,
}

/// All files to read, in order: as they were named, a folder's and a glob's by name.
#[derive(Debug)]
pub struct Inputs {
    pub(crate) files: Vec<InputFile>,
    /// Files that were named more than once, and are read once.
    pub(crate) repeated: Vec<PathBuf>,
}

impl Inputs {
    /// Finds the files behind names: files, folders (walked), globs, and `-` for stdin, which is
    /// copied to `stdin_spool`, compressed, so that it can be read twice.
    ///
    /// # Errors
    /// [`Error::Input`] for a name behind which there is nothing, [`Error::Io`] where the system
    /// refuses.
    pub fn find(names: &[PathBuf], format: Option<Format>, stdin_spool: &Path) -> Result<Self> {
        let mut found = Found::default();
        let mut stdin_at = None;
        for name in names {
            if name.as_os_str() == "-" {
                stdin_at.get_or_insert(found.files.len());
            } else if name.is_dir() {
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
                arrived: compression,
                is_spool: false,
                relative,
                path: named.clone(),
                named,
            });
        }
        let mut inputs = Inputs {
            files,
            repeated: found.repeated,
        };
        if let Some(at) = stdin_at {
            inputs.check_spared_by(&[stdin_spool.to_owned()])?;
            let file = spool_stdin(format, stdin_spool)?;
            let mut others = inputs.files.iter();
            if others.any(|other| other.relative == file.relative) {
                return Err(Error::Conflict(format!(
                    "stdin would be written as {name}, which is the name of another input; rename that file",
                    name = file.relative
                )));
            }
            inputs.files.insert(at, file);
        }
        Ok(inputs)
    }

    /// The names of the files in reports and outputs, in order: their paths relative to the inputs' common
    /// parent, with `/`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| &*file.relative)
    }

    /// Bytes of all files as they are stored.
    pub(crate) fn stored_bytes(&self) -> u64 {
        let size = |file: &InputFile| file.path.metadata().map_or(0, |metadata| metadata.len());
        self.files.iter().map(size).sum()
    }

    /// Refuses outputs that would take the place of an input: the same file, or a folder around it.
    ///
    /// # Errors
    /// [`Error::Output`] if so.
    pub fn check_spared_by(&self, outputs: &[PathBuf]) -> Result<()> {
        let named = self.files.iter().filter(|file| !file.is_spool);
        let named: Vec<&Path> = named.map(|file| &*file.named).collect();
        check_spared(&named, outputs)
    }
}

/// Refuses outputs that would take the place of an input: the same file, or a folder around it.
pub(crate) fn check_spared(inputs: &[&Path], outputs: &[PathBuf]) -> Result<()> {
    for output in outputs {
        let output_is = real_path(output)?;
        for input in inputs {
            if real_path(input)?.starts_with(&output_is) {
                return Err(Error::Output {
                    path: output.clone(),
                    problem: format!("the input {} lies there", input.display()),
                    remedy: "choose another output".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Refuses an output inside a folder that is an input: the next run would read it.
///
/// # Errors
/// [`Error::Output`] if so.
pub fn check_output_outside(inputs: &[PathBuf], output: &Path) -> Result<()> {
    let output_is = real_path(output)?;
    for folder in inputs.iter().filter(|input| input.is_dir()) {
        if output_is.starts_with(real_path(folder)?) {
            return Err(Error::Output {
                path: output.to_owned(),
                problem: format!("it lies inside the input folder {}", folder.display()),
                remedy: "choose a folder outside of the inputs".to_owned(),
            });
        }
    }
    Ok(())
}

/// The path without links, of which the end need not exist yet.
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

#[derive(Default)]
struct Found {
    /// Each file as named, and its absolute path without `..`, from which its name in reports is made.
    files: Vec<(PathBuf, PathBuf)>,
    seen: HashSet<PathBuf>,
    parents: Vec<PathBuf>,
    repeated: Vec<PathBuf>,
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
                "it is no regular file, which can be read twice",
                "pipe it in and name -",
            );
        }
        if path.to_str().is_none() {
            return refuse(
                "its name is not UTF-8, in which reports are written",
                "rename it",
            );
        }
        // Two names of one file, a link among them, would make each document its own duplicate.
        let identity = named.canonicalize().map_err(Error::io("open", &named))?;
        if self.seen.insert(identity) {
            self.files.push((named, path));
            self.parents.push(parent);
        } else {
            self.repeated.push(named);
        }
        Ok(())
    }

    fn folder(&mut self, folder: &Path) -> Result<()> {
        let absolute_folder = absolute(folder)?;
        let before = self.files.len() + self.repeated.len();
        let walk = walkdir::WalkDir::new(folder)
            .follow_links(true)
            .sort_by_file_name();
        for entry in walk {
            let entry = entry.map_err(|error| Error::Input {
                path: error.path().unwrap_or(folder).to_owned(),
                problem: match error.io_error() {
                    Some(io) => io.to_string(),
                    None => "its links go round in a circle".to_owned(),
                },
                remedy: "make it readable, or name the files".to_owned(),
            })?;
            if entry.file_type().is_file() {
                self.file(entry.into_path(), absolute_folder.clone())?;
            }
        }
        if self.files.len() + self.repeated.len() == before {
            return Err(Error::Input {
                path: folder.to_owned(),
                problem: "the folder holds no file".to_owned(),
                remedy: "name a folder with documents".to_owned(),
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
        let paths =
            glob::glob(text).map_err(|error| missing(&format!("not a pattern: {error}")))?;
        let mut any = false;
        for path in paths {
            let path = path.map_err(|error| Error::Io {
                action: "read",
                path: error.path().to_owned(),
                source: error.into(),
            })?;
            if path.is_file() {
                any = true;
                let parent = parent_of(&absolute(&path)?);
                self.file(path, parent)?;
            }
        }
        if any {
            Ok(())
        } else {
            Err(missing("no file matches"))
        }
    }
}

/// Reads one text from a file, or from stdin if its name is `-`; plain, gzip or zstd.
///
/// # Errors
/// [`Error::Io`] when it cannot be read, [`Error::Input`] when it is not UTF-8 text.
pub fn read_text(name: &Path) -> Result<String> {
    let is_stdin = name.as_os_str() == "-";
    let name = if is_stdin { Path::new("stdin") } else { name };
    let stored = if is_stdin {
        let mut stored = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut stored);
        read.map(|_| stored)
    } else {
        std::fs::read(name)
    };
    let stored = stored.map_err(Error::io("read", name))?;
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
        let problem = format!("it is compressed, and damaged ({error})");
        broken(problem, "get the file again from where it came from")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let problem = format!("invalid UTF-8 at byte {at}");
        broken(problem, "name a text, or convert it to UTF-8")
    })
}

/// Copies stdin to a file beside the output: as it is if it is compressed or Parquet, which is read
/// from its end, and compressed if it is not.
fn spool_stdin(format: Option<Format>, spool: &Path) -> Result<InputFile> {
    let named = PathBuf::from("stdin");
    let mut stdin = io::stdin().lock();
    let mut start = Vec::new();
    stdin
        .by_ref()
        .take(4)
        .read_to_end(&mut start)
        .map_err(Error::io("read", &named))?;
    let arrived = Compression::of_start(&start);
    let is_parquet = format == Some(Format::Parquet) || format.is_none() && start == *b"PAR1";
    let mut all = start.as_slice().chain(stdin);
    let file = File::create(spool).map_err(Error::io("create", spool))?;
    let compression = if arrived == Compression::None && !is_parquet {
        Compression::Zstd
    } else {
        arrived
    };
    let copied = if compression == arrived {
        let mut file = file;
        io::copy(&mut all, &mut file).map(drop)
    } else {
        let mut writer = FrameWriter::new(file, compression);
        io::copy(&mut all, &mut writer).and_then(|_| writer.finish())
    };
    copied.map_err(Error::io("copy stdin to", spool))?;
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
        path: spool.to_owned(),
        named,
        relative: format!("stdin{ending}{}", arrived.ending()),
        format,
        compression,
        arrived,
        is_spool: true,
    })
}

fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    // `absolute` leaves `..` in place, over which a prefix could not be told.
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
    fn formats_by_name() {
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
    fn common_parents() {
        let common = common_parent(Path::new("/a/b/c"), Path::new("/a/bc"));
        assert_eq!(common, Path::new("/a"));
    }
}
