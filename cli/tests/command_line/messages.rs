//! Help, `tune`, and the split between stdout and stderr.

use std::io::Read;
use std::process::{Command, Stdio};

use simgpu::backend::Backend;
use simgpu::scheme::{BaseHash, Scheme};

use crate::support::{Place, SIMGPU, parse_lines, text};

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let help = place.run("--help").succeeded();
    let help = String::from_utf8(help.stdout).unwrap();
    for command in ["dedup", "pairs", "sign", "tune", "compare", "selftest"] {
        assert!(help.contains(command), "{help}");
        let of_command = place.run(&format!("{command} --help")).succeeded();
        assert!(
            String::from_utf8(of_command.stdout)
                .unwrap()
                .contains("Usage")
        );
    }
    let version = place.run("--version").succeeded().stdout;
    let expected = concat!("simgpu ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(version, expected.as_bytes());
    let without_arguments = place.run("");
    assert_eq!(without_arguments.code, Some(2));
    assert!(without_arguments.stderr.contains("Usage"));
}

#[test]
fn help_lists_schemes_hashes_units_and_backends() {
    let help = Place::new().run("sign --help").succeeded().stdout;
    let help = String::from_utf8(help).unwrap();
    let words: Vec<&str> = help
        .split(|c: char| c.is_whitespace() || ",:;".contains(c))
        .collect();
    let names = Scheme::names().chain(BaseHash::names());
    let units = ["bytes", "chars", "words", "stopwords", "pieces", "tokens"];
    for name in names.chain(Backend::names()).chain(units) {
        assert!(words.contains(&name), "{name}: {help}");
    }
}

#[test]
fn stdout_holds_data_and_stderr_messages() {
    let place = Place::with_texts([text(1, 20), text(2, 20), text(1, 20)]);
    let streams = |command: &str| {
        let run = place.run(command).succeeded();
        (run.stdout.len(), run.stderr)
    };
    let (printed, stderr) = streams("dedup in.jsonl -o out");
    assert_eq!(printed, 0);
    for part in [
        "documents",
        "kept",
        "removed",
        "16 bands of 8 slots",
        "total",
    ] {
        assert!(stderr.contains(part), "{stderr}");
    }
    // No progress bar outside a terminal.
    assert!(
        !stderr.contains('\r') && !stderr.contains('\u{1b}'),
        "{stderr:?}"
    );
    assert_eq!(streams("sign in.jsonl -o out.npy").0, 0);
    assert_eq!(streams("pairs in.jsonl -o out.csv").0, 0);
    let run = place.run("pairs in.jsonl -o -").succeeded();
    assert_eq!(parse_lines(&run.stdout).len(), 1);
    assert!(run.stderr.contains("documents"));
    for command in [
        "dedup in.jsonl -o out",
        "pairs in.jsonl -o out.csv",
        "sign in.jsonl -o out.npy",
    ] {
        assert_eq!(
            streams(&format!("{command} --overwrite --quiet")),
            (0, String::new())
        );
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    // More pairs than the buffer of a pipe holds.
    let place = Place::with_texts(vec![text(1, 20); 200]);
    let mut child = Command::new(SIMGPU)
        .args(["pairs", "in.jsonl", "--output", "-", "--quiet"])
        .current_dir(place.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), stderr), (Some(0), String::new()));
}

#[test]
fn tune_prints_bands_rows_and_recall() {
    let run = Place::new()
        .run("tune --threshold 0.8 --num-perm 128")
        .succeeded();
    let table = String::from_utf8(run.stdout).unwrap();
    let line_of = |label: &str| {
        let line = table.lines().find(|line| line.contains(label)).unwrap();
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    // 16 x 8 finds 1 - (1 - 0.8^8)^16 = 94.7 % of the pairs at the threshold.
    let default = line_of("default");
    assert!(
        default.contains("16 x 8") && default.contains("94.7%"),
        "{default}"
    );
    let equal = line_of("equal");
    assert!(equal.contains("9 x 13"), "{equal}");
}
