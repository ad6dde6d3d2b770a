//! CSV and TSV: parses the header, and the fields of a record.

mod parser;

mod spans;

use std::ops::Range;

use super::cuts::{Cuts, cuts_of_parts, push_without};
use super::encoding::looks_like;
use super::fields::{FieldPath, Fields, ValueField, Wanted, push_joined};
use super::format::{BYTE_ORDER_MARK, INNER_MARK, Separators};
use super::ids::Id;
use super::jsonl::newlines;
use super::refusal::{Refusal, any_of, listed, several};
use parser::id_json;
use simgpu::documents::DocumentBatch;
use simgpu::progress::counted;
use simgpu_base::encoding::NUL_BYTES;

pub(super) use parser::{Parser, is_integer};

/// The header of a file.
#[derive(Debug)]
#[doc(hidden)]
pub struct Header {
    /// Its bytes, with all that comes before.
    pub(super) bytes: Vec<u8>,
    separators: Separators,
    /// The names of the columns.
    names: Vec<String>,
    /// The columns of the text, `None` for those that the file lacks, and of the id.
    content: Vec<Option<usize>>,
    id: Option<usize>,
    /// The columns of values.
    values: Vec<Option<usize>>,
    /// Whether blanks around the names of columns do not matter: some programs write one after each comma.
    trims_names: bool,
    /// What is wrong with the encoding of the names, for messages; empty if they are UTF-8.
    misencoded: String,
}

/// The character that a line such as `sep=;` names, which Excel writes before the header.
fn excel_separator(line: &[u8]) -> Option<char> {
    let line = std::str::from_utf8(line)
        .ok()?
        .trim_end_matches(['\r', '\n']);
    let (name, separator) = line.trim_matches('"').split_once('=')?;
    let mut characters = separator.chars();
    let first = characters.next()?;
    (name.eq_ignore_ascii_case("sep") && characters.next().is_none() && !first.is_alphanumeric())
        .then_some(first)
}

impl Header {
    /// Reads the header, the record in `span`, or says which column is missing.
    pub(super) fn read(
        bytes: &[u8],
        span: Range<usize>,
        separators: Separators,
        wanted: Wanted<'_>,
    ) -> Result<Self, Refusal> {
        let record = &bytes[span.clone()];
        let record = record.strip_prefix(BYTE_ORDER_MARK).unwrap_or(record);
        if let Some(separator) = excel_separator(record) {
            let shown = separator.escape_default();
            let delimiter = match separator {
                '\t' => "tab".to_owned(),
                other => format!("'{other}'"),
            };
            return Err(Refusal::new(
                format!("its first line, \"sep={shown}\", is for Excel alone"),
                format!("remove that line, and pass `delimiter={delimiter}`"),
            ));
        }
        let mut parser = Parser::new(separators);
        parser
            .read(record)
            .map_err(|problem| Refusal::new(format!("in the header, {problem}"), "correct it"))?;
        let names: Vec<String> = (0..parser.ends.len())
            .map(|column| String::from_utf8_lossy(parser.field(column)).into_owned())
            .collect();
        let mut header = Header {
            bytes: bytes[..span.end].to_vec(),
            separators,
            names,
            content: Vec::new(),
            id: None,
            values: Vec::new(),
            trims_names: matches!(wanted, Wanted::Values(_)),
            misencoded: match std::str::from_utf8(record) {
                Ok(_) => String::new(),
                Err(_) => format!("; the header holds invalid UTF-8{}", looks_like(record)),
            },
        };
        match wanted {
            Wanted::Document(fields) => header.find_document(fields)?,
            Wanted::Values(fields) => {
                for field in fields {
                    let column = header.find(&field.path, field.parameter)?;
                    header.values.push(column);
                }
                let columns = header.values.iter().zip(fields);
                let missing =
                    columns.filter(|(column, field)| column.is_none() && field.is_required);
                let mut missing = missing.map(|(_, field)| field);
                if let Some(field) = missing.next() {
                    let refusal = header.lacks(&[&field.path], field.parameter);
                    return Err(field.refused(refusal, missing));
                }
            }
        }
        Ok(header)
    }

    /// The names of the columns.
    #[doc(hidden)]
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| name.trim())
    }

    /// Finds the columns of a document.
    fn find_document(&mut self, fields: &Fields) -> Result<(), Refusal> {
        for path in &fields.content {
            let column = self.find(path, "text_field")?;
            self.content.push(column);
        }
        if self.has_no_content() && !fields.content.is_empty() {
            let paths: Vec<&FieldPath> = fields.content.iter().collect();
            return Err(self.lacks(&paths, "text_field"));
        }
        self.id = self.find(&fields.id, "id_field")?;
        if self.id.is_none() && fields.id_required {
            let (id, listed) = (&fields.id, listed("column", &self.names));
            let problem = format!(
                "there is no id column \"{id}\"; {listed}{}",
                self.misencoded
            );
            let remedy = format!("choose the column with `id_field`{}", several("id_field"));
            return Err(Refusal::new(problem, remedy));
        }
        Ok(())
    }

    fn has_no_content(&self) -> bool {
        self.content.iter().all(Option::is_none)
    }

    /// The fields of the text that the file lacks, each with the refusal of a file without it.
    pub(super) fn missing<'f>(
        &self,
        fields: &'f Fields,
    ) -> impl Iterator<Item = (&'f FieldPath, Refusal)> {
        let content = self.content.iter().zip(&fields.content);
        let missing = content.filter(|(column, _)| column.is_none());
        missing.filter_map(|(_, path)| Some((path, self.required(path, "text_field").err()?)))
    }

    /// Whether there is a column at a path.
    pub(super) fn has(&self, path: &FieldPath) -> bool {
        self.names.contains(&path.flat())
    }

    /// The column at a path, which must exist.
    fn required(&self, path: &FieldPath, parameter: &str) -> Result<usize, Refusal> {
        self.find(path, parameter)?
            .ok_or_else(|| self.lacks(&[path], parameter))
    }

    /// The refusal of a file that has no column at any of these paths.
    fn lacks(&self, paths: &[&FieldPath], parameter: &str) -> Refusal {
        let problem = format!(
            "there is no {}; {}{}",
            any_of("column", paths),
            listed("column", &self.names),
            self.misencoded
        );
        let choose = format!("choose the column with `{parameter}`{}", several(parameter));
        let is_quoted = |name: &String| name.starts_with('"') && name.ends_with('"');
        let remedy = match self.names.len() {
            _ if self.separators.quote.is_none() && self.names.iter().any(is_quoted) => {
                format!("{choose}, or if fields are quoted, pass the quote character as `quote`")
            }
            // Another delimiter leaves the whole line in one column.
            1 => format!("{choose}, or the character between columns with `delimiter`"),
            _ => choose,
        };
        Refusal::new(problem, remedy)
    }

    fn find(&self, path: &FieldPath, parameter: &str) -> Result<Option<usize>, Refusal> {
        let name = path.flat();
        let find = |is_name: &dyn Fn(&str) -> bool| -> Vec<usize> {
            let columns = self.names.iter().enumerate();
            let found = columns.filter(|(_, known)| is_name(known));
            found.map(|(column, _)| column).take(2).collect()
        };
        let mut found = find(&|known| known == name);
        if found.is_empty() && self.trims_names {
            found = find(&|known| known.trim() == name.trim());
        }
        match (found.first().copied(), found.get(1)) {
            (Some(column), None) => Ok(Some(column)),
            (Some(_), Some(_)) => Err(Refusal::new(
                format!("two columns are called {name:?}"),
                format!("rename one of them, or choose another with `{parameter}`"),
            )),
            (None, _) => Ok(None),
        }
    }

    /// The values of a record, in the order of the fields of the header; `None` if the column is missing or the value is
    /// empty. The fields' names are for messages.
    pub(super) fn values<'p>(
        &self,
        record: &[u8],
        fields: &[ValueField],
        parser: &'p mut Parser,
    ) -> Result<Vec<Option<&'p str>>, String> {
        self.parse_record(record, parser)?;
        let parser = &*parser;
        let columns = self.values.iter().zip(fields);
        let value = |(column, field): (&Option<usize>, &ValueField)| {
            let text = column.map(|column| parser.text(column, &field.path));
            Ok(text.transpose()?.filter(|text| !text.is_empty()))
        };
        columns.map(value).collect()
    }

    /// Splits a record, which must have as many fields as the header.
    fn parse_record(&self, record: &[u8], parser: &mut Parser) -> Result<(), String> {
        if record.starts_with(BYTE_ORDER_MARK) {
            return Err(INNER_MARK.to_owned());
        }
        parser.read(record)?;
        if parser.ends.len() == self.names.len() {
            Ok(())
        } else {
            Err(self.wrong_number(parser.ends.len(), record))
        }
    }

    /// Says that a record has more or fewer fields than the header.
    fn wrong_number(&self, fields: usize, record: &[u8]) -> String {
        let fields = counted(fields as u64, "field");
        let header = self.names.len();
        let has_quote = memchr::memchr(b'"', record).is_some();
        match 1 + newlines(record.trim_ascii_end()) {
            1 if self.separators.quote.is_none() && has_quote => format!(
                "the record has {fields}, and the header has {header}; if fields are quoted, pass the quote character as `quote`"
            ),
            _ if record.contains(&0) => {
                format!("the record has {fields}, and the header {header}, and it holds{NUL_BYTES}")
            }
            1 => format!("the record has {fields}, and the header {header}"),
            lines => format!(
                "the record has {fields} over {lines} lines, and the header {header}: a quote may not be closed"
            ),
        }
    }

    /// A parser of the records of the file.
    pub(super) fn parser(&self) -> Parser {
        Parser::new(self.separators)
    }

    /// The text of a field; `None` if there is no such column, or it is empty. A text that is not UTF-8 is read with
    /// replacement characters.
    pub(super) fn text_of_field(
        &self,
        record: &[u8],
        path: &FieldPath,
        parser: &mut Parser,
    ) -> Result<Option<String>, String> {
        let name = path.flat();
        let Some(column) = self.names.iter().position(|known| *known == name) else {
            return Ok(None);
        };
        parser.read(record)?;
        if column >= parser.ends.len() {
            // A bad record: it has too few fields.
            return Ok(None);
        }
        let text = String::from_utf8_lossy(parser.field(column)).into_owned();
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// Appends a record without the cuts of its text. A field gets quotes if it needs them then.
    pub(super) fn cut(
        &self,
        record: &[u8],
        parser: &mut Parser,
        cuts: &Cuts,
        left: &mut Vec<u8>,
    ) -> Result<(), String> {
        self.parse_record(record, parser)?;
        let spans = self.separators.spans(record);
        let field = |column: usize| parser.field(column);
        let lengths = self.content.iter();
        let lengths = lengths.map(|column| column.map_or(0, |column| field(column).len()));
        let cuts = cuts_of_parts(cuts, lengths);
        let parts = self.content.iter().copied().zip(cuts);
        let mut parts: Vec<_> = parts
            .filter_map(|(column, cuts)| Some((column?, cuts)))
            .collect();
        parts.sort_by_key(|(column, _)| *column);
        let mut from = 0;
        for (column, cuts) in parts.into_iter().filter(|(_, cuts)| !cuts.is_empty()) {
            let span = spans.get(column).cloned();
            let span = span.ok_or("the field of the text is not where it was found")?;
            let mut text = Vec::new();
            push_without(field(column), &cuts, &mut text);
            left.extend_from_slice(&record[from..span.start]);
            let is_alone = self.names.len() == 1;
            self.separators
                .push_field(&text, &record[span.clone()], is_alone, left)?;
            from = span.end;
        }
        left.extend_from_slice(&record[from..]);
        Ok(())
    }

    /// Appends the document of a record to `documents` and returns its id.
    pub(super) fn parse(
        &self,
        record: &[u8],
        fields: &Fields,
        parser: &mut Parser,
        documents: &mut DocumentBatch,
    ) -> Result<Id, String> {
        self.parse_record(record, parser)?;
        let field = |column: usize, path: &FieldPath| parser.text(column, path);
        let id = match self.id {
            Some(column) => Some(field(column, &fields.id)?).filter(|id| !id.is_empty()),
            None => None,
        };
        if id.is_none() && fields.id_required {
            return Err(format!("id column \"{}\" is empty", fields.id));
        }
        let DocumentBatch::Texts(texts) = documents else {
            return Err("a CSV file holds no tokens".to_owned());
        };
        let mut parts = Vec::with_capacity(self.content.len());
        for (column, path) in self.content.iter().zip(&fields.content) {
            if let Some(column) = column {
                parts.push(field(*column, path)?);
            }
        }
        texts.push_with(|text| {
            let start = text.len();
            parts.iter().for_each(|part| push_joined(text, start, part));
            Some(())
        });
        Ok(id.map_or(Id::None, |id| Id::Json(id_json(id))))
    }
}

#[cfg(test)]
mod tests;
