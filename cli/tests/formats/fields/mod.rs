//! Fields of records and columns of tables: ids, texts and tokens.

mod ids;

use std::sync::Arc;

use arrow_array::builder::ListBuilder;
use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use serde_json::{Value, json};

use crate::support::{Place, lines_of, parquet, strings, text};

#[test]
fn a_dotted_name_reaches_into_a_struct() {
    let inner: ArrayRef = strings([text(1, 20), text(2, 20), text(1, 20)]);
    let keys: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
    let body = arrow_array::StructArray::try_from(vec![("content", inner), ("key", keys)]).unwrap();
    let place = Place::new();
    place.write(
        "in.parquet",
        parquet([("body", Arc::new(body) as ArrayRef)]),
    );
    let records = [(1, 7), (2, 8), (1, 9)].map(|(seed, key)| {
        json!({"body": {"content": text(seed, 20), "key": key}, "body.content": "not this one"})
    });
    place.write("in.jsonl", lines_of(records));
    for name in ["in.parquet", "in.jsonl"] {
        let results = place.dedup(&format!(
            "{name} --text-field body.content --id-field body.key"
        ));
        assert_eq!(
            results.removals(),
            [(json!(9), json!(7), json!("identical"))],
            "{name}"
        );
    }
}

#[test]
fn the_last_repeated_key_wins() {
    let (one, two) = (text(1, 20), text(2, 20));
    let place = Place::new();
    let line = |first: &str, last: &str, id: &str| {
        format!("{{\"id\":0,\"text\":\"{first}\",\"text\":\"{last}\",\"id\":{id}}}\n")
    };
    place.write(
        "in.jsonl",
        line(&one, &two, "1") + &line(&two, &one, "2") + &line("", &two, "3"),
    );
    let results = place.dedup("in.jsonl");
    assert_eq!(
        results.removals(),
        [(json!(3), json!(1), json!("identical"))]
    );
}

#[test]
fn lone_surrogates_compare_as_replacement_characters() {
    let place = Place::new();
    let record = |text: &str| format!("{{\"text\": \"w1 w2 w3 w4 {text} w6 w7\"}}\n");
    // A high and a low escape make one character; a single half, or halves in the wrong order, do not.
    let high_only = record(r"x\ud83dy");
    let pair = record(r"\ud83d\ude00");
    let low_first = record(r"x\ude00y");
    let literal = record("x\u{FFFD}y");
    place.write(
        "in.jsonl",
        [&*high_only, &pair, &low_first, &literal].concat(),
    );
    let results = place.dedup("in.jsonl --unit chars");
    assert_eq!(
        results.kept("in.jsonl"),
        [high_only, pair].concat().into_bytes()
    );
    assert_eq!(results.count("identical"), 2);
}

#[test]
fn tokens_are_strings_and_numbers() {
    let place = Place::new();
    let shared: Vec<Value> = (0..30).map(|i| json!(format!("t{i}"))).collect();
    let with = |extra: Value| {
        let tokens: Vec<Value> = shared.iter().cloned().chain([extra]).collect();
        json!({"tokens": tokens})
    };
    place.write(
        "in.jsonl",
        lines_of([
            with(json!(1)),
            with(json!("1")),
            with(json!(2.5)),
            json!({"tokens": []}),
        ]),
    );
    let results = place.dedup("in.jsonl --unit tokens --verify exact");
    // A number is its source text, so 1 and "1" are the same token.
    let found: Vec<_> = results
        .removed
        .iter()
        .map(|r| (&r["row"], &r["similarity"], &r["found_by"]))
        .collect();
    let expected = [
        (&json!(1), &json!(1.0), &json!("identical")),
        (&json!(2), &json!(30.0 / 32.0), &json!("exact")),
    ];
    assert_eq!(found, expected);
    // An empty array has no shingle.
    assert_eq!(results.count("without_shingles"), 1);
    let mut lists = ListBuilder::new(arrow_array::builder::Int32Builder::new());
    for row in [vec![1, 2, 3], vec![3, 2, 1], vec![1, 2, 3]] {
        lists.append_value(row.into_iter().map(Some));
    }
    place.write(
        "in.parquet",
        parquet([("ids", Arc::new(lists.finish()) as ArrayRef)]),
    );
    let results = place.dedup("in.parquet --unit tokens --tokens-field ids --verify exact");
    let found: Vec<_> = results
        .removed
        .iter()
        .map(|r| (&r["row"], &r["found_by"]))
        .collect();
    // Row 1 is the same set in another order, row 2 the same sequence.
    assert_eq!(
        found,
        [
            (&json!(1), &json!("exact")),
            (&json!(2), &json!("identical"))
        ]
    );
}

#[test]
fn a_backslash_makes_a_dot_part_of_a_name() {
    let (one, two) = (text(1, 20), text(2, 20));
    let place = Place::new();
    let records = [&one, &two, &one].map(
        |text| json!({"body.text": text, "body": {"text": "not this one"}, "i.d": text.len()}),
    );
    place.write("in.jsonl", lines_of(records));
    let texts = || strings([&one, &two, &one]);
    place.write("in.parquet", parquet([("body.text", texts())]));
    place.write(
        "in.csv",
        format!("a,body.text\n1,{one}\n2,{two}\n3,{one}\n"),
    );
    for name in ["in.jsonl", "in.parquet", "in.csv"] {
        let results = place.dedup(&format!("{name} --text-field body\\.text"));
        let removal = (
            json!(format!("{name}:2")),
            json!(format!("{name}:0")),
            json!("identical"),
        );
        assert_eq!(results.removals(), [removal]);
        assert_eq!(results.report["parameters"]["content_field"], "body\\.text");
    }
    let results = place.dedup("in.jsonl --text-field body\\.text --id-field i\\.d");
    assert_eq!(results.removed[0]["id"], one.len());
    // CSV has no objects.
    assert_eq!(
        place
            .dedup("in.csv --text-field body.text")
            .count("removed"),
        1
    );
}

#[test]
fn several_text_fields_are_joined() {
    let (one, two) = (text(1, 20), text(2, 20));
    let both = format!("{one}\n{two}");
    let place = Place::new();
    let records = [
        json!({"title": both}),
        json!({"title": one, "body": two}),
        json!({"title": null, "body": both}),
        json!({"title": "", "body": both, "text": "other"}),
        json!({"title": two, "body": one}),
    ];
    place.write("in.jsonl", lines_of(records));
    let column = |texts: [Option<&str>; 5]| -> ArrayRef {
        Arc::new(arrow_array::StringArray::from(texts.to_vec()))
    };
    let titles = [Some(&*both), Some(&*one), None, Some(""), Some(&*two)];
    let bodies = [None, Some(&*two), Some(&*both), Some(&*both), Some(&*one)];
    place.write(
        "in.parquet",
        parquet([("title", column(titles)), ("body", column(bodies))]),
    );
    let cell = |text: &Option<&str>| format!("\"{}\"", text.unwrap_or_default());
    let rows = titles.iter().zip(&bodies);
    let rows = rows.map(|(title, body)| format!("{},{}\n", cell(title), cell(body)));
    place.write(
        "in.csv",
        format!("title,body\n{}", rows.collect::<String>()),
    );
    for name in ["in.jsonl", "in.parquet", "in.csv"] {
        for verify in ["signature", "exact --hold-mib 0"] {
            let results = place.dedup(&format!(
                "{name} --unit chars --keep-whitespace --verify {verify} --text-field title --text-field body"
            ));
            // The last text has the same parts in another order.
            let removed = results.removals().into_iter();
            let removed: Vec<_> = removed
                .map(|(id, _, found_by)| (id, found_by))
                .filter(|(_, found_by)| found_by == "identical")
                .collect();
            let expected =
                [1, 2, 3].map(|row| (json!(format!("{name}:{row}")), json!("identical")));
            assert_eq!(removed, expected, "{name}");
            assert_eq!(results.report["parameters"]["content_field"], "title, body");
        }
    }
}

#[test]
fn a_table_may_lack_one_of_several_text_fields() {
    let (one, two) = (text(1, 20), text(2, 20));
    let place = Place::new();
    let own = |seed: u64| text(seed, 20);
    place.write(
        "docs/a.jsonl",
        lines_of([json!({"text": one}), json!({"content": two})]),
    );
    place.write("docs/b.csv", format!("id,content\n1,{one}\n2,{}\n", own(3)));
    place.write("docs/c.csv", format!("text,id\n{two},1\n{},2\n", own(4)));
    let content = || strings([two.clone(), own(5)]);
    place.write("docs/d.parquet", parquet([("content", content())]));
    place.write("docs/e.parquet", parquet([("text", content())]));
    let rows = RecordBatch::try_from_iter([("content", strings([one.clone(), own(6)]))]).unwrap();
    let mut arrow = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    arrow.write(&rows).unwrap();
    place.write("docs/f.arrow", arrow.into_inner().unwrap());
    let fields = "--text-field content --text-field text";
    for verify in ["signature", "exact --hold-mib 0"] {
        let results = place.dedup(&format!("docs {fields} --verify {verify}"));
        let removed: Vec<_> = results
            .removed
            .iter()
            .map(|line| {
                (
                    line["file"].as_str().unwrap(),
                    line["row"].as_u64().unwrap(),
                )
            })
            .collect();
        let expected = [
            ("b.csv", 0),
            ("c.csv", 0),
            ("d.parquet", 0),
            ("e.parquet", 0),
            ("e.parquet", 1),
            ("f.arrow", 0),
        ];
        assert_eq!(removed, expected, "{verify}");
        let kept = String::from_utf8(results.kept("b.csv")).unwrap();
        assert_eq!(kept, format!("id,content\n2,{}\n", own(3)));
    }

    // What repeats is cut where it is, and what lacks the field stays as it is.
    let cut = "passages docs --action cut --snap none --min-length 10 -o cut -q";
    place.run(&format!("{cut} {fields}")).succeeded();
    let kept = String::from_utf8(place.read("cut/kept/b.csv")).unwrap();
    assert_eq!(kept, format!("id,content\n1,\n2,{}\n", own(3)));
    let kept = String::from_utf8(place.read("cut/kept/c.csv")).unwrap();
    assert_eq!(kept, format!("text,id\n,1\n{},2\n", own(4)));

    // The fields of a reference are looked up among its own files.
    place.write("new.csv", format!("content\n{one}\n{}\n", own(7)));
    place.write("also.csv", format!("text\n{two}\n"));
    let results = place.dedup(&format!("new.csv also.csv --against docs {fields}"));
    assert_eq!(results.count("removed"), 2);
}

#[test]
fn a_text_field_that_no_input_has_is_refused() {
    let place = Place::new();
    place.write("docs/a.jsonl", lines_of([json!({"text": "a"})]));
    place.write("docs/b.csv", "id,content\n1,a\n");
    place.write("docs/c.parquet", parquet([("content", strings(["a"]))]));
    place.write("docs/d.txt", "a text has no fields");
    place.write("j.jsonl", lines_of([json!({"content": "b"})]));
    let of = |inputs: &str, fields: [&str; 2]| {
        let [first, second] = fields;
        place.run(&format!(
            "dedup {inputs} --text-field {first} --text-field {second} -o out --overwrite"
        ))
    };
    of("docs", ["content", "text"]).succeeded();
    for (inputs, fields, file) in [
        ("j.jsonl docs/b.csv", ["content", "body"], "docs/b.csv"),
        ("docs/c.parquet", ["body", "content"], "docs/c.parquet"),
        (
            "docs/c.parquet docs/d.txt",
            ["content", "body"],
            "docs/c.parquet",
        ),
    ] {
        let says =
            format!("{file}: no input has a column or field \"body\"; of this file, the column");
        of(inputs, fields).refused(1, &[&says, "give --text-field names that some input has"]);
    }
    // A table must have one of them, whatever other inputs have.
    let says =
        "docs/b.csv: there is no column \"text\" or \"body\"; its columns are \"id\", \"content\"";
    of("docs", ["text", "body"]).refused(1, &[says]);
    let run = place.run(
        "dedup docs/a.jsonl --against docs/b.csv --against docs/c.parquet \
         --against-text-field content --against-text-field text -o out --overwrite",
    );
    let says = "no file of --against has a column or field \"text\"; of this file, the columns are \"id\", \"content\"; \
                give --against-text-field names that some file of --against has";
    run.refused(1, &["docs/b.csv", says]);
    // A null in the only column that a table has is a bad record.
    let nulls: ArrayRef = Arc::new(arrow_array::StringArray::from(vec![Some("a"), None]));
    place.write("docs/c.parquet", parquet([("content", nulls)]));
    let says = "row 1: column \"content\" is null, and there is no column \"text\"";
    of("docs", ["content", "text"]).refused(1, &["c.parquet", says]);
}

#[test]
fn the_longest_joined_text_is_kept() {
    let place = Place::new();
    let (one, other) = (text(1, 60), text(2, 3));
    let records = [
        json!({"id": 1, "title": "", "body": one}),
        json!({"id": 2, "title": other, "body": one}),
    ];
    place.write("in.jsonl", lines_of(records));
    let fields = "--text-field title --text-field body --threshold 0.7";
    let results = place.dedup(&format!("in.jsonl --keep longest {fields}"));
    assert_eq!(results.removed[0]["id"], 1);
    let results = place.dedup(&format!("in.jsonl --keep first {fields}"));
    assert_eq!(results.removed[0]["id"], 2);
}
