//! Signs texts as datatrove's first MinHash stage does.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;

use super::records::{Layout, RecordSigner};
use super::simplify::{Buffers, Character, Options, Simplified, Simplifier, Unknown};
use super::words::{Cut, Tokenizer, Words, WordsCut};
use crate::errors::{OrRaise, parameter_error};

/// Signs batches of texts, or of lists of words, into the records of datatrove's `.minhash.sig` files.
///
/// `config` is datatrove's `MinhashConfig`. `host` answers what Python and spaCy must be asked; see
/// `simgpu.datatrove._Host`.
#[pyclass(module = "simgpu._simgpu", name = "_DatatroveSigner")]
#[derive(Debug)]
pub(crate) struct DatatroveSigner {
    n_grams: usize,
    simplifier: Simplifier,
    /// `None` if a batch must bring its words.
    tokenizer: Option<Tokenizer>,
    records: RecordSigner,
    host: Py<PyAny>,
    work: Work,
}

/// The working memory of one document after the other.
#[derive(Debug, Default)]
struct Work {
    buffers: Buffers,
    words: Words,
    unknown_characters: Unknown,
    unknown_stretches: HashSet<Box<str>>,
}

/// How far a document has come.
enum Document {
    Text,
    /// Python simplified it.
    Simplified(String),
    /// datatrove's tokenizer cut it.
    Cut(Vec<PyBackedStr>),
    /// It has its records.
    Done,
}

/// What keeps a document from being read.
enum Obstacle {
    /// A character or a stretch that Python has not been asked about.
    Unknown,
    /// A text that Python must simplify.
    Simplify,
    /// A simplified text that datatrove's tokenizer must cut.
    Tokenize(String),
}

#[pymethods]
impl DatatroveSigner {
    #[new]
    fn new(py: Python<'_>, config: &Bound<'_, PyAny>, host: Bound<'_, PyAny>) -> PyResult<Self> {
        let characters = answers(&host, (0..128u8).map(char::from))?;
        let tokenizer = match host.call_method0("exceptions")? {
            none if none.is_none() => None,
            exceptions => Some(tokenizer(&exceptions)?),
        };
        Ok(DatatroveSigner {
            n_grams: number(py, config, "n_grams")? as usize,
            simplifier: Simplifier::new(
                options(&config.getattr("norm_config")?)?,
                characters.into_iter().map(|(_, answer)| answer).collect(),
            ),
            tokenizer,
            records: RecordSigner::new(layout(py, config)?).or_raise(py)?,
            host: host.unbind(),
            work: Work::default(),
        })
    }

    /// Signs texts: text i is document `first + i` of the task. Returns the number of documents that have a record,
    /// and the records of each bucket, in the order of documents or not.
    fn sign<'py>(
        &mut self,
        py: Python<'py>,
        texts: Vec<PyBackedStr>,
        first: u64,
    ) -> PyResult<(usize, Vec<Bound<'py, PyBytes>>)> {
        let documents = texts.iter().map(|_| Document::Text).collect();
        self.sign_documents(py, &texts, documents, first)
    }

    /// Signs documents given as lists of words, as `sign` does.
    fn sign_words<'py>(
        &mut self,
        py: Python<'py>,
        documents: Vec<Vec<PyBackedStr>>,
        first: u64,
    ) -> PyResult<(usize, Vec<Bound<'py, PyBytes>>)> {
        let documents = documents.into_iter().map(Document::Cut).collect();
        self.sign_documents(py, &[], documents, first)
    }

    /// The words of one text.
    fn words(&mut self, py: Python<'_>, text: PyBackedStr) -> PyResult<Vec<String>> {
        let mut document = Document::Text;
        while let Some(obstacle) = self.read(&document, &text) {
            self.ask(py)?;
            self.overcome(py, &mut document, &text, obstacle)?;
        }
        Ok(self.work.words.iter().map(str::to_owned).collect())
    }
}

impl DatatroveSigner {
    fn sign_documents<'py>(
        &mut self,
        py: Python<'py>,
        texts: &[PyBackedStr],
        mut documents: Vec<Document>,
        first: u64,
    ) -> PyResult<(usize, Vec<Bound<'py, PyBytes>>)> {
        if let Some(tokenizer) = &mut self.tokenizer {
            tokenizer.limit();
        }
        loop {
            let obstacles = py.detach(|| self.sign_readable(texts, &mut documents, first));
            let obstacles = obstacles.or_raise(py)?;
            if obstacles.is_empty() {
                break;
            }
            self.ask(py)?;
            for (i, obstacle) in obstacles {
                self.overcome(py, &mut documents[i], &texts[i], obstacle)?;
            }
        }
        let (count, buckets) = self.records.take();
        let buckets = buckets.map(|bucket| PyBytes::new(py, &bucket)).collect();
        Ok((count, buckets))
    }

    /// Signs the documents that can be read, and returns the others with what they lack.
    fn sign_readable(
        &mut self,
        texts: &[PyBackedStr],
        documents: &mut [Document],
        first: u64,
    ) -> simgpu::Result<Vec<(usize, Obstacle)>> {
        let mut obstacles = Vec::new();
        for (i, document) in documents.iter_mut().enumerate() {
            if matches!(document, Document::Done) {
                continue;
            }
            let text = texts.get(i).map_or("", |text| text);
            match self.read(document, text) {
                Some(obstacle) => obstacles.push((i, obstacle)),
                None => {
                    let shingles = self.work.words.joined_runs(self.n_grams);
                    self.records
                        .push(shingles, first.saturating_add(i as u64))?;
                    *document = Document::Done;
                }
            }
        }
        Ok(obstacles)
    }

    /// Reads the words of a document into `self.work.words`.
    fn read(&mut self, document: &Document, text: &str) -> Option<Obstacle> {
        let Work {
            buffers,
            words,
            unknown_characters,
            unknown_stretches,
        } = &mut self.work;
        let simplified = match document {
            Document::Done => return None,
            Document::Cut(cut) => {
                words.clear();
                cut.iter().for_each(|word| words.push(word));
                return None;
            }
            Document::Simplified(text) => text,
            Document::Text => match self.simplifier.simplify(text, buffers, unknown_characters) {
                Simplified::Done => &buffers.simplified,
                Simplified::Unknown => return Some(Obstacle::Unknown),
                Simplified::ByPython => return Some(Obstacle::Simplify),
            },
        };
        let cut = self.tokenizer.as_ref().map_or(WordsCut::BySpacy, |known| {
            known.cut(simplified, words, unknown_stretches)
        });
        match cut {
            WordsCut::Done => None,
            WordsCut::Unknown => Some(Obstacle::Unknown),
            WordsCut::BySpacy => Some(Obstacle::Tokenize(simplified.clone())),
        }
    }

    /// Asks Python about all unknown characters and stretches.
    fn ask(&mut self, py: Python<'_>) -> PyResult<()> {
        let host = self.host.bind(py);
        let characters = std::mem::take(&mut self.work.unknown_characters.characters);
        for (c, answer) in answers(host, characters.into_iter())? {
            self.simplifier.learn(c, answer);
        }
        let stretches = std::mem::take(&mut self.work.unknown_stretches);
        if let (Some(tokenizer), false) = (&mut self.tokenizer, stretches.is_empty()) {
            let stretches: Vec<&str> = stretches.iter().map(|stretch| &**stretch).collect();
            let cuts = host.call_method1("cut", (&stretches,))?;
            let cuts: Vec<(Vec<PyBackedStr>, u32, u32)> = cuts.extract()?;
            for (stretch, (tokens, first, last)) in stretches.into_iter().zip(cuts) {
                let tokens = tokens.join(" ").into();
                tokenizer.learn(
                    stretch,
                    Cut {
                        tokens,
                        first,
                        last,
                    },
                );
            }
        }
        Ok(())
    }

    /// Lets Python do what keeps a document from being read.
    fn overcome(
        &self,
        py: Python<'_>,
        document: &mut Document,
        text: &str,
        obstacle: Obstacle,
    ) -> PyResult<()> {
        match obstacle {
            Obstacle::Unknown => {}
            Obstacle::Simplify => {
                let simplified = self.host.call_method1(py, "simplify", (text,))?;
                *document = Document::Simplified(simplified.extract(py)?);
            }
            Obstacle::Tokenize(text) => {
                let words = self.host.call_method1(py, "tokenize", (text,))?;
                *document = Document::Cut(words.extract(py)?);
            }
        }
        Ok(())
    }
}

/// What Python says about characters.
fn answers(
    host: &Bound<'_, PyAny>,
    characters: impl Iterator<Item = char>,
) -> PyResult<Vec<(char, Character)>> {
    let asked: String = characters.collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let answers = host.call_method1("characters", (&asked,))?;
    let answers: Vec<(String, String, bool, bool, bool)> = answers.extract()?;
    let characters = asked.chars().zip(answers).map(|(c, answer)| {
        let (lower, decomposed, is_digit, is_punctuation, reorders) = answer;
        let unless_same = |text: String| (!text.chars().eq([c])).then(|| text.into());
        let character = Character {
            lower: unless_same(lower),
            decomposed: unless_same(decomposed),
            is_digit,
            is_punctuation,
            reorders,
        };
        (c, character)
    });
    Ok(characters.collect())
}

/// A tokenizer from the host's answer (letters are words, exceptions, edges).
fn tokenizer(exceptions: &Bound<'_, PyAny>) -> PyResult<Tokenizer> {
    let (letters_are_words, exceptions, edges): (bool, Vec<String>, HashSet<(u32, u32)>) =
        exceptions.extract()?;
    let exceptions = exceptions.into_iter().map(Into::into).collect();
    Ok(Tokenizer::new(letters_are_words, exceptions, edges))
}

/// The options of datatrove's `TextNormConfig`.
fn options(config: &Bound<'_, PyAny>) -> PyResult<Options> {
    let on = |name| config.getattr(name)?.is_truthy();
    Ok(Options {
        lowercase: on("lowercase")?,
        norm_whitespace: on("norm_whitespace")?,
        remove_punctuation: on("remove_punctuation")?,
        norm_unicode_diacritics: on("norm_unicode_diacritics")?,
        norm_numbers: on("norm_numbers")?,
        norm_weekdays: on("norm_weekdays")?,
        norm_monthnames: on("norm_monthnames")?,
    })
}

/// What datatrove's `MinhashConfig` says about records.
fn layout(py: Python<'_>, config: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let hashing = config.getattr("hash_config")?;
    let hash: PyBackedStr = hashing.getattr("hash_fc")?.extract()?;
    let precision: u32 = hashing.getattr("precision")?.extract()?;
    let buckets = number(py, config, "num_buckets")?;
    let hashes_per_bucket = number(py, config, "hashes_per_bucket")?;
    let seed = number(py, config, "seed")?;
    let layout = Layout::new((&hash, precision), seed, (buckets, hashes_per_bucket));
    layout.ok_or_else(|| {
        let message = format!(
            "hash_config has hash_fc={:?} and precision={precision}; give \"xxhash\" or \"sha1\", and 64 or 32",
            &*hash
        );
        parameter_error(py, message)
    })
}

/// A number of the configuration.
fn number(py: Python<'_>, config: &Bound<'_, PyAny>, name: &str) -> PyResult<u32> {
    let value = config.getattr(name)?;
    value.extract().map_err(|_| {
        let message = format!(
            "{name} is {value}; give a whole number from 0 to {}",
            u32::MAX
        );
        parameter_error(py, message)
    })
}

/// Sorts records of a `.minhash.sig` file: by their hashes, then by document.
#[pyfunction]
#[pyo3(name = "_sort_datatrove_records")]
pub(crate) fn sort_records<'py>(
    py: Python<'py>,
    records: &Bound<'py, PyBytes>,
    hashes_per_bucket: NonZeroUsize,
    precision: u32,
) -> Bound<'py, PyBytes> {
    let unsorted = records.as_bytes();
    let sorted = py.detach(|| super::records::sorted(unsorted, hashes_per_bucket, precision));
    PyBytes::new(py, &sorted)
}
