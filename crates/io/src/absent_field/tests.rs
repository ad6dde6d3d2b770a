use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

/// The commands in a message.
fn commands(message: &str) -> Vec<&str> {
    let parts = message.split('`');
    parts.filter(|part| part.starts_with("jq ")).collect()
}

fn told(record: &str, path: &str) -> String {
    not_found(record, "field", &FieldPath::new(path), "text_field")
}

const MIXED: &str = r#"{"messages": [{"role": "s", "content": "a"}, {"role": "u", "content": [{"type": "text", "text": "b"}, {"type": "image"}]}]}"#;

/// Records that lack a text, the path that was asked for, and what each printed command makes of them.
const RECORDS: [(&str, &str, &[&[&str]]); 18] = [
    (
        r#"{"id": 1, "messages": [{"role": "u", "content": "a"}, {"role": "v", "content": "b"}]}"#,
        "text",
        &[&["a\nb"]],
    ),
    (
        r#"{"messages": [{"content": "a", "role": "user"}]}"#,
        "text",
        &[&["a"]],
    ),
    (
        r#"{"messages": [{"role": "u", "content": "a", "name": "a longer name"}]}"#,
        "text",
        &[&["a"]],
    ),
    (
        r#"{"messages": [{"role": "u", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]}"#,
        "text",
        &[&["a\nb"]],
    ),
    (MIXED, "text", &[&["a\nb"]]),
    (MIXED, "messages.content", &[&["a\nb"]]),
    (
        r#"{"conversations": [{"from": "gpt", "value": "a"}]}"#,
        "text",
        &[&["a"]],
    ),
    (
        r#"{"messages": [{"role": "u", "content": "a"}]}"#,
        "messages.0.content",
        &[&["a"]],
    ),
    (
        r#"{"messages": [{"role": "u", "content": "a"}]}"#,
        "messages.content",
        &[&["a"]],
    ),
    (
        r#"{"data": {"messages": [{"role": "u", "content": "a"}]}}"#,
        "text",
        &[&["a"]],
    ),
    (
        r#"{"data": {"messages": [{"role": "u", "content": "a"}]}}"#,
        "data.messages.content",
        &[&["a"]],
    ),
    (
        r#"{"data": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}"#,
        "text",
        &[&["a", "b"]],
    ),
    (
        r#"{"total": 2, "my data": [{"text": "a"}]}"#,
        "text",
        &[&["a"]],
    ),
    (
        r#"{"doc": "x", "parts": [{"text": "a"}, {"text": "b"}]}"#,
        "text",
        &[&["a", "b"], &["a\nb"]],
    ),
    (
        r#"{"chat-log": {"turns": [{"role": "u", "value": {"en": "it's"}}]}}"#,
        "chat-log.turns.value.en",
        &[&[""], &["it's"]],
    ),
    (
        r#"{"it's": [{"role": "u", "says": "a longer text"}]}"#,
        "text",
        &[&[""], &["a longer text"]],
    ),
    (r#"{"turns": ["a", "b"]}"#, "turns.0", &[&["a\nb"]]),
    (
        r#"{"data": [{"author": "u", "text": "a"}, {"text": "b"}]}"#,
        "text",
        &[&["a", "b"], &["a\nb"]],
    ),
];

#[test]
fn commands_join_the_right_fields() {
    for (record, path, jq) in [
        (
            RECORDS[1].0,
            "text",
            "jq -c '.text = ([.messages[].content] | join(\"\\n\"))'",
        ),
        (
            RECORDS[6].0,
            "text",
            "jq -c '.text = ([.conversations[].value] | join(\"\\n\"))'",
        ),
        (
            RECORDS[7].0,
            RECORDS[7].1,
            "jq -c '.text = ([.messages[].content] | join(\"\\n\"))'",
        ),
        (
            MIXED,
            "text",
            "jq -c '.text = ([.messages[].content | if type == \"array\" then .[].text // empty else . end] | join(\"\\n\"))'",
        ),
        (RECORDS[11].0, "text", "jq -c '.data[]'"),
        (RECORDS[12].0, "text", "jq -c '.[\"my data\"][]'"),
    ] {
        assert_eq!(commands(&told(record, path)), [jq], "{record}");
    }
    let message = told(RECORDS[0].0, "text");
    let told = element_problem(&message);
    let jq = "jq -c '.[] | .text = ([.messages[].content] | join(\"\\n\"))'";
    assert_eq!(commands(&told), [jq]);
}

#[test]
fn what_is_no_list_of_texts_is_not_joined() {
    for record in [
        r#"{"id": 1, "tags": [5], "turns": [{"n": 3}]}"#,
        r#"{"tags": ["a", "b"]}"#,
        "{}",
    ] {
        let message = told(record, "text");
        assert!(commands(&message).is_empty(), "{message}");
        assert!(
            message.contains("choose one with `text_field`"),
            "{message}"
        );
    }
    let told = not_found(RECORDS[0].0, "id field", &FieldPath::new("key"), "id_field");
    assert!(commands(&told).is_empty(), "{told}");
}

#[test]
fn commands_are_valid_jq() {
    let jq = |command: &str, input: &str| {
        let mut child = Command::new("sh")
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{command}: {input}");
        String::from_utf8(output.stdout).unwrap()
    };
    if Command::new("jq").arg("--version").output().is_err() {
        #[expect(clippy::print_stderr, reason = "a skipped test says so")]
        {
            eprintln!("skipped: no jq");
        }
        return;
    }
    let text_of = |line: &str| {
        let record: Value = serde_json::from_str(line).unwrap();
        record["text"].as_str().unwrap_or_default().to_owned()
    };
    let check = |message: &str, input: &str, expected: &[&[&str]]| {
        let commands = commands(message);
        assert_eq!(commands.len(), expected.len(), "{message}");
        for (command, expected) in commands.into_iter().zip(expected) {
            let texts: Vec<_> = jq(command, input).lines().map(text_of).collect();
            assert_eq!(texts, *expected, "{command}");
        }
    };
    for (record, path, expected) in RECORDS {
        let message = told(record, path);
        check(&message, record, expected);
        check(&element_problem(&message), &format!("[{record}]"), expected);
    }
    for (list, joined) in [
        (r#"["a", "b"]"#, "a\nb"),
        (r#"[{"role": "u", "content": "a"}]"#, "a"),
    ] {
        let path = FieldPath::new("turns");
        let message = joining(list, &path, "text_field");
        check(&message, &format!("{{\"turns\": {list}}}"), &[&[joined]]);
        assert!(joining(list, &path, "keep_by").is_empty());
    }
    assert!(joining("[1]", &FieldPath::new("turns"), "text_field").is_empty());
    for chat in [
        r#"{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]}"#,
        r#"{"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "a"}]}"#,
    ] {
        for path in ["question", "messages.content"] {
            let message = not_found(chat, "field", &FieldPath::new(path), ValueField::ITEMS);
            let made: Value = serde_json::from_str(&jq(commands(&message)[0], chat)).unwrap();
            assert_eq!(
                (&made["question"], &made["answer"]),
                (&"q".into(), &"a".into())
            );
        }
    }
}
