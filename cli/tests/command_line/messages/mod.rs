//! Help, `tune`, the flags in messages, and the split between stdout and stderr.

mod tune;

mod names;

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
    for command in [
        "dedup", "pairs", "ratings", "sign", "tune", "compare", "evaluate", "show", "selftest",
    ] {
        assert!(help.contains(command), "{help}");
        let of_command = place.run(&format!("{command} --help")).succeeded();
        assert!(
            String::from_utf8(of_command.stdout)
                .unwrap()
                .contains("Usage")
        );
    }
    let version = place.run("--version").succeeded().stdout;
    let version = String::from_utf8(version).unwrap();
    let named = version.strip_prefix(concat!("simgpu ", env!("CARGO_PKG_VERSION"), " ("));
    let profile = named.and_then(|rest| rest.strip_suffix(" profile)\n"));
    assert!(
        ["dev", "release", "dist"].map(Some).contains(&profile),
        "{version}"
    );
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
fn a_summary_is_short_and_its_digits_grouped() {
    let place = Place::with_texts((0..1_200).map(|n| text(n, 20)));
    let run = place.run("dedup in.jsonl -o out --num-perm 1024 --bands 1 --rows 1024");
    let stderr = run.succeeded().stderr;
    let expected = [
        "1,024 permutations",
        "1,024 slots",
        "1,200 in ",
        "held in memory: ",
    ];
    for part in expected {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
    assert!(!stderr.contains(" 0.00 s"), "{stderr}");
    assert!(!stderr.contains("\nmemory"), "{stderr}");
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

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_stdout_is_named() {
    let place = Place::with_texts(["a", "b"]);
    for command in [
        "dedup in.jsonl --output out --report json --quiet",
        "tune",
        "man",
        "completions bash",
        "compare in.jsonl in.jsonl",
    ] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = Command::new(SIMGPU)
            .args(command.split_whitespace())
            .current_dir(place.path(""))
            .stdout(full.unwrap())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert!(
            stderr.contains("cannot write to stdout: "),
            "{command}: {stderr}"
        );
        assert!(stderr.contains("; free some space"), "{command}: {stderr}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_on_a_full_stdout_name_it() {
    let place = Place::with_texts(["a", "a"]);
    for command in ["pairs in.jsonl --output -", "dedup in.jsonl --output -"] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let output = Command::new(SIMGPU)
            .args(command.split_whitespace())
            .current_dir(place.path(""))
            .stdout(full.unwrap())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{command}: {stderr}");
        assert!(
            stderr.contains("simgpu: cannot write to stdout: "),
            "{command}: {stderr}"
        );
    }
}

#[test]
fn documents_without_shingles_have_the_commands_fate() {
    let place = Place::with_texts(["", "a b"]);
    for (command, line) in [
        (
            "dedup in.jsonl -o out",
            "no shingles  1, kept unless identical to another\n",
        ),
        (
            "pairs in.jsonl -o p.csv",
            "no shingles  1, in pairs only if identical\n",
        ),
        ("sign in.jsonl -o s.npy", "no shingles  1\n"),
        (
            "pairs --signatures s.npy -o -",
            "no shingles  1, in no pair\n",
        ),
    ] {
        let run = place.run(command).succeeded();
        assert!(run.stderr.contains(line), "{command}: {}", run.stderr);
    }
}

#[test]
fn bands_are_announced_for_lsh() {
    let place = Place::new();
    place.write("in.jsonl", "{\"tokens\": [\"a\"], \"text\": \"a b c\"}\n");
    let announced = |options: &str| {
        let run = place
            .run(&format!("pairs in.jsonl {options} -o -"))
            .succeeded();
        let (before, _) = run.stderr.split_once("held in memory").unwrap();
        before.to_owned()
    };
    let undecided = "exact join where it costs about as much as LSH, else LSH\nLSH: hashed by ";
    for options in [
        "--unit tokens",
        "--unit tokens --weights rarity",
        "--weights rarity",
    ] {
        let message = announced(options);
        assert!(message.contains(undecided), "{options}: {message}");
        assert!(message.contains("16 bands of 8 slots"), "{message}");
    }
    let through_lsh = announced("--bands 1 --rows 1");
    assert!(through_lsh.ends_with("1 band of 1 slot\n"), "{through_lsh}");
    assert!(!through_lsh.contains("join"), "{through_lsh}");
    let joined = announced("--unit tokens --weights rarity --candidates join");
    assert!(
        joined.contains("exact join") && !joined.contains("band"),
        "{joined}"
    );
}

#[test]
fn summaries_state_what_is_true() {
    let same = "the same text of some words";
    let place = Place::with_texts([same, same, same, "another text of as many words"]);
    let summary = |command: &str| place.run(command).succeeded().stderr;
    let pairs = summary("pairs in.jsonl -o p.csv");
    let expected = "3 similar, those of identical documents included; 0 compared";
    assert!(pairs.contains(expected), "{pairs}");
    let dedup = summary("dedup in.jsonl -o out");
    assert!(dedup.contains("0 similar of 0 compared"), "{dedup}");
    // Of four documents, any cluster is a large share.
    assert!(!dedup.contains("warning"), "{dedup}");
    let one = summary("dedup in.jsonl -o out --overwrite --limit 1");
    assert!(one.contains("the first 1 record only"), "{one}");
    assert!(one.contains("read 1 document;"), "{one}");
    let many = (0..1_000).map(|n| text(if n < 20 { 0 } else { n }, 20));
    let place = Place::with_texts(many);
    let run = place.run("dedup in.jsonl -o out").succeeded();
    let warning = "the largest cluster has more than 1 % of all documents: 20 (2.0 %)";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
}
