//! What belongs into the repository: source files in known folders, no outputs of runs, nothing that names a machine,
//! no tests that are never compiled, and few numbers that saturate.

use std::fs;
use std::path::Path;
use std::process::Command;

/// The files and folders at the top.
const TOP: [&str; 25] = [
    ".ci",
    ".gitattributes",
    ".github",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "benches",
    "cli",
    "crates",
    "docs",
    "examples",
    "fuzz",
    "python",
    "results",
    "scripts",
    "shaders",
    "src",
    "tests",
    "vectors",
];

/// What a run writes into its output folder. No source file has such a name.
const OUTPUTS: [&str; 7] = [
    "run.json",
    "report.json",
    "report.html",
    "removed.jsonl",
    "samples.jsonl",
    "entities.jsonl",
    "links.jsonl",
];

const MOST_BYTES: u64 = 2_000_000;

/// What is wrong with a committed file, if anything is.
fn problem(path: &str, bytes: u64, content: &[u8]) -> Option<String> {
    let top = path.split('/').next().unwrap_or(path);
    if !TOP.contains(&top) {
        return Some(format!("{path}: outside of the known folders"));
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    if OUTPUTS.contains(&name) {
        return Some(format!("{path}: the output of a run"));
    }
    if bytes > MOST_BYTES {
        return Some(format!("{path}: {bytes} bytes, more than {MOST_BYTES}"));
    }
    let text = str::from_utf8(content).ok()?;
    let named = machine_path(text)?;
    Some(format!("{path}: names {named}, a path of one machine"))
}

/// The first path of somebody's home or temporary files in a text.
fn machine_path(text: &str) -> Option<String> {
    // In parts, so that this file does not find itself.
    let homes = [
        ["/ho", "me/"],
        ["/ro", "ot/"],
        ["/Us", "ers/"],
        ["\\Us", "ers\\"],
    ];
    let folders = [
        ["/tm", "p/"],
        ["/wo", "rk/"],
        ["/var/fol", "ders/"],
        ["/mn", "t/"],
    ];
    let starts = homes.iter().chain(&folders).map(|parts| parts.concat());
    starts
        .filter_map(|start| {
            text.match_indices(&start).find_map(|(at, _)| {
                // A path from the root: no letter before, as in `docs/home/`, and a name behind.
                let before = text[..at].chars().next_back();
                let is_within =
                    before.is_some_and(|it| it.is_alphanumeric() || "._-/$}".contains(it));
                let rest = &text[at + start.len()..];
                let name: String = rest
                    .chars()
                    .take_while(|it| it.is_alphanumeric() || "._-".contains(*it))
                    .collect();
                (!is_within && !name.is_empty()).then(|| start.clone() + &name)
            })
        })
        .next()
}

/// The committed files; `None` outside of a checkout.
fn committed(root: &Path) -> Option<Vec<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output();
    let listed = listed.ok().filter(|it| it.status.success())?;
    let paths = String::from_utf8(listed.stdout).unwrap();
    let paths = paths.split('\0').filter(|path| !path.is_empty());
    Some(paths.map(str::to_owned).collect())
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test prints why")]
fn committed_files_belong_here() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(paths) = committed(root) else {
        eprintln!("skipped: no checkout of git");
        return;
    };
    let mut problems = Vec::new();
    for path in &paths {
        // A file that the working tree lacks is about to go.
        let Ok(content) = fs::read(root.join(path)) else {
            continue;
        };
        problems.extend(problem(path, content.len() as u64, &content));
    }
    assert!(paths.len() > 500, "{}", paths.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Folders of sources, and the most places there where a number that does not fit becomes the greatest one that does.
///
/// The first need a reason for each.
const SATURATING: [(&[&str], usize); 2] = [
    (&["src/", "crates/", "cli/src/", "python/src/"], 10),
    (&["cli/bench/src/"], 9),
];

/// What the comment beside such a place begins with: its reason follows.
const REASON: &str = "// Saturates: ";

/// The lines of a source, by index, that replace what does not fit by the greatest number of a type.
fn saturating_lines(source: &str) -> impl Iterator<Item = usize> {
    let falls_back = |line: &str| {
        ["unwrap_or(", "unwrap_or_else(|_| ", "map_or("]
            .iter()
            .flat_map(|call| line.split(call).skip(1))
            .filter_map(|argument| argument.split([',', ')']).next())
            .any(|value| value.trim_end().ends_with("::MAX"))
    };
    let lines = source.lines().enumerate();
    lines.filter_map(move |(at, line)| falls_back(line).then_some(at))
}

/// Whether the comment above a line, or beside it, says why it saturates.
fn has_reason(source: &str, line: usize) -> bool {
    let lines: Vec<&str> = source.lines().collect();
    let above = lines[..line].iter().rev();
    let mut above = above.take_while(|line| line.trim_start().starts_with("//"));
    lines[line].contains(REASON) || above.any(|line| line.contains(REASON))
}

#[test]
#[allow(clippy::print_stderr, reason = "a skipped test prints why")]
fn numbers_that_do_not_fit_are_errors() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(paths) = committed(root) else {
        eprintln!("skipped: no checkout of git");
        return;
    };
    let mut found = [const { Vec::new() }; SATURATING.len()];
    let mut problems = Vec::new();
    for path in paths.iter().filter(|path| path.ends_with(".rs")) {
        let holds = |(folders, _): &(&[&str], usize)| folders.iter().any(|f| path.starts_with(f));
        let Some(group) = SATURATING.iter().position(holds) else {
            continue;
        };
        let Ok(source) = fs::read_to_string(root.join(path)) else {
            continue;
        };
        for line in saturating_lines(&source) {
            let place = format!("{path}:{}", line + 1);
            if group == 0 && !has_reason(&source, line) {
                problems.push(format!("{place}: no comment {REASON:?} with the reason"));
            }
            let of_group: &mut Vec<String> = &mut found[group];
            of_group.push(place);
        }
    }
    for (places, (folders, most)) in found.iter().zip(SATURATING) {
        if places.len() > most {
            problems.push(format!(
                "{folders:?}: {} numbers saturate, more than {most}; return an error, or take a type in which they \
                 fit:\n{}",
                places.len(),
                places.join("\n")
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A file of tests is a target of its own, or a module of `all.rs`; another would not be compiled.
#[test]
fn every_file_of_tests_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for package in ["", "cli", "crates/files"].map(|folder| root.join(folder)) {
        let read = |path: &str| fs::read_to_string(package.join(path)).unwrap();
        let (manifest, modules) = (read("Cargo.toml"), read("tests/all.rs"));
        let targets = manifest.split("[[test]]\nname = \"").skip(1);
        let targets: Vec<&str> = targets.filter_map(|it| it.split('"').next()).collect();
        for entry in fs::read_dir(package.join("tests")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            let is_module = path.extension().is_some_and(|ending| ending == "rs")
                || path.join("mod.rs").exists();
            let line = format!("mod {name};");
            assert!(
                !is_module || targets.contains(&name) || modules.lines().any(|of| of == line),
                "{} is part of no test target",
                path.display()
            );
        }
    }
}

#[test]
fn saturations_are_found() {
    // In parts, so that this file does not find itself.
    let saturates = ["let rows = u32::try_from(rows).unwrap", "_or(u32::MAX);"].concat();
    let found = |source: &str| saturating_lines(source).collect::<Vec<_>>();
    assert_eq!(found(&format!("fn f() {{\n    {saturates}\n}}")), [1]);
    assert_eq!(found(&saturates.replace("_or(", "_or_else(|_| ")), [0]);
    assert_eq!(found(&saturates.replace("unwrap_or(", "map_or(")), [0]);
    assert!(
        found("count.unwrap_or(0); count.unwrap_or(MAX_BUCKET); values.min(u32::MAX)").is_empty()
    );
    assert!(!has_reason(&saturates, 0));
    assert!(!has_reason(&format!("// There are fewer.\n{saturates}"), 1));
    assert!(has_reason(&format!("{REASON}a guess.\n{saturates}"), 1));
    assert!(has_reason(
        &format!("{REASON}a guess\n// of two lines.\n{saturates}"),
        2
    ));
    assert!(has_reason(&format!("{saturates} {REASON}a guess."), 0));
}

#[test]
fn misplaced_files_are_told_apart() {
    let is_refused = |path, bytes, text: &str| problem(path, bytes, text.as_bytes()).is_some();
    assert!(!is_refused(
        "src/lib.rs",
        100,
        "let folder = \"docs/home/page\";"
    ));
    assert!(!is_refused(
        "scripts/a.sh",
        100,
        "cat $work/tmp/x; ls /usr/share/vulkan"
    ));
    assert!(is_refused("c1/links.txt", 1, ""));
    assert!(is_refused("results/a/report.json", 1, "{}"));
    assert!(is_refused("results/a.csv", 2_000_001, ""));
    for path in [
        ["\"/ho", "me/ann/x\""],
        ["(/tm", "p/er/simgpu1)"],
        ["\n/wo", "rk/main"],
        ["C:\\Us", "ers\\bob"],
    ] {
        assert!(is_refused("docs/a.md", 100, &path.concat()), "{path:?}");
    }
}
