//! `simgpu index delete`, `compact`, `stats`, `verify` and `export`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use simgpu_index::{DocumentId, Index, IndexKind, left_beside_copy};

use super::{FolderArguments, summarise_index};
use crate::arguments::ProcessArguments;
use crate::commands::execute;
use crate::options::Given;
use crate::outputs::ReportArgument;
use crate::streams::{print, read_text_of};
use crate::terminal::{Lines, counted, grouped};

/// Delete documents from an index
///
/// They are found no more. `simgpu index compact` frees their space.
#[derive(Args, Debug)]
pub(super) struct DeleteArguments {
    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// File with an id per line: a string or a number of JSON, or else the text of the line; - reads stdin
    #[arg(long, value_name = "FILE")]
    ids: PathBuf,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,
}

pub(super) fn delete(
    arguments: &DeleteArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (were_there, terminal) = execute(&arguments.process, given, command, |caller| {
        let text = read_text_of(&arguments.ids)?;
        let lines = text.lines().map(str::trim);
        let lines = lines.filter(|line| !line.is_empty());
        let id = |line| DocumentId::from_json(line).unwrap_or_else(|| line.into());
        let ids: Vec<DocumentId> = lines.map(id).collect();
        let were_there = arguments.folder.open()?.delete(&ids)?;
        let missing = ids
            .iter()
            .zip(&were_there)
            .filter(|(_, was_there)| !**was_there);
        let (mut missing, mut count) = (missing.map(|(id, _)| id), 0u64);
        if let Some(first) = missing.next() {
            count += 1 + missing.count() as u64;
            let of = counted(count, "id");
            caller.progress.warn(&format!(
                "{of} not in the index, the first of them {}",
                first.as_json()
            ));
        }
        Ok(were_there)
    })?;
    let deleted = were_there.iter().filter(|was_there| **was_there).count();
    let mut lines = Lines::default();
    lines.row("deleted", counted(deleted as u64, "document"));
    summarise_index(&mut lines, &arguments.folder.index);
    terminal.summary(&lines);
    Ok(())
}

/// Free the space of deleted documents
#[derive(Args, Debug)]
pub(super) struct CompactArguments {
    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,
}

pub(super) fn compact(
    arguments: &CompactArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (bytes, terminal) = execute(&arguments.process, given, command, |_| {
        let index = arguments.folder.open()?;
        let before = index.stats().disk_bytes;
        index.compact()?;
        Ok([before, index.stats().disk_bytes])
    })?;
    let mut lines = Lines::default();
    let [before, after] = bytes.map(grouped);
    lines.row("compacted", format!("{before} to {after} bytes"));
    summarise_index(&mut lines, &arguments.folder.index);
    terminal.summary(&lines);
    Ok(())
}

/// Show what an index holds and how it was built
///
/// Of an index of kind exact, all lists are read: `read_by_query` is how many documents the query of one of its documents finds in
/// lists, `most_frequent_shingle` how many have that shingle in lists.
#[derive(Args, Debug)]
pub(super) struct StatsArguments {
    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Print one JSON object; the same as --report json
    #[arg(long)]
    json: bool,

    /// Print the figures to stdout in this format
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Output")]
    report: Option<ReportArgument>,
}

pub(super) fn stats(arguments: &StatsArguments) -> anyhow::Result<()> {
    let all = stats_of(&arguments.folder.open()?)?;
    if arguments.json || arguments.report.is_some() {
        return Ok(print(format!("{all:#}\n"))?);
    }
    let fields = all.as_object().into_iter().flatten();
    let shown: Vec<(&String, String)> = fields
        .map(|(name, value)| match value.as_str() {
            Some(text) => (name, text.to_owned()),
            None => (name, value.to_string()),
        })
        .collect();
    let width = shown.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let lines = shown
        .iter()
        .map(|(name, value)| format!("{name:>width$}  {value}\n"));
    Ok(print(lines.collect::<String>())?)
}

/// The figures of an index, and how it was built.
///
/// # Errors
/// Those of [`Index::query_costs`].
pub fn stats_of(index: &Index) -> simgpu::Result<serde_json::Value> {
    let stats = index.stats();
    let (engine, search) = (index.engine(), index.search());
    let shingling = engine.shingler().shingling();
    let num_perm = engine.scheme().num_perm();
    let mut all = json!({
        "documents": stats.documents,
        "deleted": stats.deleted,
        "disk_bytes": stats.disk_bytes,
        "kind": index.kind().name(),
        "measure": search.measure.name(),
        "threshold": search.threshold,
        "recall_at_threshold": search.recall_at_ratio(num_perm, 1.0),
        "scheme": engine.scheme().to_string(),
        "unit": shingling.unit.to_string(),
        "size": shingling.size,
    });
    let details = match index.kind() {
        IndexKind::Lsh => json!({
            "verify": search.verification.name(),
            "bands": search.banding.bands(),
            "rows": search.banding.rows(),
            "num_perm": num_perm,
            "seed": engine.scheme().seed(),
            "hash": engine.shingler().hash().to_string(),
        }),
        IndexKind::Exact => {
            let costs = index.query_costs()?;
            json!({
                "read_by_query_median": costs.median,
                "read_by_query_p99": costs.p99,
                "read_by_query_most": costs.most,
                "most_frequent_shingle": costs.most_frequent,
            })
        }
    };
    if let (Some(all), serde_json::Value::Object(details)) = (all.as_object_mut(), details) {
        all.extend(details);
    }
    Ok(all)
}

/// Check that an index is whole
///
/// Reads all of it: each document must be in all of its lists, and be found by its id.
#[derive(Args, Debug)]
pub(super) struct VerifyArguments {
    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,
}

pub(super) fn verify(
    arguments: &VerifyArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (check, terminal) = execute(&arguments.process, given, command, |_| {
        Ok(arguments.folder.open()?.verify()?)
    })?;
    let mut lines = Lines::default();
    lines.row("documents", grouped(check.documents));
    lines.row("deleted", counted(check.deleted, "document"));
    let lists = counted(check.lists, "list");
    let longest = counted(check.longest_list, "document");
    lines.row("lists", format!("{lists}, the longest of {longest}"));
    lines.row("index", "whole");
    terminal.summary(&lines);
    Ok(())
}

/// Copy an index, also while another process has it open
///
/// The copy has all batches that were on disk before, and can be read and changed by itself. Files that never change are linked
/// if both folders are on the same file system.
#[derive(Args, Debug)]
pub(super) struct SnapshotArguments {
    /// Folder of the index
    #[arg(value_name = "DIR")]
    index: PathBuf,

    /// Folder for the copy, which must not exist
    #[arg(value_name = "COPY")]
    copy: PathBuf,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,
}

pub(super) fn snapshot(
    arguments: &SnapshotArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    let (documents, terminal) = execute(&arguments.process, given, command, |caller| {
        let documents = Index::snapshot(&arguments.index, &arguments.copy)?;
        if let Some(left) = left_beside_copy(&arguments.copy) {
            caller.progress.warn(&format!(
                "the copy is complete, and the temporary folder {} could not be removed; remove it",
                left.display()
            ));
        }
        Ok(documents)
    })?;
    let mut lines = Lines::default();
    lines.row("copied", counted(documents, "document"));
    summarise_index(&mut lines, &arguments.copy);
    terminal.summary(&lines);
    Ok(())
}

/// List the documents of an index
///
/// Writes one line of JSON per document to stdout, in the order in which they were added: id, digest (128 bits of BLAKE3 of the
/// normalised text; null if it is blank), and signature, in hexadecimal digits, if the index keeps any.
#[derive(Args, Debug)]
pub(super) struct ExportArguments {
    /// The index.
    #[command(flatten)]
    folder: FolderArguments,

    /// Threads and messages.
    #[command(flatten)]
    process: ProcessArguments,
}

pub(super) fn export(
    arguments: &ExportArguments,
    given: &Given,
    command: &[String],
) -> anyhow::Result<()> {
    execute(&arguments.process, given, command, |_| {
        Ok(write_documents(&arguments.folder.open()?)?)
    })?;
    Ok(())
}

fn write_documents(index: &Index) -> simgpu::Result<()> {
    let mut stdout = BufWriter::new(std::io::stdout());
    let written =
        |result: std::io::Result<()>| result.map_err(simgpu::Error::io("write to", "stdout"));
    index.for_each(|document| {
        let id = document.id.as_json();
        let digest = document
            .digest
            .map_or("null".to_owned(), |digest| format!("\"{digest:032x}\""));
        let signature: String = document
            .signature
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let signature = if signature.is_empty() {
            String::new()
        } else {
            format!(",\"signature\":\"{signature}\"")
        };
        written(writeln!(
            stdout,
            "{{\"id\":{id},\"digest\":{digest}{signature}}}"
        ))
    })?;
    written(stdout.flush())
}
