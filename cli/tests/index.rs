//! `simgpu index` beside `pairs --against` and `dedup --cluster greedy`, and what stops it.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    Answering, Numbers, Place, SIMGPU, families, files_in, gzip, lines_of, numbered_lines,
    parse_lines,
};

/// A place with two files of documents in families, which have members in both.
fn place(seed: u64) -> Place {
    let place = Place::new();
    let mut random = Numbers(seed);
    let texts = families(60, 4, 40);
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (id, text) in texts.iter().enumerate() {
        let side = if random.next().is_multiple_of(2) {
            &mut old
        } else {
            &mut new
        };
        side.push(json!({"id": format!("d{id}"), "text": text}));
    }
    for (id, text) in ["", "...", "...", "?!"].into_iter().enumerate() {
        old.push(json!({"id": format!("o{id}"), "text": text}));
        new.push(json!({"id": format!("n{id}"), "text": text}));
    }
    place.write("old.jsonl", lines_of(old));
    place.write("new.jsonl", lines_of(new));
    place
}

/// The id and the similarity of each hit, by the id of the document.
type Hits = BTreeMap<String, BTreeMap<String, String>>;

fn id(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn hits(lines: &[Value]) -> Hits {
    let hits = |line: &Value| {
        let hits = line["hits"].as_array().unwrap().iter();
        let hits = hits.map(|hit| (id(&hit["id"]), hit["similarity"].to_string()));
        (id(&line["id"]), hits.collect())
    };
    lines.iter().map(hits).collect()
}

/// What `pairs` finds, with options of its own.
fn by_pairs(place: &Place, options: &str) -> Hits {
    let mut hits: Hits = parse_lines(&place.read("new.jsonl"))
        .iter()
        .map(|record| (id(&record["id"]), BTreeMap::new()))
        .collect();
    let command = format!("new.jsonl --against old.jsonl {options}");
    for pair in place.pairs(&command) {
        let of = hits.get_mut(&id(&pair["id_b"])).unwrap();
        of.insert(id(&pair["id_a"]), pair["similarity"].to_string());
    }
    hits
}

/// How `pairs` and `dedup` find what an index of a kind finds.
fn candidates(kind: &str) -> &'static str {
    match kind {
        "lsh" => "--candidates lsh",
        _ => "--candidates join --verify exact",
    }
}

#[test]
fn an_index_finds_the_pairs_of_two_files() {
    for (seed, kind, options) in [
        (1, "lsh", "--verify signature"),
        (2, "lsh", "--verify exact --threshold 0.6"),
        (12, "exact", "--threshold 0.4"),
        (13, "exact", "--unit chars --size 4 --threshold 0.7"),
        (14, "exact", "--measure contained --threshold 0.6"),
        (
            3,
            "lsh",
            "--verify exact --unit chars --size 5 --threshold 0.5 --bands 30 --rows 4",
        ),
        (
            4,
            "lsh",
            "--verify signature --scheme datasketch --num-perm 64 --seed 7 --threshold 0.5",
        ),
    ] {
        let place = place(seed);
        let build = format!("index build old.jsonl --index seen --kind {kind} {options}");
        let built = place.run(&build).succeeded();
        assert!(built.stderr.contains("added"), "{}", built.stderr);
        let query = "index query new.jsonl --index seen --output hits.jsonl";
        place.run(query).succeeded();
        let lines = parse_lines(&place.read("hits.jsonl"));
        let expected = by_pairs(&place, &format!("{} {options}", candidates(kind)));
        assert!(expected.values().filter(|hits| !hits.is_empty()).count() > 5);
        assert_eq!(hits(&lines), expected, "{options}");
        // One line per record, in order.
        let ids = |records: &[Value]| -> Vec<Value> {
            records.iter().map(|record| record["id"].clone()).collect()
        };
        assert_eq!(ids(&lines), ids(&parse_lines(&place.read("new.jsonl"))));
        place.run("index verify --index seen").succeeded();
    }
}

#[test]
fn what_is_new_is_what_dedup_keeps() {
    for (seed, kind, options) in [
        (5, "lsh", "--verify signature --threshold 0.6"),
        (6, "lsh", "--verify exact"),
        (15, "exact", "--threshold 0.5"),
    ] {
        let place = place(seed);
        let all = [place.read("old.jsonl"), place.read("new.jsonl")].concat();
        place.write("all.jsonl", &all);
        place.write("none.jsonl", "");
        let dedup = format!(
            "all.jsonl --cluster greedy --keep first {} {options}",
            match kind {
                "lsh" => "--candidates lsh --max-bucket 1000000",
                _ => candidates(kind),
            }
        );
        let expected = place.dedup(&dedup);
        place
            .run(&format!(
                "index build none.jsonl --index seen --kind {kind} {options}"
            ))
            .succeeded();
        let add = "index add - --index seen --if-new --output - --quiet";
        let added = place.run_with_stdin(add, &all).succeeded();
        let lines = parse_lines(&added.stdout);
        let kept: Vec<Value> = parse_lines(&expected.kept("all.jsonl"))
            .iter()
            .map(|record| record["id"].clone())
            .collect();
        let new = lines.iter().filter(|line| line["verdict"] == "added");
        assert_eq!(new.map(|line| line["id"].clone()).collect::<Vec<_>>(), kept);
        let seen: Vec<(Value, Value, Value)> = lines
            .iter()
            .filter(|line| line["verdict"] == "seen")
            .map(|line| {
                let hit = &line["hits"][0];
                (
                    line["id"].clone(),
                    hit["id"].clone(),
                    hit["found_by"].clone(),
                )
            })
            .collect();
        let mut removed = expected.removals();
        removed.sort_by_key(|(id, ..)| seen.iter().position(|(other, ..)| id == other));
        assert_eq!(seen, removed);
        let counted = place.run("index stats --index seen --json").succeeded();
        let stats: Value = serde_json::from_slice(&counted.stdout).unwrap();
        assert_eq!(stats["documents"], kept.len());
    }
}

#[test]
fn deleted_documents_are_found_no_more() {
    let place = place(7);
    place
        .run("index build old.jsonl --index seen --verify exact")
        .succeeded();
    let old = parse_lines(&place.read("old.jsonl"));
    let (gone, stay) = old.split_at(old.len() / 2);
    let ids: String = gone
        .iter()
        .map(|record| format!("{}\n", record["id"].as_str().unwrap()))
        .collect();
    place.write("ids.txt", format!("{ids}\"nowhere\"\n"));
    let deleted = place
        .run("index delete --index seen --ids ids.txt")
        .succeeded();
    let missing = "warning: 1 id not in the index, the first of them \"nowhere\"";
    assert!(deleted.stderr.contains(missing), "{}", deleted.stderr);
    place.write("old.jsonl", lines_of(stay.to_vec()));
    let expected = by_pairs(&place, "--candidates lsh --verify exact");
    for compacts in [false, true] {
        if compacts {
            place.run("index compact --index seen").succeeded();
        }
        let found = place
            .run("index query new.jsonl --index seen -o - --quiet")
            .succeeded();
        assert_eq!(hits(&parse_lines(&found.stdout)), expected);
        place.run("index verify --index seen").succeeded();
    }
    let exported = place.run("index export --index seen").succeeded();
    let exported = parse_lines(&exported.stdout);
    let ids = |records: &[Value]| records.iter().map(|it| id(&it["id"])).collect::<Vec<_>>();
    assert_eq!(ids(&exported), ids(stay));
}

#[test]
fn known_ids_and_bad_records_are_told() {
    let place = place(8);
    place.run("index build old.jsonl --index seen").succeeded();
    let add = "index add old.jsonl --index seen";
    place.run(add).refused(
        1,
        &["is the id of a document in the index", "--on-known-id skip"],
    );
    let skipped = place
        .run(&format!("{add} --on-known-id skip --report json"))
        .succeeded();
    let counts: Value = serde_json::from_slice(&skipped.stdout).unwrap();
    assert_eq!(
        (&counts["added"], &counts["known_ids"]),
        (&json!(0), &counts["documents"])
    );
    let replaced = place
        .run(&format!("{add} --on-known-id replace --report json"))
        .succeeded();
    let counts: Value = serde_json::from_slice(&replaced.stdout).unwrap();
    assert_eq!(counts["added"], counts["documents"]);
    place.run("index verify --index seen").succeeded();
    place
        .run(&format!("{add} --if-new --on-known-id replace"))
        .refused(2, &["--if-new"]);
    place
        .run(&format!("{add} --output v.jsonl"))
        .refused(2, &["--output", "--if-new"]);
    place
        .run("index query new.jsonl --index seen -o - --threshold 0.5")
        .refused(2, &["0.8"]);
    place
        .run("index query new.jsonl -o - --index nowhere")
        .refused(1, &["simgpu index build"]);
    place
        .run("index build new.jsonl --index seen")
        .refused(1, &["already"]);
    place
        .run("index build new.jsonl --index other --weights rarity")
        .refused(2, &["--weights"]);
    // Lines in, lines out: also of bad records.
    let lines = "{\"id\": 1, \"text\": \"a b c\"}\nnonsense\n{\"text\": \"d\"}\n{\"id\": 2}\n";
    place.write("bad.jsonl", lines);
    place
        .run("index query bad.jsonl --index seen -o -")
        .refused(1, &["line 2"]);
    let query = "index query bad.jsonl --index seen -o - --on-bad-record skip --quiet";
    let answered = parse_lines(&place.run(query).succeeded().stdout);
    assert_eq!(answered.len(), 4);
    assert!(
        answered[3]["bad_record"]
            .as_str()
            .unwrap()
            .contains("--text-field")
    );
    assert!(
        answered[1]["bad_record"]
            .as_str()
            .unwrap()
            .contains("line 2")
    );
    assert!(
        answered[2]["bad_record"]
            .as_str()
            .unwrap()
            .contains("no id")
    );
    // Without ids, those of places.
    place.write("bare.csv.gz", gzip(b"text\none two three four five six\n"));
    place
        .run("index build bare.csv.gz --index bare")
        .succeeded();
    let found = place
        .run("index query bare.csv.gz --index bare -o - --quiet")
        .succeeded();
    let found = parse_lines(&found.stdout);
    assert_eq!(
        found[0]["hits"][0],
        json!({"id": "bare.csv.gz:0", "similarity": 1.0, "found_by": "identical"})
    );
}

/// So that another user can ask a snapshot, as the umask and the folder say.
#[cfg(unix)]
#[test]
fn all_files_of_an_index_have_the_same_readers() {
    use std::os::unix::fs::PermissionsExt;

    let place = place(12);
    for command in [
        "index build old.jsonl --index seen",
        "index add new.jsonl --index seen",
        "index compact --index seen",
        "index snapshot seen copy",
    ] {
        place.run(command).succeeded();
        let folder = command.split(' ').next_back().unwrap();
        let mode = |name: &str| {
            let path = place.path(folder).join(name);
            path.metadata().unwrap().permissions().mode() & 0o777
        };
        let expected = mode("simgpu-index.json");
        for name in files_in(&place.path(folder)).into_keys() {
            assert_eq!(mode(&name), expected, "{command}: {name}");
        }
    }
}

/// Files of two nights have one name, so that their documents would have one id each, if they had to be made up.
#[test]
fn made_up_ids_are_not_compared_across_runs() {
    let nights = [0, 50].map(|first| {
        let texts: Vec<String> = (first..first + 50)
            .map(|i| format!("document {i} of the crawl stands alone with its word w{i} and v{i}"))
            .collect();
        let records = |texts: &[String]| lines_of(texts.iter().map(|text| json!({"text": text})));
        let table = format!("text\n{}\n", texts.join("\n"));
        [
            records(&texts),
            table.into_bytes(),
            texts.join("\n").into_bytes(),
        ]
    });
    for (form, name) in ["in.jsonl", "in.csv", "in.txt"].into_iter().enumerate() {
        let place = Place::new();
        place.write(name, &nights[0][form]);
        place
            .run(&format!("index build {name} --index seen"))
            .succeeded();
        let exported = || place.run("index export --index seen").succeeded().stdout;
        let before = exported();
        // A text file is one document.
        let documents = if form == 2 { 1 } else { 50 };
        assert_eq!(parse_lines(&before).len(), documents);
        place.write(name, &nights[1][form]);
        for option in ["", "--on-known-id skip", "--on-known-id replace"] {
            for new in ["", "--if-new -o verdicts.jsonl"] {
                if option.ends_with("replace") && !new.is_empty() {
                    continue;
                }
                let add = format!("index add {name} --index seen {option} {new}");
                place.run(&add).refused(1, &[name, "id"]);
                let piped = format!("index add - --index seen {option} {new}");
                if form == 0 {
                    let run = place.run_with_stdin(&piped, &nights[1][form]);
                    run.refused(1, &["stdin", "--id-field"]);
                }
                assert!(exported() == before);
            }
        }
        let skip = format!("index add {name} --index seen --on-bad-record skip --report json");
        if form != 1 {
            let counts = place.run(&skip).succeeded().stdout;
            let counts: Value = serde_json::from_slice(&counts).unwrap();
            assert_eq!(
                [&counts["added"], &counts["skipped"]],
                [&json!(0), &json!(documents)]
            );
        }
    }
}

/// A signature file in NumPy's form has no ids: it makes an index, and adds to none.
#[test]
fn signatures_without_ids_make_an_index() {
    let place = place(8);
    place.run("sign old.jsonl -o old.npy").succeeded();
    let build = "index build --signatures old.npy --index seen --verify signature";
    place.run(build).succeeded();
    place.run(build).refused(1, &["already"]);
    place
        .run("index query old.jsonl --index seen -o hits.jsonl")
        .succeeded();
    let found = parse_lines(&place.read("hits.jsonl"));
    let ids = found.iter().map(|line| line["hits"][0]["id"].to_string());
    assert!(ids.filter(|id| id.starts_with("\"old.jsonl:")).count() > 10);
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let place = place(9);
    place.run("index build old.jsonl --index seen").succeeded();
    let mut asked = Answering::start(&place, "index query - --index seen --output - --quiet");
    for record in parse_lines(&place.read("old.jsonl")).iter().take(20) {
        let answer = asked.ask(record);
        assert_eq!(answer["id"], record["id"]);
        let is_blank = record["text"] == "";
        assert_eq!(answer["hits"].as_array().unwrap().is_empty(), is_blank);
        // Meanwhile, nobody else has the index.
        if answer.to_string().contains("d1") {
            let process = format!("process {} has the index open", asked.id());
            place
                .run("index stats --index seen")
                .refused(1, &[&process]);
        }
    }
    assert!(asked.end().success());
}

/// A program that is killed: batches are there as a whole or not at all, and what was acknowledged is there.
#[cfg(unix)]
#[test]
fn a_killed_program_leaves_whole_batches() {
    for kind in ["lsh", "exact"] {
        kill_additions(kind);
    }
}

#[cfg(unix)]
fn kill_additions(kind: &str) {
    let place = Place::new();
    place.write("none.jsonl", "");
    place
        .run(&format!(
            "index build none.jsonl --index seen --kind {kind}"
        ))
        .succeeded();
    let mut random = Numbers(10);
    let (mut next, mut acknowledged) = (0, Vec::new());
    for turn in 0..4 {
        let texts: Vec<String> = families(300, 1, 30);
        let lines = numbered_lines(&texts, next);
        let add = "index add - --index seen --if-new --output - --quiet";
        let mut asked = Answering::start(&place, add);
        let stop = 1 + usize::try_from(random.next() % 30).unwrap();
        let mut answered = Vec::new();
        for line in parse_lines(&lines).iter().take(stop + 5) {
            asked.tell(line);
            if answered.len() < stop {
                answered.push(asked.answer());
            }
        }
        asked.kill();
        let added = answered
            .iter()
            .filter(|answer| answer["verdict"] == "added");
        acknowledged.extend(added.map(|answer| answer["id"].clone()));
        place.run("index verify --index seen").succeeded();
        let exported = place.run("index export --index seen").succeeded();
        let there: Vec<Value> = parse_lines(&exported.stdout)
            .into_iter()
            .map(|it| it["id"].clone())
            .collect();
        for id in &acknowledged {
            assert!(there.contains(id), "{turn}: {id} was lost");
        }
        next += texts.len();
    }
    kill_compaction_and_build(&place, kind);
}

#[cfg(unix)]
fn kill_compaction_and_build(place: &Place, kind: &str) {
    for command in [
        "index compact --index seen".to_owned(),
        format!("index build many.jsonl --index new --kind {kind}"),
    ] {
        place.write("many.jsonl", numbered_lines(families(2_000, 1, 30), 0));
        for wait in [20, 60] {
            let mut child = Command::new(SIMGPU)
                .args(command.split(' '))
                .current_dir(place.path(""))
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(wait));
            child.kill().unwrap();
            child.wait().unwrap();
            place.run("index verify --index seen").succeeded();
        }
    }
    if !place.holds("new/simgpu-index.json") {
        place.run("index build many.jsonl --index new").succeeded();
    }
    place.run("index verify --index new").succeeded();
}

#[test]
fn hits_of_contained_documents_have_the_shares_of_both() {
    let place = Place::new();
    let whole = "one two three four five six seven eight nine ten";
    let part = "three four five six seven eight";
    place.write("whole.jsonl", numbered_lines([whole], 0));
    place.write("part.jsonl", numbered_lines([part], 1));
    let build = "index build whole.jsonl --index seen --kind exact --measure contained --size 3";
    place.run(build).succeeded();
    let query = "index query part.jsonl whole.jsonl --index seen -o - --quiet";
    let lines = parse_lines(&place.run(query).succeeded().stdout);
    let hit = |line: &Value| line["hits"][0].clone();
    assert_eq!(
        hit(&lines[0]),
        json!({"id": 0, "similarity": 1.0, "query_share": 1.0, "document_share": 0.5, "found_by": "exact"})
    );
    assert_eq!(hit(&lines[1])["found_by"], "identical");
    assert_eq!(hit(&lines[1])["document_share"], 1.0);
    let stats = place.run("index stats --index seen --json").succeeded();
    let stats: Value = serde_json::from_slice(&stats.stdout).unwrap();
    assert_eq!(
        (
            &stats["kind"],
            &stats["measure"],
            &stats["recall_at_threshold"]
        ),
        (&json!("exact"), &json!("contained"), &json!(1.0))
    );
    assert_eq!(stats["read_by_query_p99"], 2);
    for (option, kind) in [
        ("--bands 4 --rows 4", "exact"),
        ("--seed 3", "exact"),
        ("--measure contained", "lsh"),
    ] {
        let flag = option.split(' ').next().unwrap();
        place
            .run(&format!(
                "index build whole.jsonl --index other --kind {kind} {option}"
            ))
            .refused(2, &[flag, "--kind"]);
    }
}

/// The folder cannot be written: the file that is locked is none.
#[test]
fn an_index_that_cannot_be_locked_is_an_error() {
    let place = place(11);
    place.run("index build old.jsonl --index seen").succeeded();
    fs::remove_file(place.path("seen/lock")).unwrap();
    fs::create_dir(place.path("seen/lock")).unwrap();
    let query = "index query new.jsonl --index seen -o -";
    place.run(query).refused(1, &["cannot open", "seen/lock"]);
}

#[test]
fn a_copy_of_an_index_that_is_written_to_is_whole() {
    let place = place(5);
    let run = |arguments: &str| place.run(&format!("{arguments} --quiet")).succeeded();
    run("index build old.jsonl --index seen");
    let exported = |index: &str| run(&format!("index export --index {index}")).stdout;
    let before = parse_lines(&exported("seen"));
    let add = "index add - --index seen --if-new -o - --quiet";
    let mut holder = Answering::start(&place, add);
    let mut added = Vec::new();
    for turn in 0..30 {
        let text: String = (0..30).map(|at| format!("t{turn}x{at} ")).collect();
        let answer = holder.ask(json!({"id": format!("t{turn}"), "text": text}));
        assert_eq!(answer["verdict"], "added");
        added.push(answer["id"].clone());
        if turn % 6 > 0 {
            continue;
        }
        let refused = place.run("index stats --index seen");
        refused.refused(
            1,
            &["has the index open", &holder.id().to_string(), "snapshot"],
        );
        let copy = format!("copy{turn}");
        run(&format!("index snapshot seen {copy}"));
        run(&format!("index verify --index {copy}"));
        let lines = parse_lines(&exported(&copy));
        let ids = |lines: &[Value]| {
            lines
                .iter()
                .map(|line| line["id"].clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(ids(&lines), [ids(&before), added.clone()].concat());
    }
    assert!(holder.end().success());
    // Each goes its own way.
    place.write("ids", "t0\n");
    run("index delete --index copy0 --ids ids");
    run("index compact --index copy0");
    run("index verify --index seen");
    place
        .run("index snapshot seen copy0")
        .refused(1, &["it exists"]);
    place.run("index snapshot old.jsonl copy").refused(1, &[]);
}

/// A record without an id is parsed, but is no document of an index: the others keep their own texts.
#[test]
fn records_without_an_id_are_skipped_in_every_mode() {
    let text = |number: u64| format!("alpha beta gamma delta epsilon zeta {number}");
    let place = Place::new();
    let lines = format!(
        "{}\n{}\n{}\n",
        json!({"id": "first", "text": text(1)}),
        json!({"text": "none of these words is in any other record here"}),
        json!({"id": "last", "text": "one two three four five six seven eight"}),
    );
    place.write("in.jsonl", &lines);
    place.write(
        "ask.jsonl",
        "{\"id\": \"q\", \"text\": \"one two three four five six seven eight\"}\n",
    );
    place.write("empty.jsonl", "");
    let skip = "--on-bad-record skip --quiet";
    let builds = [
        ("lsh", format!("index build in.jsonl --index lsh {skip}")),
        (
            "exact",
            format!("index build in.jsonl --index exact --kind exact {skip}"),
        ),
    ];
    for (name, build) in &builds {
        place.run(build).succeeded();
        let other = format!("{name}-added");
        place
            .run(&format!(
                "index build empty.jsonl --index {other} --kind {name} --quiet"
            ))
            .succeeded();
        place
            .run(&format!(
                "index add in.jsonl --index {other} --if-new -o {other}.jsonl {skip}"
            ))
            .succeeded();
        for index in [name, &&*other] {
            place
                .run(&format!(
                    "index query ask.jsonl --index {index} -o hits.jsonl --overwrite --quiet"
                ))
                .succeeded();
            let hits = parse_lines(&place.read("hits.jsonl"));
            assert_eq!(hits[0]["hits"][0]["id"], "last", "{index}");
            assert_eq!(hits[0]["hits"].as_array().unwrap().len(), 1, "{index}");
        }
    }
    place
        .run(&format!(
            "index query in.jsonl --index lsh -o hits.jsonl --overwrite {skip}"
        ))
        .succeeded();
    let hits = parse_lines(&place.read("hits.jsonl"));
    let found: Vec<_> = hits.iter().map(|line| &line["hits"][0]["id"]).collect();
    assert_eq!(found, [&json!("first"), &json!(null), &json!("last")]);
}

#[test]
fn a_changed_header_is_refused() {
    let place = Place::new();
    place.write(
        "in.jsonl",
        "{\"id\": 1, \"text\": \"one two three four five six\"}\n",
    );
    place
        .run("index build in.jsonl --index seen --quiet")
        .succeeded();
    let header = String::from_utf8(place.read("seen/simgpu-index.json")).unwrap();
    for (from, to) in [
        ("0.8", "0.9"),
        ("\"size\": 5", "\"size\": 4"),
        ("\"seed\": 1", "\"seed\": 2"),
    ] {
        assert!(header.contains(from), "{header}");
        place.write("seen/simgpu-index.json", header.replace(from, to));
        let run = place.run("index query in.jsonl --index seen -o -");
        assert!(
            run.stderr.contains("other values than were written"),
            "{}",
            run.stderr
        );
    }
}

/// What was added before a run ended early is told.
#[test]
fn verdicts_of_a_run_that_ends_early_are_written() {
    let place = Place::new();
    place.write(
        "old.jsonl",
        "{\"id\": 1, \"text\": \"one two three four five six\"}\n",
    );
    place
        .run("index build old.jsonl --index seen --quiet")
        .succeeded();
    let text = |i: u64| format!("w{i} x{i} y{i} z{i} a{i} b{i} {}", "long ".repeat(40));
    let lines = (10..20_000).map(|i| json!({"id": i, "text": text(i)}).to_string());
    let lines: Vec<String> = lines.chain(["{broken".to_owned()]).collect();
    place.write("new.jsonl", lines.join("\n"));
    let run = place.run("index add new.jsonl --index seen --if-new -o verdicts.jsonl --quiet");
    assert!(run.stderr.contains("new.jsonl"), "{}", run.stderr);
    let told = parse_lines(&place.read("verdicts.jsonl"));
    let added = told
        .iter()
        .filter(|line| line["verdict"] == "added")
        .count();
    let export = place.run("index export --index seen --quiet").succeeded();
    let documents = String::from_utf8(export.stdout).unwrap().lines().count();
    assert!(added > 0);
    assert_eq!(documents, added + 1);
}
