//! Signs texts as datatrove's first MinHash stage does.

use std::collections::HashSet;
use std::ops::Deref;

use super::records::{RecordLayout, RecordSigner};
use super::simplify::{
    Buffers, Character, Simplification, Simplified, Simplifier, UnknownCharacters,
};
use super::words::{Tokenizer, Words, WordsCut};

/// What decides the records of a text: datatrove's `MinhashConfig`.
#[derive(Clone, Copy, Debug)]
pub struct MinhashConfig {
    /// Words of a shingle.
    pub n_grams: usize,
    /// What changes before a text is cut into words.
    pub simplification: Simplification,
    /// Hash function, seed and buckets.
    pub layout: RecordLayout,
}

/// Signs batches of texts, or of lists of words, into the records of datatrove's `.minhash.sig` files.
///
/// What it does not know itself it lists: characters, stretches of text, and whole texts ([`Obstacle`]). Its caller asks
/// Python or spaCy, tells it the answers, and calls again.
#[derive(Debug)]
pub struct DocumentSigner {
    n_grams: usize,
    simplifier: Simplifier,
    /// `None` if a batch must bring its words.
    tokenizer: Option<Tokenizer>,
    records: RecordSigner,
    work: Work,
}

/// The working memory of one document after the other.
#[derive(Debug, Default)]
struct Work {
    buffers: Buffers,
    words: Words,
    unknown_characters: UnknownCharacters,
    unknown_stretches: HashSet<Box<str>>,
}

/// How far a document is read. `W` is a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document<W> {
    /// Not at all.
    Text,
    /// Python simplified it.
    Simplified(String),
    /// datatrove's tokenizer cut it.
    Cut(Vec<W>),
    /// It has its records.
    Done,
}

/// What keeps a document from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A character or a stretch that Python has not been asked about.
    Unknown,
    /// A text that Python must simplify.
    Simplify,
    /// A simplified text that datatrove's tokenizer must cut.
    Tokenize(String),
}

impl DocumentSigner {
    /// A signer. `ascii` is what Python says about the first 128 characters, in order. Without a tokenizer, datatrove's must
    /// cut each text.
    ///
    /// # Errors
    /// If the number of permutations is 0 or too great.
    pub fn new(
        config: MinhashConfig,
        ascii: Vec<Character>,
        tokenizer: Option<Tokenizer>,
    ) -> simgpu::Result<Self> {
        Ok(DocumentSigner {
            n_grams: config.n_grams,
            simplifier: Simplifier::new(config.simplification, ascii),
            tokenizer,
            records: RecordSigner::new(config.layout)?,
            work: Work::default(),
        })
    }

    /// Begins a batch: only between batches may the signer forget what it learnt.
    pub fn begin_batch(&mut self) {
        if let Some(tokenizer) = &mut self.tokenizer {
            tokenizer.limit();
        }
    }

    /// Signs the documents that can be read, and returns the others with what they lack. Text i is that of document i, which
    /// has the number `first + i`; documents that are cut need none.
    ///
    /// # Errors
    /// If a document's number does not fit a record.
    pub fn sign_readable<W: Deref<Target = str>>(
        &mut self,
        texts: &[impl Deref<Target = str>],
        documents: &mut [Document<W>],
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

    /// Reads the words of a document, which [`DocumentSigner::words`] then returns, or says what it lacks.
    pub fn read<W: Deref<Target = str>>(
        &mut self,
        document: &Document<W>,
        text: &str,
    ) -> Option<Obstacle> {
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

    /// The words of the document that was read last.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.work.words.iter()
    }

    /// Hands over the characters that Python must be asked about.
    pub fn take_unknown_characters(&mut self) -> HashSet<char> {
        std::mem::take(&mut self.work.unknown_characters.characters)
    }

    /// Remembers Python's answer about a character.
    pub fn learn_character(&mut self, c: char, character: Character) {
        self.simplifier.learn(c, character);
    }

    /// Hands over the stretches that spaCy must be asked about. Without a tokenizer there is none.
    pub fn take_unknown_stretches(&mut self) -> HashSet<Box<str>> {
        std::mem::take(&mut self.work.unknown_stretches)
    }

    /// The tokenizer, to which spaCy's answers are told.
    pub fn tokenizer_mut(&mut self) -> Option<&mut Tokenizer> {
        self.tokenizer.as_mut()
    }

    /// Hands over the number of documents with records, and the records of each bucket.
    pub fn take_records(&mut self) -> (usize, impl Iterator<Item = Vec<u8>>) {
        self.records.take()
    }
}
