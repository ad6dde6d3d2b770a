//! What options say of the inputs: their format, separators and names.

use crate::format::{Format, Quote, Separators};
use crate::globs::FileFilter;

/// How [`Inputs::find_with`](crate::Inputs::find_with) reads names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Naming {
    /// The format of all files; `None` lets the ending of each name decide.
    pub format: Option<Format>,
    /// The character between two fields in CSV and TSV files, of ASCII; `None` is a comma for CSV and a tab for
    /// TSV.
    pub delimiter: Option<u8>,
    /// The character around fields of CSV and TSV files that hold a delimiter or a line break; `None` is `"` for CSV, and no
    /// character for TSV.
    pub quote: Option<Quote>,
    /// Whether folders and globs include files and folders whose names start with a dot; default false.
    pub hidden: bool,
    /// Which of the files in folders and globs to read; default all.
    pub filter: FileFilter,
    /// Whether program text, such as `.py` and `.rs`, is read as text in folders and globs, too; default false. Files that
    /// are named themselves always are.
    pub takes_code: bool,
}

pub(super) fn separators_of(format: Format, naming: &Naming) -> Option<Separators> {
    let usual = format.separators()?;
    Some(Separators {
        delimiter: naming.delimiter.unwrap_or(usual.delimiter),
        quote: match naming.quote {
            None => usual.quote,
            Some(Quote::None) => None,
            Some(Quote::Character(quote)) => Some(quote),
        },
    })
}
