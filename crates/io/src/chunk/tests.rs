use super::*;
use std::sync::Arc;

use crate::ids::Id;
use simgpu::documents::Documents;

fn chunk(contents: Contents) -> Chunk {
    Chunk {
        file: 0,
        number: 0,
        contents,
    }
}

fn lines(text: &str, first_number: u64) -> Contents {
    Contents::Lines {
        bytes: text.as_bytes().to_vec(),
        first_number,
    }
}

/// The elements of a JSON array, one per line from this line on.
fn elements(texts: &[&str], first_line: u64) -> Contents {
    let mut bytes = Vec::new();
    let mut spans = Vec::new();
    for text in texts {
        let start = bytes.len();
        bytes.extend_from_slice(text.as_bytes());
        spans.push(start..bytes.len());
        bytes.extend_from_slice(b",\n");
    }
    Contents::Records(RecordSpans {
        bytes,
        spans,
        first_line,
        header: None,
    })
}

const LINES: &str = "{\"text\": \"a\", \"id\": 1}\n\n{\"id\": 2}\n{\"text\": \"c\"}";

#[test]
fn the_first_records_are_left() {
    for (records, expected) in [
        (0, ""),
        (1, "{\"text\": \"a\", \"id\": 1}\n\n"),
        (3, LINES),
        (9, LINES),
    ] {
        let Contents::Lines { bytes, .. } = lines(LINES, 1).first(records) else {
            panic!("no lines");
        };
        assert_eq!(
            String::from_utf8(bytes).unwrap().trim_end(),
            expected.trim_end()
        );
        assert_eq!(lines(LINES, 1).first(records).records(), records.min(3));
        let first = elements(&["1", "2", "3"], 1).first(records);
        assert_eq!(first.records(), records.min(3));
    }
}

#[test]
fn records_are_good_or_bad_by_line() {
    let fields = Fields::default();
    let mut documents = fields.empty_batch();
    let of = |contents, documents: &mut DocumentBatch, wanted: &dyn Fn(u64) -> bool| {
        let records = chunk(contents).parse(&fields, wanted, documents);
        let shown = records.into_iter().map(|record| match record {
            Record::Document(Id::Json(id)) => id,
            Record::Document(other) => format!("{other:?}"),
            Record::Bad { line, problem } => format!("{line:?} {}", problem.len() > 5),
        });
        shown.collect::<Vec<_>>()
    };
    let all = of(lines(LINES, 7), &mut documents, &|_| true);
    assert_eq!(all, ["1", "Some(9) true", "None"]);
    assert_eq!(documents.len(), 2);
    assert_eq!(of(lines(LINES, 7), &mut documents, &|i| i == 2), ["None"]);
    assert_eq!(Documents::len(&documents), 1);
    let array = || elements(&["{\"text\": \"a\"}", "{\n}", "{\"text\": 5}"], 3);
    let all = of(array(), &mut documents, &|_| true);
    assert_eq!(all, ["None", "Some(4) true", "Some(6) true"]);
}

#[test]
fn kept_records_are_whole() {
    let kept = |contents, keeps: &[bool]| {
        let kept = Arc::new(chunk(contents)).kept(keeps.to_vec()).unwrap();
        let parts: Vec<&[u8]> = kept.parts().collect();
        String::from_utf8(parts.concat()).unwrap()
    };
    // The last line gets its newline.
    assert_eq!(
        kept(lines(LINES, 1), &[false, false, true]),
        "{\"text\": \"c\"}\n"
    );
    let first = "{\"text\": \"a\", \"id\": 1}\n";
    assert_eq!(kept(lines(LINES, 1), &[true, false, false]), first);
    let array = || elements(&["1", "[2,\n3]", "4"], 1);
    assert_eq!(kept(array(), &[true, true, false]), "1,\n[2,\n3]");
    assert_eq!(kept(array(), &[false, false, true]), "4");
    let text = || Contents::Text(b"a text".to_vec());
    assert_eq!(
        (kept(text(), &[true]), kept(text(), &[false])),
        ("a text".to_owned(), String::new())
    );
}

#[test]
fn lines_in_messages_are_those_of_the_file() {
    let moved = |problem: &str| on_line(problem.to_owned(), 10);
    assert_eq!(
        moved("wrong at line 1 column 4"),
        "wrong at line 10 column 4"
    );
    assert_eq!(
        moved("wrong at line 3 column 4"),
        "wrong at line 12 column 4"
    );
    for unchanged in [
        "wrong",
        "wrong at line 0 column 2",
        "wrong at line x column 2",
    ] {
        assert_eq!(moved(unchanged), unchanged);
    }
}
