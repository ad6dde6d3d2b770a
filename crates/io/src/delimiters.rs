//! Finds the delimiter of CSV whose header lacks wanted columns if it is read with the stated one.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Serialize;

use super::cut::{CsvCutter, delimiter_name, fitting, quoted_delimiter};
use super::fields::Wanted;
use super::format::Separators;
use super::input::InputFile;
use simgpu::error::{Error, Result};
use simgpu::progress::{Progress, counted};

/// Bytes at the start of a file in which its header must end.
const START: u64 = 1 << 16;

/// A file that is read with another delimiter than the stated one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OtherDelimiter {
    /// The name of the file.
    pub file: String,
    /// The delimiter it is read with: one character, or `tab`.
    pub delimiter: String,
}

/// Sets the delimiters of CSV and TSV files whose header has all wanted columns only if it is read with another usual
/// delimiter than the stated one. All other files keep theirs. Warns of each delimiter that was set.
///
/// # Errors
/// [`Error::Io`] if a file cannot be read.
#[doc(hidden)]
pub fn fit_delimiters(
    files: &mut [InputFile],
    wanted: Wanted<'_>,
    progress: &dyn Progress,
) -> Result<Vec<OtherDelimiter>> {
    let mut others = Vec::new();
    // The first file of each delimiter, and the number of files.
    let mut told: BTreeMap<[u8; 2], (String, u64)> = BTreeMap::new();
    for file in files {
        let Some((stated, fitting)) = fitting_of(file, wanted)? else {
            continue;
        };
        file.separators = Some(fitting);
        let delimiters = [stated.delimiter, fitting.delimiter];
        let first = || (file.named.display().to_string(), 0);
        told.entry(delimiters).or_insert_with(first).1 += 1;
        others.push(OtherDelimiter {
            file: file.relative.clone(),
            delimiter: delimiter_name(fitting.delimiter),
        });
    }
    for ([stated, fitting], (first, files)) in told {
        let [stated, fitting] = [stated, fitting].map(quoted_delimiter);
        progress.warn(&match files {
            1 => format!(
                "{first} is read with the delimiter {fitting}: with {stated}, its header lacks columns that are named"
            ),
            files => format!(
                "{first} and {} are read with the delimiter {fitting}: with {stated}, their headers lack columns that are named",
                counted(files - 1, "other file")
            ),
        });
    }
    Ok(others)
}

/// The separators of a file as stated, and those that fit in their place. A damaged file keeps its own: the run then says
/// what is wrong with it.
fn fitting_of(file: &InputFile, wanted: Wanted<'_>) -> Result<Option<(Separators, Separators)>> {
    let Some(stated) = file.separators else {
        return Ok(None);
    };
    let mut start = Vec::new();
    let opened = file.open().map_err(Error::io("open", &file.named))?;
    let stream = file.compression.reader(opened);
    let read = match stream.and_then(|stream| stream.take(START).read_to_end(&mut start)) {
        // An error of the system is no damage of the file.
        Err(error) if error.raw_os_error().is_some() => {
            return Err(Error::io("read", &file.named)(error));
        }
        Err(_) => return Ok(None),
        Ok(read) => read,
    };
    let is_whole = (read as u64) < START;
    let other = match CsvCutter::new(stated, wanted).header(&start, is_whole) {
        Some(Err(_)) => fitting(&start, is_whole, stated, wanted),
        Some(Ok(_)) | None => None,
    };
    Ok(other.map(|other| (stated, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::{FieldPath, ValueField};

    fn delimiter_of(header: &str, names: &[&str], delimiter: u8) -> Option<char> {
        let field = |name: &&str| ValueField {
            path: FieldPath::new(name),
            parameter: "fields",
            hint: "",
            is_required: true,
        };
        let fields: Vec<ValueField> = names.iter().map(field).collect();
        let stated = Separators {
            delimiter,
            quote: Some(b'"'),
        };
        let fitting = fitting(header.as_bytes(), true, stated, Wanted::Values(&fields))?;
        Some(char::from(fitting.delimiter))
    }

    #[test]
    fn one_usual_delimiter_must_fit() {
        let names = ["id", "name"];
        for (header, found) in [
            ("id;name;x\n1;2;3\n", Some(';')),
            ("\u{FEFF}id;name", Some(';')),
            ("\"id\";\"na;me\";\"name\"\r\n", Some(';')),
            ("\n\nid\tname\n", Some('\t')),
            ("x|id|name\n", Some('|')),
            ("id; name ;x\n", Some(';')),
            // The names are there, but not all by one delimiter, or by an unusual one.
            ("id;name,x\n", None),
            ("id|x;name\n", None),
            ("id:name\n", None),
            ("id;name;name\n", None),
            ("ID;Name\n", None),
            ("sep=;\nid;name\n", None),
            ("", None),
        ] {
            assert_eq!(delimiter_of(header, &names, b','), found, "{header:?}");
        }
        assert_eq!(delimiter_of("id,name\n", &names, b';'), Some(','));
        // By both others, so by neither.
        assert_eq!(delimiter_of("b|x;b\n", &["b"], b','), None);
    }
}
