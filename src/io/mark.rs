//! Adds a field to records: the places of the passages of each. All else of a record stays byte for byte.

use super::chunk::{BETWEEN_ELEMENTS, Chunk, Contents, Kept};
use super::cuts::{Cuts, Fate};
use super::fields::FieldPath;
use super::jsonl;

impl Chunk {
    /// Copies the records that are not dropped, with one fate per record, and adds the field `name` to each.
    ///
    /// # Errors
    /// The number of a record in the chunk, and why it cannot be marked.
    pub(crate) fn marked(&self, fates: &[Fate<'_>], name: &str) -> Result<Kept, (usize, String)> {
        let mut marked = Vec::new();
        match &self.contents {
            Contents::Lines {
                bytes,
                first_number,
            } => {
                let lines = fates.iter().zip(jsonl::lines(bytes, *first_number));
                for (i, (fate, line)) in lines.enumerate() {
                    if let Fate::Mark(marks) = fate {
                        let added = mark_json(line.whole, name, marks, &mut marked);
                        added.map_err(|problem| (i, problem))?;
                        if !matches!(marked.last(), Some(b'\n' | b'\r')) {
                            marked.push(b'\n');
                        }
                    }
                }
                Ok(Kept::Lines(marked))
            }
            Contents::Records(records) if records.header.is_none() => {
                for (i, (fate, span)) in fates.iter().zip(&records.spans).enumerate() {
                    if let Fate::Mark(marks) = fate {
                        if !marked.is_empty() {
                            marked.extend_from_slice(BETWEEN_ELEMENTS);
                        }
                        let added =
                            mark_json(&records.bytes[span.clone()], name, marks, &mut marked);
                        added.map_err(|problem| (i, problem))?;
                    }
                }
                Ok(Kept::Elements(marked))
            }
            Contents::Records(_) | Contents::Rows { .. } | Contents::Text(_) => {
                Err((0, "records of this format get no field".to_owned()))
            }
        }
    }
}

/// Appends a record of JSON with one more field, behind all others.
fn mark_json(record: &[u8], name: &str, marks: &Cuts, out: &mut Vec<u8>) -> Result<(), String> {
    let text = std::str::from_utf8(record).map_err(|error| error.to_string())?;
    if jsonl::field(text.trim_ascii(), &FieldPath::of_name(name))?.is_some() {
        return Err(format!("there is a field \"{name}\" already"));
    }
    let inner = text.trim_ascii_end().strip_suffix('}');
    let fields = inner.ok_or("the record is no object")?.trim_ascii_end();
    let json = |error: serde_json::Error| error.to_string();
    out.extend_from_slice(fields.as_bytes());
    // The record has a field at least, that of its text.
    out.push(b',');
    serde_json::to_writer(&mut *out, name).map_err(json)?;
    out.push(b':');
    serde_json::to_writer(&mut *out, marks).map_err(json)?;
    out.extend_from_slice(&record[fields.len()..]);
    Ok(())
}
