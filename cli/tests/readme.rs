//! The README's tables are those of a summary under `results`.
//!
//! A table stands between two comments, of which the first names the file and the heading under which it is
//! found there: `<!-- results/FOLDER/summary.md: HEADING -->` and `<!-- end -->`. scripts/readme-tables.sh copies
//! them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

const END: &str = "<!-- end -->";

/// The first table below a heading of a page.
fn table_of<'a>(page: &'a str, heading: &str) -> Option<Vec<&'a str>> {
    let of_heading =
        |line: &&str| line.trim_start_matches('#').trim() == heading && line.starts_with('#');
    let mut lines = page.lines().skip_while(|line| !of_heading(line)).skip(1);
    let section = lines.by_ref().take_while(|line| !line.starts_with('#'));
    let table: Vec<&str> = section
        .skip_while(|line| !line.starts_with('|'))
        .take_while(|line| line.starts_with('|'))
        .collect();
    (!table.is_empty()).then_some(table)
}

/// The README with all tables as they stand in `results`, and how many there are.
fn with_tables(readme: &str, read: impl Fn(&str) -> String) -> (String, usize) {
    let (mut written, mut tables) = (String::new(), 0);
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(written, "{line}");
        let source = line
            .strip_prefix("<!-- results/")
            .and_then(|source| source.strip_suffix(" -->"))
            .and_then(|source| source.split_once(": "));
        let Some((file, heading)) = source else {
            continue;
        };
        let page = read(&format!("results/{file}"));
        let table = table_of(&page, heading)
            .unwrap_or_else(|| panic!("results/{file} has no table under {heading:?}"));
        let _ = writeln!(written, "\n{}\n\n{END}", table.join("\n"));
        assert!(
            lines.by_ref().any(|line| line == END),
            "{line} has no end in README.md"
        );
        tables += 1;
    }
    (written, tables)
}

#[test]
fn tables_are_those_of_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let read = |file: &str| {
        fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let (written, tables) = with_tables(&readme, read);
    assert!(tables > 0, "README.md names no table of results");
    if std::env::var_os("SIMGPU_COPY_TABLES").is_some() {
        fs::write(&path, &written).unwrap();
        return;
    }
    assert!(
        written == readme,
        "README.md differs from results; run scripts/readme-tables.sh"
    );
}

#[test]
fn a_table_that_differs_is_seen() {
    let page = "# A page\n\n## One\n\nText.\n\n| a |\n| - |\n| 1 |\n\n| b |\n\n## Two\n\n| c |\n";
    let readme = |table: &str| {
        format!("before\n<!-- results/x/summary.md: One -->\n\n{table}\n\n{END}\nafter\n")
    };
    let right = readme("| a |\n| - |\n| 1 |");
    assert_eq!(with_tables(&right, |_| page.to_owned()), (right.clone(), 1));
    assert_eq!(
        with_tables(&readme("| a |\n| - |\n| 2 |"), |_| page.to_owned()),
        (right, 1)
    );
    assert_eq!(table_of(page, "Two"), Some(vec!["| c |"]));
    assert_eq!(table_of(page, "Three"), None);
}
