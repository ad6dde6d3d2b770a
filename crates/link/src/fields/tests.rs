use super::*;
use crate::evidence::Kind;

/// The parts of each side, with | between them, and the kind.
fn parsed(text: &str) -> (String, String, Option<Kind>) {
    let field: ComparedField = text.parse().unwrap();
    let flat = |paths: &[FieldPath]| {
        let names: Vec<String> = paths.iter().map(FieldPath::flat).collect();
        names.join("|")
    };
    (flat(&field.a), flat(&field.b), field.kind)
}

#[test]
fn a_field_has_a_name_in_each_input_and_a_kind() {
    let same = |name: &str, kind| (name.to_owned(), name.to_owned(), kind);
    for (text, expected) in [
        ("year", same("year", None)),
        ("dob:date", same("dob", Some(Kind::Date))),
        ("title=name", ("title".into(), "name".into(), None)),
        ("a.b=c:phone", ("a.b".into(), "c".into(), Some(Kind::Phone))),
        (r"a\=b\:c\,d", same("a=b:c,d", None)),
        (r"a\\=b", (r"a\".into(), "b".into(), None)),
        (r"a\b", same(r"a\b", None)),
        ("größe=🦀", ("größe".into(), "🦀".into(), None)),
        (
            "first+last=name",
            ("first|last".into(), "name".into(), None),
        ),
        (
            r"a\+b+c.d=e+f:text",
            ("a+b|c.d".into(), "e|f".into(), Some(Kind::Text)),
        ),
    ] {
        assert_eq!(parsed(text), expected, "{text}");
    }
    let dotted: ComparedField = r"a\.b=x\\.y".parse().unwrap();
    assert_eq!(dotted.a, [FieldPath::new(r"a\.b")]);
    assert_eq!(dotted.b, [FieldPath::new(r"x\\.y")]);
}

#[test]
fn an_id_has_a_name_in_each_input() {
    for (text, [a, b]) in [
        ("key", ["key", "key"]),
        ("customer_id=id", ["customer_id", "id"]),
        (r"a\=b", ["a=b", "a=b"]),
        ("dc:id+x=a,b", ["dc:id+x", "a,b"]),
        ("", ["", ""]),
        ("=b", ["", "b"]),
    ] {
        let id: IdFields = text.parse().unwrap();
        assert_eq!([id.a.flat(), id.b.flat()], [a, b], "{text}");
    }
    assert!("a=b=c".parse::<IdFields>().is_err());
}

#[test]
fn what_is_no_field_is_refused() {
    for text in [
        "",
        "=",
        "a=",
        "=b",
        ":date",
        "a:",
        "a:day",
        "a=b=c",
        "a:date:phone",
        "a:date=b",
        "a+",
        "+a=b",
        "a=b++c",
        "a+b+a",
    ] {
        assert!(text.parse::<ComparedField>().is_err(), "{text}");
    }
}
