//! Evaluates a result in files.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::comparison::{MeasuredResult, measure};
use super::found::{Found, FoundFile, FoundRecords};
use super::report::{
    EvaluationCounts, EvaluationReport, ExamplePair, ResultReport, TruthKind, TruthReport,
};
use super::rows::RowsReading;
use super::shared_ids::SharedIds;
use super::truth::{TrueRecords, Truth, TruthFields};
use simgpu::error::{Error, Result};
use simgpu::progress::{Timings, counted};
use simgpu_files::RunOptions;
use simgpu_io::{InputFile, Inputs, Labels, REPORT_VERSION};

/// The outcome of an evaluation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EvaluationOutcome {
    /// The measures and counts.
    pub report: EvaluationReport,
    /// The elapsed times of the stages.
    pub timings: Timings,
    /// The elapsed seconds of the run.
    pub elapsed_s: f64,
}

/// An evaluation of a result by what is known to be true. Set its options, then call [`EvaluationRun::evaluate`]. Memory
/// grows with the number of records and listed pairs; pairs within entities are counted, not listed.
///
/// ```
/// use std::fs;
/// use simgpu_ratings::evaluation::{EvaluationRun, TruthFields};
/// use simgpu_io::{FieldPath, Inputs};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// // As `link` writes them: records 1 and 2 are one entity. In truth, 2 and 3 are one, too.
/// let found = "{\"id\":1,\"entity\":0}\n{\"id\":2,\"entity\":0}\n{\"id\":3,\"entity\":2}\n";
/// fs::write(folder.join("entities.jsonl"), found).unwrap();
/// fs::write(folder.join("truth.csv"), "id,person\n1,Ann\n2,Ann\n3,Ann\n").unwrap();
/// let truth = Inputs::find(&[folder.join("truth.csv")], None)?;
/// let fields = TruthFields::Entity { id: None, entity: FieldPath::new("person") };
/// let run = EvaluationRun { fields, ..EvaluationRun::new(&folder.join("entities.jsonl"), &truth) };
/// let pairs = run.evaluate()?.report.pairs;
/// assert_eq!((pairs.found, pairs.true_, pairs.right), (1, 3, 1));
/// # Ok::<(), simgpu::Error>(())
/// ```
#[must_use]
pub struct EvaluationRun<'a> {
    #[doc(hidden)]
    pub result: PathBuf,
    #[doc(hidden)]
    pub truth: &'a Inputs,
    /// The entities of the second input, where two were linked, and the truth of [`EvaluationRun::new`] holds those of the
    /// first.
    pub truth_of_second: Option<&'a Inputs>,
    /// The fields of the truth; default [`TruthFields::Pairs`] in the fields of the program's outputs, or in the first two.
    pub fields: TruthFields,
    /// The most wrong and the most missed pairs in the report; default 5.
    pub examples: usize,
    /// What it has in common with other runs. Nothing is written.
    pub options: RunOptions<'a>,
}

impl fmt::Debug for EvaluationRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvaluationRun")
            .field("result", &self.result)
            .field("truth", &self.truth)
            .field("fields", &self.fields)
            .finish_non_exhaustive()
    }
}

impl<'a> EvaluationRun<'a> {
    /// An evaluation of a result by a truth, with default options. The result is the output folder of `link` or `dedup`, or
    /// the file of `pairs`, or one of the files `links.jsonl`, `entities.jsonl`, `clusters.parquet` and `removed.jsonl` alone.
    pub fn new(result: &Path, truth: &'a Inputs) -> Self {
        EvaluationRun {
            result: result.to_owned(),
            truth,
            truth_of_second: None,
            fields: TruthFields::default(),
            examples: 5,
            options: RunOptions::default(),
        }
    }

    /// Reads the result and the truth, and compares them.
    ///
    /// # Errors
    /// [`Error::Input`] for a result that is none, for a truth that holds nothing or shares no id with the result, and for an
    /// id in two entities; [`Error::Parameter`] if the number of truths does not fit; any error of reading;
    /// [`Error::Stopped`] if the progress stops the run.
    pub fn evaluate(self) -> Result<EvaluationOutcome> {
        let progress = self.options.progress;
        let temporary = std::env::temp_dir();
        let reading = RowsReading {
            temporary: &temporary,
            progress,
        };
        let mut timings = Timings::default();
        let file = FoundFile::find(&self.result, &temporary)?;
        let (found, truth, known) = timings.time("read", 0, || {
            let mut found = file.read(reading)?;
            self.check_truths(found.ids.len())?;
            let known: Vec<u32> = found.ids.iter().map(Labels::len).collect();
            let truth = Truth::read(&self.fields, &self.truth_files()?, &mut found, reading)?;
            Ok::<_, Error>((found, truth, known))
        })?;
        let shared = SharedIds::new(&found, &truth, &known);
        self.check_shared(&shared, &found, &truth)?;
        let measured = timings.time("compare", 0, || {
            measure(&found, &truth, &known, self.examples)
        })?;
        let report = self.report(&file, &found, truth, &shared, measured)?;
        let elapsed_s = timings.complete(self.options.started);
        Ok(EvaluationOutcome {
            report,
            timings,
            elapsed_s,
        })
    }

    /// Refuses a number of truths that does not fit the result.
    fn check_truths(&self, inputs: usize) -> Result<()> {
        let has_entities = matches!(self.fields, TruthFields::Entity { .. });
        let needed = if has_entities { inputs } else { 1 };
        let given = 1 + usize::from(self.truth_of_second.is_some());
        if given == needed {
            return Ok(());
        }
        let expected = match (has_entities, needed) {
            (true, 2) => {
                "two, the entities of A and those of B, since the result links two inputs, or pairs of ids"
            }
            (true, _) => "one, since all records of the result are of one input",
            (false, _) => "one file of pairs, or the entities of each input with `entity_field`",
        };
        Err(Error::Parameter {
            name: "the number of files of `truth`",
            value: given.to_string(),
            expected: expected.to_owned(),
        })
    }

    fn truth_files(&self) -> Result<Vec<Vec<InputFile>>> {
        let truths = [Some(self.truth), self.truth_of_second];
        let files = truths.into_iter().flatten().map(|inputs| {
            inputs.not_read().warn(self.options.progress);
            inputs.with_copy_of_stream(&std::env::temp_dir(), self.options.progress)
        });
        files.collect()
    }

    /// Refuses a truth that shares no id with the result, and warns of ids that one of both does not have.
    fn check_shared(&self, shared: &SharedIds, found: &Found, truth: &Truth) -> Result<()> {
        let is_complete = matches!(found.records, FoundRecords::Entities(_));
        let has_entities = matches!(truth.records, TrueRecords::Entities(_));
        let name = self.truth_name();
        let first = |id: &Option<String>| id.clone().unwrap_or_default();
        if shared.both == 0 && shared.in_result > 0 {
            let problem = format!(
                "none of its ids is an id of the result, {}: the first is {}, and that of the result {}",
                self.result.display(),
                first(&shared.first_in_truth),
                first(&shared.first_in_result)
            );
            let choose = if has_entities {
                "choose the field of the id with `id_field`"
            } else {
                "choose the fields of both ids with `truth_fields`, of two inputs that of A first"
            };
            if is_complete || has_entities {
                return Err(Error::Input {
                    path: name.into(),
                    problem,
                    remedy: choose.to_owned(),
                });
            }
            self.options
                .progress
                .warn(&format!("{name}: {problem}; {choose}"));
        }
        let warn = |ids: u64, first: &Option<String>, of: &str, lacks: &str| {
            if let (1.., Some(first)) = (ids, first) {
                let ids = counted(ids, "id");
                let warning = format!("{ids} of {of}, first {first}, left out: not in {lacks}");
                self.options.progress.warn(&warning);
            }
        };
        if is_complete {
            let result = self.result.display().to_string();
            warn(
                shared.not_in_result,
                &shared.first_not_in_result,
                &name,
                &result,
            );
        }
        if has_entities {
            warn(
                shared.not_in_truth,
                &shared.first_not_in_truth,
                "the result",
                &name,
            );
        }
        Ok(())
    }

    /// The name of the first file of the truth.
    fn truth_name(&self) -> String {
        let first = self.truth.files.first();
        first.map_or("stdin".to_owned(), |file| file.named.display().to_string())
    }

    fn report(
        &self,
        file: &FoundFile,
        found: &Found,
        truth: Truth,
        shared: &SharedIds,
        measured: MeasuredResult,
    ) -> Result<EvaluationReport> {
        let is_complete = matches!(found.records, FoundRecords::Entities(_));
        let truths = [Some(self.truth), self.truth_of_second]
            .into_iter()
            .flatten();
        let name_of_stream = |inputs: &Inputs| inputs.names_stream().then(|| "stdin".to_owned());
        let files = truths.flat_map(|inputs| {
            let names = inputs.names().map(str::to_owned);
            names.chain(name_of_stream(inputs)).collect::<Vec<_>>()
        });
        Ok(EvaluationReport {
            simgpu_report: REPORT_VERSION,
            command: "evaluate",
            result: ResultReport {
                command: file.command,
                file: file.path.display().to_string(),
                pairs: file.what(found.ids.len()),
                inputs: found.ids.len() as u64,
            },
            truth: TruthReport {
                kind: match truth.records {
                    TrueRecords::Entities(_) => TruthKind::Entities,
                    TrueRecords::United(_) | TrueRecords::Pairs(_) => TruthKind::Pairs,
                },
                files: files.collect(),
                fields: truth.fields,
            },
            counts: EvaluationCounts {
                result_rows: found.rows,
                truth_rows: truth.rows,
                result_ids: shared.in_result,
                truth_ids: shared.in_truth,
                evaluated: measured.evaluated,
                repeated_result: found.repeated,
                repeated_truth: truth.repeated,
                same_id_result: found.itself,
                same_id_truth: truth.itself,
                unlabelled: truth.unlabelled,
                not_in_truth: shared.not_in_truth,
                not_in_result: is_complete.then_some(shared.not_in_result),
                left_out_pairs: measured.left_out_pairs,
            },
            pairs: measured.pairs,
            entities: measured.entities,
            b_cubed: measured.b_cubed,
            wrong: examples(&found.ids, &measured.wrong)?,
            missed: examples(&found.ids, &measured.missed)?,
        })
    }
}

/// Pairs of records, by their ids.
fn examples(ids: &[Labels], pairs: &[[u32; 2]]) -> Result<Vec<ExamplePair>> {
    let id = |side: usize, number: u32| {
        serde_json::from_str::<Value>(&ids[side].json(number))
            .map_err(|error| Error::Defect(format!("an id is no JSON: {error}")))
    };
    let example = |[a, b]: &[u32; 2]| {
        Ok(ExamplePair {
            id_a: id(0, *a)?,
            id_b: id(ids.len() - 1, *b)?,
        })
    };
    pairs.iter().map(example).collect()
}
