//! Each option, in each mode of its command, at a value that is not its default: it changes what its row of the table
//! says, or it is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use crate::support::{Place, files_in, gzip};
use clap::CommandFactory;
use serde_json::{Value, json};
use simgpu_cli::options::{Effect, Row, TABLE, commands, parameter, row_of};

/// A mode: a command line, to which options are added. What acts with `--candidates auto` depends on the documents, so it is
/// none.
const MODES: &[&str] = &[
    "dedup docs -o out",
    "dedup zipped -o out --unit chars",
    "dedup docs -o out --unit pieces --cluster connected --verify none",
    "dedup docs -o out --unit stopwords --backend scalar",
    "dedup docs/*.jsonl -o out --unit tokens --weights-field w --candidates lsh",
    "dedup docs/*.jsonl -o out --unit tokens --candidates join",
    "dedup docs -o out --weights rarity --candidates lsh",
    "dedup docs -o out --keep-by n --verify signature --backend simd --memory 1KB",
    "dedup docs/a.jsonl docs/b.jsonl -o - --bands 2 --rows 3",
    "dedup texts -o out",
    "dedup docs -o out --from-pairs found.jsonl",
    "dedup docs -o - --include *.jsonl --from-pairs found.csv --cluster connected",
    "pairs docs -o p.csv",
    "pairs docs -o p.jsonl.gz --unit bytes --backend scalar",
    "pairs docs -o - --unit stopwords --verify none",
    "pairs docs/*.jsonl -o p.csv --unit tokens --weights-field w --candidates join",
    "pairs docs/*.jsonl -o p.csv --unit tokens --distance l1 --within 12",
    "pairs docs -o p.csv --weights rarity --candidates join",
    "pairs texts -o p.csv --verify signature",
    "pairs --signatures s.parquet -o p.csv",
    "pairs --signatures s.parquet -o -",
    "sign docs -o s.npy",
    "sign docs -o signed.parquet --unit chars --backend scalar",
    "sign texts -o s.npy --unit stopwords --backend simd",
    "sign docs/*.jsonl -o s.npy --unit tokens --weights-field w",
    "compare one.txt two.txt --unit chars --backend scalar",
    "compare one.txt two.txt --unit stopwords --backend simd",
    "compare one.txt two.txt --unit words",
    "tune",
    "tune --sample docs",
    "tune --sample docs/*.jsonl --unit tokens",
    "show removals 2",
    "link one.csv two.csv --fields name,city -o out",
    "link one.csv --fields name,city -o out",
    "passages repeats -o out --min-length 9",
    "passages repeats -o out --min-length 9 --action cut",
    "passages zipped -o out --min-length 9 --action drop",
    "passages twice -o out --min-length 9",
    "passages docs/*.jsonl -o out --min-length 9 --unit tokens",
    "passages repeats -o out --min-length 9 --unit lines",
    "passages repeats -o out --min-length 9 --against repeats/.c.jsonl --only-against",
    "passages repeats/a.jsonl repeats/b2.jsonl -o out --min-length 9 --action mark",
    "passages zipped -o out --min-length 9 --unit bytes",
    "contain quiz -o out --against items.jsonl",
    "contain quiz -o out --against items.jsonl --action drop",
    "contain quiz -o out --against items.jsonl --rule gpt3",
    "contain quiz/a.jsonl quiz/b.jsonl.gz -o out --against items.jsonl --action mark",
    "evaluate linked --truth pairs.csv --report json",
    "evaluate linked --truth unique.csv --entity-field city --report json",
    "ratings ratings.csv -o r.csv",
    "ratings ratings.csv -o r.jsonl.gz --as seen --by user",
    "ratings ratings.csv -o r.csv --as liked-hated --names names.csv",
    "ratings ratings.csv -o r.csv --as stars",
    "ratings ratings.csv -o - --recommend all",
    "ratings ratings.csv -o r.csv --recommend all --as seen",
    "ratings ratings.csv -o r.csv --recommend all --as stars --by user",
    "ratings ratings.csv -o r.csv --hold-out last",
    "ratings ratings.csv -o r.csv --hold-out last --as seen",
    "index build docs --index out",
    "index build docs/*.jsonl --index out --unit tokens --verify exact",
    "index build docs --index out --unit stopwords --backend scalar",
    "index build docs --index out --unit chars --kind exact",
    "index build texts --index out --kind exact --measure contained",
    "index add news --index out --on-known-id replace",
    "index add news --index out --if-new --on-known-id skip -o p.jsonl",
    "index add docs/b.jsonl --index other --on-known-id skip",
    "index query news --index out -o p.jsonl",
    "index query docs/b.jsonl --index other -o -",
    "index delete --index out --ids gone.txt",
    "index compact --index out",
    "index stats --index out",
    "index verify --index out",
    "index export --index out --quiet",
    "selftest --backend scalar",
    "selftest --backend simd",
];

/// Commands whose options no mode runs: `bench` measures for seconds, and the others have hardly any.
const WITHOUT_MODES: [&str; 5] = ["bench", "devices", "completions", "man", "index snapshot"];

/// Options that no mode runs: those that the modes themselves give, those that need a GPU, and those of a plan, whose
/// times differ in every run.
const NEVER_RUN: [&str; 9] = [
    "add",
    "output",
    "from_pairs",
    "signatures",
    "fields",
    "device",
    "lose_device_after",
    "tune memory",
    "tune temp_dir",
];

/// The name of the command of a mode.
fn name_of(mode: &str) -> &str {
    let words = if mode.starts_with("index ") { 2 } else { 1 };
    let end = mode.match_indices(' ').nth(words - 1);
    end.map_or(mode, |(end, _)| &mode[..end])
}

/// The option at a value that is not its default, with the options that it needs.
fn at_another_value(mode: &str, option: &str) -> Option<&'static str> {
    let command = name_of(mode);
    Some(match (command, option) {
        (_, "format") => "--format tsv",
        (_, "delimiter") => "--delimiter ;",
        (_, "quote") => "--quote '",
        ("tune", "limit") => "--limit 60",
        (_, "limit") => "--limit 100",
        (_, "hidden") => "--hidden",
        (_, "include") => "--include *a*",
        (_, "exclude") => "--exclude *a*",
        (_, "text_field") => "--text-field body",
        (_, "tokens_field") => "--tokens-field toks",
        (_, "weights_field") => "--weights-field w",
        (_, "weights") => "--weights rarity",
        (_, "weight_scale") => "--weight-scale 256",
        // Not all results hold ids, but each record must have one.
        ("dedup" | "sign" | "passages", "id_field") => "--id-field missing",
        (_, "id_field") => "--id-field key",
        (_, "unique_ids") => "--unique-ids",
        (_, "on_bad_record") => "--on-bad-record skip",
        ("passages", "only_against") => "--only-against --against repeats/.c.jsonl",
        ("passages", "against_text_field") => {
            "--against repeats/.c.jsonl --against-text-field body"
        }
        ("passages", "against_id_field") => "--against repeats/.c.jsonl --against-id-field key",
        ("passages", "against") if mode.contains("tokens") => "--against docs/.c.jsonl",
        ("passages", "against") => "--against repeats/.c.jsonl",
        (_, "against") => "--against docs/.c.jsonl",
        (_, "against_text_field") => {
            "--against docs/.c.jsonl --against-text-field key --against-text-field text"
        }
        (_, "against_id_field") => "--against docs/.c.jsonl --against-id-field key",
        (_, "unit") => "--unit bytes",
        (_, "size") => "--size 3",
        ("contain", "threshold") => "--threshold 0.95",
        (_, "rule") => "--rule s1",
        (_, "min_ngrams") => "--min-ngrams 99",
        (_, "item_fields") => "--item-fields other",
        (_, "item_id_field") => "--item-id-field key",
        (_, "benchmark_field") => "--benchmark-field name",
        (_, "classes") => "--classes passage",
        ("contain", "action") => "--action drop",
        (_, "count") => "--count",
        (_, "stop_words") => "--stop-words stop.txt",
        (_, "lowercase") => "--lowercase",
        (_, "strip_punctuation") => "--strip-punctuation",
        (_, "mask_digits") => "--mask-digits",
        (_, "merge_whitespace") => "--merge-whitespace",
        (_, "keep_whitespace") => "--keep-whitespace",
        ("tune", "scheme") => "--scheme datatrove",
        (_, "scheme") => "--scheme fast",
        (_, "hash") => "--hash xxh3-32",
        (_, "num_perm") => "--num-perm 64",
        (_, "seed") => "--seed 7",
        (_, "backend") => "--backend scalar",
        (_, "device") => "--device 0",
        (_, "lose_device_after") => "--lose-device-after 1",
        (_, "isa") => "--isa portable",
        (_, "threshold") => "--threshold 0.6",
        (_, "bands" | "rows") => "--bands 3 --rows 9",
        ("index build", "verify") => "--verify exact",
        (_, "verify") => "--verify none",
        (_, "measure") => "--measure contained",
        (_, "kind") => "--kind exact",
        (_, "index") => "--index elsewhere",
        (_, "ids") => "--ids none.txt",
        (_, "if_new") => "--if-new",
        (_, "on_known_id") => "--on-known-id skip",
        // A distance is found by a join.
        (_, "candidates") if mode.contains("--distance") => "--candidates lsh",
        (_, "candidates") => "--candidates join",
        (_, "join_mib") => "--join-mib 1",
        (_, "signatures") => "--signatures s.parquet",
        (_, "identical") => "--identical star",
        (_, "max_pairs") => "--max-pairs 3",
        (_, "distance" | "within") => "--distance hamming --within 3",
        (_, "from_pairs") => "--from-pairs found.jsonl",
        (_, "cluster") => "--cluster connected",
        (_, "min_shingles") => "--min-shingles 60",
        (_, "drop_short") => "--drop-short --min-shingles 60",
        (_, "add") => "--add",
        (_, "drop_empty") => "--drop-empty",
        (_, "keep") => "--keep longest",
        (_, "keep_by") => "--keep-by n",
        (_, "prefer_source") => "--prefer-source *b*",
        (_, "max_bucket") => "--max-bucket 1",
        ("passages", "action") if mode.contains("tokens") => "--action drop",
        ("passages", "action") => "--action cut",
        (_, "action") => "--action report",
        (_, "removed_format") => "--removed-format parquet",
        (_, "passages_format") => "--passages-format parquet",
        (_, "hits_format") => "--hits-format parquet",
        (_, "phrases") => "--phrases counted/phrases.parquet",
        (_, "ignore") => "--ignore ignored.txt",
        (_, "suggest_ignore") => "--suggest-ignore",
        ("pairs", "no_samples") if !mode.contains("--signatures") && !mode.contains("-o -") => {
            "--page --no-samples"
        }
        (_, "no_samples") => "--no-samples",
        (_, "page") => "--page",
        (_, "source_field") => "--source-field n",
        (_, "compression_level") => "--compression-level 1",
        (_, "batch_mib") => "--batch-mib 1",
        ("passages", "memory") => "--memory 64MB",
        (_, "memory") => "--memory 1KB",
        (_, "temp_dir") => "--temp-dir temporary",
        (_, "hold_mib") => "--hold-mib 0",
        (_, "restart") => "--restart",
        (_, "threads") => "--threads 1",
        (_, "quiet") => "--quiet",
        (_, "output") => "--output other",
        (_, "overwrite") => "--overwrite",
        (_, "dry_run") => "--dry-run",
        (_, "report") => "--report json",
        (_, "json") => "--json",
        (_, "no_text") => "--no-text",
        (_, "sample") => "--sample docs",
        (_, "documents") => "--documents 1000",
        (_, "bytes") => "--bytes 100KB --documents 1000",
        (_, "min_length") => "--min-length 7",
        (_, "min_count") => "--min-count 5",
        (_, "same_document") => "--same-document keep",
        (_, "bytes_equal") => "--bytes-equal",
        (_, "mark_field") => "--mark-field marks",
        (_, "max_covered") => "--max-covered 0.9",
        (_, "snap") => "--snap lines",
        (_, "min_left") => "--min-left 30",
        (_, "occurrences") => "--occurrences all",
        (_, "fields") => "--fields name",
        (_, "equivalents") => "--equivalents equal.txt",
        (_, "score") => "--score textbook",
        (_, "match") => "--match many-to-many",
        (_, "share") => "--share 0.2",
        (_, "truth") => "--truth other.csv",
        (_, "truth_fields") => "--truth-fields id_a,id_c",
        (_, "entity_field") => "--entity-field key",
        (_, "examples") => "--examples 1",
        (_, "user_field") => "--user-field user2",
        (_, "item_field") => "--item-field item2",
        (_, "rating_field") => "--rating-field rating2",
        (_, "time_field") => "--time-field time2",
        (_, "names") => "--names names.csv",
        (_, "name_id_field") => "--name-id-field id2",
        (_, "name_field") => "--name-field name2",
        (_, "by") => "--by user",
        (_, "as") => "--as liked-hated",
        (_, "liked_from") => "--liked-from 2",
        (_, "hated_to") => "--hated-to 1.5",
        (_, "top") => "--top 2",
        (_, "min_support") => "--min-support 9",
        (_, "recommend") => "--recommend 3",
        (_, "hold_out") => "--hold-out last",
        (_, "neighbours") => "--neighbours 2",
        _ => return None,
    })
}

/// A random number below `end`, the same in every run.
fn random(state: &mut u64, end: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % end
}

/// Words from a formula, some of them small.
fn words(state: &mut u64, count: usize) -> Vec<String> {
    const SMALL: [&str; 4] = ["the", "of", "and", "to"];
    let word = |_| match random(state, 4) {
        0 => SMALL[random(state, 4)].to_owned(),
        _ => format!("wor'd{}", random(state, 300)),
    };
    (0..count).map(word).collect()
}

/// Documents in families, whose members differ in words, case, punctuation, white space and repeats. One word more or less
/// makes a similarity of about 0.8. The last families have most of their words in common.
fn documents() -> Vec<Value> {
    let mut state = 1;
    let mut documents = Vec::new();
    let common = words(&mut state, 35);
    for family in 0..32 {
        let base = match family {
            0..22 => words(&mut state, 50),
            _ => [common.clone(), words(&mut state, 15)].concat(),
        };
        for member in 0..7 {
            let mut tokens = base.clone();
            let is_copy = member < 2 && family % 3 == 0;
            for _ in 0..if is_copy { 0 } else { random(&mut state, 4) } {
                let at = random(&mut state, tokens.len());
                tokens[at] = words(&mut state, 1).remove(0);
            }
            if member == 2 {
                tokens.extend_from_within(0..12);
                tokens.extend_from_within(0..12);
            }
            let text = tokens.join(" ");
            let text = match member {
                3 => text.replace("wor'd", "Wor'd"),
                4 => text.replace('\'', ""),
                5 => text.replace(' ', ", ").replacen(", ", "   ", 12),
                6 => text.replacen(' ', "\n\n ", 30),
                _ => text,
            };
            let weight = |token: &String| 0.13 + 0.37 * (token.len() % 5) as f64;
            let id = documents.len();
            documents.push(json!({
                "id": id,
                "key": format!("k{id}"),
                "text": text,
                "body": tokens[..20].join(" "),
                "tokens": tokens,
                "toks": tokens[..18],
                "w": tokens.iter().map(weight).collect::<Vec<_>>(),
                "n": (id * 37 + family) % 101,
            }));
        }
    }
    documents
}

fn lines(documents: &[Value]) -> String {
    documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect()
}

/// A place with the inputs of all modes.
fn place() -> Place {
    let place = Place::new();
    let documents = documents();
    // Members of a family are in both files.
    let (mut a, mut b): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for (i, document) in documents.iter().enumerate() {
        if i % 2 == 0 { &mut a } else { &mut b }.push(document.clone());
    }
    a.push(json!({
        "id": "empty", "key": "empty", "text": "", "body": "", "tokens": [], "toks": [], "w": [], "n": 3,
    }));
    place.write("texts/a.txt", " ");
    for (name, part) in [("a", &a), ("b", &b)] {
        place.write(&format!("docs/{name}.jsonl"), lines(part));
        place.write(
            &format!("zipped/{name}.jsonl.gz"),
            gzip(lines(part).as_bytes()),
        );
    }
    place.write("docs/.c.jsonl", lines(&documents[..9]));
    place.write("zipped/.c.jsonl", lines(&documents[..9]));
    let mut csv = "id,key,text,body,n\n".to_owned();
    for (i, document) in documents.iter().enumerate() {
        let text = document["text"].as_str().unwrap();
        let name = ["a", "b"][i % 2];
        place.write(&format!("texts/{name}{i}.txt"), text);
        if i % 7 == 0 {
            let (body, n) = (&document["body"], &document["n"]);
            writeln!(csv, "c{i},k{i},\"{text}, again\",{body},{n}").unwrap();
        }
    }
    place.write("docs/d.csv", &csv);
    write_repeats(&place, [&a, &b], &csv);
    place.write("texts/.c.txt", documents[0]["text"].as_str().unwrap());
    place.write("stop.txt", "of and wor'd7 wor'd9");
    place.write("temporary/.keep", "");
    let text = |i: usize| documents[i]["text"].as_str().unwrap();
    place.write("one.txt", format!("{} {}", text(0), text(2)));
    place.write("two.txt", format!("{} {} {}", text(3), text(5), text(6)));
    place.run("sign docs -o s.parquet --quiet").succeeded();
    place.run("dedup docs -o removals --quiet").succeeded();
    let pairs = "pairs docs -o found.jsonl --quiet";
    place.run(pairs).succeeded();
    let pairs = "pairs docs --include *.jsonl -o found.csv --quiet";
    place.run(pairs).succeeded();
    write_records(&place);
    write_ratings(&place);
    write_quiz(&place);
    write_indexes(&place);
    place
}

/// Two indexes, and documents for them. The index of words knows the id of one of them.
fn write_indexes(place: &Place) {
    for (index, unit) in [("seen", "words"), ("tokens", "tokens")] {
        let build =
            format!("index build docs/a.jsonl --index {index} --threshold 0.5 --unit {unit}");
        place.run(&build).succeeded();
    }
    let known = json!({"id": 0, "key": "k0", "text": "a text of its own", "body": "a body"});
    let news = place.read("docs/b.jsonl");
    place.write("news/ab.jsonl", [news, lines(&[known]).into()].concat());
    for name in ["d.csv", ".c.jsonl"] {
        place.write(&format!("news/{name}"), place.read(&format!("docs/{name}")));
    }
    place.write("gone.txt", "0\n4\n");
    place.write("none.txt", "");
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target)
        } else {
            std::fs::copy(path, target).unwrap();
        }
    }
}

/// Items, and documents that ask some of them: as they are, with a word changed, or in part.
fn write_quiz(place: &Place) {
    let mut state = 7;
    let mut question = || format!("Which of the {}?", words(&mut state, 20).join(" "));
    let (mut items, mut documents) = (Vec::new(), Vec::new());
    let mut csv = "id,key,text,body\n".to_owned();
    for i in 0..150 {
        let (asked, other) = (question(), question());
        let text = match i % 3 {
            0 => format!("It was said. {asked} So it was."),
            1 => format!(
                "It was said. {} So it was.",
                asked.replacen("wor'd", "xor'd", 2)
            ),
            _ => format!("It was said, of {}.", &asked[..asked.len() / 2]),
        };
        if i == 0 {
            place.write("ignored.txt", asked.as_bytes());
        }
        items.push(json!({"question": asked, "other": other, "id": i, "key": format!("i{i}"), "name": "quiz"}));
        documents.push(json!({"id": i, "key": format!("k{i}"), "text": text, "body": other}));
        writeln!(csv, "c{i},k{i},\"{text}, again\",{other}").unwrap();
    }
    place.write("items.jsonl", lines(&items));
    place.write("quiz/a.jsonl", lines(&documents[..60]));
    place.write("quiz/b.jsonl.gz", gzip(lines(&documents[60..]).as_bytes()));
    place.write("quiz/.c.jsonl", lines(&documents[..9]));
    place.write("quiz/d.csv", csv);
    place
        .run("contain quiz -o counted --against items.jsonl -q")
        .succeeded();
}

/// The same documents, and some that repeat a part of themselves.
fn write_repeats(place: &Place, parts: [&[Value]; 2], csv: &str) {
    let mut state = 9;
    let mut repeats: Vec<Value> = (0..60)
        .map(|i| {
            let part = words(&mut state, 30).join(" ");
            let text = format!("{part}\n{}\n{part}\n", words(&mut state, 5).join(" "));
            place.write(&format!("twice/b{i}.txt"), &text);
            place.write(&format!("twice/a{i}.txt"), format!("{text} {part}, {text}"));
            json!({"id": format!("r{i}"), "key": i, "text": text, "body": part})
        })
        .collect();
    let wide = repeats[3]["body"].as_str().unwrap().replace(' ', "  ");
    repeats.push(json!({"id": "wide", "key": 60, "text": wide, "body": "none"}));
    place.write("twice/.c.txt", repeats[0]["text"].as_str().unwrap());
    place.write(
        "twice/c.txt",
        repeats[1]["text"].as_str().unwrap().replace(' ', ", "),
    );
    let upper = repeats[2]["text"].as_str().unwrap().to_uppercase();
    place.write("twice/d.txt", upper);
    for (name, part) in ["a", "b"].into_iter().zip(parts) {
        place.write(&format!("repeats/{name}.jsonl"), lines(part));
    }
    place.write("repeats/b2.jsonl", lines(&repeats));
    let other = |i: usize, change: fn(&str) -> String| {
        let text = change(repeats[i]["text"].as_str().unwrap());
        json!({"id": format!("o{i}"), "key": format!("k{i}"), "text": text, "body": text})
    };
    let changed = [
        other(4, str::to_uppercase),
        other(5, |text| text.replace(' ', ", ")),
    ];
    let hidden = [&repeats[..3], &changed].concat();
    place.write("repeats/.c.jsonl", lines(&hidden));
    place.write("repeats/d.csv", csv);
}

/// Two files of records to link.
fn write_records(place: &Place) {
    let mut state = 5;
    let (mut one, mut two) = (
        "id,key,name,city\n".to_owned(),
        "id,key,name,city\n".to_owned(),
    );
    for i in 0..150 {
        let mut part = || {
            format!(
                "{}{}",
                ["ba", "ke", "mo", "ri"][random(&mut state, 4)],
                random(&mut state, 90)
            )
        };
        let (first, last, city) = (part(), part(), part());
        let first = if i % 9 == 0 { "Bill".to_owned() } else { first };
        // Another quote than that of CSV cuts such a city in two.
        let of_one = if i % 11 == 0 {
            format!("\"{city}, {city}\"")
        } else {
            city.clone()
        };
        writeln!(one, "{i},k{i},{first} {last}{i},{of_one}").unwrap();
        let first = if i % 9 == 0 {
            "William".to_owned()
        } else {
            first
        };
        writeln!(two, "{i},k{i},{first} {last}{i}x,{city}").unwrap();
        if i % 10 == 0 {
            writeln!(two, "{i},l{i},{first} {last}{i},{city} y").unwrap();
            writeln!(one, "{i},l{i},{first} {last}{i},{city} z").unwrap();
        }
    }
    // An evaluation tells records apart by their ids.
    let is_first = |line: &&str| !line.contains(",l");
    let unique: Vec<&str> = one.lines().filter(is_first).collect();
    place.write("unique.csv", unique.join("\n"));
    place.write("one.csv", one);
    place.write("two.csv", two);
    place.write("equal.txt", "William, Bill\n");
    let link = "link unique.csv --fields name,city -o linked --quiet";
    place.run(link).succeeded();
    let mut pairs = "id_a,id_b,id_c\n".to_owned();
    for i in (0..150).step_by(5) {
        writeln!(pairs, "{i},\"{}\",{}", (i + 7) % 150, (i + 8) % 150).unwrap();
    }
    place.write("pairs.csv", pairs);
}

/// Ratings, some of them repeated, and the names of the items.
fn write_ratings(place: &Place) {
    let mut state = 3;
    let mut ratings = "user,user2,item,item2,rating,rating2,timestamp,time2,note\n".to_owned();
    for user in 0..40 {
        for rated in 0..60 {
            let item = (user % 4 * 6 + random(&mut state, 36)) % 60;
            let stars = 1 + random(&mut state, 3) + random(&mut state, 3);
            let (other, time) = (1 + random(&mut state, 5), user * 100 + rated);
            let (user2, item2) = ((user + rated) % 30, (item * 7) % 23);
            writeln!(
                ratings,
                "{user},{user2},{item},{item2},{stars},{other},{time},{},\"a, b\"",
                5000 - time
            )
            .unwrap();
        }
    }
    place.write("ratings.csv", ratings);
    let mut names = "id,id2,name,name2\n".to_owned();
    for item in 0..60 {
        writeln!(names, "{item},{},Film {item},Movie {item}", 59 - item).unwrap();
    }
    place.write("names.csv", names);
}

/// What a run left behind.
struct Outcome {
    code: Option<i32>,
    files: BTreeMap<String, Vec<u8>>,
    stdout: Vec<u8>,
    stderr: String,
}

impl Outcome {
    /// Runs a command line, and removes what it wrote.
    fn of(place: &Place, command: &str) -> Self {
        if command.starts_with("index ") && !command.starts_with("index build") {
            for (index, name) in [("seen", "out"), ("tokens", "other")] {
                copy(&place.path(index), &place.path(name));
            }
        }
        let run = place.run(command);
        let mut files = BTreeMap::new();
        for name in ["out", "other"] {
            if place.holds(&format!("{name}/simgpu-index.json")) {
                // The files of the store tell when they were written.
                let header = std::fs::read(place.path(&format!("{name}/simgpu-index.json")));
                files.insert(format!("{name}/header"), header.unwrap());
                let export = place
                    .run(&format!("index export --index {name}"))
                    .succeeded();
                files.insert(format!("{name}/export"), export.stdout);
                std::fs::remove_dir_all(place.path(name)).unwrap();
            } else if place.path(name).is_dir() {
                files.extend(files_in(&place.path(name)));
                std::fs::remove_dir_all(place.path(name)).unwrap();
            }
        }
        for entry in std::fs::read_dir(place.path(".")).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if ["p.", "r.", "s.npy", "signed.", "other"]
                .iter()
                .any(|start| name.starts_with(start))
            {
                files.insert(name, std::fs::read(entry.path()).unwrap());
                std::fs::remove_file(entry.path()).unwrap();
            }
        }
        files.remove("run.json");
        // A page repeats the options, too. But for these, whether it shows texts follows from an option alone.
        if let Some(page) = files.remove("report.html") {
            let page = String::from_utf8_lossy(&page);
            let shows_texts = page.contains("<p class=\"words\">");
            files.insert("texts".to_owned(), vec![u8::from(shows_texts)]);
        }
        for (name, bytes) in &mut files {
            if name.ends_with(".json") {
                *bytes = without_parameters(bytes);
            }
        }
        Outcome {
            code: run.code,
            files,
            stdout: run.stdout,
            stderr: run.stderr,
        }
    }

    /// The line of the error, after what was told before.
    fn error(&self) -> &str {
        let mut lines = self.stderr.lines();
        let is_error = |line: &&str| line.starts_with("simgpu: ") || line.starts_with("error: ");
        lines.find(is_error).unwrap_or_default()
    }

    fn has_equal_results(&self, other: &Outcome) -> bool {
        (self.code, &self.files, &self.stdout) == (other.code, &other.files, &other.stdout)
    }

    /// What is wrong, if the option did not change what its row says. `before` is the run without it.
    fn objection(&self, row: &Row, before: &Outcome) -> Option<&'static str> {
        if self.code == Some(2) {
            let error = self.error();
            return (!error.contains("--")).then_some("is refused without the name of an option");
        }
        let is_equal = self.has_equal_results(before);
        match row.effect {
            Effect::Results if is_equal => Some("changes no result"),
            Effect::Speed | Effect::Memory if !is_equal => Some("changes a result"),
            Effect::Checks if !is_equal && self.code != Some(1) => Some("changes a result"),
            Effect::Messages if self.files != before.files => Some("changes a result"),
            Effect::Messages if is_equal && self.stderr == before.stderr => {
                Some("changes no message")
            }
            _ => None,
        }
    }
}

/// A report without the options that it repeats.
fn without_parameters(report: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut report)) = serde_json::from_slice(report) else {
        return report.to_vec();
    };
    report.remove("parameters");
    Value::Object(report).to_string().into_bytes()
}

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
