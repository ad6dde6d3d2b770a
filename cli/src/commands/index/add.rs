//! `simgpu index add`.

use clap::{Args, ValueEnum};
use simgpu_files::IndexOutcome;
use simgpu_index::{Durability, OnKnownId};

use super::{
    FolderArguments, HitsArguments, summarise_added, summarise_index, summarise_seen,
    summarise_time,
};
use crate::Usage;
use crate::arguments::{Caller, InputArguments, ProcessArguments, RecordMemoryArguments};
use crate::commands::execute;
use crate::options::{Given, Mode};
use crate::outputs::ReportArgument;
use crate::streams::print;

/// Add documents to an index
///
/// They are shingled and signed as those that are there. They are added in batches, each of which is there as a whole or not
/// at all. Each record needs an id: FILE:ROW would name another document of the next run.
///
/// With --if-new, a document is added unless it is similar to one of the index or to an earlier one of the input: as if they
/// came one by one, and as dedup --cluster greedy keeps them. --output says of each record what became of it.
#[derive(Args, Debug)]
#[command(mut_arg("weights", |weights| weights.hide(true)))]
#[command(mut_arg("weights_field", |weights| weights.hide(true)))]
#[command(mut_arg("weight_scale", |weights| weights.hide(true)))]
pub(super) struct IndexAddArguments {
    /// The input.
    #[command(flatten)]
    input: InputArguments,

    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Add only documents that are similar to none of the index
    #[arg(long)]
    if_new: bool,

    /// What happens to a document whose id is in the index
    #[arg(long, value_enum, value_name = "ACTION", default_value = "fail")]
    on_known_id: OnKnownIdArgument,

    /// Where the verdicts go; needs --if-new.
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

/// The value of `--on-known-id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OnKnownIdArgument {
    /// Stop with an error; `add` keeps the batches before it
    Fail,
    /// Leave the document out, and count it
    Skip,
    /// Delete the earlier document that has the id, and add this one
    Replace,
}

impl OnKnownIdArgument {
    pub(super) fn resolve(self) -> OnKnownId {
        match self {
            OnKnownIdArgument::Fail => OnKnownId::Fail,
            OnKnownIdArgument::Skip => OnKnownId::Skip,
            OnKnownIdArgument::Replace => OnKnownId::Replace,
        }
    }
}

impl IndexAddArguments {
    fn execute(&self, caller: &Caller<'_>) -> anyhow::Result<IndexOutcome> {
        if self.if_new && self.on_known_id == OnKnownIdArgument::Replace {
            return Err(Usage::error(
                "`on_known_id=replace` would delete a document before it is known whether the other is new; pass `on_known_id=skip` or `on_known_id=fail`, or omit `if_new`",
            ));
        }
        self.hits.check(self.report, "verdicts")?;
        if !self.if_new {
            caller.given.check(&[Mode::NotIfNew])?;
        }
        let index = self.folder.open()?;
        index.check_writable()?;
        let inputs = super::find(&index, &self.input, caller)?;
        let on_known_id = self.on_known_id.resolve();
        if !self.if_new {
            let index = index.durability(Durability::OnSync);
            let run = self.input.over(index.engine(), &inputs, caller.options());
            let run = self.memory.set(run);
            return Ok(run.add_to(&index, on_known_id)?);
        }
        let options = self.hits.options(caller);
        let run = self.input.over(index.engine(), &inputs, options);
        let run = self.memory.set(run);
        let added = self
            .hits
            .with_output(|output| run.add_new_to(&index, on_known_id, output));
        Ok(added?)
    }
}

pub(super) fn run(
    arguments: &IndexAddArguments,
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
    summarise_added(&mut lines, &outcome);
    if arguments.if_new {
        summarise_seen(&mut lines, &outcome);
    }
    summarise_time(&mut lines, &outcome);
    arguments.hits.summarise(&mut lines);
    summarise_index(&mut lines, &arguments.folder.index);
    terminal.summary(&lines);
    Ok(())
}
