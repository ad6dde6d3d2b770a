//! Texts in other encodings than UTF-8: how to convert them, and whether bytes look like windows-1252.
//!
//! The problem of a record is stored as text, which a resumed run reads again. The encoding is therefore recognised from the
//! words of that text.

use std::path::Path;

/// The end of a problem with bytes that look like text in [`WINDOWS_1252`].
pub const AS_WINDOWS_1252: &str = ", as of text in windows-1252 (Western European, like Latin-1)";

/// The encoding of most files with Western European letters that are not UTF-8. ISO 8859-1 is the same except for 27 signs.
const WINDOWS_1252: &str = "windows-1252";

/// The end of a problem with a text in a Unicode encoding.
const NOT_UTF_8: &str = ", not UTF-8";

/// The encodings of Unicode that are known by the first bytes of a text, as `iconv` spells them.
const UNICODE: [&str; 4] = ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32"];

/// What is wrong with a text, or with `what` else, in a Unicode encoding.
pub fn other_unicode(what: &str, encoding: &str) -> String {
    format!("{what} is {encoding}{NOT_UTF_8}")
}

/// The encoding that a problem names.
fn named_in(problem: &str) -> Option<&'static str> {
    if problem.ends_with(AS_WINDOWS_1252) {
        return Some(WINDOWS_1252);
    }
    let named = problem.strip_suffix(NOT_UTF_8)?;
    let mut known = UNICODE.into_iter();
    known.find(|encoding| named.rsplit(' ').next() == Some(encoding))
}

/// How to convert a file, if a problem with it names its encoding.
pub fn conversion(problem: &str, file: &Path) -> Option<String> {
    /// The endings of compressed files, and the programs that read them.
    const COMPRESSED: [(&str, &str); 6] = [
        (".gz", "gzip"),
        (".gzip", "gzip"),
        (".zst", "zstd"),
        (".zstd", "zstd"),
        (".xz", "xz"),
        (".bz2", "bzip2"),
    ];
    let convert = format!("iconv -f {} -t UTF-8", named_in(problem)?);
    let name = file.to_string_lossy();
    if name == "stdin" {
        return Some(format!("pass it through `{convert}`"));
    }
    let compressed = COMPRESSED.iter().find(|(ending, _)| name.ends_with(ending));
    let plain = compressed.and_then(|(ending, _)| name.strip_suffix(ending));
    let ending = Path::new(plain.unwrap_or(&name)).extension();
    let ending = ending.map_or(String::new(), |ending| {
        format!(".{}", ending.to_string_lossy())
    });
    let (new, name) = (quoted(&format!("new{ending}")), quoted(&name));
    Some(match compressed {
        Some((_, program)) => {
            format!("convert the file: `{program} -dc {name} | {convert} > {new}`")
        }
        None => format!("convert the file: `{convert} {name} > {new}`"),
    })
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
pub fn looks_like(text: &[u8]) -> &'static str {
    if is_windows_1252(text) {
        AS_WINDOWS_1252
    } else {
        ""
    }
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
    fn the_remedy_is_a_command() {
        let of = |problem: &str, file: &str| conversion(problem, Path::new(file));
        let western = format!("invalid UTF-8 at byte 3{AS_WINDOWS_1252}");
        for (problem, file, command) in [
            (
                &*western,
                "a/b.csv",
                "`iconv -f windows-1252 -t UTF-8 a/b.csv > new.csv`",
            ),
            (
                &western,
                "my file",
                "`iconv -f windows-1252 -t UTF-8 'my file' > new`",
            ),
            (
                &western,
                "b.csv.zst",
                "`zstd -dc b.csv.zst | iconv -f windows-1252 -t UTF-8 > new.csv`",
            ),
            (
                &western,
                "stdin",
                "pass it through `iconv -f windows-1252 -t UTF-8`",
            ),
            (
                &other_unicode("the text", "UTF-16LE"),
                "b.txt",
                "`iconv -f UTF-16LE -t UTF-8 b.txt > new.txt`",
            ),
        ] {
            let told = of(problem, file).unwrap();
            assert!(told.contains(command), "{told}");
        }
        assert_eq!(of("invalid UTF-8 at byte 3", "b.csv"), None);
        assert_eq!(of("it is TSV, not UTF-8", "b.csv"), None);
    }
}
