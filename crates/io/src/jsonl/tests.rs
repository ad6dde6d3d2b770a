use super::*;
use simgpu::scheme::WeightScale;

fn parsed(record: &str, fields: &Fields) -> Result<(String, Option<String>), String> {
    let mut documents = fields.empty_batch();
    let id = match parse(record.as_bytes(), "line", fields, &mut documents)? {
        Id::Json(id) => Some(id),
        Id::None => None,
        Id::Unusable(what) => Some(format!("unusable: {what}")),
    };
    let text = match documents {
        DocumentBatch::Texts(texts) => texts.get(0).to_owned(),
        DocumentBatch::Tokens(tokens) => {
            let token = |token| String::from_utf8_lossy(token).into_owned();
            tokens.tokens(0).map(token).collect::<Vec<_>>().join("|")
        }
        DocumentBatch::Weighted(tokens) => {
            let tokens = tokens.tokens(0);
            let shown = tokens
                .map(|(token, weight)| format!("{} {weight}", String::from_utf8_lossy(token)));
            shown.collect::<Vec<_>>().join("|")
        }
    };
    Ok((text, id))
}

fn good(record: &str) -> (String, Option<String>) {
    parsed(record, &Fields::default()).unwrap()
}

fn bad(record: &str) -> String {
    parsed(record, &Fields::default()).unwrap_err()
}

#[test]
fn texts_and_ids() {
    let pair = |text: &str, id: &str| (text.to_owned(), Some(id.to_owned()));
    assert_eq!(good(r#"{"id": "a", "text": "b"}"#), pair("b", r#""a""#));
    assert_eq!(good(r#"{"text": "\u0041\n", "id": 7}"#), pair("A\n", "7"));
    assert_eq!(good(r#"{"text":"x","id":-7}"#), pair("x", "-7"));
    let huge = "123456789012345678901234567890";
    assert_eq!(
        good(&format!(r#"{{"text":"x","id":{huge}}}"#)),
        pair("x", huge)
    );
    for (id, found) in [
        ("1.50", Some("1.50")),
        ("-2e3", Some("-2e3")),
        ("null", None),
        ("true", Some("unusable: a boolean")),
        ("{}", Some("unusable: an object")),
    ] {
        let record = format!(r#"{{"text":"x","id":{id}}}"#);
        assert_eq!(good(&record), ("x".to_owned(), found.map(str::to_owned)));
    }
}

#[test]
fn the_last_of_repeated_keys_counts() {
    let record = r#"{"text": 1, "id": "a", "text": "b", "text": "c", "id": 3}"#;
    assert_eq!(good(record), ("c".to_owned(), Some("3".to_owned())));
    assert!(bad(r#"{"text": "b", "text": null}"#).contains("field \"text\" is null"));
}

#[test]
fn lone_surrogates_become_the_replacement_character() {
    assert_eq!(
        good(r#"{"text": "a\ud800b\udc00"}"#).0,
        "a\u{FFFD}b\u{FFFD}"
    );
    assert_eq!(good(r#"{"\ud800": 0, "text": "\ud83d\ude00"}"#).0, "😀");
}

#[test]
fn dotted_paths_reach_into_objects() {
    let fields = Fields {
        content: vec![FieldPath::new("a.b")],
        id: FieldPath::new("meta.id"),
        ..Fields::default()
    };
    let record = r#"{"a": {"b": "no"}, "meta": {"id": 5}, "a": {"b": "yes"}}"#;
    assert_eq!(
        parsed(record, &fields),
        Ok(("yes".to_owned(), Some("5".to_owned())))
    );
    assert!(parsed(r#"{"a": "b"}"#, &fields).is_err());
}

#[test]
fn tokens_are_strings_and_numbers_as_written() {
    let fields = Fields {
        content: vec![FieldPath::new("tokens")],
        is_tokens: true,
        ..Fields::default()
    };
    let (tokens, _) = parsed(
        r#"{"tokens": ["a b", 1, 1.50, "\u00e9", -2e3, ""]}"#,
        &fields,
    )
    .unwrap();
    assert_eq!(tokens, "a b|1|1.50|é|-2e3|");
    let weighted = Fields {
        weights: Some(WeightsField {
            path: FieldPath::new("weights.of"),
            scale: WeightScale::default(),
        }),
        ..fields.clone()
    };
    let record = r#"{"weights": {"of": [1, 2.50, 3e-1]}, "tokens": ["a b", 1, ""]}"#;
    let (tokens, _) = parsed(record, &weighted).unwrap();
    assert_eq!(tokens, "a b 1|1 2.5| 0.3");
    let problem = parsed(r#"{"tokens": ["a", null]}"#, &fields).unwrap_err();
    assert!(problem.contains("null"), "{problem}");
    assert!(parsed(r#"{"tokens": "a"}"#, &fields).is_err());
}

#[test]
fn problems_are_named() {
    for (record, problem) in [
        (r#"{"text": "a""#, "invalid JSON"),
        (r#"{"text": "a"} x"#, "invalid JSON"),
        (r#"{"text": "a", "x": 01}"#, "invalid JSON"),
        (r#"{"text": "a", "x": tru}"#, "invalid JSON"),
        ("{", "the record is cut off or continues in the next line"),
        (r#"{"text": "a","#, "a record is one line"),
        (
            r#"{"text": "Dear Sir,"#,
            "invalid JSON: the line ends within a string",
        ),
        ("\0\0\0", "nothing but NUL bytes"),
        (
            "\0\0{\"text\": \"a\"}",
            "before or after the record are NUL bytes",
        ),
        (
            "{\"text\": \"a\"}\0",
            "before or after the record are NUL bytes",
        ),
        (
            r#"{"id": 1, "messages": [{"role": "user", "content": "a"}]}"#,
            r#""messages" is an array: join its texts into one field: `jq -c '.text = ([.messages[].content]"#,
        ),
        (
            r#"{"text": ["a", "b"]}"#,
            r#"field "text" is an array, not a string: join its texts into one field: `jq -c '.text = (.text | join("\n"))'`"#,
        ),
        (
            r#"{"id": 1, "tags": [5], "turns": [{"n": 3}]}"#,
            "its fields are \"id\", \"tags\", \"turns\"; choose one with `text_field`; if files have different fields",
        ),
        (
            r#"{"0": {"text": "a"}, "1": {"text": "b"}}"#,
            "its fields are \"0\", \"1\"; if its values are the records, write one per line: `jq -c '.[]'`; or choose one with",
        ),
        ("[1]", "the record is an array, not an object"),
        (r#"{"title": "a"}"#, "there is no field \"text\""),
        (r#"{"text": 5}"#, "field \"text\" is a number, not a string"),
        (r#"{"text": {"a": "b"}}"#, "is an object, not a string"),
    ] {
        assert!(bad(record).contains(problem), "{record}: {}", bad(record));
    }
    let mut documents = Fields::default().empty_batch();
    let problem = parse(
        b"{\"text\": \"\xFF\"}",
        "line",
        &Fields::default(),
        &mut documents,
    );
    assert_eq!(
        problem,
        Err(r#"invalid UTF-8 at byte 10 of the line, in "{\"text\": \"\xff\"}""#.to_owned())
    );
    assert!(bad(&"[".repeat(200_000)).contains("invalid JSON"));
}

#[test]
fn lines_keep_their_bytes_and_numbers() {
    let bytes = b"\xEF\xBB\xBFone\r\n\r\n \ntwo\nthree";
    let found: Vec<_> = lines(bytes, 1)
        .map(|l| (l.number, l.whole, l.record))
        .collect();
    assert_eq!(
        found,
        [
            (1, &b"one\r\n"[..], &b"one"[..]),
            (4, b"two\n", b"two"),
            (5, b"three", b"three")
        ]
    );
    assert_eq!(lines(b"", 1).count(), 0);
}
