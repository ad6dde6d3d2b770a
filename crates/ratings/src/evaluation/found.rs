//! Reads a result: the entity of each record, or pairs.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::pairs::{Listed, RecordPairs};
use super::rows::{IdText, RecordRow, RowsReading, id_field};
use simgpu::error::{Error, Result};
use simgpu::pipeline::Components;
use simgpu::store::disk::is_folder;
use simgpu_io::{FieldPath, Inputs, Labels, REPORT, ValueField, field_names, listed, read_json};

/// What to name instead of something that is no result.
const REMEDY: &str = "name the output folder of link or dedup, or the output file of pairs";

/// What `report.json` says of a run.
#[derive(Deserialize)]
struct Mark {
    #[serde(rename = "simgpu_report")]
    _version: u32,
    command: String,
    #[serde(default)]
    counts: MarkCounts,
    #[serde(default)]
    parameters: MarkParameters,
}

/// How many records the files of a result have.
#[derive(Default, Deserialize)]
struct MarkCounts {
    links: Option<u64>,
    removed: Option<u64>,
}

#[derive(Default, Deserialize)]
struct MarkParameters {
    /// How many partners a record may have, where two inputs were linked.
    #[serde(rename = "match")]
    matching: Option<String>,
}

/// How a file states a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The entity of every record, in this field.
    Entities(&'static str),
    /// Each removed document, with the one kept instead.
    Removed,
    /// Pairs of records.
    Pairs(Sides),
}

/// Which collections the records of pairs are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sides {
    One,
    Two,
    /// Two, unless both records of some pair are in one file.
    ByFiles,
}

/// A result.
#[derive(Debug)]
pub(super) struct FoundFile {
    /// The command that it is of.
    pub(super) command: &'static str,
    /// The file that states it.
    pub(super) path: PathBuf,
    form: Form,
    /// The records that it has, where the report counts them.
    counted: Option<u64>,
}

/// What was found.
#[derive(Debug)]
pub(super) enum FoundRecords {
    /// The entity of every record of the run, by the number of its id.
    Entities(Vec<u32>),
    /// Records that were united, by the numbers of their ids. Others are entities of their own.
    United(Components),
    /// Pairs.
    Pairs(RecordPairs),
}

/// A result that was read.
#[derive(Debug)]
pub(super) struct Found {
    /// The ids of the records, of one collection or of two.
    pub(super) ids: Vec<Labels>,
    pub(super) records: FoundRecords,
    /// The records of the file.
    pub(super) rows: u64,
    /// Those that repeat an earlier one.
    pub(super) repeated: u64,
    /// Pairs of an id with itself.
    pub(super) itself: u64,
}

impl FoundFile {
    /// Finds the file that states a result, by the reports of the run and by the names of its fields.
    pub(super) fn find(result: &Path, temporary: &Path) -> Result<Self> {
        if is_folder(result)? {
            FoundFile::in_folder(result)
        } else {
            FoundFile::from_file(result, temporary)
        }
    }

    fn in_folder(folder: &Path) -> Result<Self> {
        let Some(mark) = read_json::<Mark>(&folder.join(REPORT))? else {
            let problem = format!("it holds no complete run: there is no {REPORT} of simgpu in it");
            return Err(refused(folder, problem));
        };
        let file = |command, name: &str, form| FoundFile {
            command,
            path: folder.join(name),
            form,
            counted: match form {
                Form::Pairs(_) => mark.counts.links,
                Form::Removed => mark.counts.removed,
                Form::Entities(_) => None,
            },
        };
        match (&*mark.command, mark.parameters.matching) {
            ("link", Some(_)) => Ok(file("link", "links.jsonl", Form::Pairs(Sides::Two))),
            ("link", None) => Ok(file("link", "entities.jsonl", Form::Entities("entity"))),
            ("dedup", _) => {
                let names = [
                    ("clusters.parquet", Form::Entities("cluster")),
                    ("removed.jsonl", Form::Removed),
                    ("removed.jsonl.zst", Form::Removed),
                    ("removed.parquet", Form::Removed),
                ];
                let mut files = names
                    .map(|(name, form)| file("dedup", name, form))
                    .into_iter();
                // One that cannot be looked at is there: to read it says what is wrong.
                let found = files.find(|file| file.path.try_exists().unwrap_or(true));
                let problem = "clusters.parquet and removed.jsonl are missing in it".to_owned();
                found.ok_or_else(|| refused(folder, problem))
            }
            (other, _) => Err(refused(
                folder,
                format!("it holds a result of {other}, not of link or dedup"),
            )),
        }
    }

    fn from_file(path: &Path, temporary: &Path) -> Result<Self> {
        let inputs = Inputs::find(&[path.to_owned()], None)?;
        let [input] = &inputs.files[..] else {
            return Err(refused(path, "it is not one file".to_owned()));
        };
        let names = field_names(input, temporary)?;
        let has = |wanted: [&str; 2]| wanted.iter().all(|name| names.iter().any(|it| it == name));
        let (command, form) = if has(["id_a", "id_b"]) {
            if has(["runner_up", "score"]) {
                ("link", Form::Pairs(sides_of_links(path)?))
            } else {
                ("pairs", Form::Pairs(Sides::One))
            }
        } else if has(["id", "entity"]) {
            ("link", Form::Entities("entity"))
        } else if has(["id", "cluster"]) {
            ("dedup", Form::Entities("cluster"))
        } else if has(["id", "kept_id"]) {
            ("dedup", Form::Removed)
        } else if names.is_empty() {
            form_of_empty(path)?
        } else {
            let listed = listed("field", &names);
            return Err(refused(
                path,
                format!("it is no result of link, dedup or pairs: {listed}"),
            ));
        };
        let path = path.to_owned();
        Ok(FoundFile {
            command,
            path,
            form,
            counted: None,
        })
    }

    /// Reads the result.
    pub(super) fn read(&self, reading: RowsReading<'_>) -> Result<Found> {
        let inputs = Inputs::find(std::slice::from_ref(&self.path), None)?;
        let has_two_sides = match self.form {
            Form::Pairs(Sides::ByFiles) => !self.has_pair_in_one_file(&inputs, reading)?,
            form => form == Form::Pairs(Sides::Two),
        };
        let (names, records) = match self.form {
            Form::Entities(entity) => (["id", entity], FoundRecords::Entities(Vec::new())),
            Form::Removed => (
                ["id", "kept_id"],
                FoundRecords::United(Components::default()),
            ),
            Form::Pairs(_) => {
                let pairs = FoundRecords::Pairs(RecordPairs::new(has_two_sides));
                (["id_a", "id_b"], pairs)
            }
        };
        let fields = names.map(|name| id_field(FieldPath::from_name(name), ValueField::ID));
        let mut found = Found {
            ids: (0..if has_two_sides { 2 } else { 1 })
                .map(|_| Labels::default())
                .collect(),
            records,
            rows: 0,
            repeated: 0,
            itself: 0,
        };
        let mut entities = Labels::default();
        // A deduplication may remove a document for no other.
        let may_be_alone = matches!(self.form, Form::Entities("cluster") | Form::Removed);
        found.rows = reading.for_each(&inputs.files, &fields, |row| {
            match (row.value(0), row.value(1)) {
                (Some(id), None) if may_be_alone => found.add_alone(id, &mut entities),
                _ => found.add(row, &mut entities),
            }
        })?;
        match self.counted {
            Some(counted) if counted != found.rows => Err(Error::Input {
                path: self.path.clone(),
                problem: format!(
                    "it has {} records, and {REPORT} counts {counted}",
                    found.rows
                ),
                remedy: format!("run {} again to write it anew", self.command),
            }),
            _ => Ok(found),
        }
    }

    fn has_pair_in_one_file(&self, inputs: &Inputs, reading: RowsReading<'_>) -> Result<bool> {
        let fields =
            ["file_a", "file_b"].map(|name| id_field(FieldPath::from_name(name), ValueField::ID));
        let mut is_one = false;
        reading.for_each(&inputs.files, &fields, |row| {
            let [a, b] = row.both()?;
            is_one |= a.text == b.text;
            Ok(())
        })?;
        Ok(is_one)
    }

    /// What of it is evaluated. `inputs` is the number of collections whose records are in pairs with each other.
    pub(super) fn what(&self, inputs: usize) -> &'static str {
        match self.form {
            Form::Entities("cluster") | Form::Removed => "pairs within clusters",
            Form::Entities(_) => "pairs within entities",
            Form::Pairs(_) if self.command == "pairs" => "listed pairs",
            Form::Pairs(_) if inputs == 1 => "links, without the pairs that follow from them",
            Form::Pairs(_) => "links",
        }
    }
}

impl Found {
    /// Adds a record that is an entity of its own.
    fn add_alone(&mut self, id: &IdText, entities: &mut Labels) -> Result<()> {
        let number = number(&mut self.ids[0], id)?;
        match &mut self.records {
            FoundRecords::Entities(labels) if labels.len() == number as usize => {
                // Clusters are numbers, so that no other is called like this.
                labels.push(entities.add(&format!("alone {number}"), false)?);
            }
            FoundRecords::Entities(_) => self.repeated += 1,
            FoundRecords::United(components) => grow(components, &self.ids[0])?,
            FoundRecords::Pairs(_) => {}
        }
        Ok(())
    }

    fn add(&mut self, row: &RecordRow<'_>, entities: &mut Labels) -> Result<()> {
        let [first, second] = row.both()?;
        let a = number(&mut self.ids[0], first)?;
        let last_side = self.ids.len() - 1;
        let listed = match &mut self.records {
            FoundRecords::Entities(labels) => {
                let entity = number(entities, second)?;
                match labels.get(a as usize) {
                    None => {
                        labels.push(entity);
                        Listed::New
                    }
                    Some(known) if *known == entity => Listed::Repeated,
                    Some(_) => return Err(two_entities(row, first, second)),
                }
            }
            FoundRecords::United(components) => {
                let b = number(&mut self.ids[0], second)?;
                unite(components, &self.ids[0], [a, b])?
            }
            FoundRecords::Pairs(pairs) => {
                let b = number(&mut self.ids[last_side], second)?;
                pairs.add([a, b])
            }
        };
        match listed {
            Listed::New => {}
            Listed::Repeated => self.repeated += 1,
            Listed::Itself => self.itself += 1,
        }
        Ok(())
    }
}

/// The number of an id.
pub(super) fn number(ids: &mut Labels, id: &IdText) -> Result<u32> {
    ids.add(&id.text, id.is_integer)
}

/// Unites the records of a pair, and makes each id a component.
pub(super) fn unite(components: &mut Components, ids: &Labels, pair: [u32; 2]) -> Result<Listed> {
    grow(components, ids)?;
    let [a, b] = pair;
    Ok(if a == b {
        Listed::Itself
    } else if components.unite(a, b) {
        Listed::New
    } else {
        Listed::Repeated
    })
}

/// Makes each id a component.
pub(super) fn grow(components: &mut Components, ids: &Labels) -> Result<()> {
    while components.len() < ids.len() as usize {
        components.add()?;
    }
    Ok(())
}

/// The error of an id in two entities.
pub(super) fn two_entities(row: &RecordRow<'_>, id: &IdText, entity: &IdText) -> Error {
    let problem = format!(
        "the id {:?} is in entity {:?}, and in an earlier record in another one",
        id.text, entity.text
    );
    row.error(&problem, "give each record an id of its own, and run again")
}

fn refused(path: &Path, problem: String) -> Error {
    Error::Input {
        path: path.to_owned(),
        problem,
        remedy: REMEDY.to_owned(),
    }
}

/// What the report of a folder says of its files.
fn folder_mark(path: &Path) -> Result<Option<Mark>> {
    read_json(&path.with_file_name(REPORT))
}

fn sides_of_links(path: &Path) -> Result<Sides> {
    let mark = folder_mark(path)?;
    Ok(match mark.filter(|mark| mark.command == "link") {
        Some(mark) if mark.parameters.matching.is_some() => Sides::Two,
        Some(_) => Sides::One,
        None => Sides::ByFiles,
    })
}

/// What a file without records is, by the report beside it.
fn form_of_empty(path: &Path) -> Result<(&'static str, Form)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let file_mark = read_json::<Mark>(&path.with_file_name(format!("{name}.report.json")))?;
    if file_mark.is_some_and(|mark| mark.command == "pairs") {
        return Ok(("pairs", Form::Pairs(Sides::One)));
    }
    let mark = folder_mark(path)?;
    match (mark.as_ref().map(|mark| &*mark.command), &*name) {
        (Some("link"), "links.jsonl") => Ok(("link", Form::Pairs(sides_of_links(path)?))),
        (Some("dedup"), "removed.jsonl") => Ok(("dedup", Form::Removed)),
        _ => Err(refused(
            path,
            "it has no record, so that nothing says what it is".to_owned(),
        )),
    }
}
