//! Threads that read, sign and write at the same time: nothing but the time depends on their number.

use std::collections::HashSet;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

use simgpu::engine::Engine;
use simgpu::progress::Progress;
use simgpu::search::{Dedup, Search};
use simgpu_files::{DedupOutput, Run, RunOptions};
use simgpu_io::Inputs;

use crate::support::{
    Numbers, Place, SIMGPU, bzip2, edited, gzip, lasting_files_in, numbered_lines, parquet,
    strings, text, zstd,
};

/// Texts of some words to some thousand, a third of which resemble another.
fn texts(documents: u64, seed: u64) -> Vec<String> {
    let mut numbers = Numbers(seed);
    let original = |i: u64| text(i % (documents * 2 / 3), 20 + (i % 7 * i % 900) as usize);
    (0..documents)
        .map(|i| edited(&original(i), numbers.next(), (i % 2) as usize))
        .collect()
}

/// Many files of all kinds: larger than a chunk, of one record, without any, and with bad ones.
fn many_files() -> Place {
    let place = Place::new();
    let texts = texts(3_000, 1);
    for (i, some) in texts.chunks(100).enumerate() {
        let lines = numbered_lines(some, i * 100);
        match i % 5 {
            0 => place.write(&format!("in/{i:02}.jsonl"), lines),
            1 => place.write(&format!("in/{i:02}.jsonl.zst"), zstd(&lines)),
            2 => place.write(&format!("in/{i:02}.jsonl.gz"), gzip(&lines)),
            3 => place.write(&format!("in/{i:02}.jsonl.bz2"), bzip2(&lines)),
            _ => {
                let ids = (0..some.len()).map(|id| (i * 100 + id).to_string());
                let ids: Vec<String> = ids.collect();
                let columns = [("id", strings(&ids)), ("text", strings(some))];
                place.write(&format!("in/{i:02}.parquet"), parquet(columns));
            }
        }
    }
    place.write("in/05a.jsonl", "");
    place.write("in/05b.jsonl", "{\"id\": 7, \"text\": \"one two\"}\nbad\n");
    place.write("in/11a.jsonl.zst", zstd(&numbered_lines(&texts, 10_000)));
    place
}

#[test]
fn results_of_many_files_ignore_threads() {
    let place = many_files();
    let run = |options: &str| {
        let options = format!("--on-bad-record skip -q {options}");
        place
            .run(&format!("dedup in -o out --overwrite {options}"))
            .succeeded();
        place
            .run(&format!("pairs in -o pairs.csv --overwrite {options}"))
            .succeeded();
        (
            lasting_files_in(&place.path("out")),
            place.read("pairs.csv"),
        )
    };
    let expected = run("--threads 1");
    let pairs = expected.1.iter().filter(|byte| **byte == b'\n').count();
    assert!(expected.0.len() > 15 && pairs > 2_500);
    for options in [
        "--threads 2",
        "--threads 5 --hold-mib 0",
        "--threads 4 --hold-mib 1 --batch-mib 1",
        "--threads 1 --hold-mib 0 --batch-mib 1",
    ] {
        assert!(run(options) == expected, "{options}");
    }
}

#[test]
fn the_first_bad_file_in_order_is_named() {
    let place = many_files();
    // The reader of a large file comes to its error long after those of small files behind it.
    let mut lines = numbered_lines(texts(9_000, 2), 0);
    lines.extend(b"{\"id\": 1}\n");
    place.write("in/02a.jsonl", lines);
    place.write("in/02b.jsonl.gz", &gzip(b"{\"text\": \"cut off\"}")[..20]);
    place.write("in/02c.jsonl", "no record\n");
    for options in [
        "--threads 1",
        "--threads 2",
        "--threads 5",
        "--threads 5 --batch-mib 1",
    ] {
        let failed = place.run(&format!("dedup in -o out {options}"));
        failed.refused(1, &["02a.jsonl", "row 9000", "line 9001"]);
    }
    place.write("in/02a.jsonl", "");
    for options in ["--threads 1", "--threads 4"] {
        let failed = place.run(&format!("pairs in -o - {options}"));
        failed.refused(1, &["02b.jsonl.gz", "cut off"]);
    }
}

#[test]
fn no_thread_reads_beyond_a_limit() {
    let place = many_files();
    place.write("in/03a.jsonl", "no record\n");
    place.write("in/03b.parquet", "no table");
    for options in ["--threads 1", "--threads 4", "--threads 4 --hold-mib 0"] {
        let results = place.dedup(&format!("in --limit 400 {options}"));
        assert_eq!(results.count("documents"), 400);
        assert!(
            results
                .kept_names()
                .iter()
                .all(|name| name.as_str() < "03a")
        );
    }
}

/// Notes the threads that work on pieces.
#[derive(Default)]
struct Workers(Mutex<HashSet<ThreadId>>);

impl Progress for Workers {
    fn is_stopped(&self) -> bool {
        self.0.lock().unwrap().insert(thread::current().id());
        false
    }
}

#[test]
fn as_many_threads_work_as_stated() {
    let place = many_files();
    std::fs::remove_file(place.path("in/05b.jsonl")).unwrap();
    let engine = Engine::builder().build().unwrap();
    let inputs = Inputs::find(&[place.path("in")], None).unwrap();
    let task = Dedup::new(Search::new(0.8, engine.scheme()).unwrap());
    for threads in [1, 3] {
        let workers = Workers::default();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let run = || {
            let temporary = &place.path("");
            let run = Run {
                options: RunOptions {
                    progress: &workers,
                    ..RunOptions::default()
                },
                ..Run::new(&engine, &inputs)
            };
            run.dedup(&task, DedupOutput::Nowhere { temporary })
                .map(|_| ())
        };
        pool.build().unwrap().install(run).unwrap();
        assert_eq!(workers.0.lock().unwrap().len(), threads);
    }
}

/// Runs the command as a user who may start no thread; `None` if this machine cannot.
#[cfg(target_os = "linux")]
fn run_without_threads(place: &Place, arguments: &str) -> Option<(Option<i32>, String)> {
    use std::process::{Command, Stdio};
    // Limits do not hold for root. No other process has this user.
    const USER: &str = "--reuid=64321";
    let limit = ["prlimit", "--nproc=1:1", "setpriv", USER, "--clear-groups"];
    let started = |program: &[&str], arguments: &str| {
        Command::new(limit[0])
            .args(&limit[1..])
            .args(program)
            .args(arguments.split_whitespace())
            .current_dir(place.path(""))
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output()
    };
    // Without the programs, or without the right to become another user or to reach this one's programs.
    let is_possible = started(&[SIMGPU, "--version"], "");
    if !is_possible.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let output = started(&[SIMGPU], arguments).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Some((output.status.code(), stderr))
}

#[cfg(target_os = "linux")]
#[test]
#[allow(
    clippy::print_stderr,
    reason = "says that the machine cannot run the test"
)]
fn without_threads_every_command_says_so() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_texts(["one two three", "four five six"]);
    place.write("a.txt", "one two");
    set_permissions(place.path(""), Permissions::from_mode(0o777)).unwrap();
    for arguments in [
        "dedup in.jsonl -o out",
        "dedup in.jsonl -o out --threads 1",
        "dedup - --format jsonl -o out --threads 1",
        "pairs in.jsonl -o pairs.csv",
        "sign in.jsonl -o out.npy",
        "link in.jsonl --fields text -o out --threads 1",
        "ratings in.jsonl -o out.csv",
        "compare a.txt a.txt",
        "tune --bytes 1MB --documents 1000",
        "bench --quick --results bench",
        "selftest",
    ] {
        let Some((code, stderr)) = run_without_threads(&place, arguments) else {
            eprintln!("skipped: cannot become another user");
            return;
        };
        assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
        assert_eq!(code, Some(1), "{arguments}: {stderr}");
        let says = ["cannot start", "thread", "raise the limit of processes"];
        assert!(
            says.iter().all(|says| stderr.contains(says)),
            "{arguments}: {stderr}"
        );
    }
}
