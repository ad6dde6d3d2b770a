use super::*;

fn places(values: &[&str], smallest: bool) -> (ValueKind, Vec<u32>) {
    let mut column = FieldValues::default();
    values.iter().for_each(|value| column.push(value));
    let kind = column.forms().kind().unwrap_or(ValueKind::Strings);
    (kind, column.places(kind, smallest).unwrap())
}

#[test]
fn numbers_of_any_size_compare_exactly() {
    let ascending = [
        "-inf",
        "-1e400",
        "-9007199254740993",
        "-9007199254740992",
        "-0.5",
        "0",
        "1e-400",
        "0.1",
        "0.10000000000000000001",
        "9007199254740992",
        "9007199254740993.0",
        "18446744073709551615",
        "18446744073709551616",
        "1e99999999999999999999",
        "inf",
    ];
    let (kind, found) = places(&ascending, true);
    assert_eq!(kind, ValueKind::Numbers);
    assert_eq!(found, (0..15).collect::<Vec<_>>());
    let equal = ["100", "1e2", "+100.00", "0.01e4"];
    assert_eq!(places(&equal, true).1, [0; 4]);
    assert_eq!(places(&["-0", "0.0", "0e5"], true).1, [0; 3]);
    for text in ["", ".", "-", "1e", "1e+", "0x1", "1 ", "1.2.3", "٣"] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
}

#[test]
fn the_largest_is_first_and_absent_values_last() {
    let last = u32::MAX;
    assert_eq!(places(&["3", "", "9", "3"], false).1, [1, last, 0, 1]);
    assert_eq!(places(&["3", "", "9", "3"], true).1, [0, last, 1, 0]);
    assert_eq!(places(&["", ""], false).1, [last, last]);
}

#[test]
fn dates_compare_as_instants() {
    let ascending = [
        "2024-01-01",
        "2024-01-01T02:00:00+01:00",
        "2024-01-01 01:30:00",
        "2024-01-01T01:30:00.000000001Z",
    ];
    let (kind, found) = places(&ascending, true);
    assert_eq!((kind, found), (ValueKind::Dates, vec![0, 1, 2, 3]));
    let equal = [
        "2024-01-01T00:00:00Z",
        "2024-01-01",
        "2023-12-31T23:00:00-01:00",
    ];
    assert_eq!(places(&equal, true).1, [0; 3]);
}

#[test]
fn other_columns_compare_as_strings() {
    assert_eq!(
        places(&["b", "a", "ä"], true),
        (ValueKind::Strings, vec![1, 0, 2])
    );
    assert_eq!(
        places(&["10", "9", "a"], true),
        (ValueKind::Mixed, vec![0, 1, 2])
    );
}
