//! Help, `tune`, the flags in messages, and the split between stdout and stderr.

use std::cell::RefCell;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::CommandFactory;
use simgpu::backend::Backend;
use simgpu::error::spell;
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

#[test]
fn tune_chooses_a_size_by_a_sample() {
    // Texts of a hundred random words, of which any two share some, and few in a row.
    let place = Place::with_texts((1..=30).map(|i| text(i, 100)));
    let printed = |options: &str| {
        let run = place
            .run(&format!("tune --sample in.jsonl {options}"))
            .succeeded();
        String::from_utf8(run.stdout).unwrap()
    };
    let page = printed("");
    assert!(
        page.contains("sample of 30 documents, 435 random pairs (seed 1)"),
        "{page}"
    );
    let (_, table) = page.split_once("sample of").unwrap();
    let sizes: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.len() == 6 && columns[0].parse::<usize>().is_ok())
        .collect();
    assert_eq!(sizes.len(), 12, "{page}");
    // The choice follows from the printed column.
    let is_little = |columns: &&Vec<&str>| columns[4].parse::<f64>().unwrap() <= 0.05;
    let choice = sizes.iter().find(is_little).unwrap()[0];
    assert!(
        page.contains(&format!("Take --size {choice} or more: ")),
        "{page}"
    );
    // 30 * 29 / 2 pairs.
    assert!(
        page.contains("30 documents have 435 pairs: 0.0 seconds"),
        "{page}"
    );
    let page = printed("--limit 3 --unit chars --documents 1000000 --bands 20 --rows 5");
    assert!(
        page.contains("sample of 3 documents, 3 random pairs"),
        "{page}"
    );
    assert!(page.contains("chars of"), "{page}");
    let cost = "1,000,000 documents have 499,999,500,000 pairs: 5.8 days at a microsecond each.";
    assert!(
        page.contains(cost) && page.contains(", 20 x 5 compares "),
        "{page}"
    );
}

#[test]
fn samples_that_cannot_be_read_are_errors() {
    let place = Place::with_texts([text(1, 20)]);
    for (options, code, phrases) in [
        ("--sample none.jsonl", 1, ["none.jsonl", "check"]),
        ("--sample -", 1, ["stream", "name a file"]),
        (
            "--sample in.jsonl --unit stopwords",
            2,
            ["fixed size", "--unit"],
        ),
        (
            "--sample in.jsonl --tokens-field t",
            2,
            ["--tokens-field", "--unit tokens"],
        ),
        (
            "--sample in.jsonl --text-field body",
            1,
            ["body", "in.jsonl"],
        ),
        ("--sample in.jsonl --unit tokens", 1, ["tokens", "in.jsonl"]),
        ("--unit chars", 2, ["--sample", "needs"]),
        ("--documents 7", 2, ["--sample", "--bytes"]),
        ("--bytes 7GB", 2, ["--documents", "required"]),
        ("--documents 7 --bytes 7apples", 2, ["--bytes", "4GiB"]),
        (
            "--documents 1e30 --bytes 7GB",
            2,
            ["--documents", "too large"],
        ),
    ] {
        place
            .run(&format!("tune {options}"))
            .refused(code, &phrases);
    }
}

#[test]
fn a_sample_needs_two_documents() {
    for (texts, says) in [(0, "has 0 documents"), (1, "has 1 document,")] {
        let place = Place::with_texts((0..texts).map(|seed| text(seed, 20)));
        let run = place.run("tune --sample in.jsonl");
        run.refused(2, &["the sample", says, "--sample"]);
    }
}

#[test]
fn tune_plans_a_deduplication() {
    let place = Place::new();
    let plan = |options: &str| {
        let run = place
            .run(&format!("tune {options} --temp-dir ."))
            .succeeded();
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0);
        let page = String::from_utf8(run.stdout).unwrap();
        page[page.find("plan to").unwrap()..].to_owned()
    };
    let small = plan("--documents 20000 --bytes 20MB --memory 1GiB");
    assert!(small.contains("20,000 documents with 20.00 MB"), "{small}");
    assert!(small.contains("without going on on disk"), "{small}");
    assert!(!small.contains("disk space"), "{small}");
    // 16 bands of a key and a row, two digests with rows, the length and the id.
    let large = plan("--documents 1e9 --bytes 3TB --memory 4GiB");
    assert!(
        large.contains("1,000,000,000 documents with 3.00 TB"),
        "{large}"
    );
    assert!(
        large.contains("248.00 GB for temporary files, 248 bytes per document"),
        "{large}"
    );
    assert!(large.contains("hours") || large.contains("days"), "{large}");
    // The others are short, and may be among "other".
    for stage in ["read", "write", "candidates"] {
        assert!(large.contains(stage), "{stage}: {large}");
    }
}

/// Each plan with the bytes that its small run may write.
#[cfg(target_os = "linux")]
#[test]
fn plans_write_little_and_remove_it() {
    for (options, most) in [
        ("--documents 1000 --bytes 100GB", 64_000_000),
        ("--documents 4e9 --bytes 1TB --memory 1MiB", 64_000_000),
        ("--documents 3 --bytes 3TB", 64_000_000),
        ("--documents 5000 --bytes 1MB", 1_000_000),
        ("--documents 200000 --bytes 300kB", 300_000),
    ] {
        let place = Place::new();
        let mut child = Command::new(SIMGPU)
            .args(format!("tune {options} --temp-dir .").split_whitespace())
            .current_dir(place.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let io = format!("/proc/{}/io", child.id());
        let mut written = 0;
        while child.try_wait().unwrap().is_none() {
            let counted = std::fs::read_to_string(&io).unwrap_or_default();
            let bytes = counted
                .lines()
                .find_map(|line| line.strip_prefix("wchar: "));
            written = bytes.map_or(written, |bytes| bytes.parse().unwrap());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(child.wait().unwrap().success(), "{options}");
        // The page itself is less than 8,000 bytes.
        assert!(
            written > 0 && written <= most + 8_000,
            "{options}: {written}"
        );
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0, "{options}");
    }
}

#[test]
fn tune_prints_no_saturated_number() {
    let place = Place::with_texts((1..=30).map(|i| text(i, 100)));
    let page = |options: &str| {
        let run = place.run(&format!("tune {options}")).succeeded();
        String::from_utf8(run.stdout).unwrap()
    };
    let saturated = ["18,446,744,073,709,551", "4,294,967,295", "inf", "NaN"];
    let is_sound = |page: &str| {
        for number in saturated {
            assert!(!page.contains(number), "{number}: {page}");
        }
    };
    let huge = page("--sample in.jsonl --documents 1e10");
    is_sound(&huge);
    let cost = "10,000,000,000 documents have 49,999,999,995,000,000,000 pairs: 1,580,000 years";
    assert!(huge.contains(cost), "{huge}");
    is_sound(&page("--sample in.jsonl --documents 1e19"));
    is_sound(&page("--documents 4294967294 --bytes 900PB --temp-dir ."));
    is_sound(&page("--documents 1 --bytes 900PB --temp-dir ."));
}

#[test]
fn a_plan_follows_from_its_sample() {
    // Many texts share passages, so that random pairs become candidates.
    let common = text(7, 60);
    let texts = (1..=40).map(|i| format!("{common} {}", text(i + 100, 6)));
    let place = Place::with_texts(texts);
    for documents in ["40", "1e5", "3e9"] {
        let run = place
            .run(&format!(
                "tune --sample in.jsonl --documents {documents} --bytes 1TB --temp-dir ."
            ))
            .succeeded();
        let page = String::from_utf8(run.stdout).unwrap();
        let number = |line: &str, after: &str| {
            let (_, rest) = line.split_once(after).unwrap();
            rest.trim()
                .split([' ', ':'])
                .next()
                .unwrap()
                .trim_end_matches(',')
                .to_owned()
        };
        let line = |start: &str| {
            let mut lines = page.lines().map(str::trim);
            lines
                .find(|line| line.starts_with(start))
                .unwrap()
                .to_owned()
        };
        let (cost, planned) = (line("At --size"), line("candidates  "));
        assert_eq!(
            number(&cost, "compares"),
            number(&planned, "candidates"),
            "{page}"
        );
        assert_eq!(
            number(&cost, "--size"),
            number(&planned, "--size"),
            "{page}"
        );
        assert!(number(&cost, "compares").len() > 1, "{page}");
    }
    let run = place
        .run("tune --documents 1000 --bytes 1MB --temp-dir .")
        .succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    assert!(page.contains("--sample estimates them"), "{page}");
}

#[test]
fn plans_for_no_run_are_refused() {
    for (options, phrases) in [
        (
            "--documents 4294967295 --bytes 1TB",
            ["4294967294 documents", "split the input"],
        ),
        (
            "--documents 1e10 --bytes 3TB",
            ["4294967294 documents", "split the input"],
        ),
        (
            "--documents 0 --bytes 3TB",
            ["--documents is 0", "give the number"],
        ),
        (
            "--documents 10 --bytes 100",
            ["--bytes", "run `simgpu dedup` itself"],
        ),
    ] {
        let place = Place::new();
        place
            .run(&format!("tune {options} --temp-dir ."))
            .refused(2, &phrases);
        assert_eq!(place.path(".").read_dir().unwrap().count(), 0, "{options}");
    }
}

#[test]
fn tune_lists_a_banding_once() {
    let run = Place::new().run("tune --num-perm 4").succeeded();
    let page = String::from_utf8(run.stdout).unwrap();
    let bandings: Vec<&str> = page
        .lines()
        .filter(|line| {
            line.contains(" x ") && !line.contains("bands x rows") && !line.starts_with("Of")
        })
        .map(|line| line[8..24].trim())
        .collect();
    assert!(bandings.len() > 1, "{page}");
    let once: std::collections::BTreeSet<&str> = bandings.iter().copied().collect();
    assert_eq!(once.len(), bandings.len(), "{page}");
    assert!(page.contains(" to "), "{page}");
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

#[test]
fn messages_name_existing_flags_and_values() {
    let command = simgpu_cli::Cli::command();
    let subcommands = simgpu_cli::options::commands(&command);
    let arguments = || {
        let commands = subcommands.iter();
        commands.flat_map(|(_, command)| command.get_arguments())
    };
    let mut found = 0;
    for message in messages_of_library() {
        for (name, value) in parameters_in(&message) {
            found += 1;
            // The command spells one name as a subcommand.
            if name == "selftest" && value.is_none() {
                assert!(subcommands.iter().any(|(command, _)| *command == name));
                continue;
            }
            // Deduplications that are divided among machines, and pages of those in memory, have no command here. How pairs with an
            // index are verified follows from other options.
            if ["component_mib", "data", "id", "index_verification"].contains(&&*name) {
                continue;
            }
            let flag = name.replace('_', "-");
            let mut arguments = arguments()
                .filter(|argument| argument.get_long() == Some(&flag))
                .peekable();
            assert!(arguments.peek().is_some(), "no --{flag}: {message}");
            // A value may follow only at run time: `unit={unit}`.
            let Some(value) = value.filter(|value| !value.contains('{')) else {
                continue;
            };
            let is_possible = arguments.any(|argument| {
                let values = argument.get_possible_values();
                values.is_empty() || values.iter().any(|possible| possible.get_name() == value)
            });
            assert!(is_possible, "no --{flag} {value}: {message}");
        }
    }
    assert!(found >= 8, "{found} parameters in all messages");
}

/// The parameters in back quotes, with their values.
fn parameters_in(message: &str) -> Vec<(String, Option<String>)> {
    let parameters = RefCell::new(Vec::new());
    spell(message, |name, value| {
        let parameter = (name.to_owned(), value.map(str::to_owned));
        parameters.borrow_mut().push(parameter);
        String::new()
    });
    parameters.into_inner()
}

/// Every string literal in the sources of the library, except documentation and the reasons of lints.
fn messages_of_library() -> Vec<String> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../src")];
    let mut messages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let source = std::fs::read_to_string(path).unwrap();
                messages.extend(string_literals(&source));
            }
        }
    }
    messages
}

/// The string literals of Rust source, except documentation and the reasons of lints. Escapes remain.
fn string_literals(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['/', '\'', '"']) {
        let (before, after) = rest.split_at(at);
        if after.starts_with("//") {
            rest = after.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(character) = after.strip_prefix('\'') {
            // A character such as '"', '\'' or '\u{1b}', or a lifetime.
            let skipped = match character.strip_prefix('\\') {
                Some(escape) => escape[1..].find('\'').map(|end| end + 3),
                None => {
                    let length = character.chars().next().map_or(0, char::len_utf8);
                    character[length..].starts_with('\'').then_some(length + 1)
                }
            };
            rest = &character[skipped.unwrap_or(0)..];
        } else if let Some(text) = after.strip_prefix('"') {
            let fences = before.len() - before.trim_end_matches('#').len();
            let is_raw = before[..before.len() - fences].ends_with('r');
            let end = if is_raw {
                text.find(&format!("\"{}", "#".repeat(fences))).unwrap()
            } else {
                let mut is_escaped = false;
                let is_end = |letter: char| {
                    let is_end = letter == '"' && !is_escaped;
                    is_escaped = letter == '\\' && !is_escaped;
                    is_end
                };
                text.find(is_end).unwrap()
            };
            let code = before.trim_end();
            if !code.ends_with("reason =") && !code.ends_with("doc =") {
                literals.push(text[..end].to_owned());
            }
            rest = &text[end + 1..];
        } else {
            rest = &after[1..];
        }
    }
    literals
}

#[test]
fn string_literals_are_told_from_comments() {
    let source = r##"
        // "a comment" and a lifetime's 'quote
        fn f<'a>(c: char) { g("one \"quoted\" `a`", '"', '\'', '\u{22}', r#"raw "two""#, 'é') }
        #[expect(lint, reason = "no message")]
        #[doc = "no message either"]
        const C: &str = "three // no comment"; /* a / alone */
    "##;
    let literals = string_literals(source);
    assert_eq!(
        literals,
        [
            r#"one \"quoted\" `a`"#,
            r#"raw "two""#,
            "three // no comment"
        ]
    );
    let parameters = parameters_in("pass `unit=tokens`, no `size`");
    let expected = [("unit", Some("tokens")), ("size", None)];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.map(str::to_owned)));
    assert_eq!(parameters, expected);
}
