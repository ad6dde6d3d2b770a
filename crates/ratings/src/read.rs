//! Reads ratings: who rated what, how, and when; and the names of items.

use std::path::Path;

use super::{RatedAs, Rating, Ratings};
use simgpu::error::{BadRecord, Error, Result};
use simgpu::store::Texts;
use simgpu_io::Chunk;
use simgpu_io::Labels;
use simgpu_io::{FieldPath, OnBadRecord, ValueField};
use simgpu_io::{FieldValues, ValueKind};
use simgpu_io::{Value, for_each_record};

/// The fields of a rating.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingFields {
    /// The user, a string or an integer; default `user`.
    pub user: FieldPath,
    /// The item, a string or an integer; default `item`.
    pub item: FieldPath,
    /// The stars, a number; default `rating`. Not needed if ratings count as seen.
    pub rating: FieldPath,
    /// When, a number or a date. By default `None`: the field `timestamp`, which is needed only to hold out the last
    /// rating. Without times, later records are later ratings.
    pub time: Option<FieldPath>,
}

impl Default for RatingFields {
    fn default() -> Self {
        RatingFields {
            user: FieldPath::new("user"),
            item: FieldPath::new("item"),
            rating: FieldPath::new("rating"),
            time: None,
        }
    }
}

/// What is needed of ratings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RatingNeeds {
    pub(crate) rated_as: RatedAs,
    /// Whether the times matter.
    pub(crate) time: bool,
}

impl RatingFields {
    /// The fields to read, in the order of [`RatingsRead::add`].
    pub(crate) fn values(&self, needs: RatingNeeds) -> Vec<ValueField> {
        let field = |path: &FieldPath, parameter, is_required| ValueField {
            path: path.clone(),
            parameter,
            hint: "",
            is_required,
        };
        vec![
            field(&self.user, "user_field", true),
            field(&self.item, "item_field", true),
            field(&self.rating, "rating_field", needs.rated_as.needs_stars()),
            field(&self.time_path(), "time_field", self.is_timed(needs)),
        ]
    }

    fn time_path(&self) -> FieldPath {
        let default = || FieldPath::new("timestamp");
        self.time.clone().unwrap_or_else(default)
    }

    /// Whether each rating must have a time.
    fn is_timed(&self, needs: RatingNeeds) -> bool {
        needs.time || self.time.is_some()
    }
}

/// A rating of a chunk, whose texts lie in [`RatingsOfChunk`].
#[derive(Debug)]
struct ParsedRating {
    is_integer: [bool; 2],
    stars: Option<f64>,
}

/// The ratings of a chunk.
#[derive(Debug, Default)]
pub(crate) struct RatingsOfChunk {
    pub(crate) file: usize,
    /// The user and the item of each good record, one after the other.
    ids: Texts,
    ratings: Vec<ParsedRating>,
    /// One per good record.
    times: FieldValues,
    /// The number of records, good and bad.
    records: u64,
    /// The bad records: the place in the chunk, the line, what is wrong.
    bad: Vec<(u64, Option<u64>, String)>,
}

impl RatingsOfChunk {
    /// Parses the ratings of a chunk, which was read with these fields ([`RatingFields::values`]).
    pub(crate) fn parse(chunk: &Chunk, fields: &[ValueField], needs: RatingNeeds) -> Self {
        let mut parsed = RatingsOfChunk {
            file: chunk.file,
            ..RatingsOfChunk::default()
        };
        for_each_record(chunk, fields, &mut |line, values| {
            let added = values.and_then(|values| parsed.push(values, fields, needs));
            if let Err(problem) = added {
                parsed.bad.push((parsed.records, line, problem));
            }
            parsed.records += 1;
        });
        parsed
    }

    fn push(
        &mut self,
        values: &[Option<Value<'_>>],
        fields: &[ValueField],
        needs: RatingNeeds,
    ) -> std::result::Result<(), String> {
        let [_, _, stars, time] = values else {
            return Err("the record has not the fields of a rating".to_owned());
        };
        let missing = |field: &ValueField| format!("field \"{}\" is missing", field.path);
        let id = |place: usize| {
            let value = values[place]
                .as_ref()
                .ok_or_else(|| missing(&fields[place]))?;
            if value.is_id() {
                Ok(value)
            } else {
                Err(format!(
                    "field \"{}\" is {}, not a string or an integer",
                    fields[place].path, value.text
                ))
            }
        };
        let (user, item) = (id(0)?, id(1)?);
        let stars = match stars {
            Some(stars) => {
                let number = stars.text.trim().parse::<f64>().ok();
                let number = number.filter(|number| number.is_finite());
                let not_a_number = || {
                    format!(
                        "field \"{}\" is {:?}, not a number",
                        fields[2].path, stars.text
                    )
                };
                Some(number.ok_or_else(not_a_number)?)
            }
            None if fields[2].is_required => return Err(missing(&fields[2])),
            None => None,
        };
        if needs.rated_as == RatedAs::Stars {
            RatedAs::copies(stars)
                .map_err(|problem| format!("field \"{}\" {problem}", fields[2].path))?;
        }
        if time.is_none() && fields[3].is_required {
            return Err(missing(&fields[3]));
        }
        self.ids.push(&user.text);
        self.ids.push(&item.text);
        self.ratings.push(ParsedRating {
            is_integer: [user.is_integer(), item.is_integer()],
            stars,
        });
        self.times.push(time.as_ref().map_or("", |time| &time.text));
        Ok(())
    }
}

/// All ratings that were read.
#[derive(Debug, Default)]
pub(crate) struct RatingsRead {
    pub(crate) users: Labels,
    pub(crate) items: Labels,
    ratings: Vec<Rating>,
    times: FieldValues,
    /// The records of each file so far.
    records: Vec<u64>,
    /// The bad records.
    pub(crate) skipped: Vec<(usize, BadRecord)>,
}

impl RatingsRead {
    /// Appends the ratings of the next chunk, of a file of this name. The first bad record is an error, or bad records are
    /// skipped.
    pub(crate) fn add(
        &mut self,
        chunk: &RatingsOfChunk,
        name: &Path,
        on_bad_record: OnBadRecord,
    ) -> Result<()> {
        if self.records.len() <= chunk.file {
            self.records.resize(chunk.file + 1, 0);
        }
        let before = &mut self.records[chunk.file];
        for (place, line, problem) in &chunk.bad {
            let record = BadRecord {
                file: name.to_owned(),
                row: *before + place,
                line: *line,
                problem: problem.clone(),
            };
            if on_bad_record == OnBadRecord::Fail {
                return Err(Error::BadRecord(record));
            }
            self.skipped.push((chunk.file, record));
        }
        *before += chunk.records;
        for (i, parsed) in chunk.ratings.iter().enumerate() {
            let [user_is_integer, item_is_integer] = parsed.is_integer;
            let user = self.users.add(chunk.ids.get(2 * i), user_is_integer)?;
            let item = self.items.add(chunk.ids.get(2 * i + 1), item_is_integer)?;
            self.ratings.push(Rating {
                user,
                item,
                stars: parsed.stars,
                time: 0,
            });
        }
        self.times.append(&chunk.times);
        Ok(())
    }

    /// The number of records, good and bad.
    pub(crate) fn records(&self) -> u64 {
        self.records.iter().sum()
    }

    /// The number of records of a file.
    pub(crate) fn records_of(&self, file: usize) -> u64 {
        self.records.get(file).copied().unwrap_or(0)
    }

    /// The ratings, and whether they have times that cannot be ordered and were ignored.
    pub(crate) fn ratings(
        &mut self,
        fields: &RatingFields,
        needs: RatingNeeds,
    ) -> Result<(Ratings, bool)> {
        let mut ignores_times = false;
        let mut ratings = std::mem::take(&mut self.ratings);
        match self.times.forms().kind() {
            None => {}
            Some(kind @ (ValueKind::Numbers | ValueKind::Dates)) => {
                let times = self.times.places(kind, true)?;
                for (rating, place) in ratings.iter_mut().zip(times) {
                    // A rating without a time comes before all others.
                    rating.time = match place {
                        u32::MAX => -1,
                        place => i64::from(place),
                    };
                }
            }
            Some(ValueKind::Strings | ValueKind::Mixed) if fields.is_timed(needs) => {
                return Err(Error::Parameter {
                    name: "`time_field`",
                    value: fields.time_path().to_string(),
                    expected: "a field of numbers only, or of dates only (RFC 3339)".to_owned(),
                });
            }
            Some(ValueKind::Strings | ValueKind::Mixed) => ignores_times = true,
        }
        self.times = FieldValues::default();
        let ratings = Ratings::new(self.users.len(), self.items.len(), ratings)?;
        Ok((ratings, ignores_times))
    }
}

/// The fields of a file of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameFields {
    /// The id of an item; default `id`.
    pub id: FieldPath,
    /// Its name; default `name`.
    pub name: FieldPath,
}

impl Default for NameFields {
    fn default() -> Self {
        NameFields {
            id: FieldPath::new("id"),
            name: FieldPath::new("name"),
        }
    }
}

impl NameFields {
    /// The fields to read.
    pub(crate) fn values(&self) -> Vec<ValueField> {
        let field = |path: &FieldPath, parameter| ValueField {
            path: path.clone(),
            parameter,
            hint: "",
            is_required: true,
        };
        vec![
            field(&self.id, "name_id_field"),
            field(&self.name, "name_field"),
        ]
    }
}

/// The names of items, by number.
#[derive(Debug, Default)]
pub(crate) struct ItemNames(Vec<Option<String>>);

impl ItemNames {
    pub(crate) fn new(items: &Labels) -> Self {
        ItemNames(vec![None; items.len() as usize])
    }

    /// Adds the names of a chunk; the first name of an item counts. Returns the line of the first bad record, and what is
    /// wrong with it.
    pub(crate) fn add(
        &mut self,
        chunk: &Chunk,
        fields: &[ValueField],
        items: &Labels,
    ) -> std::result::Result<(), (Option<u64>, String)> {
        let mut result = Ok(());
        for_each_record(chunk, fields, &mut |line, values| {
            let named = values.map(|values| match values {
                [Some(id), name] => (items.number(&id.text), name.as_ref()),
                _ => (None, None),
            });
            match named {
                Ok((Some(item), Some(name))) => {
                    let known = &mut self.0[item as usize];
                    known.get_or_insert_with(|| name.text.clone().into_owned());
                }
                Ok(_) => {}
                Err(problem) if result.is_ok() => result = Err((line, problem)),
                Err(_) => {}
            }
        });
        result
    }

    pub(crate) fn get(&self, item: u32) -> Option<&str> {
        self.0.get(item as usize)?.as_deref()
    }

    /// The number of items without a name.
    pub(crate) fn missing(&self) -> u64 {
        self.0.iter().filter(|name| name.is_none()).count() as u64
    }
}
