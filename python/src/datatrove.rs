//! datatrove's signatures: `simgpu.datatrove`. [`simgpu_twins::datatrove`] computes them; here Python and spaCy are asked
//! what it does not know, and datatrove's configuration is read.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::PyBytes;
use simgpu_twins::datatrove::{
    Character, Cut, Document, DocumentSigner, MinhashConfig, NamedHash, Obstacle, RecordLayout,
    Simplification, Tokenizer, sorted_records,
};

use crate::errors::{OrRaise, parameter_error};

/// Signs batches of texts, or of lists of words, into the records of datatrove's `.minhash.sig` files.
///
/// `config` is datatrove's `MinhashConfig`. `host` answers what Python and spaCy must be asked; see
/// `simgpu.datatrove._Host`.
#[pyclass(module = "simgpu._simgpu", name = "_DatatroveSigner")]
#[derive(Debug)]
pub(crate) struct DatatroveSigner {
    signer: DocumentSigner,
    host: Py<PyAny>,
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
        let config = MinhashConfig {
            n_grams: number(py, config, "n_grams")? as usize,
            simplification: simplification(&config.getattr("norm_config")?)?,
            layout: layout(py, config)?,
        };
        let ascii = characters.into_iter().map(|(_, answer)| answer).collect();
        Ok(DatatroveSigner {
            signer: DocumentSigner::new(config, ascii, tokenizer).or_raise(py)?,
            host: host.unbind(),
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
        let mut document = Document::<PyBackedStr>::Text;
        while let Some(obstacle) = self.signer.read(&document, &text) {
            self.ask(py)?;
            self.overcome(py, &mut document, &text, obstacle)?;
        }
        Ok(self.signer.words().map(str::to_owned).collect())
    }
}

impl DatatroveSigner {
    fn sign_documents<'py>(
        &mut self,
        py: Python<'py>,
        texts: &[PyBackedStr],
        mut documents: Vec<Document<PyBackedStr>>,
        first: u64,
    ) -> PyResult<(usize, Vec<Bound<'py, PyBytes>>)> {
        self.signer.begin_batch();
        loop {
            let signer = &mut self.signer;
            let obstacles = py.detach(|| signer.sign_readable(texts, &mut documents, first));
            let obstacles = obstacles.or_raise(py)?;
            if obstacles.is_empty() {
                break;
            }
            self.ask(py)?;
            for (i, obstacle) in obstacles {
                self.overcome(py, &mut documents[i], &texts[i], obstacle)?;
            }
        }
        let (count, buckets) = self.signer.take_records();
        let buckets = buckets.map(|bucket| PyBytes::new(py, &bucket)).collect();
        Ok((count, buckets))
    }

    /// Asks Python about all unknown characters and stretches.
    fn ask(&mut self, py: Python<'_>) -> PyResult<()> {
        let host = self.host.bind(py);
        let characters = self.signer.take_unknown_characters();
        for (c, answer) in answers(host, characters.into_iter())? {
            self.signer.learn_character(c, answer);
        }
        let stretches = self.signer.take_unknown_stretches();
        if let (Some(tokenizer), false) = (self.signer.tokenizer_mut(), stretches.is_empty()) {
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
        document: &mut Document<PyBackedStr>,
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
fn simplification(config: &Bound<'_, PyAny>) -> PyResult<Simplification> {
    let is_on = |name| config.getattr(name)?.is_truthy();
    Ok(Simplification {
        lowercase: is_on("lowercase")?,
        norm_whitespace: is_on("norm_whitespace")?,
        remove_punctuation: is_on("remove_punctuation")?,
        norm_unicode_diacritics: is_on("norm_unicode_diacritics")?,
        norm_numbers: is_on("norm_numbers")?,
        norm_weekdays: is_on("norm_weekdays")?,
        norm_monthnames: is_on("norm_monthnames")?,
    })
}

/// What datatrove's `MinhashConfig` says about records.
fn layout(py: Python<'_>, config: &Bound<'_, PyAny>) -> PyResult<RecordLayout> {
    let hashing = config.getattr("hash_config")?;
    let hash: PyBackedStr = hashing.getattr("hash_fc")?.extract()?;
    let precision: u32 = hashing.getattr("precision")?.extract()?;
    let buckets = number(py, config, "num_buckets")?;
    let hashes_per_bucket = number(py, config, "hashes_per_bucket")?;
    let seed = number(py, config, "seed")?;
    let named = NamedHash {
        name: &hash,
        precision,
    };
    let layout = RecordLayout::new(named, seed, buckets, hashes_per_bucket);
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
    let sorted = py.detach(|| sorted_records(unsorted, hashes_per_bucket, precision));
    PyBytes::new(py, &sorted)
}
