//! Usage errors: exit code 2, before any output folder is made.

use simgpu::backend::Backend;
use simgpu::scheme::{BaseHash, Scheme};

use crate::support::{Place, json_lines};

/// `dedup` with these arguments is a usage error that contains `phrases`.
#[track_caller]
fn usage_error(arguments: &str, phrases: &[&str]) {
    let place = Place::with_texts(["a", "b"]);
    let run = place.run(&format!("dedup in.jsonl -o out {arguments}"));
    run.refused(2, &[phrases, &["--help"]].concat());
    assert!(
        !place.holds("out"),
        "an output folder was made for {arguments}"
    );
}

#[test]
fn a_threshold_outside_0_to_1_is_refused() {
    for threshold in ["0", "0.0", "-0.1", "1.0000001", "80", "inf", "NaN"] {
        let arguments = format!("--threshold={threshold}");
        usage_error(&arguments, &["threshold", "above 0 and up to 1"]);
        let run = Place::new().run(&format!("tune {arguments}"));
        run.refused(2, &["threshold", "above 0 and up to 1"]);
    }
    usage_error("--threshold high", &["threshold", "high"]);
    Place::with_texts(["a"]).dedup("in.jsonl --threshold 1");
    Place::with_texts(["a"]).dedup("in.jsonl --threshold 0.000001");
}

#[test]
fn more_band_rows_than_permutations_are_refused() {
    usage_error(
        "--bands 20 --rows 10",
        &["bands x rows is 20 x 10", "at most 128"],
    );
    usage_error("--bands 9 --rows 8 --num-perm 64", &["9 x 8", "at most 64"]);
    usage_error("--bands 0 --rows 8", &["0 x 8"]);
    usage_error("--bands 4294967296 --rows 4294967296", &["4294967296"]);
    usage_error("--bands 8", &["--rows"]);
    usage_error("--rows 8", &["--bands"]);
    Place::with_texts(["a"]).dedup("in.jsonl --bands 16 --rows 8");
}

#[test]
fn size_and_stop_words_must_fit_the_unit() {
    usage_error(
        "--unit stopwords --size 3",
        &["--unit stopwords takes no --size", "leave it out"],
    );
    usage_error("--size 0", &["--size"]);
    usage_error(
        "--stop-words list.txt",
        &["--stop-words needs --unit stopwords"],
    );
}

#[test]
fn tokens_field_needs_unit_tokens() {
    for options in [
        "--tokens-field ids",
        "--tokens-field tokens --unit words",
        "--tokens-field ids --text-field body --scheme datasketch",
    ] {
        usage_error(options, &["--tokens-field needs --unit tokens", "omit"]);
    }
    let place = Place::new();
    place.write("in.jsonl", r#"{"ids": ["a", "b"]}"#);
    place.dedup("in.jsonl --unit tokens --tokens-field ids");
}

#[test]
fn options_of_texts_do_not_go_with_tokens() {
    for option in ["--lowercase", "--strip-punctuation", "--keep-whitespace"] {
        let says = format!("{option} is for texts, and tokens stay as they are; omit {option}");
        usage_error(&format!("--unit tokens {option}"), &[&says]);
    }
    let says = "--text-field names a field of texts, which --unit tokens does not read";
    usage_error("--unit tokens --text-field body", &[says, "--tokens-field"]);
    usage_error("--unit tokens --text-field text --text-field b", &[says]);
    let place = Place::new();
    place.write("in.jsonl", r#"{"tokens": ["a", "b"]}"#);
    let run = place.run("tune --sample in.jsonl --unit tokens --text-field body");
    run.refused(2, &[says]);
    // A preset may lowercase by default.
    place.dedup("in.jsonl --unit tokens --scheme text-dedup");
}

#[test]
fn an_option_of_another_command_is_named() {
    for (option, command) in [
        ("--identical star", "pairs"),
        ("--max-pairs 7", "pairs"),
        ("--sample in.jsonl", "tune"),
    ] {
        let says = format!("is an option of simgpu {command}\n");
        usage_error(option, &["unexpected argument", &says]);
    }
    let place = Place::new();
    let run = place.run("tune --overwrite");
    run.refused(
        2,
        &["'--overwrite' is an option of simgpu dedup, pairs, sign"],
    );
    // A misspelt option is none of another command.
    usage_error(
        "--thresold 0.8",
        &["a similar argument exists: '--threshold'"],
    );
    usage_error("--nonsense", &["unexpected argument '--nonsense'"]);
}

#[test]
fn the_hash_must_fit_unit_and_scheme() {
    let phrases = ["words-v1 takes words, not bytes", "choose"];
    usage_error("--unit bytes --hash words-v1", &phrases);
    usage_error(
        "--unit chars --hash words-v1",
        &["words-v1 takes words, not chars"],
    );
    usage_error(
        "--scheme text-dedup --hash words-v1",
        &["words-v1 takes words, not pieces"],
    );
    usage_error("--scheme rensa --hash xxh32", &["xxh32", "64-bit", "rensa"]);
    usage_error(
        "--scheme affine64 --hash murmur3-32",
        &["murmur3-32", "64-bit", "affine64"],
    );
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let schemes: Vec<&str> = Scheme::names().collect();
    usage_error("--scheme md5", &[&["scheme", "md5"], &schemes[..]].concat());
    let hashes: Vec<&str> = BaseHash::names().collect();
    usage_error("--hash md5", &[&["hash", "md5"], &hashes[..]].concat());
    let backends: Vec<&str> = Backend::names().collect();
    usage_error(
        "--backend abacus",
        &[&["backend", "abacus"], &backends[..]].concat(),
    );
    usage_error(
        "--unit lines",
        &["lines", "bytes", "chars", "words", "stopwords", "tokens"],
    );
    usage_error("--verify twice", &["twice", "none", "signature", "exact"]);
    usage_error("--keep shortest", &["shortest", "first", "longest"]);
}

#[test]
fn a_number_out_of_range_is_refused() {
    usage_error("--num-perm 0", &["num-perm"]);
    usage_error("--num-perm 16385", &["num-perm", "16384"]);
    usage_error("--seed 4294967296", &["--seed"]);
    usage_error("--threads 0", &["--threads"]);
    // So many threads would take longer to end than a short run takes.
    usage_error(
        "--threads 10000",
        &["--threads 10000", "4 per core", "at most"],
    );
    usage_error("--max-bucket 0", &["--max-bucket"]);
    usage_error("--batch-mib 0", &["--batch-mib"]);
}

#[test]
fn isa_needs_the_simd_backend() {
    let place = Place::with_texts(["a"]);
    place
        .run("sign in.jsonl -o s.npy --backend scalar --isa portable")
        .refused(
            2,
            &["--isa applies to the backend simd, not scalar; omit --isa"],
        );
}

#[test]
fn a_missing_argument_is_refused() {
    let place = Place::new();
    place.run("dedup in.jsonl").refused(2, &["--output"]);
    place.run("dedup -o out").refused(2, &["INPUT"]);
    place.run("dedupe in.jsonl").refused(2, &["dedup"]);
}

#[test]
fn numbers_of_no_use_say_what_is_wanted() {
    for option in [
        "--size",
        "--threads",
        "--batch-mib",
        "--join-mib",
        "--max-bucket",
        "--limit",
    ] {
        for (value, says) in [
            ("0", "must be at least 1"),
            ("99999999999999999999999", "is too large"),
            ("many", "is no whole number from 1 on"),
        ] {
            let named = format!("'{value}' for '{option} <");
            usage_error(&format!("{option} {value}"), &[&named, says]);
        }
    }
    usage_error(
        "--threshold high",
        &["'high' for '--threshold <S>': is no number"],
    );
    usage_error(
        "--weight-scale x",
        &["'x' for '--weight-scale <Q>': is no number"],
    );
}

#[test]
fn patterns_and_levels_name_their_option() {
    let place = Place::new();
    for name in ["a", "b"] {
        place.write(&format!("docs/{name}.jsonl"), json_lines([name]));
    }
    for option in ["--include", "--exclude", "--prefer-source"] {
        let says = format!("{option}: a glob is \"[\"; give a valid pattern");
        let run = place.run(&format!("dedup docs -o out {option} ["));
        run.refused(2, &[&says]);
    }
    place.write("in.jsonl.gz", crate::support::gzip(b"{\"text\": \"a\"}"));
    for (arguments, says) in [
        ("in.jsonl.gz -o out", "0 to 9 for gzip"),
        ("in.jsonl.gz -o p.jsonl.zst", "1 to 22 for zstd"),
    ] {
        let command = if arguments.ends_with("out") {
            "dedup"
        } else {
            "pairs"
        };
        let run = place.run(&format!("{command} {arguments} --compression-level 99"));
        run.refused(2, &["--compression-level is 99", says, "--help"]);
    }
    assert!(!place.holds("out") && !place.holds("p.jsonl.zst"));
}

#[test]
fn a_direction_of_keep_by_is_named() {
    let phrases = ["--keep-by is \"n:down\"", "directions :asc and :desc"];
    usage_error("--keep-by n:down", &phrases);
    usage_error(
        "--keep-by n",
        &["--keep-by is \"n\"; give a field that a document has; its field is \"text\"\n"],
    );
}

#[test]
fn a_field_without_a_name_is_refused() {
    let place = Place::with_texts(["a"]);
    for (option, others) in [
        ("--text-field", ""),
        ("--tokens-field", "--unit tokens"),
        ("--weights-field", "--unit tokens"),
    ] {
        let run = place.run(&format!("dedup in.jsonl -o out {others} {option}="));
        run.refused(
            2,
            &[&format!("{option} is empty; give the name of a field")],
        );
    }
}
