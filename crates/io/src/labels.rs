//! Ids and the numbers that a run gives to them.

use std::borrow::Cow;
use std::collections::HashMap;

use super::json::json_string;
use super::table::IdColumn;
use simgpu::error::{Error, Result};
use simgpu::store::Texts;

/// Ids in the order in which they first occur, and the number of each.
#[derive(Debug)]
#[doc(hidden)]
pub struct Labels {
    texts: Texts,
    count: u32,
    numbers: HashMap<String, u32>,
    column: IdColumn,
}

impl Default for Labels {
    fn default() -> Self {
        Labels {
            texts: Texts::default(),
            count: 0,
            numbers: HashMap::new(),
            column: IdColumn::Integers,
        }
    }
}

impl Labels {
    /// The number of an id.
    #[doc(hidden)]
    pub fn number(&self, id: &str) -> Option<u32> {
        self.numbers.get(id).copied()
    }

    #[doc(hidden)]
    #[allow(
        clippy::len_without_is_empty,
        reason = "no caller asks whether there is none"
    )]
    pub fn len(&self) -> u32 {
        self.count
    }

    /// An id as JSON, by the type of the column.
    #[doc(hidden)]
    pub fn json(&self, number: u32) -> Cow<'_, str> {
        let text = self.texts.get(number as usize);
        match self.column {
            IdColumn::Integers => text.into(),
            IdColumn::Strings => json_string(text).into(),
        }
    }

    /// The type of a column of ids: integers if all are 64-bit integers.
    #[doc(hidden)]
    pub fn column(&self) -> IdColumn {
        self.column
    }

    /// The number of an id, which is the next one if the id is new.
    #[doc(hidden)]
    pub fn add(&mut self, id: &str, is_integer: bool) -> Result<u32> {
        if let Some(number) = self.number(id) {
            if !is_integer {
                self.column = IdColumn::Strings;
            }
            return Ok(number);
        }
        if !is_integer || id.parse::<i64>().is_err() {
            self.column = IdColumn::Strings;
        }
        let number = self.count;
        self.count = number.checked_add(1).ok_or(Error::TooManyDocuments)?;
        self.texts.push(id);
        self.numbers.insert(id.to_owned(), number);
        Ok(number)
    }
}
