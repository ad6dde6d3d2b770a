//! Shingles, schemes and where signatures are computed.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simgpu_cli::arguments::{
    BackendArguments, SHINGLE_OPTIONS, SigningArguments, StopWordsArgument,
};

use super::values::Options;
use crate::errors::parameter_error;
use crate::gpu;

impl<'py> Options<'py> {
    /// Where signatures are computed.
    pub(crate) fn machine(&self) -> PyResult<BackendArguments> {
        Ok(BackendArguments {
            backend: gpu::backend(
                self.py(),
                self.required("backend", "the name of a backend, as a str")?,
            )?,
            isa: self.optional("isa", "the name of an instruction set, as a str")?,
            #[cfg(feature = "gpu")]
            device: self.optional("device", "the number of a device, as in devices()")?,
            #[cfg(feature = "gpu")]
            lose_device_after: None,
        })
    }

    /// How signatures are computed. A shingling takes the place of the options of shingles, and a scheme brings its
    /// numbers.
    pub(crate) fn sign(&self) -> PyResult<SigningArguments> {
        let (scheme, num_perm, seed) = self.scheme()?;
        let shingling = self.value("shingling")?;
        let shingles = match &shingling {
            None => self.0.as_any().clone(),
            Some(shingling) => {
                self.refuse_shingles()?;
                let scale = shingling.getattr("weight_scale");
                if scale.is_ok_and(|scale| !scale.is_none()) {
                    let message = "shingling has a weight_scale, which files do not need; omit it, and pass weights_field and weight_scale";
                    return Err(parameter_error(self.py(), message));
                }
                self.shingles_of(shingling)?.into_any()
            }
        };
        let shingles = Options(shingles.cast_into::<PyDict>()?);
        Ok(SigningArguments {
            unit: shingles.optional_choice("unit")?,
            size: shingles.optional("size", "a number of units, at least 1")?,
            stop_words: shingles.stop_words()?,
            lowercase: shingles.switch("lowercase")?,
            strip_punctuation: shingles.switch("strip_punctuation")?,
            keep_whitespace: shingles.switch("keep_whitespace")?,
            count: shingles.switch("count")?,
            hash: shingles.optional("hash", "the name of a hash, as a str")?,
            scheme,
            num_perm,
            seed,
            machine: self.machine()?,
        })
    }

    /// The options of shingles that a `Shingling` holds, which has them as attributes.
    fn shingles_of(&self, shingling: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let shingles = PyDict::new(self.py());
        for name in SHINGLE_OPTIONS {
            let value = shingling.getattr(name).map_err(|_| {
                let kind = shingling.get_type();
                PyTypeError::new_err(format!("shingling is of {kind}; give a Shingling"))
            })?;
            shingles.set_item(name, value)?;
        }
        Ok(shingles)
    }

    /// Refuses options of shingles beside a shingling.
    fn refuse_shingles(&self) -> PyResult<()> {
        for name in SHINGLE_OPTIONS {
            if let Some(value) = self.value(name)?
                && value.is_truthy()?
            {
                let message = format!("shingling and {name} are both given; omit one of them");
                return Err(parameter_error(self.py(), message));
            }
        }
        Ok(())
    }

    /// Name, permutations and seed of the scheme.
    pub(crate) fn scheme(&self) -> PyResult<(String, Option<u32>, Option<u32>)> {
        let most = simgpu::scheme::MAX_NUM_PERM;
        let num_perm = self.optional("num_perm", &format!("a number from 1 to {most}"))?;
        let seed = self.optional("seed", &format!("a number from 0 to {}", u32::MAX))?;
        let scheme: Bound<'_, PyAny> = self.required("scheme", "a Scheme or its name")?;
        if let Ok(name) = scheme.extract::<String>() {
            return Ok((name, num_perm, seed));
        }
        let is_scheme = |name| scheme.getattr(name);
        match (is_scheme("name"), is_scheme("num_perm"), is_scheme("seed")) {
            (Ok(name), Ok(own_num_perm), Ok(own_seed)) => Ok((
                name.extract()?,
                num_perm.or(Some(own_num_perm.extract()?)),
                seed.or(Some(own_seed.extract()?)),
            )),
            _ => Err(PyTypeError::new_err(format!(
                "scheme is of {}; give a Scheme or its name",
                scheme.get_type()
            ))),
        }
    }

    /// A file of stop words, or the words.
    fn stop_words(&self) -> PyResult<Option<StopWordsArgument>> {
        let Some(value) = self.value("stop_words")? else {
            return Ok(None);
        };
        if let Ok(path) = value.extract::<PathBuf>() {
            return Ok(Some(StopWordsArgument::File(path)));
        }
        let words = self.strings("stop_words")?;
        if words.is_empty() {
            let message = "stop_words is empty; give some, or None for English ones";
            return Err(parameter_error(self.py(), message));
        }
        let words = words.iter().map(String::as_str).collect();
        Ok(Some(StopWordsArgument::Words(words)))
    }
}
