//! What an index keeps behind its lock: keys, rows and names of bands.

use pyo3::prelude::*;
use simgpu::scheme::{SlotVec, Slots, Values};
use simgpu_index::LshIndex;
use simgpu_twins::datasketch::bands::{BandNames, SlotLayout, swapped_bytes};

use crate::index::keys::Keys;
use crate::index::{Keyed, refusal};

pub(super) struct KeyedIndex {
    pub(super) keys: Keys,
    /// `None` until the first insert.
    pub(super) contents: Option<LshContents>,
    pub(super) scheme: Option<String>,
    pub(super) hashfunc: Option<Py<PyAny>>,
    /// The results of `hashfunc`: a row holds their indexes.
    pub(super) names: BandNames,
    /// The queries of `add_to_query_buffer`.
    pub(super) buffered: Vec<SketchRow>,
}

/// The index, whose numbers are those of the keys. Where a slot is several values, or `hashfunc` makes one name of a band,
/// its rows per band are those values, or 1.
pub(super) struct LshContents {
    pub(super) values_per_slot: usize,
    pub(super) index: LshIndex,
}

/// A sketch as the index takes it.
pub(super) enum SketchRow {
    /// The values of all slots.
    Slots(SlotVec, SlotLayout),
    /// What `hashfunc` made of each band.
    Hashed(Vec<Vec<u8>>),
}

/// A name that no row has.
const NO_NAME: u64 = u64::MAX;

impl Keyed for KeyedIndex {
    fn keys(&self) -> &Keys {
        &self.keys
    }
}

impl KeyedIndex {
    pub(super) fn new(hashfunc: Option<Py<PyAny>>) -> Self {
        KeyedIndex {
            keys: Keys::default(),
            contents: None,
            scheme: None,
            hashfunc,
            names: BandNames::default(),
            buffered: Vec::new(),
        }
    }

    /// The numbers of the keys that share one of the first `bands` bands with a row, in order.
    pub(super) fn candidates(&self, row: &SketchRow, bands: usize) -> PyResult<Vec<u32>> {
        let Some(contents) = &self.contents else {
            return Ok(Vec::new());
        };
        let found = match row {
            SketchRow::Slots(values, layout) if *layout == contents.layout() => {
                contents.index.query_bands(values.view(), bands)
            }
            SketchRow::Slots(..) => return Ok(Vec::new()),
            SketchRow::Hashed(names) => {
                let number = |name: &Vec<u8>| self.names.find(name).unwrap_or(NO_NAME);
                let numbers: Vec<u64> = names.iter().map(number).collect();
                contents.index.query_bands(Slots::U64(&numbers), bands)
            }
        };
        Ok(self.keys.firsts_of(found.map_err(refusal)?))
    }

    pub(super) fn objects(&self, py: Python<'_>, numbers: &[u32]) -> Vec<Py<PyAny>> {
        numbers
            .iter()
            .filter_map(|number| self.keys.get(py, *number))
            .collect()
    }

    /// The bytes of a band of a row.
    pub(super) fn bytes_of_band(&self, number: u32, band: usize) -> Vec<u8> {
        let contents = self.contents.as_ref();
        let values = contents.and_then(|contents| contents.index.band(number, band));
        match values {
            Some(Values::U64(numbers)) if self.hashfunc.is_some() => {
                let name = numbers.first().and_then(|name| self.names.name(*name));
                name.map(<[u8]>::to_vec).unwrap_or_default()
            }
            Some(values) => swapped_bytes(values.view()),
            None => Vec::new(),
        }
    }

    /// The bytes of all bands of a key, in the order in which they were inserted.
    pub(super) fn bytes_of_key(&self, first: u32, bands: usize) -> Vec<Vec<u8>> {
        let numbers = self.keys.numbers_of(first);
        numbers
            .flat_map(|number| (0..bands).map(move |band| (number, band)))
            .map(|(number, band)| self.bytes_of_band(number, band))
            .collect()
    }

    /// Forgets removed rows when there are many.
    pub(super) fn compact_if_worthwhile(&mut self) {
        let Some(contents) = &mut self.contents else {
            return;
        };
        if contents.index.is_empty() {
            self.contents = None;
            self.names = BandNames::default();
            self.keys = Keys::default();
        } else if contents.index.wants_compaction() {
            contents.index.compact();
            self.keys.compact();
        }
    }
}

impl LshContents {
    pub(super) fn layout(&self) -> SlotLayout {
        SlotLayout {
            width: self.index.slot_width(),
            values_per_slot: self.values_per_slot,
        }
    }
}
