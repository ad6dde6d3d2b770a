use super::*;

#[test]
fn ids_are_integers_if_written_like_them() {
    for (id, json) in [
        ("0", "0"),
        ("-7", "-7"),
        ("18446744073709551616", "18446744073709551616"),
        ("007", "\"007\""),
        ("-0", "\"-0\""),
        ("+1", "\"+1\""),
        ("1.0", "\"1.0\""),
        (" 1", "\" 1\""),
        ("-", "\"-\""),
        ("a\"b", "\"a\\\"b\""),
    ] {
        assert_eq!(id_json(id), json);
    }
}

proptest::proptest! {
    #[test]
    fn only_the_text_of_a_record_is_cut(
        texts in proptest::collection::vec("[ab \"',;é\r\n]{0,12}", 1..5),
        column in 0..5_usize,
        quotes_all: bool,
        from in 0..12_u32,
        len in 1..12_u32,
    ) {
        let column = column % texts.len();
        let separators = Separators { delimiter: b',', quote: Some(b'"') };
        let record_of = |texts: &[String]| {
            let fields = texts.iter().map(|text| {
                let needs = quotes_all || texts.len() == 1 || text.contains(['"', ',', '\r', '\n']);
                if needs { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
            });
            fields.collect::<Vec<_>>().join(",") + "\r\n"
        };
        let names: String = (0..texts.len()).map(|i| format!("n{i},")).collect();
        let header = format!("{}\n", names.trim_end_matches(','));
        let fields = Fields {
            content: vec![FieldPath::new(&format!("n{column}"))],
            ..Fields::default()
        };
        let header = Header::read(
            header.as_bytes(), 0..header.len(), separators, Wanted::Document(&fields),
        ).unwrap();
        let text = &texts[column];
        let end = u32::try_from(text.len()).unwrap();
        let cut = [from.min(end), (from + len).min(end)];
        let is_whole = cut.iter().all(|at| text.is_char_boundary(*at as usize));
        proptest::prop_assume!(is_whole && cut[0] < cut[1]);
        let mut left = Vec::new();
        header.cut(record_of(&texts).as_bytes(), &mut header.parser(), &[cut], &mut left).unwrap();
        let mut parser = header.parser();
        parser.read(&left).unwrap();
        for (i, text) in texts.iter().enumerate() {
            let mut expected = text.clone();
            if i == column {
                expected.replace_range(cut[0] as usize..cut[1] as usize, "");
            }
            proptest::prop_assert_eq!(parser.field(i), expected.as_bytes());
        }
    }
}
