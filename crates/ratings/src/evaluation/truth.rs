//! Reads what is true: pairs of ids, or the entity of each id.

use std::collections::HashSet;

use super::found::{Found, grow, number, two_entities, unite};
use super::pairs::{Listed, NO_ENTITY, RecordPairs};
use super::rows::{IdText, RecordRow, RowsReading, id_field};
use simgpu::error::{Error, Result};
use simgpu::pipeline::Components;
use simgpu_io::{FieldPath, InputFile, Labels, ValueField, field_names, listed_fields};

/// The fields of the truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TruthFields {
    /// Each record is a pair of ids, in these fields; with two inputs, the first of A and the second of B. By default
    /// `id_a` and `id_b`, or `id` and `kept_id`, or else the first two fields.
    Pairs(Option<[FieldPath; 2]>),
    /// Each record has an id and the entity that it is of.
    Entity {
        /// The field of the id; by default `id`, and if there is none, ids are `file:row`, as those of results are.
        id: Option<FieldPath>,
        /// The field of the entity. A record without a value does not count.
        entity: FieldPath,
    },
}

impl Default for TruthFields {
    fn default() -> Self {
        TruthFields::Pairs(None)
    }
}

/// What is true.
#[derive(Debug)]
pub(super) enum TrueRecords {
    /// Records of one collection that were united, by the numbers of their ids. Others are entities of their own.
    United(Components),
    /// Pairs of records of two collections.
    Pairs(RecordPairs),
    /// The entity of each record of each collection, by the number of its id; [`NO_ENTITY`] if it is not known.
    Entities(Vec<Vec<u32>>),
}

/// The truth that was read.
#[derive(Debug)]
pub(super) struct Truth {
    pub(super) records: TrueRecords,
    /// The fields that were read.
    pub(super) fields: Vec<String>,
    /// Which ids it has, of each collection.
    pub(super) has: Vec<Vec<bool>>,
    /// The records of the files.
    pub(super) rows: u64,
    /// Those that repeat an earlier one.
    pub(super) repeated: u64,
    /// Pairs of an id with itself.
    pub(super) itself: u64,
    /// Records without an entity.
    pub(super) unlabelled: u64,
}

impl Truth {
    fn new(records: TrueRecords, sides: usize, fields: &[ValueField]) -> Self {
        Truth {
            records,
            fields: fields.iter().map(|field| field.path.to_string()).collect(),
            has: vec![Vec::new(); sides],
            rows: 0,
            repeated: 0,
            itself: 0,
            unlabelled: 0,
        }
    }

    /// Reads the truth of a result. `files` are those of the one collection, or of A and of B; pairs are in the first. Gives
    /// numbers to ids that the result does not have.
    pub(super) fn read(
        fields: &TruthFields,
        files: &[Vec<InputFile>],
        found: &mut Found,
        reading: RowsReading<'_>,
    ) -> Result<Self> {
        match fields {
            TruthFields::Pairs(named) => {
                let pair = pair_fields(named.as_ref(), &files[0], found, reading)?;
                Truth::read_pairs(&pair, &files[0], found, reading)
            }
            TruthFields::Entity { id, entity } => {
                Truth::read_entities(id.as_ref(), entity, files, found, reading)
            }
        }
    }

    fn read_pairs(
        fields: &[ValueField; 2],
        files: &[InputFile],
        found: &mut Found,
        reading: RowsReading<'_>,
    ) -> Result<Self> {
        let sides = found.ids.len();
        let records = match sides {
            1 => TrueRecords::United(Components::default()),
            _ => TrueRecords::Pairs(RecordPairs::new(true)),
        };
        let mut truth = Truth::new(records, sides, fields);
        let mut listed: HashSet<[u32; 2]> = HashSet::new();
        truth.rows = reading.for_each(files, fields, |row| {
            let [first, second] = row.both()?;
            let a = truth.number(&mut found.ids, 0, first)?;
            let b = truth.number(&mut found.ids, sides - 1, second)?;
            match &mut truth.records {
                TrueRecords::Pairs(pairs) => match pairs.add([a, b]) {
                    Listed::Repeated => truth.repeated += 1,
                    Listed::New | Listed::Itself => {}
                },
                // A pair that follows from earlier ones says nothing new, and is not repeated.
                TrueRecords::United(components) => {
                    match unite(components, &found.ids[0], [a, b])? {
                        Listed::Itself => truth.itself += 1,
                        Listed::New | Listed::Repeated => {
                            let is_new = listed.insert([a.min(b), a.max(b)]);
                            truth.repeated += u64::from(!is_new);
                        }
                    }
                }
                TrueRecords::Entities(_) => {}
            }
            Ok(())
        })?;
        if let TrueRecords::United(components) = &mut truth.records {
            grow(components, &found.ids[0])?;
        }
        match truth.rows - truth.itself {
            0 => Err(refused(
                files,
                "it has no pair of two ids, so that nothing is known to be true",
                "give the pairs that are right, or the entity of each record with `entity_field`",
            )),
            _ => Ok(truth),
        }
    }

    fn read_entities(
        id: Option<&FieldPath>,
        entity: &FieldPath,
        files: &[Vec<InputFile>],
        found: &mut Found,
        reading: RowsReading<'_>,
    ) -> Result<Self> {
        let id_path = id.cloned().unwrap_or_else(|| FieldPath::new("id"));
        let fields = [
            id_field(entity.clone(), ValueField::ENTITY),
            id_field(id_path, ValueField::ID),
        ];
        let unknown = TrueRecords::Entities(vec![Vec::new(); files.len()]);
        let mut truth = Truth::new(unknown, files.len(), &fields);
        let mut entities = Labels::default();
        for (side, side_files) in files.iter().enumerate() {
            let has_ids = id.is_some() || all_have_ids(side_files, reading)?;
            let wanted = if has_ids { &fields[..] } else { &fields[..1] };
            truth.rows += reading.for_each(side_files, wanted, |row| {
                let id = if has_ids {
                    None
                } else {
                    Some(IdText {
                        text: format!("{}:{}", row.place.file.relative, row.place.row),
                        is_integer: false,
                    })
                };
                let id = id.as_ref().map_or_else(|| row.required(1), Ok)?;
                let number = truth.number(&mut found.ids, side, id)?;
                let id = NumberedId { side, number, id };
                truth.label(&id, row, &mut entities)
            })?;
        }
        if truth.rows > truth.unlabelled {
            return Ok(truth);
        }
        let names = listed_fields(&files[0], entity, reading.temporary);
        let names = names.map_or(String::new(), |names| format!("; {names}"));
        Err(refused(
            &files[0],
            &format!("no record has a value in field \"{entity}\"{names}"),
            "choose the field with `entity_field`",
        ))
    }

    /// Notes the entity of a record.
    fn label(
        &mut self,
        numbered: &NumberedId<'_>,
        row: &RecordRow<'_>,
        entities: &mut Labels,
    ) -> Result<()> {
        let TrueRecords::Entities(sides) = &mut self.records else {
            return Ok(());
        };
        let Some(name) = row.value(0) else {
            self.unlabelled += 1;
            return Ok(());
        };
        let entity = number(entities, name)?;
        let labels = &mut sides[numbered.side];
        let place = numbered.number as usize;
        if labels.len() <= place {
            labels.resize(place + 1, NO_ENTITY);
        }
        match labels[place] {
            NO_ENTITY => labels[place] = entity,
            known if known == entity => self.repeated += 1,
            _ => return Err(two_entities(row, numbered.id, name)),
        }
        Ok(())
    }

    /// The number of an id, which the truth has.
    fn number(&mut self, ids: &mut [Labels], side: usize, id: &IdText) -> Result<u32> {
        let number = number(&mut ids[side], id)?;
        let (has, place) = (&mut self.has[side], number as usize);
        if has.len() <= place {
            has.resize(place + 1, false);
        }
        has[place] = true;
        Ok(number)
    }
}

/// An id of the truth.
struct NumberedId<'a> {
    /// The file of records that has it.
    side: usize,
    /// Its number among those of its side.
    number: u32,
    id: &'a IdText,
}

/// The fields of pairs: those that are named, or those of the program's own outputs, or the first two.
fn pair_fields(
    named: Option<&[FieldPath; 2]>,
    files: &[InputFile],
    found: &Found,
    reading: RowsReading<'_>,
) -> Result<[ValueField; 2]> {
    let fields = |paths: [FieldPath; 2]| paths.map(|path| id_field(path, ValueField::IDS));
    if let Some(named) = named {
        return Ok(fields(named.clone()));
    }
    let names = match files {
        [first, ..] => field_names(first, reading.temporary)?,
        [] => Vec::new(),
    };
    let has = |name: &str| names.iter().any(|known| known == name);
    let own = [["id_a", "id_b"], ["id", "kept_id"]];
    let own = own
        .into_iter()
        .find(|pair| pair.iter().all(|name| has(name)));
    let pair = match (own, &names[..]) {
        (Some(pair), _) => pair,
        (None, [first, second, ..]) => [&**first, &**second],
        (None, []) => {
            return Err(refused(
                files,
                "it has no record",
                "give the pairs that are right",
            ));
        }
        (None, [_]) => {
            return Err(refused(
                files,
                "it has one field, and a pair has two",
                "name two fields with `truth_fields`, or the character between columns with `delimiter`",
            ));
        }
    };
    let last = found.ids.len() - 1;
    let has_ids =
        found.ids[0].number(pair[0]).is_some() && found.ids[last].number(pair[1]).is_some();
    let has_numbers = pair.iter().all(|name| name.parse::<i64>().is_ok());
    if own.is_none() && (has_ids || has_numbers) {
        let [a, b] = pair;
        let problem =
            format!("its first line, {a:?} and {b:?}, holds ids, not the names of columns");
        return Err(refused(
            files,
            &problem,
            "put a line with two names above it",
        ));
    }
    Ok(fields(pair.map(FieldPath::from_name)))
}

/// Whether the first record of each file has a field `id`.
fn all_have_ids(files: &[InputFile], reading: RowsReading<'_>) -> Result<bool> {
    for file in files {
        let names = field_names(file, reading.temporary)?;
        if !names.is_empty() && !names.iter().any(|name| name == "id") {
            return Ok(false);
        }
    }
    Ok(true)
}

fn refused(files: &[InputFile], problem: &str, remedy: &str) -> Error {
    Error::Input {
        path: files
            .first()
            .map(|file| file.named.clone())
            .unwrap_or_default(),
        problem: problem.to_owned(),
        remedy: remedy.to_owned(),
    }
}
