//! Writes hits, items, phrases, and the records without contaminated documents or texts.

use std::io::Write as _;
use std::path::Path;

use crate::action::ContainAction;
use crate::class::RuleOf;
use crate::found::{Found, found_at};
use crate::frequent::FrequentPhrase;
use crate::hits_output::HitsOutput;
use crate::report::{ContainReport, CutLine, HitEvidence, RemovedLine};
use crate::run::ContainRun;
use simgpu::error::Result;
use simgpu::progress::{Timings, advance};
use simgpu_files::{create_json, create_run_record};
use simgpu_io::{
    Columns, InputFile, JsonLines, OutputFolder, Places, REPORT, raw_json, unwritable,
};
use simgpu_passages::Rewriting;

/// The items.
const ITEMS: &str = "items.jsonl";

/// What documents lack of questions.
const PHRASES: &str = "phrases.parquet";

/// The phrases to ignore.
const IGNORE: &str = "ignore.txt";

/// The documents that were removed.
const REMOVED: &str = "removed.jsonl";

/// What was cut out of each document.
const CUTS: &str = "cuts.jsonl";

impl ContainRun<'_> {
    /// Writes all results but for the report and its page, if there is a folder.
    pub(super) fn write(
        &self,
        output: Option<&OutputFolder>,
        files: &[InputFile],
        temporary: &Path,
        found: &mut Found<'_>,
        frequent: &[FrequentPhrase],
    ) -> Result<()> {
        found
            .tally
            .count_changes(&self.action, &found.places, &found.changed);
        let Some(output) = output else {
            return Ok(());
        };
        self.write_hits(output, found)?;
        write_items(output, found)?;
        if self.rule.of.weighs_evidence() {
            let (file, path) = output.create(PHRASES)?;
            let phrases = found.tally.contain().phrases(&found.spread);
            phrases.write_to(file, &path)?;
        }
        if self.suggest_ignore {
            write_ignore(output, frequent)?;
        }
        if self.action.writes_records() {
            let kept = Rewriting {
                files,
                reference_files: 0,
                places: &found.places,
                reading: self.reading(Columns::All, temporary),
                fields: &self.fields,
                mark_field: self.marks(),
                list: self.hits_format.file_name(),
                options: &self.options,
            };
            let written = kept.write(output, &found.changed)?;
            found.tally.counts.kept = Some(written);
        }
        match self.action {
            ContainAction::Drop(_) => write_removed(output, found),
            ContainAction::Cut(_) => {
                if self.rule.of == RuleOf::Gpt3 {
                    write_removed(output, found)?;
                }
                write_cuts(output, found)
            }
            ContainAction::Report | ContainAction::Mark(_) => Ok(()),
        }
    }

    /// The field for marks, if records are marked.
    fn marks(&self) -> Option<&str> {
        matches!(self.action, ContainAction::Mark(_)).then_some(&*self.mark_field)
    }

    fn write_hits(&self, output: &OutputFolder, found: &Found<'_>) -> Result<()> {
        let places = &found.places;
        let mut hits = HitsOutput::new(output, self.hits_format, places, self.samples)?;
        let rows = found.hits.iter();
        with_ids(places, rows, |row, id, found: Vec<HitEvidence>| {
            let mut found = found.into_iter();
            found.try_for_each(|evidence| hits.add(id.clone(), row, evidence))
        })?;
        hits.finish()
    }

    /// Writes what the run says of itself, and gives all files their names.
    pub(super) fn commit(
        &self,
        output: OutputFolder,
        report: &ContainReport,
        timings: &Timings,
        elapsed_s: f64,
    ) -> Result<()> {
        create_json(&output, REPORT, report)?;
        create_run_record(&output, &self.options, timings, elapsed_s, 0)?;
        // Last chance to stop the run.
        advance(self.options.progress, report.counts.records, 0, 0)?;
        output.commit(self.options.progress)
    }
}

/// Calls `each` with these rows, ascending, and the id of each.
fn with_ids<T>(
    places: &Places,
    rows: impl Iterator<Item = Result<(u32, T)>>,
    mut each: impl FnMut(u32, Box<serde_json::value::RawValue>, T) -> Result<()>,
) -> Result<()> {
    let mut id_of = places.ids_by_row()?;
    for found in rows {
        let (row, found) = found?;
        each(row, raw_json(id_of(row)?), found)?;
    }
    Ok(())
}

fn write_items(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(ITEMS)?;
    let mut lines = JsonLines::new(file, path);
    let at = found_at(&found.places, found.tally.first_rows())?;
    let mut items = found.tally.lines(|row| at.get(&row).cloned());
    items.try_for_each(|line| lines.write(&line))?;
    lines.finish()
}

/// Writes the phrases that documents have without the item, one a line, with a note above each.
fn write_ignore(output: &OutputFolder, phrases: &[FrequentPhrase]) -> Result<()> {
    let (file, path) = output.create(IGNORE)?;
    let mut file = std::io::BufWriter::new(file);
    let mut write = || {
        writeln!(
            file,
            "# Phrases of items that documents have without the item. Delete those that matter, and pass the others by --ignore."
        )?;
        for phrase in phrases {
            writeln!(
                file,
                "# documents: {}, questions and passages: {}",
                phrase.documents, phrase.in_parts
            )?;
            writeln!(file, "{}", phrase.phrase)?;
        }
        file.flush()
    };
    write().map_err(unwritable(&path))
}

fn write_removed(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(REMOVED)?;
    let mut lines = JsonLines::new(file, path);
    let places = &found.places;
    let rows = found.changed.removed.iter().copied().map(Ok);
    with_ids(places, rows, |row, id, class| {
        let (file, row_in_file) = places.place(row);
        lines.write(&RemovedLine {
            id,
            file,
            row: row_in_file,
            class: class.name(),
        })
    })?;
    lines.finish()
}

fn write_cuts(output: &OutputFolder, found: &Found<'_>) -> Result<()> {
    let (file, path) = output.create(CUTS)?;
    let mut lines = JsonLines::new(file, path);
    let places = &found.places;
    let rows = found
        .changed
        .places
        .iter()
        .map(|(row, cuts)| Ok((*row, cuts)));
    with_ids(places, rows, |row, id, cuts| {
        let (file, row_in_file) = places.place(row);
        lines.write(&CutLine {
            id,
            file,
            row: row_in_file,
            cuts: cuts.iter().map(|cut| [cut.start, cut.end]).collect(),
        })
    })?;
    lines.finish()
}
