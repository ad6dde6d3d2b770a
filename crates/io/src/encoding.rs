//! Which encoding bytes that are not UTF-8 are in.
//!
//! Bytes never prove an encoding: those of windows-1250 or Mac Roman may be letters in windows-1252, too, and those of Shift-JIS
//! other letters in GBK. A message therefore shows a word as the likeliest encoding reads it, by which the user sees whether it is
//! right.

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, MACINTOSH, WINDOWS_1252};
use simgpu_base::encoding::{SeenEncoding, as_text_in};

/// The most bytes that are looked at, from the first word that is not UTF-8.
const LOOKED_AT: usize = 4096;

/// Encodings as browsers spell them, as `iconv` and Python spell them, and what is written in them. One that is not here is taken
/// for unknown: `iconv` cannot convert from it, or bytes of damaged UTF-8 look like it.
const LETTERS: [(&str, &str, &str); 23] = [
    ("Big5", "BIG5", "Chinese, traditional"),
    ("EUC-JP", "EUC-JP", "Japanese"),
    ("EUC-KR", "EUC-KR", "Korean"),
    ("GBK", "GB18030", "Chinese, includes GBK"),
    ("Shift_JIS", "SHIFT_JIS", "Japanese"),
    ("IBM866", "IBM866", "Cyrillic"),
    ("KOI8-U", "KOI8-U", "Cyrillic"),
    ("ISO-8859-5", "ISO-8859-5", "Cyrillic"),
    ("windows-1251", "windows-1251", "Cyrillic"),
    ("ISO-8859-2", "ISO-8859-2", "Central European"),
    ("windows-1250", "windows-1250", "Central European"),
    ("ISO-8859-4", "ISO-8859-4", "Baltic"),
    ("ISO-8859-13", "ISO-8859-13", "Baltic"),
    ("windows-1257", "windows-1257", "Baltic"),
    ("ISO-8859-6", "ISO-8859-6", "Arabic"),
    ("windows-1256", "windows-1256", "Arabic"),
    ("ISO-8859-7", "ISO-8859-7", "Greek"),
    ("windows-1253", "windows-1253", "Greek"),
    ("ISO-8859-8", "ISO-8859-8", "Hebrew"),
    ("windows-1255", "windows-1255", "Hebrew"),
    ("windows-1254", "windows-1254", "Turkish"),
    ("windows-1258", "windows-1258", "Vietnamese"),
    ("windows-874", "CP874", "Thai"),
];

/// The end of a problem with a text that is not UTF-8: what it looks like, or else what is in it.
pub(super) fn looks_like(text: &[u8]) -> String {
    looks_like_in(text, text)
}

/// The same of a part of a record, which may show more about it.
pub(super) fn looks_like_in(text: &[u8], record: &[u8]) -> String {
    described(record, false).unwrap_or_else(|| around(text))
}

/// The same of a value in a column of a table.
pub(super) fn column_looks_like(value: &[u8]) -> String {
    described(value, true).unwrap_or_else(|| around(value))
}

fn described(text: &[u8], is_column: bool) -> Option<String> {
    let text = first_misencoded(text);
    if is_damage(text) {
        return None;
    }
    let western = western_readings(text);
    if !western.is_empty() {
        return Some(as_text_in(&western, is_column));
    }
    is_in_another(text).then(|| as_text_in(Vec::from_iter(guess(text)).as_slice(), is_column))
}

/// A text around its first byte that is not UTF-8, as far as it is readable.
fn around(text: &[u8]) -> String {
    const SHOWN: usize = 20;
    let at = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    let before = std::str::from_utf8(&text[..at]).unwrap_or_default();
    let letters = before.char_indices().rev().take(SHOWN);
    let start = letters.last().map_or(at, |(start, _)| start);
    let shown = &text[start..text.len().min(at + SHOWN)];
    let chunks = shown.utf8_chunks().map(|chunk| {
        let invalid = chunk.invalid().escape_ascii();
        format!("{}{invalid}", chunk.valid().escape_debug())
    });
    format!(", in \"{}\"", chunks.collect::<String>())
}

/// The words of a long text from the first one that is not UTF-8.
fn first_misencoded(text: &[u8]) -> &[u8] {
    if text.len() <= LOOKED_AT {
        return text;
    }
    let at = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    let (before, rest) = text.split_at(at);
    let space = before.iter().rposition(u8::is_ascii_whitespace);
    let start = space.map_or(0, |space| space + 1);
    let rest = &rest[..rest.len().min(LOOKED_AT)];
    let space = rest.iter().rposition(u8::is_ascii_whitespace);
    &text[start.max(at.saturating_sub(LOOKED_AT))..at + space.unwrap_or(rest.len())]
}

/// Whether all bytes that are not UTF-8 are the two highest, which are letters of few languages and often a sign of damage.
fn is_damage(text: &[u8]) -> bool {
    let mut invalid = text.utf8_chunks().flat_map(|chunk| chunk.invalid());
    invalid.all(|byte| *byte >= 0xFE)
}

/// How the encodings of Western Europe read a text, if they can: windows-1252 first, and Mac Roman where it may be meant.
fn western_readings(text: &[u8]) -> Vec<SeenEncoding> {
    let has_unicode = || text.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    if has_unicode() || has_control(text) {
        return Vec::new();
    }
    let read = |encoding, name, letters| {
        let text = decoded(text, encoding).filter(|text| is_western(text))?;
        let word = word(&text)?;
        Some(SeenEncoding {
            name,
            letters,
            word,
        })
    };
    let windows = read(
        WINDOWS_1252,
        "windows-1252",
        "Western European, like Latin-1",
    );
    // In Mac Roman, letters with accents stand where windows-1252 has mostly signs.
    let is_accent = |byte: &u8| byte.is_ascii() || (0x80..=0x9F).contains(byte);
    let may_be_mac = text.iter().all(is_accent) && !has_only_quotes(text);
    let mac = may_be_mac.then(|| read(MACINTOSH, "MACINTOSH", "Western European, of older Macs"));
    windows.into_iter().chain(mac.flatten()).collect()
}

/// Whether all that a text has beyond ASCII are quotation marks and dashes of windows-1252, where they stand in English.
fn has_only_quotes(text: &[u8]) -> bool {
    let Some(text) = decoded(text, WINDOWS_1252) else {
        return false;
    };
    let letters: Vec<char> = text.chars().collect();
    let is_within_word =
        |three: &[char]| is_mark(three[1]) && three[0].is_alphabetic() && three[2].is_alphabetic();
    let mut others = letters.iter().filter(|letter| !letter.is_ascii());
    others.all(|letter| is_mark(*letter))
        && letters
            .windows(3)
            .all(|three| !is_within_word(three) || three[1] == '’')
}

/// The encoding that a text seems to be in by the frequency of its letters.
fn guess(text: &[u8]) -> Option<SeenEncoding> {
    let mut detector = EncodingDetector::new();
    detector.feed(text, true);
    let (encoding, is_likely) = detector.guess_assess(None, false);
    let (_, name, letters) = LETTERS.iter().find(|(web, ..)| *web == encoding.name())?;
    if !is_likely {
        return None;
    }
    let word = word(&decoded(text, encoding)?)?;
    Some(SeenEncoding {
        name,
        letters,
        word,
    })
}

/// A text as an encoding reads it; `None` if it cannot.
fn decoded(text: &[u8], encoding: &'static Encoding) -> Option<String> {
    let (text, has_errors) = encoding.decode_without_bom_handling(text);
    (!has_errors).then(|| text.into_owned())
}

/// A word with a letter beyond ASCII; at least one with a quotation mark or the like.
fn word(text: &str) -> Option<String> {
    const LONGEST: usize = 30;
    let is_of_word = |letter: char| letter.is_alphanumeric() || is_mark(letter);
    let words = || {
        let words = text.split(|letter| !is_of_word(letter));
        words.filter(|word| word.chars().nth(1).is_some())
    };
    let has = |word: &&str, wanted: fn(char) -> bool| {
        word.chars()
            .any(|letter| !letter.is_ascii() && wanted(letter))
    };
    // A letter shows more than a quotation mark.
    let word = words().find(|word| has(word, char::is_alphabetic));
    let word = word.or_else(|| words().find(|word| has(word, is_mark)))?;
    Some(word.chars().take(LONGEST).collect())
}

/// Whether it is a quotation mark, a dash or the like, which touches words or stands within them.
fn is_mark(letter: char) -> bool {
    "„…‘’“”–—\u{A0}\u{AD}·".contains(letter)
}

/// Whether bytes have a control character that no text has.
fn has_control(text: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    text.iter().any(is_control)
}

/// Whether a text that is not UTF-8 may be in another encoding: more of its bytes beyond ASCII are none of UTF-8 than are, it does
/// not end within a character, and a byte beyond ASCII stands within a word.
///
/// Two bytes of Shift-JIS or GBK are a character of UTF-8 by chance, but most are not. In damaged UTF-8, most are.
fn is_in_another(text: &[u8]) -> bool {
    let is_unicode = || {
        let (mut valid, mut invalid) = (0, 0);
        for chunk in text.utf8_chunks() {
            let letters = chunk.valid().chars();
            valid += letters.filter(|letter| !letter.is_ascii()).count();
            invalid += usize::from(!chunk.invalid().is_empty());
        }
        valid >= invalid
    };
    let is_cut = || std::str::from_utf8(text).is_err_and(|error| error.error_len().is_none());
    if has_control(text) || is_unicode() || is_cut() {
        return false;
    }
    let is_of_word = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let mut triples = text.windows(3);
    triples.any(|three| !three[1].is_ascii() && is_of_word(three[0]) && is_of_word(three[2]))
}

/// Whether a text that an encoding of Western Europe has read is written so: few letters beyond ASCII follow each other, none is a
/// capital after a small letter, no sign stands within a word, and one letter belongs to a word.
///
/// Damage and other encodings fail one of these: a character of UTF-8 that was cut leaves others whole, or a capital after
/// a small letter; words in Greek or Cyrillic have many letters beyond ASCII in a row; some of Polish are signs here.
fn is_western(text: &str) -> bool {
    const LONGEST_RUN: usize = 3;
    let (mut run, mut is_any) = (0, false);
    let mut letters = text.chars().peekable();
    let mut before = '\0';
    while let Some(letter) = letters.next() {
        let after = letters.peek().copied().unwrap_or('\0');
        if letter.is_ascii() {
            run = 0;
        } else {
            run += 1;
            let touches_word = before.is_ascii_alphabetic() || after.is_ascii_alphabetic();
            let is_within_word = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
            let is_sign = !letter.is_alphabetic() && !is_mark(letter);
            let is_capital = letter.is_uppercase();
            let is_misplaced =
                is_capital && before.is_ascii_lowercase() || is_sign && is_within_word;
            if letter.is_control() || is_misplaced || run > LONGEST_RUN {
                return false;
            }
            is_any |= touches_word && !is_sign;
        }
        before = letter;
    }
    is_any
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1253};

    use super::*;

    fn is_windows_1252(text: &[u8]) -> bool {
        let western = western_readings(text);
        western.iter().any(|seen| seen.name == "windows-1252")
    }

    #[test]
    fn western_text_is_told_from_damage() {
        for text in [
            &b"M\xFCller"[..],
            b"7;J\xF6rg Gro\xDF;Stra\xDFe 5, \xD6sterreich",
            b"{\"text\": \"caf\xE9\"}",
            b"cr\xE9\xE9e",
            b"It\x92s a \x93quote\x94 \x96 for 5 \x80",
            b"\xC9cole \xAB\xA0Jean\xA0\xBB",
            b"l\xB7l",
        ] {
            assert!(is_windows_1252(text), "{}", text.escape_ascii());
        }
        for text in [
            // UTF-8 that was cut: in a character, or next to whole ones.
            &b"caf\xC3"[..],
            b"gr\xC3\xB6\xC3",
            b"na\xC3\xAFve caf\xE9",
            // Other bytes.
            b"\xFF\xFE",
            b"a\x00\xE9",
            b"\x1F\xE9a",
            b"a\x90b",
            b"5 \x80",
            b"\xE9",
            // Polish in windows-1250, Russian in windows-1251, Chinese in GBK.
            b"mi\xB3y",
            b"name: \xC8\xE2\xE0\xED",
            b"a \xC4\xE3\xBA\xC3 b",
        ] {
            assert!(!is_windows_1252(text), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn a_word_shows_how_the_encoding_reads_it() {
        const WINDOWS: &str =
            ", as of text in windows-1252 (Western European, like Latin-1), where it reads ";
        for (text, word) in [
            (&b"It\x92s a \x93quote\x94"[..], r#""It’s""#),
            (b"7;J\xF6rg Gro\xDF;5", r#""Jörg""#),
            (b"{\"text\": \"caf\xE9\"}", r#""café""#),
            (
                b"5 \x80 for a c\x9Cur",
                r#""cœur", or in MACINTOSH (Western European, of older Macs), where it reads "cúur""#,
            ),
            (
                b"J\x9Arg M\x9Fller",
                r#""Jšrg", or in MACINTOSH (Western European, of older Macs), where it reads "Jörg""#,
            ),
        ] {
            assert_eq!(looks_like(text), format!("{WINDOWS}{word}"));
        }
        assert!(column_looks_like(b"J\xF6rg").starts_with(", as of a column in windows-1252 ("));
        for text in [
            &b"caf\xC3"[..],
            b"na\xC3\xAFve caf\xE9s",
            b"a\x00b\xE9c",
            b"a \xFF\xFE b",
            b"in the nor\xFFhern half",
        ] {
            let shown = around(text);
            assert_eq!(looks_like(text), shown);
            assert_eq!(column_looks_like(text), shown);
        }
    }

    #[test]
    fn what_is_not_understood_is_shown() {
        assert_eq!(looks_like(b"caf\xC3"), r#", in "caf\xc3""#);
        let long = b"a plain line of a letter, then the nor\xFFhern half of the coast, and more";
        let shown = r#", in "letter, then the nor\xffhern half of the co""#;
        assert_eq!(looks_like(long), shown);
        assert_eq!(
            looks_like_in(long, &[long, &b" \xC3\xB6"[..]].concat()),
            shown
        );
    }

    #[test]
    fn encodings_of_other_letters_are_recognised_in_one_record() {
        for (encoding, text, end) in [
            (
                SHIFT_JIS,
                "東京の天気は晴れです",
                "SHIFT_JIS (Japanese), where it reads \"東京の天気は晴れです\"",
            ),
            (
                GBK,
                "今天的天气很好",
                "GB18030 (Chinese, includes GBK), where it reads \"今天的天气很好\"",
            ),
            (
                BIG5,
                "今天的天氣很好",
                "BIG5 (Chinese, traditional), where it reads \"今天的天氣很好\"",
            ),
            (
                EUC_KR,
                "오늘 날씨가 좋습니다",
                "EUC-KR (Korean), where it reads \"오늘\"",
            ),
            (
                WINDOWS_1251,
                "Сегодня хорошая погода",
                "windows-1251 (Cyrillic), where it reads \"Сегодня\"",
            ),
            (
                WINDOWS_1253,
                "Σήμερα ο καιρός είναι καλός",
                "windows-1253 (Greek), where it reads \"Σήμερα\"",
            ),
            (
                WINDOWS_1250,
                "Zażółć gęślą jaźń",
                "windows-1250 (Central European), where it reads \"Zażółć\"",
            ),
        ] {
            let record = format!("{{\"text\": \"{text}\"}}");
            let (bytes, ..) = encoding.encode(&record);
            let told = looks_like(&bytes);
            assert!(told.ends_with(end), "{told}");
            // In the middle of a long text.
            let english = b"a plain line of a letter\n".repeat(4000);
            let long = [&english[..], &bytes, &english].concat();
            assert_eq!(looks_like(&long), told);
        }
    }
}
