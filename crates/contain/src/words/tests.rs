use super::*;

fn words(text: &str) -> Vec<String> {
    Words::read(text).iter().map(str::to_owned).collect()
}

#[test]
fn words_are_runs_of_letters_and_digits() {
    for (text, expected) in [
        ("Don't pay $1,000.50!", "dont pay 1000 50"),
        ("Janet’s 12,345,678 ducks'", "janets 12345678 ducks"),
        ("1,0000 1234,567 a1,000", "1 0000 1234 567 a1 000"),
        ("snake_case ÉTÉ", "snake case été"),
        (
            "a&amp;b &lt;p&gt; c&#x27;s &rsquo; caf&eacute;",
            "a b p cs café",
        ),
        ("x<br/>y</ p>z<td >w", "x y p z w"),
        (
            r#"<P>Which <b>of</b> <a href="x.html?a>b" class=c>these</a><SPAN STYLE='x'> is <img src=i.png />not</Span>?"#,
            "which of these is not",
        ),
        ("if a <b and b> c, x<y>z", "if a b and b c x y z"),
        (r#"one\ntwo \"three\" \u00e9t\u00e9"#, "one two three été"),
        (
            r"\nabla \text{x} \theta \right \rightarrow",
            "nabla text x theta right rightarrow",
        ),
    ] {
        assert_eq!(words(text).join(" "), expected, "{text}");
    }
}

#[test]
fn spans_are_bytes_of_the_text_as_it_is() {
    let text = r"caf&eacute; &amp; d\u00e9j\u00e0<br>vu l’été";
    let words = Words::read(text);
    let spans: Vec<&str> = (0..words.len()).map(|i| &text[words.span(i)]).collect();
    assert_eq!(spans, ["caf&eacute;", r"d\u00e9j\u00e0", "vu", "l’été"]);
}

proptest::proptest! {
    #[test]
    fn words_of_any_text_are_within_it(text in r#"[a-cA-C1é&;#x\\nu"'’,.<>/br \n_]{0,40}"#) {
        let words = Words::read(&text);
        let mut end = 0;
        for i in 0..words.len() {
            let span = words.span(i);
            assert!(end <= span.start && span.start < span.end && text.is_char_boundary(span.start));
            assert!(text.is_char_boundary(span.end));
            assert!(words.word(i).chars().all(char::is_alphanumeric) && !words.word(i).is_empty());
            end = span.end;
        }
    }

    #[test]
    fn words_are_compared_in_place(text in "[aAbé1İﬃⅢ\u{307}’',. -]{0,30}") {
        let words = Words::read_plain(&text);
        for i in 0..words.len() {
            let span = words.span(i);
            assert_eq!(word_end(&text, span.start), span.end);
            for other in words.iter().chain(["a", "1", "1000", "i\u{307}", "ffi", "iii"]) {
                assert_eq!(is_word(&text, span.start, other), words.word(i) == other);
            }
        }
    }
}
