use super::*;
use crate::fields::Fields;
use crate::fields::Wanted;
use crate::format::Separators;
use crate::jsonl::newlines;

const CSV: Separators = Separators {
    delimiter: b',',
    quote: Some(b'"'),
};

/// The records of a stream that comes in pieces of so many bytes, with the line of each.
fn cut(cutter: &mut dyn Cutter, text: &str, piece: usize) -> Result<Vec<(u64, String)>, Refusal> {
    let (mut bytes, mut from, mut all) = (Vec::new(), 0, Vec::new());
    let mut take = |cutter: &mut dyn Cutter, bytes: Vec<u8>| {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        match cutter.contents(bytes)? {
            None => {}
            Some(Contents::Lines {
                bytes,
                first_number,
            }) => {
                let lines = super::super::jsonl::lines(&bytes, first_number);
                all.extend(lines.map(|line| (line.number, text(line.whole))));
            }
            Some(Contents::Records(records)) => {
                for span in records.spans {
                    let line = records.first_line + newlines(&records.bytes[..span.start]);
                    all.push((line, text(&records.bytes[span])));
                }
            }
            Some(other) => panic!("{other:?}"),
        }
        Ok(())
    };
    for piece in text.as_bytes().chunks(piece) {
        bytes.extend_from_slice(piece);
        let end = cutter.scan(&bytes, from)?;
        from = bytes.len();
        if let Some(end) = end {
            let rest = bytes.split_off(end);
            take(cutter, std::mem::replace(&mut bytes, rest))?;
            from -= end;
        }
    }
    cutter.end(&bytes)?;
    take(cutter, bytes)?;
    Ok(all)
}

fn assert_cut(make: &dyn Fn() -> Box<dyn Cutter>, text: &str, expected: &[(u64, &str)]) {
    for piece in 1..=text.len() {
        let found = cut(&mut *make(), text, piece);
        let found = found.unwrap_or_else(|refusal| panic!("{text:?}: {refusal:?}"));
        let found = found.iter().map(|(line, record)| (*line, &**record));
        assert_eq!(found.collect::<Vec<_>>(), expected, "{text:?} {piece}");
    }
}

fn assert_refused(make: &dyn Fn() -> Box<dyn Cutter>, text: &str, problem: &str) {
    for piece in 1..=text.len() {
        let refusal = cut(&mut *make(), text, piece).unwrap_err();
        let told = refusal.for_file(std::path::Path::new("x")).to_string();
        assert!(told.contains(problem), "{text:?} {piece}: {told}");
    }
}

#[test]
fn lines_keep_their_numbers() {
    let lines = || Box::new(LineCutter::new()) as Box<dyn Cutter>;
    let text = "a\n\nb\r\n  \nc";
    assert_cut(&lines, text, &[(1, "a\n"), (3, "b\r\n"), (5, "c")]);
}

#[test]
fn csv_is_cut_between_records() {
    let fields = Fields::default();
    let csv = || -> Box<dyn Cutter> {
        let fields: &'static Fields = Box::leak(Box::new(fields.clone()));
        Box::new(CsvCutter::new(CSV, Wanted::Document(fields)))
    };
    let text = "\u{feff}text,id\r\na,1\r\n\r\n\"b \"\"x\"\"\nc\",2\r\nd\"e,3\rf,4\n\"\",5";
    let expected = [
        (2, "a,1\r\n"),
        (4, "\"b \"\"x\"\"\nc\",2\r\n"),
        (6, "d\"e,3\r"),
        (6, "f,4\n"),
        (7, "\"\",5"),
    ];
    assert_cut(&csv, text, &expected);
    assert_cut(&csv, "text\n\"a\"b\nc\n", &[(2, "\"a\"b\n"), (3, "c\n")]);
    assert_cut(&csv, "text\n", &[]);
    assert_refused(
        &csv,
        "text\na\n\"b\nc\n",
        "line 3 opens a quote that is never closed",
    );
    let problem = "starts on line 2 has text after a closing quote on line 3";
    assert_refused(&csv, "text\n\"a\nb\"c\nd\n", problem);
}

#[test]
fn arrays_are_cut_between_elements() {
    let array = || Box::new(ArrayCutter::new()) as Box<dyn Cutter>;
    let text = " [ {\"a\": \"],\\\"\"} ,\n[1, [2]]\n,\"x\" , 3]\n ";
    let expected = [
        (1, "{\"a\": \"],\\\"\"}"),
        (2, "[1, [2]]"),
        (3, "\"x\""),
        (3, "3"),
    ];
    assert_cut(&array, text, &expected);
    assert_cut(&array, "[ ]", &[]);
    for (text, problem) in [
        (
            "[1,]",
            "line 1: a comma in the JSON array has no element after it",
        ),
        (
            "[1,\n,2]",
            "line 2: a comma in the JSON array has no element before it",
        ),
        ("[,1]", "no element before it"),
        ("[1]\n2", "line 2: text follows the end"),
        ("[1, 2", "its last bracket is missing"),
        ("[\"]", "its last bracket is missing"),
    ] {
        assert_refused(&array, text, problem);
    }
}
