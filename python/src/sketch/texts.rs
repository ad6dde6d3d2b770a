//! Texts as sets of shingles that a sketch's hash function hashes.

use std::num::NonZeroUsize;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use rayon::prelude::*;
use simgpu::error::Error;
use simgpu::pipeline::{Normalise, Scratch, Shingler, Shingling, StopWords, Unit};

use simgpu::progress::Progress;

use super::hashfunc::Native;
use super::kind::{Kind, SlotVec};
use super::permutations::Permutations;
use crate::errors::{OrRaise, parameter_error};

/// Hashes of a text that are signed at a time.
const HASHES_AT_A_TIME: usize = 1 << 16;

/// Texts that are signed between two looks at signals.
const TEXTS_AT_A_TIME: usize = 1 << 10;

/// Cuts texts into shingles and signs them.
pub(crate) struct TextSigner<'a> {
    shingler: Shingler,
    permutations: &'a Permutations,
}

impl<'a> TextSigner<'a> {
    /// Signs texts as a sketch would sign the bytes of their shingles.
    pub(crate) fn new(
        py: Python<'_>,
        kind: Kind,
        hash: Option<Native>,
        permutations: &'a Permutations,
        shingling: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let Some(hash) = hash else {
            let message = "shingles are hashed without Python; give a hashfunc that is sha1_hash32, sha1_hash64, \
                           xxhash.xxh32_intdigest or xxhash.xxh64_intdigest";
            return Err(parameter_error(py, message));
        };
        let scheme = kind.preset().or_raise(py)?;
        let shingling = match shingling {
            Some(shingling) => read_shingling(shingling)?,
            None => Shingling::of_scheme(&scheme),
        };
        let shingler = Shingler::new(shingling, &scheme, Some(hash.base_hash())).or_raise(py)?;
        shingler.check_texts().or_raise(py)?;
        Ok(TextSigner {
            shingler,
            permutations,
        })
    }

    /// Lowers `slots` to the values of the shingles of a text. Starts no thread.
    pub(crate) fn sign(
        &self,
        text: &str,
        scratch: &mut Scratch,
        slots: &mut SlotVec,
    ) -> simgpu::Result<()> {
        let mut signed = Ok(());
        self.shingler
            .for_each_piece(text, HASHES_AT_A_TIME, scratch, |piece| {
                let this = self.permutations.sign(piece.hashes(), slots);
                if signed.is_ok() {
                    signed = this;
                }
            });
        signed
    }

    /// Lowers a copy of `slots` per text, on the threads of the current pool.
    pub(crate) fn sign_all(
        &self,
        texts: &[&str],
        slots: &SlotVec,
        progress: &dyn Progress,
    ) -> simgpu::Result<Vec<SlotVec>> {
        progress.begin("sign", texts.len() as u64);
        let mut signed = Vec::with_capacity(texts.len());
        for batch in texts.chunks(TEXTS_AT_A_TIME) {
            let rows = batch
                .par_iter()
                .map_init(Scratch::default, |scratch, text| {
                    let mut slots = slots.clone();
                    self.sign(text, scratch, &mut slots).map(|()| slots)
                });
            signed.append(&mut rows.collect::<simgpu::Result<Vec<SlotVec>>>()?);
            let bytes = batch.iter().map(|text| text.len() as u64).sum();
            let goes_on = progress.advance(signed.len() as u64, batch.len() as u64, bytes);
            if goes_on.is_break() {
                return Err(Error::Stopped);
            }
        }
        Ok(signed)
    }
}

/// Reads the argument `shingling`: the name of a unit, or an object with the attributes of `simgpu.Shingling`.
fn read_shingling(shingling: &Bound<'_, PyAny>) -> PyResult<Shingling> {
    let py = shingling.py();
    if let Ok(name) = shingling.extract::<&str>() {
        return Ok(Shingling::of(unit(py, name, None)?));
    }
    let Some(name) = shingling.getattr_opt("unit")? else {
        let kind = shingling.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "shingling is of type {kind}; give a Shingling or the name of a unit"
        )));
    };
    let words: Option<Vec<String>> = shingling.getattr("stop_words")?.extract()?;
    let mut read = Shingling::of(unit(py, &name.extract::<String>()?, words.as_deref())?);
    if let Some(size) = shingling
        .getattr("size")?
        .extract::<Option<NonZeroUsize>>()?
    {
        read = read.with_size(size).or_raise(py)?;
    }
    read.normalise = Normalise {
        lowercase: shingling.getattr("lowercase")?.extract()?,
        strip_punctuation: shingling.getattr("strip_punctuation")?.extract()?,
        keep_whitespace: shingling.getattr("keep_whitespace")?.extract()?,
    };
    Ok(read)
}

fn unit(py: Python<'_>, name: &str, stop_words: Option<&[String]>) -> PyResult<Unit> {
    let stop_words = stop_words.map_or_else(StopWords::english, |words| {
        words.iter().map(String::as_str).collect()
    });
    let units = [
        Unit::Words,
        Unit::Bytes,
        Unit::Chars,
        Unit::StopWords(stop_words),
        Unit::Pieces,
    ];
    let known = units.each_ref().map(Unit::to_string).join(", ");
    let unit = units.into_iter().find(|unit| unit.to_string() == name);
    let unit = unit.ok_or_else(|| Error::UnknownName {
        what: "unit",
        name: name.to_owned(),
        known,
    });
    unit.or_raise(py)
}
