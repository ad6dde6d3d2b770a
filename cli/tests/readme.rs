//! The pages quote the measurements under `results/` as they are.
//!
//! A page quotes in two ways, each between two comments; `<!-- end -->` is the second of them:
//!
//! - `<!-- results/FOLDER/summary.md: HEADING -->` precedes a copy of the table under that heading.
//! - `<!-- figures: results/FOLDER/summary.md -->` precedes a table of the page's own. The second column of each row
//!   begins with a figure, and a comment in the row says which: `<!-- HEADING; COLUMN VALUE; COLUMN VALUE; COLUMN -->`.
//!   The columns with a value select the one row of the table under the heading, and the last column holds the figure.
//!
//! scripts/readme-tables.sh copies both anew.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Every page that may quote, from the root of the repository.
const PAGES: [&str; 9] = [
    "README.md",
    "results/README.md",
    "docs/contain.md",
    "docs/distributed.md",
    "docs/gpu.md",
    "docs/index.md",
    "docs/output.md",
    "docs/passages.md",
    "docs/presets.md",
];

const END: &str = "<!-- end -->";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The first table below a heading of a page.
fn table_of<'a>(page: &'a str, heading: &str) -> Option<Vec<&'a str>> {
    let is_heading =
        |line: &&str| line.trim_start_matches('#').trim() == heading && line.starts_with('#');
    let mut lines = page.lines().skip_while(|line| !is_heading(line)).skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('#'));
    let table: Vec<&str> = section
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .collect();
    (!table.is_empty()).then_some(table)
}

fn cells(row: &str) -> Vec<&str> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(str::trim).collect()
}

/// The cell that `source` names: `HEADING; COLUMN VALUE; COLUMN`.
fn figure<'a>(page: &'a str, source: &str) -> Result<&'a str, String> {
    let parts: Vec<&str> = source.split(';').map(str::trim).collect();
    let [heading, conditions @ .., column] = &*parts else {
        return Err(format!("{source:?} names no column"));
    };
    let table = table_of(page, heading).ok_or(format!("no table under {heading:?}"))?;
    let header = cells(table[0]);
    let place = |name: &str| header.iter().position(|cell| *cell == name);
    let wanted = place(column).ok_or(format!("no column {column:?} under {heading:?}"))?;
    let mut conditions_on = Vec::new();
    for condition in conditions {
        let split = (0..header.len())
            .filter_map(|at| Some((at, condition.strip_prefix(header[at])?.strip_prefix(' ')?)))
            .max_by_key(|(at, _)| header[*at].len());
        conditions_on.push(split.ok_or(format!("no column begins {condition:?}"))?);
    }
    let rows = table[2..].iter().map(|row| cells(row));
    let mut rows = rows.filter(|row| conditions_on.iter().all(|(at, value)| row[*at] == *value));
    match (rows.next(), rows.next()) {
        (Some(row), None) => Ok(row[wanted]),
        (None, _) => Err(format!("no row fits {source:?}")),
        (Some(_), Some(_)) => Err(format!("several rows fit {source:?}")),
    }
}

/// A row of a table of figures with the figure that its comment names, followed by what follows it on the page.
fn with_figure(row: &str, summary: &str) -> String {
    let cells = cells(row);
    let comment = row
        .split_once("<!-- ")
        .and_then(|(_, rest)| rest.split_once(" -->"));
    let source = comment.map_or("", |(source, _)| source);
    let figure = figure(summary, source).unwrap_or_else(|problem| panic!("{problem}, for {row}"));
    let is_of_figure = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-');
    let rest = cells[1].trim_start_matches(is_of_figure);
    // A percentage is one figure with its sign.
    let rest = if figure.ends_with('%') {
        rest.trim_start_matches([' ', '%'])
    } else {
        rest.trim_start()
    };
    let stated = format!("{figure} {rest}");
    row.replacen(cells[1], stated.trim_end(), 1)
}

/// A page with all quotations as they stand in `results`, and how many there are.
fn with_quotations(page: &str, read: impl Fn(&str) -> String) -> (String, usize) {
    let (mut written, mut quotations) = (String::new(), 0);
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        let source = line
            .strip_prefix("<!-- ")
            .and_then(|source| source.strip_suffix(" -->"));
        let table = source.and_then(|source| source.strip_prefix("results/"));
        if let Some((file, heading)) = table.and_then(|source| source.split_once(": ")) {
            let summary = read(&format!("results/{file}"));
            let table = table_of(&summary, heading)
                .unwrap_or_else(|| panic!("results/{file} has no table under {heading:?}"));
            let _ = writeln!(written, "\n{}\n\n{END}", table.join("\n"));
            assert!(
                lines.by_ref().any(|line| line == END),
                "{line} has no end on its page"
            );
            quotations += 1;
        } else if let Some(file) = source.and_then(|source| source.strip_prefix("figures: ")) {
            let summary = read(file);
            let mut rows = 0;
            loop {
                let row = lines
                    .next()
                    .unwrap_or_else(|| panic!("{line} has no end on its page"));
                if row == END {
                    let _ = writeln!(written, "{END}");
                    break;
                }
                rows += usize::from(row.starts_with('|'));
                if row.starts_with('|') && rows > 2 {
                    let _ = writeln!(written, "{}", with_figure(row, &summary));
                } else {
                    let _ = writeln!(written, "{row}");
                }
            }
            assert!(rows > 2, "{line} precedes no figure");
            quotations += 1;
        }
    }
    (written, quotations)
}

#[test]
fn pages_quote_the_results() {
    let root = root();
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    for name in PAGES {
        let page = read(name);
        let (written, quotations) = with_quotations(&page, read);
        let must_quote = ["README.md", "results/README.md"].contains(&name);
        assert!(quotations > 0 || !must_quote, "{name} quotes no results");
        if std::env::var_os("SIMGPU_COPY_TABLES").is_some() {
            fs::write(root.join(name), &written).unwrap();
            continue;
        }
        assert!(
            written == page,
            "{name} differs from results; run scripts/readme-tables.sh"
        );
    }
}

#[test]
fn every_page_of_docs_is_listed() {
    let pages = fs::read_dir(root().join("docs")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    for name in names.filter(|name| name.ends_with(".md")) {
        assert!(PAGES.contains(&&*format!("docs/{name}")), "docs/{name}");
    }
}

#[test]
fn a_different_table_is_seen() {
    let page = "# A page\n\n## One\n\nText.\n\n| a |\n| - |\n| 1 |\n\n| b |\n\n## Two\n\n| c |\n";
    let readme = |table: &str| {
        format!("before\n<!-- results/x/summary.md: One -->\n\n{table}\n\n{END}\nafter\n")
    };
    let right = readme("| a |\n| - |\n| 1 |");
    assert_eq!(
        with_quotations(&right, |_| page.to_owned()),
        (right.clone(), 1)
    );
    assert_eq!(
        with_quotations(&readme("| a |\n| - |\n| 2 |"), |_| page.to_owned()),
        (right, 1)
    );
    assert_eq!(table_of(page, "Two"), Some(vec!["| c |"]));
    assert_eq!(table_of(page, "Three"), None);
}

#[test]
fn a_different_figure_is_seen() {
    let summary = "## Speed\n\n| tool | x | x y | MB/s |\n| - | - | - | -: |\n| a | 1 | 2 | 1,103 |\n| b | 1 | 2 | 98.4 % |\n";
    let page = |first: &str, second: &str| {
        format!(
            "<!-- figures: results/x/summary.md -->\n\n| what | is | from |\n| - | - | - |\n\
             | one | {first} | here <!-- Speed; tool a; x y 2; MB/s --> |\n| two | {second} | <!-- Speed; tool b; MB/s --> |\n\n{END}\n"
        )
    };
    let right = page("1,103 MB/s", "98.4 %");
    assert_eq!(
        with_quotations(&right, |_| summary.to_owned()),
        (right.clone(), 1)
    );
    for wrong in [page("1,104 MB/s", "98.4 %"), page("1,103 MB/s", "98.5 %")] {
        assert_eq!(
            with_quotations(&wrong, |_| summary.to_owned()),
            (right.clone(), 1)
        );
    }
    assert_eq!(figure(summary, "Speed; tool b; x 1; MB/s"), Ok("98.4 %"));
    assert!(figure(summary, "Speed; x 1; MB/s").is_err());
    assert!(figure(summary, "Speed; tool c; MB/s").is_err());
    assert!(figure(summary, "Speed; tool a; GB/s").is_err());
    assert!(figure(summary, "Growth; tool a; MB/s").is_err());
}
