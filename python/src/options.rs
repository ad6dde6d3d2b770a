//! Options of a call, by name, and the arguments of the command that they stand for.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::PathBuf;

use clap::ValueEnum;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use simgpu::Error;
use simgpu_cli::arguments::{
    AgainstArguments, BackendArguments, BadRecordArguments, BandingArguments, FormatArguments,
    HoldArguments, InputArguments, ProcessArguments, RecordArguments, RecordMemoryArguments,
    RunArguments, SHINGLE_OPTIONS, SearchArguments, SelectionArguments, SigningArguments,
    StopWordsArgument, delimiter, quote,
};
use simgpu_cli::commands::dedup::{ClusterArguments, ShortArguments};
use simgpu_cli::commands::pairs::WrittenArguments;
use simgpu_cli::commands::sample::SampleArguments;
use simgpu_cli::options::Given;
use simgpu_cli::outputs::{OutputArguments, ShownArguments};

use crate::arguments::{THREADS, argument, refuse_open_file, refused};
use crate::errors::{OrRaise, parameter_error};
use crate::gpu;

/// The options of a call. Python functions pass all of theirs, with their defaults.
pub(crate) struct Options<'py>(pub(crate) Bound<'py, PyDict>);

impl<'py> Options<'py> {
    pub(crate) fn py(&self) -> Python<'py> {
        self.0.py()
    }

    /// The options that are not at the defaults of `function`, or of a method such as `Contain.__init__`, under their names in
    /// the command.
    pub(crate) fn given(&self, module: &str, function: &str, command: &str) -> PyResult<Given> {
        let module = self.py().import(module)?.into_any();
        let mut names = function.split('.');
        let function = names.try_fold(module, |of, name| of.getattr(name))?;
        let defaults = function.getattr("__kwdefaults__")?.cast_into::<PyDict>()?;
        let mut given = Vec::new();
        for (name, default) in defaults {
            let name: String = name.extract()?;
            let Some(value) = self.value(&name)? else {
                continue;
            };
            let is_given = match (default.is_none(), default.is_truthy()?) {
                (true, _) => true,
                // False, or no names.
                (false, false) => value.is_truthy()?,
                (false, true) => !value.eq(&default)?,
            };
            if is_given {
                given.push(match &*name {
                    "as_" => "as".to_owned(),
                    "resume" => "restart".to_owned(),
                    _ => name,
                });
            }
        }
        Ok(Given::new(command, given))
    }

    /// The value of an option; `None` if it was left out.
    pub(crate) fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        Ok(value.filter(|value| !value.is_none()))
    }

    /// The value of an option. `expected` says which ones are accepted.
    pub(crate) fn optional<T>(&self, name: &str, expected: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.value(name)? else {
            return Ok(None);
        };
        argument(&value, name, expected).map(Some)
    }

    /// The value of an option that is never left out.
    pub(crate) fn required<T>(&self, name: &str, expected: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let value = self.optional(name, expected)?;
        value.ok_or_else(|| PyTypeError::new_err(format!("{name} is None; give {expected}")))
    }

    pub(crate) fn switch(&self, name: &str) -> PyResult<bool> {
        self.required(name, "True or False")
    }

    /// A name that the command knows, too.
    pub(crate) fn optional_choice<T: ValueEnum>(&self, name: &'static str) -> PyResult<Option<T>> {
        let Some(chosen) = self.optional::<String>(name, "a name, as a str")? else {
            return Ok(None);
        };
        choice_of(self.py(), name, chosen).map(Some)
    }

    pub(crate) fn choice<T: ValueEnum>(&self, name: &'static str) -> PyResult<T> {
        let chosen = self.optional_choice(name)?;
        chosen.ok_or_else(|| PyTypeError::new_err(format!("{name} is None; give a name, as a str")))
    }

    /// One name that the command knows, or several.
    pub(crate) fn choices<T: ValueEnum>(&self, name: &'static str) -> PyResult<Vec<T>> {
        let chosen = self.strings(name)?.into_iter();
        chosen
            .map(|chosen| choice_of(self.py(), name, chosen))
            .collect()
    }

    /// One string, or several.
    pub(crate) fn strings(&self, name: &str) -> PyResult<Vec<String>> {
        let expected = "a str, or several";
        let Some(value) = self.value(name)? else {
            return Ok(Vec::new());
        };
        if value.is_instance_of::<PyString>() {
            return Ok(vec![value.extract()?]);
        }
        refuse_open_file(&value, name)?;
        let strings = value.try_iter().and_then(|items| {
            let strings = items.map(|item| item?.extract::<String>());
            strings.collect::<PyResult<_>>()
        });
        strings.map_err(|error| refused(&value, name, expected, error))
    }

    /// One path, or several.
    pub(crate) fn paths(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        let paths = self.paths_or_none(name)?;
        if paths.is_empty() {
            let message = format!("{name} is empty; give a path, or several");
            return Err(parameter_error(self.py(), message));
        }
        Ok(paths)
    }

    /// One path, several, or none.
    fn paths_or_none(&self, name: &str) -> PyResult<Vec<PathBuf>> {
        let expected = "a path, or several";
        let value: Bound<'_, PyAny> = self.required(name, expected)?;
        let paths = match value.extract::<PathBuf>() {
            Ok(path) => vec![path],
            Err(_) => {
                refuse_open_file(&value, name)?;
                let items = value.try_iter().and_then(|items| {
                    let paths = items.map(|item| item?.extract::<PathBuf>());
                    paths.collect::<PyResult<_>>()
                });
                items.map_err(|error| refused(&value, name, expected, error))?
            }
        };
        for path in &paths {
            self.refuse_stream(name, path)?;
        }
        Ok(paths)
    }

    /// What the inputs are compared with.
    pub(crate) fn against(&self) -> PyResult<AgainstArguments> {
        Ok(AgainstArguments {
            against: self.paths_or_none("against")?,
            against_text_field: self.strings("against_text_field")?,
            against_id_field: self.optional("against_id_field", "the name of a field, as a str")?,
        })
    }

    /// A path, if there is one.
    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        let path: Option<PathBuf> = self.optional(name, "a path")?;
        if let Some(path) = &path {
            self.refuse_stream(name, path)?;
        }
        Ok(path)
    }

    /// The command's name for stdin and stdout, which belong to the Python program.
    fn refuse_stream(&self, name: &str, path: &std::path::Path) -> PyResult<()> {
        if path.as_os_str() != "-" {
            return Ok(());
        }
        let message = format!("{name} is \"-\"; give the path of a file (\"./-\" is one)");
        Err(parameter_error(self.py(), message))
    }

    /// The fields of the text, of which there is one at least.
    pub(crate) fn text_field(&self) -> PyResult<Vec<String>> {
        let text_field = self.strings("text_field")?;
        if text_field.is_empty() {
            let message = "text_field names no field; give one, or several";
            return Err(parameter_error(self.py(), message));
        }
        Ok(text_field)
    }

    pub(crate) fn input(&self) -> PyResult<InputArguments> {
        let text_field = self.text_field()?;
        Ok(InputArguments {
            inputs: self.paths("inputs")?,
            format: self.format()?,
            hidden: self.switch("hidden")?,
            text_field,
            tokens_field: self.optional("tokens_field", "the name of a field, as a str")?,
            weights_field: self.optional("weights_field", "the name of a field, as a str")?,
            weights: self.optional_choice("weights")?,
            weight_scale: self.optional("weight_scale", "a power of two")?,
            records: self.of_records("id_field", "the name of a field, as a str")?,
            selection: self.selection()?,
        })
    }

    /// Which files and records are read.
    pub(crate) fn selection(&self) -> PyResult<SelectionArguments> {
        Ok(SelectionArguments {
            limit: self.optional("limit", "a number of records, at least 1")?,
            include: self.strings("include")?,
            exclude: self.strings("exclude")?,
        })
    }

    /// The ids of records, which the option `id` names, and what is done with bad records.
    pub(crate) fn of_records(&self, id: &str, expected: &str) -> PyResult<RecordArguments> {
        Ok(RecordArguments {
            id_field: self.optional(id, expected)?,
            unique_ids: self.switch("unique_ids")?,
            bad: BadRecordArguments {
                on_bad_record: self.choice("on_bad_record")?,
            },
        })
    }

    /// How to read input files.
    pub(crate) fn format(&self) -> PyResult<FormatArguments> {
        Ok(FormatArguments {
            format: self.choice("format")?,
            delimiter: self.parsed("delimiter", "one character", delimiter)?,
            quote: self.parsed("quote", "one character, or \"none\"", quote)?,
        })
    }

    /// The value of an option that the command parses from a text. `parse` returns the remedy for another one.
    fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: fn(&str) -> Result<T, String>,
    ) -> PyResult<Option<T>> {
        let text: Option<String> = self.optional(name, expected)?;
        let parsed = text.map(|text| {
            parse(&text).map_err(|remedy| {
                let message = format!("{name} is {text:?}; {remedy}");
                parameter_error(self.py(), message)
            })
        });
        parsed.transpose()
    }

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

    pub(crate) fn run(&self) -> PyResult<RunArguments> {
        Ok(RunArguments {
            sign: self.sign()?,
            batch_mib: self.required("batch_mib", MIB)?,
            process: process(),
        })
    }

    pub(crate) fn sample(&self) -> PyResult<SampleArguments> {
        let sample = match self.value("sample")? {
            Some(_) => self.paths("sample")?,
            // The command plans a run for this number of documents, too.
            None if self.value("documents")?.is_some() => {
                let message = "documents needs a sample; pass sample, or omit documents";
                return Err(parameter_error(self.py(), message));
            }
            None => Vec::new(),
        };
        Ok(SampleArguments {
            sample,
            limit: self.required("limit", "a number of documents, at least 1")?,
            text_field: self.optional("text_field", "a name, as a str")?,
            tokens_field: self.optional("tokens_field", "a name, as a str")?,
            unit: self.optional_choice("unit")?,
            documents: self.optional("documents", "a number of documents")?,
        })
    }

    pub(crate) fn banding(&self) -> PyResult<BandingArguments> {
        Ok(BandingArguments {
            threshold: self.required("threshold", "a number above 0 and up to 1")?,
            bands: self.optional("bands", "a number of bands")?,
            rows: self.optional("rows", "a number of slots per band")?,
        })
    }

    pub(crate) fn search(&self) -> PyResult<SearchArguments> {
        Ok(SearchArguments {
            banding: self.banding()?,
            // Signatures have no such option.
            measure: self.optional_choice("measure")?,
            verify: Some(self.choice("verify")?),
            candidates: self.optional_choice("candidates")?,
            // Signatures have no shingles to join, and no such option.
            join_mib: self.optional("join_mib", MIB)?.unwrap_or(NonZeroUsize::MIN),
        })
    }

    /// How to form clusters, and which document of each to keep.
    pub(crate) fn clusters(&self) -> PyResult<ClusterArguments> {
        Ok(ClusterArguments {
            keep: self.choice("keep")?,
            cluster: self.choice("cluster")?,
            max_bucket: self.count("max_bucket")?,
        })
    }

    /// What happens to documents of few shingles.
    pub(crate) fn short(&self) -> PyResult<ShortArguments> {
        Ok(ShortArguments {
            min_shingles: self.optional("min_shingles", "a number of shingles, at least 1")?,
            drop_short: self.switch("drop_short")?,
            drop_empty: self.switch("drop_empty")?,
        })
    }

    /// Which of the similar pairs to return.
    pub(crate) fn written(&self) -> PyResult<WrittenArguments> {
        Ok(WrittenArguments {
            identical: self.choice("identical")?,
            max_pairs: self.count("max_pairs")?,
        })
    }

    /// A number of bytes, or a text as the command takes it.
    pub(crate) fn memory(&self) -> PyResult<Option<u64>> {
        const EXPECTED: &str = "a size such as \"4GiB\", or a number of bytes above 0";
        let Some(value) = self.value("memory")? else {
            return Ok(None);
        };
        if let Ok(bytes) = value.extract::<NonZeroU64>() {
            return Ok(Some(bytes.get()));
        }
        let text: String = self.required("memory", EXPECTED)?;
        let size = simgpu_cli::arguments::size(&text);
        let message = || format!("memory is {text:?}; give {EXPECTED}");
        size.map(Some)
            .map_err(|_| parameter_error(self.py(), message()))
    }

    pub(crate) fn record_memory(&self) -> PyResult<RecordMemoryArguments> {
        let memory = self.memory()?;
        Ok(RecordMemoryArguments { memory })
    }

    pub(crate) fn hold(&self) -> PyResult<HoldArguments> {
        Ok(HoldArguments {
            memory: self.memory()?,
            temp_dir: self.path("temp_dir")?,
            restart: !self.switch("resume")?,
            hold_mib: self.required("hold_mib", "a number of MiB, at least 0")?,
        })
    }

    pub(crate) fn outputs(&self) -> PyResult<OutputArguments> {
        Ok(OutputArguments {
            overwrite: self.switch("overwrite")?,
            compression_level: self.optional("compression_level", "a level, at least 0")?,
            shown: self.shown()?,
        })
    }

    /// Whether to write files. Reports are objects.
    pub(crate) fn shown(&self) -> PyResult<ShownArguments> {
        Ok(ShownArguments {
            dry_run: self.switch("dry_run")?,
            report: None,
        })
    }

    pub(crate) fn overwrite(&self) -> PyResult<bool> {
        self.switch("overwrite")
    }

    /// A number of documents or pairs, at least 1.
    pub(crate) fn count<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        self.required(name, "a number, at least 1")
    }

    /// The number of threads.
    pub(crate) fn threads(&self) -> PyResult<Option<usize>> {
        let threads: Option<NonZeroUsize> = self.optional("threads", THREADS)?;
        Ok(threads.map(NonZeroUsize::get))
    }
}

/// The threads and messages of a command: pools and warnings are those of Python.
pub(crate) fn process() -> ProcessArguments {
    ProcessArguments {
        threads: None,
        quiet: true,
    }
}

/// The value that the command calls `chosen`.
pub(crate) fn choice_of<T: ValueEnum>(
    py: Python<'_>,
    what: &'static str,
    chosen: String,
) -> PyResult<T> {
    let found = T::from_str(&chosen, false).map_err(|_| {
        let variants = T::value_variants().iter();
        let known = variants.filter_map(T::to_possible_value);
        let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
        Error::UnknownName {
            what,
            name: chosen,
            known: known.join(", "),
        }
    });
    found.or_raise(py)
}

pub(crate) const MIB: &str = "a number of MiB, at least 1";
