//! Each option, in each mode of its command, at a value that is not its default: it changes what its row of the table
//! says, or it is refused.

mod values;

mod inputs;

mod outcome;

mod modes;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use clap::CommandFactory;
use simgpu_cli::options::{TABLE, commands, parameter, row_of};

use inputs::place;
use modes::{MODES, NEVER_RUN, WITHOUT_MODES};
use outcome::Outcome;
use values::{at_another_value, name_of};

/// The options of a command, without those of help.
fn options_of(command: &clap::Command) -> Vec<String> {
    let options = command.get_arguments().filter_map(parameter);
    options
        .filter(|option| option != "help" && option != "version")
        .collect()
}

#[test]
fn every_option_has_one_row() {
    let all = simgpu_cli::Cli::command();
    let mut known = BTreeSet::new();
    for (name, command) in commands(&all) {
        for option in options_of(command) {
            let rows = TABLE
                .iter()
                .filter(|row| row.commands.contains(&&*name) && row.options.contains(&&*option));
            assert_eq!(
                rows.count(),
                1,
                "rows of {option} of {name} in options::TABLE"
            );
            known.insert((name.clone(), option));
        }
    }
    for row in TABLE {
        for (command, option) in row
            .commands
            .iter()
            .flat_map(|command| row.options.iter().map(move |option| (*command, *option)))
        {
            // A build without a GPU lacks some.
            let is_of_gpu = ["device", "lose_device_after"].contains(&option);
            let is_known = known.contains(&(command.to_owned(), option.to_owned()));
            assert!(is_known || is_of_gpu, "{command} has no {option}");
        }
    }
}

#[test]
fn every_option_acts_or_is_refused() {
    let all = simgpu_cli::Cli::command();
    let modes = Mutex::new(MODES.iter());
    let acted = Mutex::new(BTreeSet::new());
    let objections = Mutex::new(Vec::new());
    let work = || {
        let place = place();
        while let Some(mode) = { modes.lock().unwrap().next() } {
            let name = name_of(mode);
            let all = commands(&all);
            let (_, command) = all.iter().find(|(it, _)| it == name).unwrap();
            let before = Outcome::of(&place, mode);
            if before.code != Some(0) {
                let objection = format!("{mode}: {}", before.stderr);
                objections.lock().unwrap().push(objection);
                continue;
            }
            for option in options_of(command) {
                let flag = format!("--{}", option.replace('_', "-"));
                let added = at_another_value(mode, &option);
                let added = added.unwrap_or_else(|| panic!("give a value of {flag} of {name}"));
                let is_in_mode = |part: &str| part.starts_with("--") && mode.contains(part);
                if option == "output" || added.split(' ').any(is_in_mode) {
                    continue;
                }
                let row = row_of(name, &option).unwrap();
                let run = Outcome::of(&place, &format!("{mode} {added}"));
                if let Some(objection) = run.objection(row, &before) {
                    let error = run.error();
                    let objection = format!("{mode} {added}: {objection}; {:?} {error}", run.code);
                    objections.lock().unwrap().push(objection);
                }
                if run.code != Some(2) {
                    acted.lock().unwrap().insert((name, option));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism()
            .map_or(2, usize::from)
            .min(8)
        {
            scope.spawn(work);
        }
    });
    let objections = objections.into_inner().unwrap();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
    let acted = acted.into_inner().unwrap();
    for (name, command) in commands(&all) {
        let name = &*name;
        for option in options_of(command) {
            let is_never_run = NEVER_RUN.contains(&&*option)
                || NEVER_RUN.contains(&&*format!("{name} {option}"))
                || (name, &*option) == ("selftest", "backend")
                || (name, &*option) == ("sign", "weights")
                // An index takes none, in any mode.
                || name.starts_with("index ") && option.starts_with("weight");
            // Modes that name it run with it.
            let flag = format!("--{}", option.replace('_', "-"));
            let is_named = |mode: &&str| name_of(mode) == name && mode.contains(&flag);
            let is_exempt =
                WITHOUT_MODES.contains(&name) || is_never_run || MODES.iter().any(is_named);
            assert!(
                is_exempt || acted.contains(&(name, option.clone())),
                "no mode of {name} accepts {option}"
            );
        }
    }
}

#[test]
fn machines_and_measurements_refuse_idle_options() {
    let place = place();
    for (command, option) in [
        ("dedup docs -o out --backend gpu", "--isa portable"),
        ("sign docs -o s.npy --backend gpu", "--isa portable"),
        ("compare one.txt two.txt --backend gpu", "--isa portable"),
        ("selftest --backend gpu", "--isa portable"),
        ("dedup docs --dry-run --verify none", "--hold-mib 1"),
        ("tune --sample docs", "--memory 1GB"),
        ("tune --sample docs", "--temp-dir temporary"),
        ("bench --parts error --results out", "--threads 1"),
        ("bench --parts lsh --results out", "--lengths 30"),
    ] {
        let flag = option.split(' ').next().unwrap();
        place
            .run(&format!("{command} {option}"))
            .refused(2, &[flag, "--help"]);
    }
    assert!(!place.holds("out"));
}

#[test]
fn idle_options_are_all_named_with_a_remedy() {
    let place = place();
    for (command, says) in [
        (
            "pairs --signatures s.parquet -o - --hold-mib 1 --hidden --delimiter ; --join-mib 1",
            "--signatures are read in place of documents; omit --delimiter, --hidden, --join-mib and --hold-mib",
        ),
        (
            "dedup docs -o out --unit tokens --candidates join --max-bucket 9",
            "an exact join compares no buckets; omit --max-bucket, or pass --candidates lsh",
        ),
        (
            "dedup docs -o out --from-pairs found.jsonl --threshold 0.9 --min-shingles 3",
            "the report beside the pairs of --from-pairs says how they were found; omit --min-shingles and --threshold",
        ),
        (
            "dedup docs -o out --join-mib 5",
            "this search has neither; omit --join-mib, or pass --candidates join",
        ),
        (
            "dedup docs/a.jsonl docs/b.jsonl -o out --exclude *b*",
            "omit --exclude, or give a folder, or a glob in quotes",
        ),
        (
            "evaluate linked --truth one.csv --entity-field city --truth-fields a,b",
            "--truth-fields is for pairs of ids, and --entity-field names the entity of each record; omit --truth-fields",
        ),
        (
            "evaluate linked --truth pairs.csv --id-field id",
            "--id-field is for --entity-field, and the truth is pairs of ids; add --entity-field, or omit --id-field",
        ),
        (
            "evaluate linked --truth pairs.csv --examples 2",
            "the report holds what --examples asks for, and is not printed; add --report json, or omit --examples",
        ),
        (
            "ratings ratings.csv -o - --as seen --liked-from 3 --rating-field rating2",
            "--as seen takes everything rated, whatever its stars; omit --rating-field and --liked-from",
        ),
        (
            "ratings ratings.csv -o - --by user --names names.csv",
            "only items have names; omit --names, or pass --by item",
        ),
        (
            "dedup docs/a.jsonl -o out --prefer-source *b*",
            "there is one file of documents; omit --prefer-source, or give several",
        ),
    ] {
        place.run(command).refused(2, &[says]);
    }
    // `--liked-from` may go below the default of an option that is idle.
    place
        .run("ratings ratings.csv -o - --liked-from 2")
        .succeeded();
}
