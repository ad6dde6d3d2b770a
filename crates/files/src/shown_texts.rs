//! The texts of documents of a result, and the shingles that two of them share.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use simgpu::documents::{Document, DocumentBatch};
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Normalise, Scratch, Shingler, Shingling, Unit, Weighting};
use simgpu::scheme::Scheme;
use simgpu_io::{
    DocumentPlace, Event, FieldPath, Fields, FilesReading, InputFile, LongestRecord, PlaceOfRow,
    Reading, Record, RecordedInput, Wanted,
};

/// How texts were read and cut into shingles.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ShinglingParameters {
    pub(super) scheme: String,
    pub(super) unit: String,
    pub(super) size: Option<u64>,
    pub(super) lowercase: bool,
    pub(super) strip_punctuation: bool,
    pub(super) keep_whitespace: bool,
    pub(super) count: bool,
    pub(super) content_field: String,
    pub(super) against_content_field: Option<String>,
}

/// The texts of a removed document and of the one kept instead.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct TextsOfPair {
    /// The removed document, or a kept one for which none was removed.
    pub document: DocumentPlace,
    /// The one kept instead; `None` if there is none.
    pub kept: Option<DocumentPlace>,
    /// The text of the document; `None` if it cannot be read. Tokens are joined by spaces.
    pub text: Option<String>,
    /// The text of the kept one.
    pub kept_text: Option<String>,
    /// The shingles of both; `None` unless both texts are there, and shingles can be made again.
    pub shingles: Option<SharedShingles>,
}

/// The distinct shingles of a removed document and of the one kept instead.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct SharedShingles {
    /// Those of the removed document.
    pub removed: usize,
    /// Those of the kept one.
    pub kept: usize,
    /// Those of both.
    pub shared: usize,
    /// Those of the removed document alone.
    pub lost: usize,
    /// The text around some of the lost ones, in order, as it was normalised.
    pub lost_examples: Vec<String>,
    /// The text around some of the shared ones.
    pub shared_examples: Vec<String>,
}

/// Texts by their places, and what cuts them.
pub(crate) struct Texts {
    documents: DocumentBatch,
    numbers: HashMap<PlaceOfRow, usize>,
    shingler: Option<Shingler>,
}

/// The error of a disk from which a text cannot be read, without which the rest can be shown.
fn without_texts(error: Error) -> Error {
    match error {
        Error::Io { path, cause, .. } => Error::Input {
            path,
            problem: format!("its texts cannot be read ({cause})"),
            remedy: "check the disk and who may read the file, or pass `no_text` to show the rest"
                .to_owned(),
        },
        error => error,
    }
}

impl Texts {
    /// Reads the texts at these places. Notes inputs that have none to show.
    ///
    /// # Errors
    /// Those of the disk.
    pub(super) fn read(
        parameters: &ShinglingParameters,
        inputs: Vec<RecordedInput>,
        wanted: &BTreeSet<PlaceOfRow>,
        unread: &mut BTreeMap<String, String>,
    ) -> Result<Self> {
        let fields = |content: &str| Fields {
            content: content.split(", ").map(FieldPath::new).collect(),
            is_tokens: parameters.unit == "tokens",
            ..Fields::default()
        };
        let input_fields = fields(&parameters.content_field);
        let against = parameters.against_content_field.as_deref();
        let reference_fields = against.map_or_else(|| input_fields.clone(), fields);
        let names: BTreeSet<(bool, &str)> = wanted
            .iter()
            .map(|(reference, file, _)| (*reference, &**file))
            .collect();
        let mut inputs: HashMap<(bool, String), RecordedInput> = inputs
            .into_iter()
            .filter(|input| names.contains(&(input.reference, &*input.file)))
            .map(|input| ((input.reference, input.file.clone()), input))
            .collect();
        let mut texts = Texts {
            documents: input_fields.empty_batch(),
            numbers: HashMap::new(),
            shingler: shingler(parameters),
        };
        for (reference, name) in names {
            let found = match inputs.remove(&(reference, name.to_owned())) {
                Some(input) => input.find().map_err(without_texts)?,
                None => Err("run.json does not name the input".to_owned()),
            };
            let rows = wanted.iter();
            let rows = rows.filter(|(of, file, _)| (*of, &**file) == (reference, name));
            let rows = rows.map(|(.., row)| *row).collect();
            let fields = if reference {
                &reference_fields
            } else {
                &input_fields
            };
            let read = match found {
                Ok(input) => match texts.read_rows(reference, name, input, fields, &rows) {
                    Err(error @ Error::Io { .. }) => return Err(without_texts(error)),
                    read => read.map_err(|error| error.to_string()),
                },
                Err(problem) => Err(problem),
            };
            if let Err(problem) = read {
                let of = if reference { " (reference)" } else { "" };
                unread.insert(format!("{name}{of}"), problem);
            }
        }
        Ok(texts)
    }

    /// Reads the documents of some records of a file, which is read up to the last of them.
    fn read_rows(
        &mut self,
        reference: bool,
        name: &str,
        input: InputFile,
        fields: &Fields,
        rows: &BTreeSet<u64>,
    ) -> Result<()> {
        let files = [input];
        let reading = Reading {
            longest: LongestRecord::fixed(),
            ..Reading::new(Wanted::Document(fields))
        };
        let mut first = 0;
        let mut batch = fields.empty_batch();
        for event in FilesReading::new(&files, reading)?.file(0) {
            let Event::Chunk(chunk) = event? else {
                continue;
            };
            let next = first + chunk.records();
            let here: Vec<u64> = rows.range(first..next).copied().collect();
            if !here.is_empty() {
                let is_wanted = |record| rows.contains(&(first + record));
                let parsed = chunk.parse(fields, is_wanted, &mut batch);
                let good = here.iter().zip(parsed);
                let good = good.filter(|(_, record)| matches!(record, Record::Document(_)));
                for (number, (row, _)) in good.enumerate() {
                    let place = (reference, name.to_owned(), *row);
                    self.numbers.insert(place, self.documents.len());
                    self.documents.push(get(&batch, number));
                }
            }
            first = next;
            if rows.range(first..).next().is_none() {
                break;
            }
        }
        Ok(())
    }

    fn number(&self, place: &DocumentPlace) -> Option<usize> {
        let place = (place.reference, place.file.clone(), place.row);
        self.numbers.get(&place).copied()
    }

    /// The texts of a document and of the one kept instead.
    pub(super) fn compare(
        &self,
        document: DocumentPlace,
        kept: Option<DocumentPlace>,
    ) -> TextsOfPair {
        let number = self.number(&document);
        let kept_number = kept.as_ref().and_then(|kept| self.number(kept));
        let text = |number: Option<usize>| Some(text_of(get(&self.documents, number?)));
        let shingles = match (number, kept_number, &self.shingler) {
            (Some(removed), Some(kept), Some(shingler)) => {
                let of = |number| get(&self.documents, number);
                Some(shared(shingler, || of(removed), || of(kept)))
            }
            _ => None,
        };
        TextsOfPair {
            text: text(number),
            kept_text: text(kept_number),
            document,
            kept,
            shingles,
        }
    }
}

fn get(batch: &DocumentBatch, number: usize) -> Document<'_> {
    use simgpu::documents::Documents;
    match batch {
        DocumentBatch::Texts(texts) => Documents::get(texts, number),
        DocumentBatch::Tokens(tokens) => Documents::get(tokens, number),
        DocumentBatch::Weighted(tokens) => Documents::get(tokens, number),
    }
}

fn text_of(document: Document<'_>) -> String {
    let joined = |tokens: Vec<&[u8]>| {
        let tokens = tokens.into_iter().map(String::from_utf8_lossy);
        tokens.collect::<Vec<_>>().join(" ")
    };
    match document {
        Document::Text(text) => text.to_owned(),
        Document::Tokens(tokens) => joined(tokens.collect()),
        Document::Weighted(tokens) => joined(tokens.map(|(token, _)| token).collect()),
    }
}

/// What made the shingles; `None` for stop words, which a report does not list.
fn shingler(parameters: &ShinglingParameters) -> Option<Shingler> {
    let unit = match &*parameters.unit {
        "words" => Unit::Words,
        "bytes" => Unit::Bytes,
        "chars" => Unit::Chars,
        "pieces" => Unit::Pieces,
        "code" => Unit::Code,
        "tokens" => Unit::Tokens,
        _ => return None,
    };
    let scheme = Scheme::named(&parameters.scheme).ok()?;
    let own = Shingling::for_scheme(&scheme, Some(unit));
    let size = parameters.size.and_then(|size| usize::try_from(size).ok());
    let shingling = Shingling {
        size: size.and_then(NonZeroUsize::new).unwrap_or(own.size),
        normalise: Normalise {
            lowercase: parameters.lowercase,
            strip_punctuation: parameters.strip_punctuation,
            keep_whitespace: parameters.keep_whitespace,
        },
        weighting: if parameters.count {
            Weighting::Counts
        } else {
            Weighting::Equal
        },
        ..own
    };
    Shingler::new(shingling, &scheme, None).ok()
}

/// The most examples of shingles of each kind.
const EXAMPLES: usize = 20;

/// The most places of a text at which a shingle may begin that are tried.
const TRIED: usize = 100_000;

/// Compares the shingles of two documents.
fn shared<'a>(
    shingler: &Shingler,
    removed: impl Fn() -> Document<'a>,
    kept: impl Fn() -> Document<'a>,
) -> SharedShingles {
    let mut scratch = Scratch::default();
    let mut sets = [Vec::new(), Vec::new()];
    shingler.exact_set(removed(), &mut scratch, &mut sets[0]);
    shingler.exact_set(kept(), &mut scratch, &mut sets[1]);
    let [removed_set, kept_set] = sets;
    let is_kept = |hash: &u64| kept_set.binary_search(hash).is_ok();
    let both = removed_set.iter().filter(|hash| is_kept(hash)).count();
    let mut shingles = SharedShingles {
        removed: removed_set.len(),
        kept: kept_set.len(),
        shared: both,
        lost: removed_set.len() - both,
        lost_examples: Vec::new(),
        shared_examples: Vec::new(),
    };
    if let Document::Text(text) = removed() {
        let mut normalised = String::new();
        shingler.shingling().normalise.apply(text, &mut normalised);
        let mut set = Vec::new();
        let mut seen = BTreeSet::new();
        for span in spans(&normalised, shingler.shingling()).take(TRIED) {
            shingler.exact_set(Document::Text(span), &mut scratch, &mut set);
            // Only shingles of the document itself count: a span may be cut in another way.
            let new = set
                .iter()
                .find(|hash| removed_set.binary_search(hash).is_ok() && !seen.contains(*hash));
            let Some(hash) = new.copied() else {
                continue;
            };
            seen.insert(hash);
            let examples = if is_kept(&hash) {
                &mut shingles.shared_examples
            } else {
                &mut shingles.lost_examples
            };
            if examples.len() < EXAMPLES {
                examples.push(span.to_owned());
            }
        }
    }
    shingles
}

/// Parts of a normalised text that are likely to be shingles: of as many characters, or of as many words between white space.
fn spans<'a>(text: &'a str, shingling: &Shingling) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    let size = shingling.size.get();
    let starts: Vec<(usize, usize)> = match shingling.unit {
        Unit::Bytes | Unit::Chars => {
            let chars = text.char_indices();
            chars.map(|(at, char)| (at, at + char.len_utf8())).collect()
        }
        _ => text
            .split_whitespace()
            .map(|word| {
                let at = word.as_ptr().addr() - text.as_ptr().addr();
                (at, at + word.len())
            })
            .collect(),
    };
    let count = starts.len();
    let most = count.saturating_sub(size.min(count)) + usize::from(count > 0);
    Box::new((0..most).map(move |first| {
        let last = (first + size).min(count) - 1;
        &text[starts[first].0..starts[last].1]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_shared_shingles_are_counted_and_quoted() {
        let parameters = |unit: &str, size| ShinglingParameters {
            scheme: "mersenne61".to_owned(),
            unit: unit.to_owned(),
            size: Some(size),
            lowercase: true,
            ..ShinglingParameters::default()
        };
        let words = shingler(&parameters("words", 2)).unwrap();
        let of = |removed: &'static str, kept: &'static str| {
            shared(
                &words,
                move || Document::Text(removed),
                move || Document::Text(kept),
            )
        };
        let found = of("One two, three four", "zero one two three");
        assert_eq!((found.removed, found.kept), (3, 3));
        assert_eq!((found.shared, found.lost), (2, 1));
        assert_eq!(found.lost_examples, ["three four"]);
        assert_eq!(found.shared_examples, ["one two,", "two, three"]);
        let short = of("one", "");
        assert_eq!((short.removed, short.kept, short.lost), (1, 0, 1));
        assert_eq!(short.lost_examples, ["one"]);
        assert_eq!(of("", "one two").removed, 0);
        let chars = shingler(&parameters("chars", 3)).unwrap();
        let found = shared(&chars, || Document::Text("añbc"), || Document::Text("xñbc"));
        assert_eq!(
            (found.shared, found.lost_examples),
            (1, vec!["añb".to_owned()])
        );
        assert!(shingler(&parameters("stopwords", 3)).is_none());
    }
}
