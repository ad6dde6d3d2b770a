//! Texts in other encodings than UTF-8: how to convert them, and whether bytes look like windows-1252.
//!
//! The problem of a record is stored as text, which a resumed run reads again. The encoding is therefore recognised from the
//! words of that text.
//!
//! Bytes never prove an encoding of one byte per letter: those of windows-1250 or Mac Roman may be letters in windows-1252, too.
//! A message therefore shows a word as windows-1252 reads it, by which the user sees whether it is right. Neither do they prove
//! an encoding of several bytes per letter, such as Shift-JIS, whose bytes another reads as other letters.

use std::path::Path;

/// What follows bytes that look like text in windows-1252, before a word of it in quotes.
const AS_WINDOWS_1252: &str =
    ", as of text in windows-1252 (Western European, like Latin-1), where it reads ";

/// The same of a column of a table, which is no text file.
const COLUMN_AS_WINDOWS_1252: &str =
    ", as of a column in windows-1252 (Western European, like Latin-1), where it reads ";

/// The end of a problem with bytes that look like text in another encoding than UTF-8, but not windows-1252.
const AS_ANOTHER: &str = ", as of text in another encoding";

/// The same of a column of a table.
const COLUMN_AS_ANOTHER: &str = ", as of a column in another encoding";

/// The encodings to try in place of windows-1252, as `iconv` spells them.
const LIKE_WINDOWS_1252: &str = "windows-1250, CP850 or MACINTOSH";

/// The encodings to try for other letters, as both `iconv` and Python spell them.
const OTHERS: &str = "windows-1251 (Cyrillic), windows-1250 (Central European), CP850, MACINTOSH, SHIFT_JIS (Japanese), GB18030 \
                      (Chinese, includes GBK), BIG5 or EUC-KR";

/// The end of a problem with NUL bytes in a text, as a crash leaves them.
pub const NUL_BYTES: &str = " NUL bytes";

/// The end of a problem with a text in a Unicode encoding.
const NOT_UTF_8: &str = ", not UTF-8";

/// The encodings of Unicode that are known by the first bytes of a text, as `iconv` spells them.
const UNICODE: [&str; 4] = ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32"];

/// What is wrong with a text, or with `what` else, in a Unicode encoding.
pub fn other_unicode(what: &str, encoding: &str) -> String {
    format!("{what} is {encoding}{NOT_UTF_8}")
}

/// How to convert a file, if a problem with it says that its encoding is or may be another, or that it has NUL bytes; `usual` is
/// what else helps.
pub fn conversion(problem: &str, file: &Path, usual: &str) -> Option<String> {
    let of_encoding = conversion_of_encoding(problem, file, usual);
    of_encoding.or_else(|| {
        let removed = passed_through(r"tr -d '\000'", "clean", file);
        let remedy = format!("remove them: {removed}");
        problem.ends_with(NUL_BYTES).then(|| match usual {
            "" => remedy,
            usual => format!("{remedy}; or {usual}"),
        })
    })
}

/// How to convert a file, if a problem with it says that its encoding is or may be another; `usual` is what else helps.
pub fn conversion_of_encoding(problem: &str, file: &Path, usual: &str) -> Option<String> {
    let named = problem.strip_suffix(NOT_UTF_8);
    let named = named.and_then(|named| named.rsplit(' ').next());
    if let Some(encoding) = UNICODE.into_iter().find(|known| Some(*known) == named) {
        return Some(converted(encoding, file));
    }
    if problem.contains(COLUMN_AS_WINDOWS_1252) {
        return Some(format!(
            "if that is right, decode the column, {}, and write the file again; else {usual}",
            decoding(problem, "\"windows-1252\"")
        ));
    }
    if problem.ends_with(COLUMN_AS_ANOTHER) {
        return Some(format!(
            "if other rows have such bytes, decode the column, {}, where ENCODING is that of the program that wrote them, such as \
             {OTHERS}, and write the file again; else {usual}",
            decoding(problem, "ENCODING")
        ));
    }
    if problem.contains(AS_WINDOWS_1252) {
        return Some(format!(
            "if that is right, {}; else name in its place the encoding of the program that wrote the file, such as \
             {LIKE_WINDOWS_1252}; or if the rest of the file is UTF-8, {usual}",
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

/// How Python reads the bytes of a column of strings, or of strings in lists or structs, which a problem names.
fn decoding(problem: &str, encoding: &str) -> String {
    if problem.contains("\" holds a token with ") {
        return format!(
            "in Python by `.cast(pyarrow.list_(pyarrow.binary()))` and then `.decode({encoding})` of each token"
        );
    }
    let path = problem.split_once("column \"");
    let path = path.and_then(|(_, rest)| rest.split_once("\" holds "));
    // A dot after a backslash is part of a name.
    let path = path.map_or(String::new(), |(path, _)| path.replace("\\.", "\0"));
    let mut names = path.split('.').map(|name| name.replace('\0', "."));
    let root = names.next().unwrap_or_default();
    let fields: String = names.map(|field| format!(".field({field:?})")).collect();
    let whole = if fields.is_empty() {
        String::new()
    } else {
        format!("table[{root:?}].combine_chunks()")
    };
    format!(
        "in Python by `{whole}{fields}.cast(\"binary\")` and then `.decode({encoding})` of each value"
    )
}

/// How to convert a file from an encoding.
fn converted(encoding: &str, file: &Path) -> String {
    let convert = format!("iconv -f {encoding} -t UTF-8");
    match passed_through(&convert, "utf-8", file) {
        passed if file.as_os_str() == "stdin" => passed,
        command => format!("convert the file: {command}"),
    }
}

/// How to pass a file through a program. The new name is made of the old one and `mark`, so that two files get two names.
#[must_use]
pub fn passed_through(program: &str, mark: &str, file: &Path) -> String {
    /// The endings of compressed files, and the programs that read them.
    const COMPRESSED: [(&str, &str); 6] = [
        (".gz", "gzip"),
        (".gzip", "gzip"),
        (".zst", "zstd"),
        (".zstd", "zstd"),
        (".xz", "xz"),
        (".bz2", "bzip2"),
    ];
    let name = file.to_string_lossy();
    if name == "stdin" {
        return format!("pass it through `{program}`");
    }
    let compressed = COMPRESSED.iter().find(|(ending, _)| name.ends_with(ending));
    let plain = compressed.and_then(|(ending, _)| name.strip_suffix(ending));
    let mut new = Path::new(plain.unwrap_or(&name)).to_owned();
    let ending = new.extension().map_or(String::new(), |ending| {
        format!(".{}", ending.to_string_lossy())
    });
    new.set_extension(format!("{mark}{ending}"));
    let (new, name) = (quoted(&new.to_string_lossy()), quoted(&name));
    match compressed {
        Some((_, decompress)) => format!("`{decompress} -dc {name} | {program} > {new}`"),
        // It reads only its standard input.
        None if program.starts_with("tr ") => format!("`{program} < {name} > {new}`"),
        None => format!("`{program} {name} > {new}`"),
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
        None if is_of_another(text) => AS_ANOTHER.to_owned(),
        None => String::new(),
    }
}

/// The same of a value in a column of a table.
pub fn column_looks_like(value: &[u8]) -> String {
    match word_of(value) {
        Some(word) => format!("{COLUMN_AS_WINDOWS_1252}{word:?}"),
        None if is_of_another(value) => COLUMN_AS_ANOTHER.to_owned(),
        None => String::new(),
    }
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

/// Whether a text that is not UTF-8 may be in another encoding: more of its bytes beyond ASCII are none of UTF-8 than are, it does
/// not end within a character, and a byte beyond ASCII stands within a word.
///
/// Two bytes of Shift-JIS or GBK are a character of UTF-8 by chance, but most are not. In damaged UTF-8, most are.
fn is_of_another(text: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r');
    let is_of_unicode = || {
        let (mut valid, mut invalid) = (0, 0);
        for chunk in text.utf8_chunks() {
            valid += chunk
                .valid()
                .chars()
                .filter(|letter| !letter.is_ascii())
                .count();
            invalid += usize::from(!chunk.invalid().is_empty());
        }
        valid >= invalid
    };
    let is_cut = || std::str::from_utf8(text).is_err_and(|error| error.error_len().is_none());
    if text.iter().any(is_control) || is_of_unicode() || is_cut() {
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
        // Polish in windows-1250, Russian in windows-1251, Chinese in GBK (with a character of UTF-8 by chance), Japanese in Shift-JIS.
        for text in [
            &b"mi\xB3y"[..],
            b"name: \xC8\xE2\xE0\xED",
            b"\xC4\xE3\xBA\xC3",
            b"\xD5\xC5\xCE\xB0",
            b"\x93\x8C\x8B\x9E\x82\xCC\x93V\x8BC",
        ] {
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
        assert_eq!(column_looks_like(b"mi\xB3y"), COLUMN_AS_ANOTHER);
        assert_eq!(column_looks_like(b"na\xC3\xAFve caf\xE9s"), "");
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
        for (column, decode) in [
            ("a\" holds invalid", "in Python by `.cast(\"binary\")` and"),
            (
                r#"a\.b" holds invalid"#,
                "in Python by `.cast(\"binary\")` and",
            ),
            (
                "a.b.c\" holds invalid",
                "in Python by `table[\"a\"].combine_chunks().field(\"b\").field(\"c\").cast(\"binary\")` and",
            ),
            (
                "a\" holds a token with invalid",
                "in Python by `.cast(pyarrow.list_(pyarrow.binary()))` and then `.decode(",
            ),
        ] {
            for text in [&b"J\xF6rg"[..], b"mi\xB3y"] {
                let of_column = format!("column \"{column}{}", column_looks_like(text));
                let told = of(&of_column, "b.parquet").unwrap();
                assert!(
                    told.contains(decode) && told.ends_with("else skip it"),
                    "{told}"
                );
            }
        }
        for (file, remove) in [
            (
                "b.jsonl",
                r"remove them: `tr -d '\000' < b.jsonl > b.clean.jsonl`; or skip it",
            ),
            (
                "b.jsonl.gz",
                r"remove them: `gzip -dc b.jsonl.gz | tr -d '\000' > b.clean.jsonl`; or skip it",
            ),
            (
                "stdin",
                r"remove them: pass it through `tr -d '\000'`; or skip it",
            ),
        ] {
            assert_eq!(of("the line holds NUL bytes", file).unwrap(), remove);
        }
        assert_eq!(of("the column \"NUL bytes\"", "b.csv"), None);
        assert_eq!(of("invalid UTF-8 at byte 3", "b.csv"), None);
        assert_eq!(of("it is TSV, not UTF-8", "b.csv"), None);
    }
}
