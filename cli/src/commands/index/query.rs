//! `simgpu index query`.

use std::num::NonZeroUsize;

use clap::Args;
use simgpu_files::{HitsWanted, IndexOutcome};

use super::{FolderArguments, HitsArguments, summarise_seen, summarise_time};
use crate::arguments::{
    Caller, InputArguments, ProcessArguments, RecordMemoryArguments, number, whole_number,
};
use crate::commands::execute;
use crate::options::Given;
use crate::outputs::ReportArgument;
use crate::streams::print;

/// Find the documents of an index that are similar to those of the input
///
/// Writes one line of JSON per record, in the order of the inputs: its id, and hits, a list of id, similarity and found_by,
/// the most similar one first. Lines of JSON on stdin are answered as they arrive.
#[derive(Args, Debug)]
#[command(mut_arg("weights", |weights| weights.hide(true)))]
#[command(mut_arg("weights_field", |weights| weights.hide(true)))]
#[command(mut_arg("weight_scale", |weights| weights.hide(true)))]
#[command(mut_arg("output", |output| output.required(true)))]
pub(super) struct IndexQueryArguments {
    /// The input.
    #[command(flatten)]
    input: InputArguments,

    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Least similarity of a hit, from the threshold of the index to 1 [default: the threshold of the index]
    #[arg(long, value_name = "T", value_parser = number, help_heading = "Search")]
    threshold: Option<f64>,

    /// Most hits of a record, the most similar ones [default: all]
    #[arg(long, value_name = "N", value_parser = whole_number::<NonZeroUsize>, help_heading = "Search")]
    top: Option<NonZeroUsize>,

    /// Where the hits go.
    #[command(flatten)]
    hits: HitsArguments,

    /// Print the counts to stdout
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    report: Option<ReportArgument>,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,

    /// The memory for one record.
    #[command(flatten)]
    memory: RecordMemoryArguments,
}

impl IndexQueryArguments {
    fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<IndexOutcome> {
        self.hits.check(self.report, "hits")?;
        let index = self.folder.open()?;
        let inputs = super::find(&index, &self.input, caller)?;
        let options = self.hits.options(caller);
        let run = self.input.over(index.engine(), &inputs, options);
        let run = self.memory.set(run);
        let wanted = HitsWanted {
            threshold: self.threshold,
            limit: self.top.map(NonZeroUsize::get),
        };
        let found = self
            .hits
            .with_output(|output| run.query(&index, wanted, output));
        Ok(found?)
    }
}

pub(super) fn run(
    arguments: &IndexQueryArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (outcome, terminal) = execute(&arguments.process, given, command, |caller| {
        arguments.execute(caller)
    })?;
    if arguments.report.is_some() {
        print(outcome.to_json())?;
    }
    let mut lines = super::summary(&outcome);
    summarise_seen(&mut lines, &outcome);
    summarise_time(&mut lines, &outcome);
    arguments.hits.summarise(&mut lines);
    terminal.summary(&lines);
    Ok(())
}
