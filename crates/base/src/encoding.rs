//! Files that must be converted before they are read, such as texts in other encodings than UTF-8, and how.
//!
//! The problem of a record is stored as text, which a resumed run reads again. The encoding is therefore recognised from the
//! words of that text.

use std::path::Path;

/// What follows bytes that are not UTF-8, before the encoding that they seem to be in.
const AS_OF_TEXT: &str = ", as of text in ";

/// The same of a column of a table, which is no text file.
const AS_OF_COLUMN: &str = ", as of a column in ";

/// What stands between an encoding and a word of the text in quotes.
const READS: &str = ", where it reads ";

/// In place of an encoding, if the bytes look like text but not in which encoding.
const ANOTHER: &str = "another encoding";

/// The encodings of Western Europe and its neighbours, as both `iconv` and Python spell them.
const WESTERN: [&str; 4] = ["windows-1252", "windows-1250", "CP850", "MACINTOSH"];

/// The encodings to try for other letters.
const OTHERS: [&str; 8] = [
    "windows-1251 (Cyrillic)",
    "windows-1250 (Central European)",
    "CP850",
    "MACINTOSH",
    "SHIFT_JIS (Japanese)",
    "GB18030 (Chinese, includes GBK)",
    "BIG5",
    "EUC-KR",
];

/// The encodings to try in place of one; in place of none if it is empty.
fn others_than(name: &str) -> String {
    let encodings = if WESTERN.contains(&name) {
        &WESTERN[..]
    } else {
        &OTHERS
    };
    let others = encodings
        .iter()
        .filter(|other| !other.starts_with(name) || name.is_empty());
    let others: Vec<&str> = others.copied().collect();
    let (last, others) = others.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", others.join(", "))
}

/// An encoding that bytes seem to be in.
#[derive(Debug)]
pub struct SeenEncoding {
    /// As both `iconv` and Python spell it.
    pub name: &'static str,
    /// What is written in it.
    pub letters: &'static str,
    /// A word of the text, as the encoding reads it.
    pub word: String,
}

/// The end of a problem with bytes that look like text in one of these encodings, the likeliest first; in an unknown one if there
/// are none. `is_column` says that they are a value in a table.
#[must_use]
pub fn as_text_in(seen: &[SeenEncoding], is_column: bool) -> String {
    let as_of = if is_column { AS_OF_COLUMN } else { AS_OF_TEXT };
    if seen.is_empty() {
        return format!("{as_of}{ANOTHER}");
    }
    let readings = seen.iter().map(|seen| {
        let SeenEncoding {
            name,
            letters,
            word,
        } = seen;
        format!("{name} ({letters}){READS}{word:?}")
    });
    format!("{as_of}{}", readings.collect::<Vec<_>>().join(", or in "))
}

/// The end of a problem with NUL bytes in a text, as a crash leaves them.
pub const NUL_BYTES: &str = " NUL bytes";

/// The problem of a record of JSON that does not end in its line.
pub const OPEN_LINE: &str =
    "the record is cut off or continues in the next line, and a record is one line";

/// The end of a problem with a text in a Unicode encoding.
const NOT_UTF_8: &str = ", not UTF-8";

/// The encodings of Unicode that are known by the first bytes of a text, as `iconv` spells them.
const UNICODE: [&str; 4] = ["UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32"];

/// What is wrong with a text, or with `what` else, in a Unicode encoding.
pub fn other_unicode(what: &str, encoding: &str) -> String {
    format!("{what} is {encoding}{NOT_UTF_8}")
}

/// How to convert a file, if a problem with it says that its encoding is or may be another, that it has NUL bytes, or that its
/// records are written over several lines; `usual` is what else helps.
pub fn conversion(problem: &str, file: &Path, usual: &str) -> Option<String> {
    let conversion = if problem.ends_with(NUL_BYTES) {
        let removed = passed_through(r"tr -d '\000'", "clean", file);
        format!("remove them: {removed}")
    } else if problem == OPEN_LINE {
        let lines = passed_through("jq -c .", "lines", file);
        format!("if it continues, write each record in one line: {lines}")
    } else {
        return conversion_of_encoding(problem, file, usual);
    };
    Some(match usual {
        "" => conversion,
        usual => format!("{conversion}; or {usual}"),
    })
}

/// How to convert a file, if a problem with it says that its encoding is or may be another; `usual` is what else helps.
pub fn conversion_of_encoding(problem: &str, file: &Path, usual: &str) -> Option<String> {
    let named = problem.strip_suffix(NOT_UTF_8);
    let named = named.and_then(|named| named.rsplit(' ').next());
    if let Some(encoding) = UNICODE.into_iter().find(|known| Some(*known) == named) {
        return Some(converted(encoding, file));
    }
    if problem.ends_with(ANOTHER) {
        let such_as = format!(
            "where ENCODING is that of the program that wrote it, such as {}",
            others_than("")
        );
        return if problem.contains(AS_OF_COLUMN) {
            Some(format!(
                "if other rows have such bytes, decode the column, {}, {such_as}, and write the file again; else {usual}",
                decoding(problem, "ENCODING")
            ))
        } else {
            problem.contains(AS_OF_TEXT).then(|| {
                format!(
                    "if other records have such bytes, {}, {such_as}; else {usual}",
                    converted("ENCODING", file)
                )
            })
        };
    }
    // A text may hold the same words, but not after the problem.
    let (before, _) = problem.rsplit_once(READS)?;
    let first = before.split_once(READS).map_or(before, |(first, _)| first);
    let named_after = |as_of| first.rsplit_once(as_of)?.1.split_once(" (");
    let second = before[first.len()..].rsplit_once(", or in ");
    let second = second.and_then(|(_, second)| Some(second.split_once(" (")?.0));
    let right = if second.is_none() {
        "that is right"
    } else {
        "the first is right"
    };
    let or_second = |convert: &dyn Fn(&str) -> String| {
        second.map_or(String::new(), |name| {
            format!("; if the second, {}", convert(name))
        })
    };
    if let Some((name, _)) = named_after(AS_OF_COLUMN) {
        return Some(format!(
            "if {right}, decode the column, {}, and write the file again{}; else name in its place the encoding of the program that \
             wrote it, such as {}; or {usual}",
            decoding(problem, &format!("{name:?}")),
            or_second(&|name| format!("decode it by {name:?}")),
            others_than(name)
        ));
    }
    named_after(AS_OF_TEXT).map(|(name, _)| {
        format!(
            "if {right}, {}{}; else name in its place the encoding of the program that wrote the file, such as {}; or if the rest of \
             the file is UTF-8, {usual}",
            converted(name, file),
            or_second(&|name| converted(name, file)),
            others_than(name)
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

/// A problem that names a command of jq, with the file that the command reads.
pub(crate) fn with_file(problem: &str, file: &Path) -> String {
    const START: &str = "`jq -c '";
    const END: &str = "'`";
    let mut told = String::new();
    let mut rest = problem;
    while let Some(start) = rest.find(START)
        && let Some(length) = rest[start + START.len()..].find(END)
    {
        let end = start + START.len() + length + END.len();
        told.push_str(&rest[..start]);
        told.push_str(&passed_through(&rest[start + 1..end - 1], "new", file));
        rest = &rest[end..];
    }
    told + rest
}

/// A value as it is passed to a shell.
pub fn quoted(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,:/".contains(letter);
    match value {
        plain if !plain.is_empty() && plain.chars().all(is_plain) => plain.to_owned(),
        other => format!("'{}'", other.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &'static str, word: &str) -> SeenEncoding {
        SeenEncoding {
            name,
            letters: "letters",
            word: word.to_owned(),
        }
    }

    #[test]
    fn the_remedy_is_a_command() {
        let of = |problem: &str, file: &str| conversion(problem, Path::new(file), "skip it");
        let told =
            |seen: &[SeenEncoding]| format!("invalid UTF-8 at byte 3{}", as_text_in(seen, false));
        let western = told(&[seen("windows-1252", "Jörg")]);
        let either = told(&[seen("windows-1252", "Jšrg"), seen("MACINTOSH", "Jörg")]);
        let cyrillic = told(&[seen("windows-1251", "Сегодня")]);
        let other = told(&[]);
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
                &either,
                "b.txt",
                "if the first is right, convert the file: `iconv -f windows-1252 -t UTF-8 b.txt > b.utf-8.txt`; if the second, \
                 convert the file: `iconv -f MACINTOSH -t UTF-8 b.txt > b.utf-8.txt`; else name in its place",
            ),
            (
                &cyrillic,
                "b.txt",
                "if that is right, convert the file: `iconv -f windows-1251 -t UTF-8 b.txt > b.utf-8.txt`; else name",
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
            for seen in [vec![seen("windows-1252", "Jörg")], Vec::new()] {
                let column_name = format!("column \"{column}{}", as_text_in(&seen, true));
                let told = of(&column_name, "b.parquet").unwrap();
                assert!(
                    told.contains(decode) && told.ends_with(" skip it"),
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
