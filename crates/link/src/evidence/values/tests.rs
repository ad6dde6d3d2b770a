use super::*;
use crate::evidence::kinds::Kind;

fn column(values: &[&str]) -> Column {
    Column::new(values, None, &|_| None)
}

#[test]
fn values_are_cleaned() {
    for (text, expected) in [
        ("  Müller-Lüdenscheidt ", "muller ludenscheidt"),
        ("Ann@Mail.example", "ann@mail example"),
        ("N/A", ""),
        ("(none)", ""),
        ("041 / 76", "041 76"),
        ("नमस्ते", "नमस्ते"),
    ] {
        assert_eq!(clean(text, &|_| None), expected);
    }
    let replaced = |word: &str| (word == "bill").then_some("william");
    assert_eq!(clean("BILL Smith", &replaced), "william smith");
}

#[test]
fn values_are_cleaned_by_their_kind() {
    let texts = [
        "+41 44 668 18 00",
        "044/668 18 00",
        "n/a",
        "044 668 18 01",
        "Ring him!",
    ];
    let column = |set| Column::new(&texts, set, &|_| None);
    let found = column(Some(Kind::Phone));
    assert_eq!(found.codes, [0, 0, MISSING, 1, 2]);
    assert_eq!(found.values, ["446681800", "446681801", "ring him"]);
    assert_eq!(column(Some(Kind::Name)).values.len(), 4);
    assert_eq!(column(None).kind, Kind::Text);
    assert_eq!(Column::new(&texts[..4], None, &|_| None).kind, Kind::Phone);
    let dates = Column::new(
        &["4. März 1980", "１９８０－０３－０４", "1980–03–05"],
        Some(Kind::Date),
        &|_| None,
    );
    assert_eq!(dates.values, ["1980 03 04", "1980 03 05"]);
}

#[test]
fn fields_that_say_nothing_are_not_used() {
    let rows = |of: fn(usize) -> String| -> Column {
        column(
            &(0..100)
                .map(of)
                .collect::<Vec<_>>()
                .iter()
                .map(|v| &**v)
                .collect::<Vec<_>>(),
        )
    };
    let fields = Fields::from_columns(
        [
            rows(|row| format!("given{}", row % 7)),
            rows(|row| format!("surname{}", row % 11)),
            rows(|_| "same".to_owned()),
            rows(|row| {
                if row == 3 {
                    "x".to_owned()
                } else {
                    String::new()
                }
            }),
            rows(|row| format!("given{} surname{}", row % 7, row % 11)),
        ]
        .into_iter(),
    );
    assert_eq!(
        fields
            .used
            .iter()
            .map(|field| field.place)
            .collect::<Vec<_>>(),
        [0, 1]
    );
    let unused = fields
        .unused
        .iter()
        .map(|field| (field.place, &field.why, field.kind));
    assert_eq!(
        unused.collect::<Vec<_>>(),
        [
            (2, &Reason::Empty, None),
            (3, &Reason::Empty, None),
            (4, &Reason::Copy(vec![0, 1]), Some(Kind::Name))
        ]
    );
    let copy = &fields.unused[2];
    assert!(copy.missing == 0.0 && copy.bits > 6.0, "{copy:?}");
}

#[test]
fn cosines_weigh_rare_words() {
    let column = column(&[
        "the red fox",
        "the red fox",
        "the red hen",
        "the owl",
        "the fox red",
    ]);
    let vectors = WordVectors::from_values(&column.values, &column.codes, Kind::Text.parts());
    let cosine = |a, b| vectors.cosine(a, b);
    assert!((cosine(0, 0) - 1.0).abs() < 1e-6);
    assert!((cosine(0, 3) - 1.0).abs() < 1e-6);
    assert!(cosine(0, 1) > cosine(0, 2) && cosine(0, 2) > 0.0);
    assert_eq!(cosine(0, 1), cosine(1, 0));
}
