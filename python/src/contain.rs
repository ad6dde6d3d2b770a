//! Items of benchmarks in texts. `simgpu/_contain.py` gives items and results their shape.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use serde::Serialize;
use simgpu::progress::{Progress, advance};
use simgpu_cli::commands::contain::{ItemArguments, ItemRuleArguments, rule_modes};
use simgpu_contain::{
    ByClass, Class, Contain, Hit, Item, ItemPart, ItemRecord, Lack, Phrases, Scratch, read_ignored,
};
use simgpu_io::Inputs;

use crate::beside::Ids;
use crate::errors::{OrRaise, run_error};
use crate::json;
use crate::options::Options;
use crate::pool;
use crate::progress::Display;
use crate::table::PyTable;
use crate::texts::part_from;

/// A record of a benchmark: benchmark, id, question, passage, options, answer, and whether the answer is right.
type Record = (
    String,
    String,
    String,
    String,
    Vec<String>,
    String,
    Option<bool>,
);

/// The records of items in files. The options are those of `simgpu.Contain`, with the files as `against`.
#[pyfunction]
pub(crate) fn items_of_files(options: Bound<'_, PyDict>) -> PyResult<Vec<Record>> {
    let options = Options(options);
    let py = options.py();
    let arguments = options.items()?;
    let fields = arguments.fields().map_err(|error| run_error(py, error))?;
    let records = pool::run(py, None, &mut Display::default(), |progress| {
        let items = Inputs::find(&arguments.against, None)?;
        fields.records(&items, progress)
    })?;
    let record = |of: ItemRecord| {
        let ItemRecord {
            benchmark,
            id,
            question,
            passage,
            options,
            answer,
            is_correct,
        } = of;
        (
            benchmark, id, question, passage, options, answer, is_correct,
        )
    };
    Ok(records.into_iter().map(record).collect())
}

/// The phrases in a file of phrases to ignore.
#[pyfunction]
pub(crate) fn ignored_phrases(py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
    py.detach(|| read_ignored(&path)).or_raise(py)
}

/// Items that texts are searched for.
#[pyclass(frozen, module = "simgpu._simgpu", name = "ItemTable")]
pub(crate) struct PyItemTable(Contain);

/// Texts that are searched at a time, in bytes.
const PART_BYTES: usize = 4 << 20;

#[pymethods]
impl PyItemTable {
    /// The items of these records. The options are those of `simgpu.Contain`; `phrases` is the path of a file, `ignore` are
    /// phrases.
    #[new]
    fn new(records: Vec<Record>, options: Bound<'_, PyDict>) -> PyResult<Self> {
        let options = Options(options);
        let rule = options.choice("rule")?;
        let given = options.given("simgpu._contain", "Contain.__init__", "contain")?;
        let checked = given.check(rule_modes(rule));
        checked.map_err(|error| run_error(options.py(), error))?;
        let rule = options.item_rule()?.rule();
        let phrases = options.path("phrases")?;
        let ignored = options.strings("ignore")?;
        let record = |of: Record| {
            let (benchmark, id, question, passage, options, answer, is_correct) = of;
            ItemRecord {
                benchmark,
                id,
                question,
                passage,
                options,
                answer,
                is_correct,
            }
        };
        let contain = options.py().detach(|| {
            let contain = Contain::new(records.into_iter().map(record), rule)?;
            let contain = contain.with_ignored(ignored.iter().map(String::as_str))?;
            match phrases {
                Some(path) => contain.with_phrases(&Phrases::read(&path)?),
                None => Ok(contain),
            }
        });
        contain.or_raise(options.py()).map(PyItemTable)
    }

    /// The hits of texts, one per row, and the counts. The options are those of `simgpu.Contain.scan`.
    fn scan<'py>(&self, options: Bound<'py, PyDict>) -> PyResult<(PyTable, Bound<'py, PyAny>)> {
        let options = Options(options);
        let data = options.data()?;
        let (documents, beside) = options.documents(&data)?;
        let texts = documents.texts()?;
        let mut display = Display::new(options.value("progress")?)?;
        let threads = options.threads()?;
        let hits = pool::run(options.py(), threads, &mut display, |progress| {
            scan(&self.0, &texts, progress)
        })?;
        let table = hit_table(self.0.items(), &hits, beside.ids.as_ref())?;
        let counts = json::of(options.py(), &Counts::new(self.0.items().len(), &hits))?;
        Ok((table, counts))
    }

    /// The items, one per row.
    fn items(&self) -> PyResult<PyTable> {
        let items = self.0.items();
        let text = |of: fn(&Item) -> &str| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(items.iter().map(of)))
        };
        let decidable: BooleanArray = (0..items.len())
            .map(|item| Some(self.0.is_decidable(item)))
            .collect();
        PyTable::new(vec![
            ("item", text(Item::id)),
            ("benchmark", text(|item| &item.benchmark)),
            (
                "ids",
                lists(items.iter().map(|item| item.ids.iter().map(String::as_str))),
            ),
            ("question", text(|item| &item.question)),
            ("passage", text(|item| &item.passage)),
            ("decidable", Arc::new(decidable)),
        ])
    }

    fn __len__(&self) -> usize {
        self.0.items().len()
    }
}

/// The counts of hits in texts, as the report of the command `contain` names them.
#[derive(Default, Serialize)]
struct Counts {
    records: usize,
    items: usize,
    hits: ByClass,
    documents: ByClass,
    found_items: ByClass,
    near_misses: usize,
}

impl Counts {
    /// Counts the hits of each text.
    fn new(items: usize, hits: &[Vec<Hit>]) -> Self {
        let mut counts = Counts {
            records: hits.len(),
            items,
            ..Counts::default()
        };
        let mut first_classes: HashMap<usize, Class> = HashMap::new();
        for hits in hits {
            for hit in hits {
                counts.hits.count(hit.class);
                counts.near_misses += usize::from(hit.near_miss().is_some());
                let first = first_classes.entry(hit.item).or_insert(hit.class);
                *first = hit.class.min(*first);
            }
            if let Some(class) = hits.iter().map(|hit| hit.class).min() {
                counts.documents.count(class);
            }
        }
        for class in first_classes.into_values() {
            counts.found_items.count(class);
        }
        counts
    }
}

/// The hits in each text, some texts at a time, on the current pool.
fn scan(
    contain: &Contain,
    texts: &[&str],
    progress: &dyn Progress,
) -> simgpu::Result<Vec<Vec<Hit>>> {
    progress.begin("scan", texts.len() as u64);
    let mut hits = Vec::with_capacity(texts.len());
    while hits.len() < texts.len() {
        let part = part_from(&texts, hits.len(), PART_BYTES);
        let found = texts[part]
            .par_iter()
            .map_init(Scratch::default, |scratch, text| {
                contain.read(text, scratch).hits
            });
        hits.par_extend(found);
        advance(progress, hits.len() as u64, hits.len() as u64, 0)?;
    }
    Ok(hits)
}

/// A column of lists of strings.
fn lists<'a>(rows: impl Iterator<Item = impl Iterator<Item = &'a str>>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        lists.append_value(row.map(Some));
    }
    Arc::new(lists.finish())
}

/// A column of lists of two numbers.
fn pairs(rows: impl Iterator<Item = [usize; 2]>) -> ArrayRef {
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in rows {
        lists.append_value(row.map(|number| Some(number as i64)));
    }
    Arc::new(lists.finish())
}

/// A column of lists of places: the first byte and the end of each.
fn places<'a>(rows: impl Iterator<Item = &'a [Range<usize>]>) -> ArrayRef {
    let mut lists = ListBuilder::new(ListBuilder::new(Int64Builder::new()));
    for row in rows {
        for place in row {
            let ends = [place.start, place.end].map(|at| Some(at as i64));
            lists.values().append_value(ends);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}

fn hit_table(items: &[Item], hits: &[Vec<Hit>], ids: Option<&Ids>) -> PyResult<PyTable> {
    let all = || {
        (0i64..)
            .zip(hits)
            .flat_map(|(row, hits)| hits.iter().map(move |hit| (row, hit)))
    };
    let rows: Int64Array = all().map(|(row, _)| row).collect();
    let item = |of: fn(&Item) -> &str| -> ArrayRef {
        let texts = all().map(|(_, hit)| of(&items[hit.item]));
        Arc::new(StringArray::from_iter_values(texts))
    };
    let classes = StringArray::from_iter_values(all().map(|(_, hit)| hit.class.name()));
    let number = |of: fn(&Hit) -> usize| -> ArrayRef {
        // Texts are shorter than 2^63.
        let numbers = all().map(|(_, hit)| of(hit) as i64);
        Arc::new(numbers.collect::<Int64Array>())
    };
    // Logarithms differ in their last bit between machines.
    let scores = all().map(|(_, hit)| Some((hit.score * 1e6).round() / 1e6));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("row", Arc::new(rows)),
        ("item", item(Item::id)),
        ("benchmark", item(|item| &item.benchmark)),
        ("class", Arc::new(classes)),
        ("score", Arc::new(scores.collect::<Float64Array>())),
        (
            "parts",
            lists(all().map(|(_, hit)| hit.parts.iter().copied().map(ItemPart::name))),
        ),
        ("start", number(|hit| hit.bytes.start)),
        ("end", number(|hit| hit.bytes.end)),
        ("also", places(all().map(|(_, hit)| &*hit.also))),
        ("item_start", number(|hit| hit.item_bytes.start)),
        ("item_end", number(|hit| hit.item_bytes.end)),
        ("found", number(|hit| hit.found)),
        ("ngrams", number(|hit| hit.ngrams)),
        ("content", pairs(all().map(|(_, hit)| hit.content))),
        ("own", number(|hit| hit.own)),
        (
            "lacks",
            lists(all().map(|(_, hit)| hit.lacks.iter().copied().map(Lack::name))),
        ),
        (
            "rarest",
            lists(all().map(|(_, hit)| hit.rarest.iter().map(|(ngram, _)| &**ngram))),
        ),
    ];
    if let Some(ids) = ids {
        // Rows of texts in memory fit.
        let rows = all().map(|(row, _)| u32::try_from(row).ok());
        columns.push(("id", ids.take_or_null(rows)));
    }
    PyTable::new(columns)
}

impl Options<'_> {
    /// The files of items, and their fields.
    pub(crate) fn items(&self) -> PyResult<ItemArguments> {
        let name = "the name of a field, as a str";
        Ok(ItemArguments {
            against: self.paths("against")?,
            item_fields: self.required("item_fields", "the names of fields, as a str")?,
            item_id_field: self.optional("item_id_field", name)?,
            benchmark_field: self.optional("benchmark_field", name)?,
            decision: self.item_rule()?,
            phrases: self.path("phrases")?,
            ignore: self.path("ignore")?,
        })
    }

    /// What decides whether an item is in a text.
    fn item_rule(&self) -> PyResult<ItemRuleArguments> {
        let size: Option<NonZeroUsize> = self.optional("size", "a number from 2 to 32")?;
        Ok(ItemRuleArguments {
            rule: self.choice("rule")?,
            size: size.map(NonZeroUsize::get),
            threshold: self.required("threshold", "a share above 0, up to 1")?,
            min_ngrams: self.required("min_ngrams", "a whole number, from 0 on")?,
        })
    }
}
