//! Makes the columns of written tables.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::builder::{
    FixedSizeListBuilder, Float64Builder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder,
};
use arrow_schema::{DataType, Field};

use simgpu::pipeline::Signatures;
use simgpu::scheme::Slots;

/// The type of a column of ids: integers if all ids are 64-bit integers, else strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum IdColumn {
    Integers,
    Strings,
}

impl IdColumn {
    #[doc(hidden)]
    pub fn field(self, name: &str) -> Field {
        let data_type = match self {
            IdColumn::Integers => DataType::Int64,
            IdColumn::Strings => DataType::Utf8,
        };
        Field::new(name, data_type, false)
    }

    #[doc(hidden)]
    pub fn array<S: AsRef<str>>(self, ids: impl Iterator<Item = S>) -> ArrayRef {
        self.array_of_options(ids.map(Some))
    }

    /// A column with nulls.
    #[doc(hidden)]
    pub fn array_of_options<S: AsRef<str>>(self, ids: impl Iterator<Item = Option<S>>) -> ArrayRef {
        match self {
            IdColumn::Integers => {
                let mut column = Int64Builder::new();
                for id in ids {
                    column.append_option(id.and_then(|id| id.as_ref().parse().ok()));
                }
                Arc::new(column.finish())
            }
            IdColumn::Strings => {
                let mut column = StringBuilder::new();
                for id in ids {
                    let Some(id) = id else {
                        column.append_null();
                        continue;
                    };
                    // A JSON string, or an integer's digits.
                    match serde_json::from_str::<String>(id.as_ref()) {
                        Ok(text) => column.append_value(text),
                        Err(_) => column.append_value(id.as_ref()),
                    }
                }
                Arc::new(column.finish())
            }
        }
    }
}

#[doc(hidden)]
pub fn strings<'a>(values: impl Iterator<Item = impl Into<Option<&'a str>>>) -> ArrayRef {
    let mut column = StringBuilder::new();
    values.for_each(|value| column.append_option(value.into()));
    Arc::new(column.finish())
}

#[doc(hidden)]
pub fn u64s(values: impl Iterator<Item = impl Into<Option<u64>>>) -> ArrayRef {
    let mut column = UInt64Builder::new();
    values.for_each(|value| column.append_option(value.into()));
    Arc::new(column.finish())
}

#[doc(hidden)]
pub fn f64s(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    let mut column = Float64Builder::new();
    values.for_each(|value| column.append_option(value));
    Arc::new(column.finish())
}

/// The field of the column of signatures of so many slots: lists of a fixed size.
pub(crate) fn signature_field(signatures: &Signatures, num_perm: u16) -> Field {
    let slot = match signatures.slots() {
        Slots::U32(_) => DataType::UInt32,
        Slots::U64(_) => DataType::UInt64,
    };
    let item = Arc::new(Field::new("item", slot, true));
    Field::new(
        "signature",
        DataType::FixedSizeList(item, num_perm.into()),
        false,
    )
}

pub(crate) fn signature_column(signatures: &Signatures, num_perm: u16) -> ArrayRef {
    let size = i32::from(num_perm);
    let rows = signatures.len();
    match signatures.slots() {
        Slots::U32(slots) => {
            let mut column = FixedSizeListBuilder::new(UInt32Builder::new(), size);
            column.values().append_slice(slots);
            (0..rows).for_each(|_| column.append(true));
            Arc::new(column.finish())
        }
        Slots::U64(slots) => {
            let mut column = FixedSizeListBuilder::new(UInt64Builder::new(), size);
            column.values().append_slice(slots);
            (0..rows).for_each(|_| column.append(true));
            Arc::new(column.finish())
        }
    }
}
