//! Texts in other encodings than UTF-8: how to convert them, and whether bytes look like windows-1252.
//!
//! The problem of a record is stored as text, which a resumed run reads again. The encoding is therefore recognised from the
//! words of that text.
//!
//! Bytes never prove an encoding of one byte per letter: those of windows-1250 or Mac Roman may be letters in windows-1252, too.
//! A message therefore shows a word as windows-1252 reads it, by which the user sees whether it is right.

use std::path::Path;

/// What follows bytes that look like text in windows-1252, before a word of it in quotes.
pub const AS_WINDOWS_1252: &str =
    ", as of text in windows-1252 (Western European, like Latin-1), where it reads ";

/// The same of a column of a table, which is no text file.
const COLUMN_AS_WINDOWS_1252: &str =
    ", as of a column in windows-1252 (Western European, like Latin-1), where it reads ";

/// The end of a problem with bytes that look like text in an encoding of one byte per letter, but not windows-1252.
const AS_ANOTHER: &str = ", as of text in another encoding";

/// The encodings to try, as `iconv` spells them.
const OTHERS: &str = "windows-1250, CP850 or MACINTOSH";

/// The end of a problem with a text in a Unicode encoding.
const NOT_UTF_8: &str = ", not UTF-8";

/// The encodings of Unicode that are known by the first bytes of a text, as `iconv` spells them.
const UNICODE: [&str; 4] = ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32"];

/// What is wrong with a text, or with `what` else, in a Unicode encoding.
pub fn other_unicode(what: &str, encoding: &str) -> String {
    format!("{what} is {encoding}{NOT_UTF_8}")
}

/// How to convert a file, if a problem with it says that its encoding is or may be another; `usual` is what else helps.
pub fn conversion(problem: &str, file: &Path, usual: &str) -> Option<String> {
    let named = problem.strip_suffix(NOT_UTF_8);
    let named = named.and_then(|named| named.rsplit(' ').next());
    if let Some(encoding) = UNICODE.into_iter().find(|known| Some(*known) == named) {
        return Some(converted(encoding, file));
    }
    if problem.contains(COLUMN_AS_WINDOWS_1252) {
        return Some(format!(
            "if that is right, decode the column, in Python by `.cast(\"binary\")` and then `.decode(\"windows-1252\")` of \
             each value, and write the file again; else {usual}"
        ));
    }
    if problem.contains(AS_WINDOWS_1252) {
        return Some(format!(
            "if that is right, {}; else name in its place the encoding of the program that wrote the file, such as {OTHERS}",
            converted("windows-1252", file)
        ));
    }
    problem.ends_with(AS_ANOTHER).then(|| {
        format!(
            "if other records have such bytes, {}, where ENCODING is that of the program that wrote the file, such as {OTHERS}; \
             else {usual}",
            converted("ENCODING", file)
        )
    })
}

/// How to convert a file from an encoding. The new name is made of the old one, so that two files get two names.
fn converted(encoding: &str, file: &Path) -> String {
    /// The endings of compressed files, and the programs that read them.
    const COMPRESSED: [(&str, &str); 6] = [
        (".gz", "gzip"),
        (".gzip", "gzip"),
        (".zst", "zstd"),
        (".zstd", "zstd"),
        (".xz", "xz"),
        (".bz2", "bzip2"),
    ];
    let convert = format!("iconv -f {encoding} -t UTF-8");
    let name = file.to_string_lossy();
    if name == "stdin" {
        return format!("pass it through `{convert}`");
    }
    let compressed = COMPRESSED.iter().find(|(ending, _)| name.ends_with(ending));
    let plain = compressed.and_then(|(ending, _)| name.strip_suffix(ending));
    let mut new = Path::new(plain.unwrap_or(&name)).to_owned();
    let ending = new.extension().map_or(String::new(), |ending| {
        format!(".{}", ending.to_string_lossy())
    });
    new.set_extension(format!("utf-8{ending}"));
    let (new, name) = (quoted(&new.to_string_lossy()), quoted(&name));
    match compressed {
        Some((_, program)) => {
            format!("convert the file: `{program} -dc {name} | {convert} > {new}`")
        }
        None => format!("convert the file: `{convert} {name} > {new}`"),
    }
}

/// A value as it is passed to a shell.
pub fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,:/".contains(letter);
    match value {
        plain if !plain.is_empty() && plain.chars().all(is_plain) => plain.to_owned(),
        other => format!("'{}'", other.replace('\'', "'\\''")),
    }
}

/// The end of a problem with bytes that are not UTF-8: what they look like, if they are of `text`.
pub fn looks_like(text: &[u8]) -> String {
    match word_of(text) {
        Some(word) => format!("{AS_WINDOWS_1252}{word:?}"),
        None if is_of_single_bytes(text) => AS_ANOTHER.to_owned(),
        None => String::new(),
    }
}

/// The same of a value in a column of a table.
pub fn column_looks_like(value: &[u8]) -> String {
    let word = word_of(value);
    word.map_or(String::new(), |word| {
        format!("{COLUMN_AS_WINDOWS_1252}{word:?}")
    })
}

/// A word with a letter beyond ASCII, of text that looks like windows-1252, as that encoding reads it.
fn word_of(text: &[u8]) -> Option<String> {
    const LONGEST: usize = 30;
    if !is_windows_1252(text) {
        return None;
    }
    let is_of_word = |byte: &u8| match Meaning::of(*byte) {
        _ if byte.is_ascii() => byte.is_ascii_alphanumeric(),
        meaning => !matches!(meaning, Meaning::Sign | Meaning::Nothing),
    };
    let words = || {
        text.split(|byte| !is_of_word(byte))
            .filter(|word| word.len() > 1)
    };
    let has = |word: &&[u8], is_marked: bool| {
        let mut beyond = word.iter().filter(|byte| !byte.is_ascii());
        beyond.any(|byte| is_marked || Meaning::of(*byte) != Meaning::Mark)
    };
    // A letter shows more than a quotation mark.
    let word = words().find(|word| has(word, false));
    let word = word.or_else(|| words().find(|word| has(word, true)))?;
    Some(
        word.iter()
            .take(LONGEST)
            .map(|byte| letter(*byte))
            .collect(),
    )
}

/// What windows-1252 reads a byte as.
fn letter(byte: u8) -> char {
    /// What the bytes from 0x80 to 0x9F are.
    const SIGNS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    let sign = byte
        .checked_sub(0x80)
        .and_then(|at| SIGNS.chars().nth(at.into()));
    sign.unwrap_or(char::from(byte))
}

/// Whether a text that is not UTF-8 may be in an encoding of one byte per letter: it has none of the characters of UTF-8, does
/// not end within one, and a byte beyond ASCII stands within a word.
fn is_of_single_bytes(text: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    let has_unicode = || text.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    let is_cut = || std::str::from_utf8(text).is_err_and(|error| error.error_len().is_none());
    if text.iter().any(is_control) || has_unicode() || is_cut() {
        return false;
    }
    let is_of_word = |byte: u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let mut triples = text.windows(3);
    triples.any(|three| !three[1].is_ascii() && is_of_word(three[0]) && is_of_word(three[2]))
}

/// Whether a text that is not UTF-8 looks like Western European text in windows-1252: each byte beyond ASCII stands for
/// a letter or a sign, few of them follow each other, and one belongs to a word.
///
/// Damage and other encodings fail one of these: a character of UTF-8 that was cut leaves others whole, or a capital after
/// a small letter; words in Greek or Cyrillic have many letters beyond ASCII in a row; some of Polish are signs here.
fn is_windows_1252(text: &[u8]) -> bool {
    const LONGEST_RUN: usize = 3;
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    let has_unicode = || text.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    if text.iter().any(is_control) || has_unicode() {
        return false;
    }
    let (mut run, mut is_any) = (0, false);
    for (at, byte) in text.iter().enumerate() {
        if byte.is_ascii() {
            run = 0;
            continue;
        }
        run += 1;
        let before = at.checked_sub(1).map_or(0, |before| text[before]);
        let after = text.get(at + 1).copied().unwrap_or(0);
        let touches_word = before.is_ascii_alphabetic() || after.is_ascii_alphabetic();
        let is_within_word = before.is_ascii_alphabetic() && after.is_ascii_alphabetic();
        let fits = match Meaning::of(*byte) {
            Meaning::Capital => !before.is_ascii_lowercase(),
            Meaning::Small | Meaning::Mark => true,
            Meaning::Sign => !is_within_word,
            Meaning::Nothing => false,
        };
        if !fits || run > LONGEST_RUN {
            return false;
        }
        is_any |= touches_word && Meaning::of(*byte) != Meaning::Sign;
    }
    is_any
}

/// What a byte beyond ASCII stands for in windows-1252.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Capital,
    Small,
    /// A quotation mark, a dash or the like, which touches words or stands within them.
    Mark,
    Sign,
    Nothing,
}

impl Meaning {
    fn of(byte: u8) -> Self {
        match byte {
            0x8A | 0x8C | 0x8E | 0x9F | 0xC0..=0xD6 | 0xD8..=0xDE => Meaning::Capital,
            0x83 | 0x9A | 0x9C | 0x9E | 0xAA | 0xBA | 0xDF..=0xF6 | 0xF8..=0xFF => Meaning::Small,
            0x84 | 0x85 | 0x91..=0x94 | 0x96 | 0x97 | 0xA0 | 0xAD | 0xB7 => Meaning::Mark,
            0x81 | 0x8D | 0x8F | 0x90 | 0x9D => Meaning::Nothing,
            _ => Meaning::Sign,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_word_shows_what_windows_1252_makes() {
        for (text, word) in [
            (&b"7;J\xF6rg Gro\xDF;5"[..], "Jörg"),
            (b"{\"text\": \"caf\xE9\"}", "café"),
            (b"5 \x80 for a c\x9Cur", "cœur"),
            (b"It\x92s", "It’s"),
            // In Mac Roman and CP850.
            (b"J\x9Arg M\x9Fller", "Jšrg"),
            (b"J\x94rg", "J”rg"),
        ] {
            let told = looks_like(text);
            assert_eq!(told, format!("{AS_WINDOWS_1252}\"{word}\""));
        }
        // Polish in windows-1250, Russian in windows-1251.
        for text in [&b"mi\xB3y"[..], b"name: \xC8\xE2\xE0\xED"] {
            assert_eq!(looks_like(text), AS_ANOTHER, "{}", text.escape_ascii());
        }
        for text in [
            &b"caf\xC3"[..],
            b"na\xC3\xAFve caf\xE9s",
            b"a\x00b\xE9c",
            b"a \xFF\xFE b",
        ] {
            assert_eq!(looks_like(text), "", "{}", text.escape_ascii());
        }
        assert!(column_looks_like(b"J\xF6rg").ends_with("\"Jörg\""));
        assert_eq!(column_looks_like(b"mi\xB3y"), "");
    }

    #[test]
    fn the_remedy_is_a_command() {
        let of = |problem: &str, file: &str| conversion(problem, Path::new(file), "skip it");
        let western = format!("invalid UTF-8 at byte 3{}", looks_like(b"J\xF6rg"));
        let other = format!("invalid UTF-8 at byte 3{AS_ANOTHER}");
        for (problem, file, command) in [
            (
                &*western,
                "a/b.csv",
                "if that is right, convert the file: `iconv -f windows-1252 -t UTF-8 a/b.csv > a/b.utf-8.csv`; else name",
            ),
            (
                &western,
                "my file",
                "`iconv -f windows-1252 -t UTF-8 'my file' > 'my file.utf-8'`",
            ),
            (
                &western,
                "b.csv.zst",
                "`zstd -dc b.csv.zst | iconv -f windows-1252 -t UTF-8 > b.utf-8.csv`",
            ),
            (
                &western,
                "stdin",
                "pass it through `iconv -f windows-1252 -t UTF-8`",
            ),
            (
                &other_unicode("the text", "UTF-16LE"),
                "b.txt",
                "`iconv -f UTF-16LE -t UTF-8 b.txt > b.utf-8.txt`",
            ),
            (
                &other,
                "b.txt",
                "if other records have such bytes, convert the file: `iconv -f ENCODING -t UTF-8 b.txt > b.utf-8.txt`, where",
            ),
        ] {
            let told = of(problem, file).unwrap();
            assert!(told.contains(command), "{told}");
        }
        let of_column = format!("column \"a\": 3{}", column_looks_like(b"J\xF6rg"));
        let told = of(&of_column, "b.parquet").unwrap();
        assert!(
            told.contains("decode the column") && told.ends_with("else skip it"),
            "{told}"
        );
        assert_eq!(of("invalid UTF-8 at byte 3", "b.csv"), None);
        assert_eq!(of("it is TSV, not UTF-8", "b.csv"), None);
    }
}
