//! Public phrases: most of a question, in many documents of several sources, without the rest of it.
//!
//! A question may quote a text that many documents have, or begin with an instruction that every textbook gives. Such a phrase
//! is told by its spread, not by its frequency: a leaked question is frequent, too. The first reading counts, per word of a
//! question, the documents that hold half of the question and not this word. Words that many of them lack, in several
//! sources and with other words in their place, are the *rest*: a document without half of the rest holds the phrase alone.
//! Where the same words stand in their place everywhere, the documents are copies of one variant, which is no phrase.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use xxhash_rust::xxh3::xxh3_64;

use crate::findings::Findings;
use crate::scan::Contain;
use simgpu::error::{Error, Result};
use simgpu_io::{ColumnWriter, SizedFile, column_strings, u64s, unwritable_table};

/// The key of the file under which it states what its words are.
const WORDS: &str = "simgpu_words";

/// The version of the words of questions: what `words.rs` makes of a text.
const WORDS_VERSION: &str = "2";

/// Documents that lack a word of the rest, at least.
const DOCUMENTS: u64 = 10;

/// Sources of these documents, at least.
const SOURCES: u64 = 3;

/// Different texts in the place of a word of the rest, at least.
const OTHERS: u64 = 5;

/// Words of the rest, at least.
const REST: usize = 3;

/// Sources and texts in the place of a word are counted up to this number.
const COUNTED: usize = 16;

/// Different hashes: the lowest ones, at most [`COUNTED`], so that their order does not matter.
#[derive(Clone, Debug, Default)]
struct Distinct(Vec<u64>);

impl Distinct {
    fn add(&mut self, hash: u64) {
        if let Err(at) = self.0.binary_search(&hash)
            && at < COUNTED
        {
            self.0.insert(at, hash);
            self.0.truncate(COUNTED);
        }
    }
}

/// The documents that lack a word of a question.
#[derive(Clone, Debug, Default)]
struct Lacking {
    documents: u64,
    sources: Distinct,
    others: Distinct,
}

/// Counts, document by document, what documents lack of questions of which they hold half: what tells public phrases. Add
/// documents in any order, then call [`Contain::phrases`].
#[derive(Clone, Debug, Default)]
pub struct Spread {
    /// By number of the part: the documents that hold half of it, and those that lack a word of it.
    lacking_by_part: BTreeMap<usize, (u64, BTreeMap<usize, Lacking>)>,
    /// The documents that have an n-gram outside of items that they ask.
    pub(super) documents_by_gram: BTreeMap<u32, u64>,
}

impl Spread {
    /// Adds what [`Contain::read`] finds in a document. `source` is what several of must have a phrase: the name of its file.
    pub fn add(&mut self, source: &str, findings: &Findings) {
        for gram in &findings.grams {
            *self.documents_by_gram.entry(*gram).or_default() += 1;
        }
        for found in &findings.parts {
            let (documents, words) = self.lacking_by_part.entry(found.part).or_default();
            *documents += 1;
            for (word, instead) in &found.lacking {
                let counts = words.entry(*word).or_default();
                counts.documents += 1;
                counts.sources.add(xxh3_64(source.as_bytes()));
                counts.others.add(*instead);
            }
        }
    }
}

/// A word of a question, and the documents that hold half of the question and not this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordCounts {
    /// The number of the word, from 0.
    word: usize,
    documents: u64,
    sources: u64,
    others: u64,
}

/// The counts of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
struct QuestionCounts {
    benchmark: String,
    item: String,
    /// Its words, with a blank between two.
    question: String,
    /// The documents that hold half of it.
    documents: u64,
    /// The words that some of them lack, ascending.
    words: Vec<WordCounts>,
}

impl QuestionCounts {
    /// The words that many documents lack: all but the public phrase. Empty if there is none.
    fn rest(&self) -> Vec<usize> {
        let is_spread = |of: &&WordCounts| {
            of.documents >= DOCUMENTS && of.sources >= SOURCES && of.others >= OTHERS
        };
        let most = self.words.iter().filter(is_spread).map(|of| of.documents);
        let most = most.max().unwrap_or(0);
        let rest = self
            .words
            .iter()
            .filter(is_spread)
            .filter(|of| 2 * of.documents >= most);
        let rest: Vec<usize> = rest.map(|of| of.word).collect();
        match rest.len() {
            ..REST => Vec::new(),
            _ => rest,
        }
    }
}

/// A text that many documents have, and a question, too.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct PublicPhrase {
    /// Its words: the most words of the question in a row that are not of the rest.
    pub phrase: String,
    /// The documents that have it without the rest of the question.
    pub documents: u64,
    /// The question's benchmark.
    pub benchmark: String,
    /// The question's item, by the first of its ids.
    pub item: String,
}

/// What documents lack of questions of which they hold half, as in `phrases.parquet`: an input of the decision
/// ([`Contain::with_phrases`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phrases {
    questions: Vec<QuestionCounts>,
}

impl Phrases {
    /// The public phrases, the one in the most documents first.
    pub fn public(&self) -> Vec<PublicPhrase> {
        let phrase = |of: &QuestionCounts| {
            let rest = of.rest();
            let most = of.words.iter().filter(|it| rest.contains(&it.word));
            let documents = most.map(|it| it.documents).max()?;
            let words: Vec<&str> = of.question.split(' ').collect();
            let mut kept = vec![true; words.len()];
            for word in rest {
                *kept.get_mut(word)? = false;
            }
            let numbered: Vec<usize> = (0..words.len()).collect();
            let runs = numbered.chunk_by(|a, b| kept[*a] == kept[*b]);
            let runs = runs.filter(|run| kept[run[0]]);
            let longest = runs.min_by_key(|run| (std::cmp::Reverse(run.len()), run[0]))?;
            Some(PublicPhrase {
                phrase: words[longest[0]..=longest[longest.len() - 1]].join(" "),
                documents,
                benchmark: of.benchmark.clone(),
                item: of.item.clone(),
            })
        };
        let mut phrases: Vec<PublicPhrase> = self.questions.iter().filter_map(phrase).collect();
        phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.documents));
        phrases
    }

    /// Reads a file that [`Phrases::write`] or a run wrote.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be opened, [`Error::Input`] if it has other columns.
    pub fn read(path: &Path) -> Result<Self> {
        let refuse = |problem: String, remedy: &str| Error::Input {
            path: path.to_owned(),
            problem,
            remedy: remedy.to_owned(),
        };
        let odd = |problem: String| refuse(problem, "give a phrases.parquet that contain wrote");
        let file = File::open(path).map_err(Error::io("open", path))?;
        let file = SizedFile::new(file).map_err(Error::io("read", path))?;
        let reader = ParquetRecordBatchReaderBuilder::try_new(file);
        let reader = reader.map_err(|error| odd(error.to_string()))?;
        let schema = reader.schema();
        let words = schema.metadata().get(WORDS).map(String::as_str);
        if words != Some(WORDS_VERSION) && schema.column_with_name("lacking").is_some() {
            let problem = match words {
                Some(words) => {
                    format!("it counts words of version {words}, and this is {WORDS_VERSION}")
                }
                None => format!("it counts words of a version before {WORDS_VERSION}"),
            };
            let remedy = "run contain without --phrases, and pass the phrases.parquet of that run";
            return Err(refuse(problem, remedy));
        }
        let mut phrases = Phrases::default();
        let reader = reader.build().map_err(|error| odd(error.to_string()))?;
        for batch in reader {
            let batch = batch.map_err(|error| odd(error.to_string()))?;
            phrases.add_rows(&batch).map_err(odd)?;
        }
        Ok(phrases)
    }

    /// Adds the rows of a table, or says what is wrong with it.
    fn add_rows(&mut self, rows: &RecordBatch) -> std::result::Result<(), String> {
        let column = |name: &str, kind: DataType| {
            let column = rows
                .column_by_name(name)
                .filter(|it| *it.data_type() == kind);
            let column = column.filter(|it| it.null_count() == 0);
            column.ok_or_else(|| format!("it has no column `{name}` of {kind} without nulls"))
        };
        let text = |name| Ok::<_, String>(column(name, DataType::Utf8)?.as_string::<i32>());
        let number =
            |name| Ok::<_, String>(column(name, DataType::UInt64)?.as_primitive::<UInt64Type>());
        let (benchmark, item, question) = (text("benchmark")?, text("item")?, text("question")?);
        let [word, documents, lacking, files, others] =
            ["word", "documents", "lacking", "files", "others"].map(number);
        let (word, documents, lacking, files, others) =
            (word?, documents?, lacking?, files?, others?);
        for row in 0..rows.num_rows() {
            let is_new = |of: &QuestionCounts| of.question != question.value(row);
            if self.questions.last().is_none_or(is_new) {
                self.questions.push(QuestionCounts {
                    benchmark: benchmark.value(row).to_owned(),
                    item: item.value(row).to_owned(),
                    question: question.value(row).to_owned(),
                    documents: documents.value(row),
                    words: Vec::new(),
                });
            }
            if let Some(of) = self.questions.last_mut() {
                of.words.push(WordCounts {
                    word: usize::try_from(word.value(row))
                        .map_err(|_| format!("row {row} has no number of a word"))?,
                    documents: lacking.value(row),
                    sources: files.value(row),
                    others: others.value(row),
                });
            }
        }
        Ok(())
    }

    /// Writes the counts as a Parquet file: a row per word that documents lack, with `benchmark`, `item` and `question` (its
    /// words), `word` (its number, from 0), `text` (the word), `documents` (that hold half of the question), `lacking`
    /// (those of them that lack the word), `files` (of these) and `others` (texts in its place), both up to 16.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Output`] if it cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let file = File::create(path).map_err(Error::io("create", path))?;
        self.write_to(file, path)
    }

    pub(super) fn write_to(&self, file: File, path: &Path) -> Result<()> {
        const BATCH: usize = 1 << 10;
        let text = |name: &str| Field::new(name, DataType::Utf8, false);
        let number = |name: &str| Field::new(name, DataType::UInt64, false);
        let columns = vec![
            text("benchmark"),
            text("item"),
            text("question"),
            number("word"),
            text("text"),
            number("documents"),
            number("lacking"),
            number("files"),
            number("others"),
        ];
        let words = (WORDS.to_owned(), WORDS_VERSION.to_owned());
        let table = ColumnWriter::new(file, columns, [words]);
        let mut table = table.map_err(unwritable_table(path))?;
        for questions in self.questions.chunks(BATCH) {
            let rows = || {
                let each = questions.iter();
                each.flat_map(|of| std::iter::repeat_n(of, of.words.len()))
            };
            let words = || questions.iter().flat_map(|it| it.words.iter());
            let texts = rows()
                .zip(words())
                .map(|(of, word)| of.question.split(' ').nth(word.word));
            let columns = vec![
                column_strings(rows().map(|of| &*of.benchmark)),
                column_strings(rows().map(|of| &*of.item)),
                column_strings(rows().map(|of| &*of.question)),
                u64s(words().map(|of| of.word as u64)),
                column_strings(texts.map(Option::unwrap_or_default)),
                u64s(rows().map(|of| of.documents)),
                u64s(words().map(|of| of.documents)),
                u64s(words().map(|of| of.sources)),
                u64s(words().map(|of| of.others)),
            ];
            table.write(columns).map_err(unwritable_table(path))?;
        }
        table.finish().map_err(unwritable_table(path))
    }
}

impl Contain {
    /// The counts of documents that were read.
    pub fn phrases(&self, spread: &Spread) -> Phrases {
        let questions = spread
            .lacking_by_part
            .iter()
            .map(|(number, (documents, words))| {
                let part = &self.parts[*number];
                let item = part.items.first().map(|item| &self.items[*item as usize]);
                let words = words.iter().map(|(word, lacking)| WordCounts {
                    word: *word,
                    documents: lacking.documents,
                    sources: lacking.sources.0.len() as u64,
                    others: lacking.others.0.len() as u64,
                });
                QuestionCounts {
                    benchmark: item.map_or_else(String::new, |item| item.benchmark.clone()),
                    item: item.map_or_else(String::new, |item| item.id().to_owned()),
                    question: self.vocabulary.joined(&part.numbers),
                    documents: *documents,
                    words: words.collect(),
                }
            });
        let questions = questions.filter(|of| !of.words.is_empty());
        Phrases {
            questions: questions.collect(),
        }
    }

    /// Excuses public phrases: a document that has one without the rest of the question is not contaminated. Without
    /// counts, no hit is excused by frequency. Questions are matched by their words.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the counts are of other items: none of their questions is one of these; and for a rule of
    /// others, which excuses nothing.
    pub fn with_phrases(mut self, phrases: &Phrases) -> Result<Self> {
        if !self.rule.of.weighs_evidence() {
            return Err(Error::Parameter {
                name: "`phrases`",
                value: "given".to_owned(),
                expected: format!(
                    "none, since the rule {} excuses no phrase",
                    self.rule.of.name()
                ),
            });
        }
        let known_questions: BTreeMap<&str, &QuestionCounts> = phrases
            .questions
            .iter()
            .map(|of| (&*of.question, of))
            .collect();
        let mut known = 0;
        for part in &mut self.parts {
            if let Some(of) = known_questions.get(&*self.vocabulary.joined(&part.numbers)) {
                known += 1;
                part.rest = of.rest();
                let words = part.len();
                part.rest.retain(|word| *word < words);
            }
        }
        if known == 0 && !known_questions.is_empty() {
            return Err(Error::Parameter {
                name: "`phrases`",
                value: format!("counts of {} other questions", known_questions.len()),
                expected: "the counts of a run with these items".to_owned(),
            });
        }
        Ok(self)
    }
}
