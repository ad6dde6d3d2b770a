//! `simgpu show`.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use console::{Term, measure_text_width};
use simgpu_files::{SharedShingles, Shown, ShownDocument, TextsOfPair, show};
use simgpu_io::{DocumentPlace, RemovedRow, id_text};
use simgpu_passages::{DocumentWithPassages, PieceRow, ShownPassages, show_passages};

use crate::arguments::cores;
use crate::streams::print;
use crate::terminal::{counted, grouped};
use crate::threads::on_threads;

/// Show why dedup or passages removed a document, or what dedup removed for it
///
/// Prints each document with this id: the chain of similar documents to the kept one, or those removed for it; then the texts
/// side by side, and the shingles that the removed one has alone.
///
/// Of a result of passages, prints each document with this id that was removed or has passages: why it was removed, what was cut out
/// of it, and the source of each passage.
///
/// Texts are read from the inputs of a run of dedup, where they were then. An input that changed or is gone is named, and the
/// rest is shown.
#[derive(Args, Debug)]
pub struct ShowArguments {
    /// Output folder of dedup or passages
    #[arg(value_name = "OUT")]
    pub result: PathBuf,

    /// Id of a document, as in removed.jsonl, a string without its quotes; FILE:ROW if documents have none
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    pub id: String,

    /// Read no inputs: show the chain alone
    #[arg(long)]
    pub no_text: bool,

    /// Print one JSON object, with whole texts
    #[arg(long)]
    pub json: bool,
}

/// Columns where the width of the terminal is not known.
const WIDTH: usize = 100;

/// The least columns for two texts side by side.
const LEAST_WIDTH: usize = 40;

/// The most lines of each text.
const LINES: usize = 40;

/// The most documents removed for one that are printed.
const LISTED: usize = 20;

pub(crate) fn run(arguments: &ShowArguments) -> anyhow::Result<()> {
    let found = show_passages(&arguments.result, &arguments.id)?;
    if let Some(found) = found {
        let page = if arguments.json {
            serde_json::to_string(&found)? + "\n"
        } else {
            page_of_passages(&found)?
        };
        return Ok(print(page)?);
    }
    let read = || show(&arguments.result, &arguments.id, !arguments.no_text);
    let shown = on_threads(cores(), || read().map_err(anyhow::Error::from))??;
    let page = if arguments.json {
        serde_json::to_string(&shown)? + "\n"
    } else {
        let size = Term::stdout().size_checked();
        let width = size.map_or(WIDTH, |(_, columns)| columns.into());
        page(&shown, width.max(LEAST_WIDTH))?
    };
    Ok(print(page)?)
}

/// What a terminal of so many columns shows.
fn page(shown: &Shown, width: usize) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    if shown.documents.len() > 1 {
        let documents = counted(shown.documents.len() as u64, "document");
        writeln!(page, "{documents} have this id\n")?;
    }
    for document in &shown.documents {
        write_document(&mut page, document)?;
        for texts in &document.texts {
            writeln!(page)?;
            write_texts(&mut page, texts, width)?;
        }
        writeln!(page)?;
    }
    for (file, problem) in &shown.unread {
        writeln!(page, "no text of {}: {}", visible(file), visible(problem))?;
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
    Ok(page)
}

/// What a terminal shows of documents with passages.
fn page_of_passages(shown: &ShownPassages) -> Result<String, std::fmt::Error> {
    let mut page = String::new();
    for found in &shown.documents {
        write_why(&mut page, found, shown.max_covered)?;
        let cut: u64 = found.cuts.iter().map(|[start, end]| end - start).sum();
        if cut > 0 {
            let parts = counted(found.cuts.len() as u64, "part");
            writeln!(page, "  {parts} cut out of it, {}", counted(cut, "byte"))?;
        }
        if !shown.are_listed {
            writeln!(page, "  its passages are in passages.parquet")?;
        }
        for piece in found.pieces.iter().take(LISTED) {
            write_piece(&mut page, piece)?;
        }
        match found.pieces_count - found.pieces.len().min(LISTED) as u64 {
            0 => {}
            more => writeln!(page, "  and {} more", grouped(more))?,
        }
    }
    Ok(page)
}

/// Why a document was removed for its passages, or that it is kept.
fn write_why(
    page: &mut String,
    found: &DocumentWithPassages,
    max_covered: Option<f64>,
) -> std::fmt::Result {
    let name = named(&found.document);
    let Some(removed) = &found.removed else {
        return writeln!(page, "kept: {name}");
    };
    let (covered, bytes) = (grouped(removed.covered_bytes), grouped(removed.bytes));
    let covered = format!("{covered} of its {bytes} bytes are passages");
    let why = match (&*removed.reason, max_covered) {
        ("max_covered", Some(share)) => {
            format!("{covered}, a larger share than --max-covered {share}")
        }
        ("min_left", _) => format!("{covered}, which leaves fewer units than --min-left"),
        _ => covered,
    };
    writeln!(page, "removed: {name}\n  because {why}")
}

fn write_piece(page: &mut String, piece: &PieceRow) -> std::fmt::Result {
    let (start, end) = (grouped(piece.start), grouped(piece.end));
    let id = visible(&id_text(&piece.source_id));
    let file = visible(&piece.source_file);
    let place = match piece.source_in.as_deref() {
        Some("reference") => " of the reference",
        _ => "",
    };
    let (from, to) = (grouped(piece.source_start), grouped(piece.source_end));
    let length = counted(piece.length, "unit");
    let inexact = if piece.exact {
        ""
    } else {
        ", not byte for byte"
    };
    writeln!(
        page,
        "  {start} to {end} ({length}) from {from} to {to} of \"{id}\" ({file}, row {}){place}{inexact}",
        piece.source_row
    )
}

fn named(document: &DocumentPlace) -> String {
    let id = visible(&id_text(&document.id));
    format!(
        "\"{id}\" ({}, row {})",
        visible(&document.file),
        document.row
    )
}

fn write_document(page: &mut String, shown: &ShownDocument) -> std::fmt::Result {
    let name = named(&shown.document);
    if let Some(first) = shown.chain.first() {
        let Some(kept) = first.kept() else {
            let why = match &*first.found_by {
                "empty" => "it has no shingles",
                "short" => "it has fewer shingles than --min-shingles",
                other => other,
            };
            return writeln!(page, "removed: {name}\n  because {why}");
        };
        writeln!(page, "removed: {name}")?;
        writeln!(page, "     for {}, {}", named(&kept), measured(first))?;
        if first.via_id.is_some() {
            writeln!(page, "through similar documents:")?;
            for row in &shown.chain {
                let Some(via) = &row.via_id else { continue };
                let similarity = row.via_similarity.map_or_else(String::new, |similarity| {
                    format!(", similarity {similarity:.3}")
                });
                let (id, via) = (visible(&id_text(&row.id)), visible(&id_text(via)));
                writeln!(page, "  \"{id}\" to \"{via}\"{similarity}")?;
            }
        }
        return Ok(());
    }
    match shown.removed_count {
        0 => writeln!(page, "kept: {name}\n  nothing was removed for it")?,
        removed => {
            let removed = counted(removed, "document");
            writeln!(page, "kept: {name}\n  {removed} removed for it:")?;
        }
    }
    for row in shown.removed.iter().take(LISTED) {
        writeln!(page, "  {}, {}", named(&row.document()), measured(row))?;
    }
    let listed = shown.removed.len().min(LISTED) as u64;
    match shown.removed_count - listed {
        0 => Ok(()),
        more => writeln!(page, "  and {} more", grouped(more)),
    }
}

/// How a document was found to be similar.
fn measured(row: &RemovedRow) -> String {
    let found_by = match &*row.found_by {
        "identical" => return "identical".to_owned(),
        "exact" => "exact",
        "signature" => "estimated",
        _ => return "not verified".to_owned(),
    };
    let similarity = row
        .similarity
        .map(|similarity| format!("similarity {similarity:.3}"));
    format!("{} ({found_by})", similarity.unwrap_or_default())
}

fn write_texts(page: &mut String, texts: &TextsOfPair, width: usize) -> std::fmt::Result {
    if let Some(shingles) = &texts.shingles {
        write_shingles(page, shingles)?;
    }
    let column = (width - 3) / 2;
    let absent = "(its text cannot be shown)";
    let left = texts.text.as_deref().unwrap_or(absent);
    let Some(kept) = &texts.kept else {
        return wrapped(left, width)
            .iter()
            .try_for_each(|line| writeln!(page, "{line}"));
    };
    let right = texts.kept_text.as_deref().unwrap_or(absent);
    let titles = [("removed", &texts.document), ("kept", kept)];
    let titles =
        titles.map(|(fate, document)| format!("{fate}: {}", visible(&id_text(&document.id))));
    let [left, right] = [(&titles[0], left), (&titles[1], right)].map(|(title, text)| {
        let title = wrapped(title, column)
            .into_iter()
            .next()
            .unwrap_or_default();
        [vec![title], wrapped(text, column)].concat()
    });
    for line in 0..left.len().max(right.len()) {
        let part = |lines: &[String]| lines.get(line).cloned().unwrap_or_default();
        let (left, right) = (part(&left), part(&right));
        let room = " ".repeat(column.saturating_sub(measure_text_width(&left)));
        let line = format!("{left}{room} | {right}");
        writeln!(page, "{}", line.trim_end())?;
    }
    Ok(())
}

fn write_shingles(page: &mut String, shingles: &SharedShingles) -> std::fmt::Result {
    let SharedShingles {
        removed,
        kept,
        shared,
        lost,
        ..
    } = shingles;
    let [removed, kept, shared, lost] =
        [removed, kept, shared, lost].map(|count| grouped(*count as u64));
    writeln!(
        page,
        "shingles: {removed} of the removed one, {kept} of the kept one, {shared} shared, {lost} lost"
    )?;
    for (name, examples) in [
        ("lost", &shingles.lost_examples),
        (
            "shared",
            &shingles.shared_examples[..shingles.shared_examples.len().min(5)].to_vec(),
        ),
    ] {
        if !examples.is_empty() {
            let quoted = examples.iter().map(|text| format!("\"{}\"", visible(text)));
            writeln!(page, "  {name}: {}", quoted.collect::<Vec<_>>().join(", "))?;
        }
    }
    Ok(())
}

/// The lines of a text in so many columns, with line breaks of its own, and what cannot be seen made visible.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let mut current = String::new();
        let mut columns = 0;
        for char in line.chars() {
            let shown = visible(char.encode_utf8(&mut [0; 4]));
            let shown_width = measure_text_width(&shown);
            if columns + shown_width > width && columns > 0 {
                lines.push(std::mem::take(&mut current));
                columns = 0;
            }
            current.push_str(&shown);
            columns += shown_width;
            if lines.len() > LINES {
                break;
            }
        }
        lines.push(current);
        if lines.len() > LINES {
            break;
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        let all = text.chars().count() as u64;
        lines.push(format!("... ({})", counted(all, "character")));
    }
    lines
}

/// The text with marks in place of what a terminal obeys or hides: control characters, marks of direction, and characters
/// without width.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' => {
                let _ = write!(out, "<U+{:04X}>", u32::from(char));
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            char if char.is_control() => {
                let _ = write!(out, "<U+{:04X}>", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_visible() {
        let hostile = "a\u{1b}[31mb\u{0}\u{202e}c\u{200b}\u{9b}d\r\n\t\u{7f}é";
        let shown = visible(hostile);
        assert_eq!(
            shown,
            "a<U+001B>[31mb<U+0000><U+202E>c<U+200B><U+009B>d\\r\\n\\t<U+007F>é"
        );
        assert!(!shown.chars().any(char::is_control));
    }

    #[test]
    fn lines_fit_their_columns() {
        for text in [
            "",
            "one two three",
            "日本語のテキスト",
            "a\nb\n\nc",
            "x\u{202e}yz",
        ] {
            for width in [10, 12, 40] {
                let lines = wrapped(text, width);
                assert!(
                    lines.iter().all(|line| measure_text_width(line) <= width),
                    "{lines:?}"
                );
                let whole: String = text.split('\n').map(visible).collect();
                assert_eq!(lines.concat(), whole);
            }
        }
        let long = wrapped(&"word ".repeat(10_000), 20);
        assert_eq!(long.len(), LINES + 1);
        assert_eq!(
            long.last().map(String::as_str),
            Some("... (50,000 characters)")
        );
    }
}
