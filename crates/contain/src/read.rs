//! Reads the items of benchmarks from files of any format.

use std::borrow::Cow;
use std::path::Path;

use crate::items::ItemRecord;
use simgpu::error::{BadRecord, Error, Result};
use simgpu::progress::{Progress, advance};
use simgpu_io::{
    Chunk, Event, FieldPath, FilesReading, InputFile, Inputs, LongestRecord, OnBadRecord, Reading,
    Value, ValueField, Wanted, for_each_record, listed_fields,
};

/// The fields of records of a benchmark. Records in the form of evaluation harnesses are known by their fields: those with
/// equal `eval_key` and `eval_instance_index` are one item, `eval_key` is its benchmark, and `is_correct` tells right answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemFields {
    /// The question, which each record has; default `question`.
    pub question: FieldPath,
    /// The text that it is about; default `passage`.
    pub passage: Option<FieldPath>,
    /// The options, a list of texts; default `options`.
    pub options: Option<FieldPath>,
    /// The answer: a text, or the number (from 0) or capital letter of an option; default `answer`.
    pub answer: Option<FieldPath>,
    /// The id; by default `eval_key` and `eval_instance_index`, or else `id`.
    pub id: Option<FieldPath>,
    /// The benchmark; by default `eval_key`, or else the name of the file.
    pub benchmark: Option<FieldPath>,
}

impl Default for ItemFields {
    fn default() -> Self {
        ItemFields {
            question: FieldPath::new("question"),
            passage: Some(FieldPath::new("passage")),
            options: Some(FieldPath::new("options")),
            answer: Some(FieldPath::new("answer")),
            id: None,
            benchmark: None,
        }
    }
}

/// The places of the fields in a record.
#[derive(Clone, Copy)]
enum At {
    Question,
    Passage,
    Options,
    Answer,
    Id,
    Benchmark,
    EvalKey,
    EvalIndex,
    IsCorrect,
}

impl ItemsReading<'_> {
    /// Warns of a field in which no item has a value.
    fn warn_of_missing(&self, files: &[InputFile], field: &ValueField) {
        let ValueField {
            path, parameter, ..
        } = field;
        let names = listed_fields(files, path, self.temporary);
        let names = names.map_or(String::new(), |names| format!("; {names}"));
        self.progress.warn(&format!(
            "no item has a value in field \"{path}\"{names}; check `{parameter}`"
        ));
    }
}

impl ItemFields {
    /// The fields to read, in the order of [`At`]. A part without a field is read from one that no record has.
    fn values(&self) -> Vec<ValueField> {
        let field = |path: Option<&FieldPath>, parameter| ValueField {
            path: path.cloned().unwrap_or_else(|| FieldPath::new("")),
            parameter,
            hint: "",
            is_required: false,
        };
        let part = |path| field(path, ValueField::ITEMS);
        let known = |name| field(Some(&FieldPath::new(name)), "item_id_field");
        let id = self.id.clone().unwrap_or_else(|| FieldPath::new("id"));
        vec![
            ValueField {
                is_required: true,
                ..part(Some(&self.question))
            },
            part(self.passage.as_ref()),
            part(self.options.as_ref()),
            part(self.answer.as_ref()),
            field(Some(&id), "item_id_field"),
            field(self.benchmark.as_ref(), "benchmark_field"),
            known("eval_key"),
            known("eval_instance_index"),
            known("is_correct"),
        ]
    }

    /// The item of a record of a file, or what is wrong with it. Without an id, it has none.
    fn record(
        &self,
        values: &[Option<Value<'_>>],
        file: &str,
    ) -> std::result::Result<ItemRecord, String> {
        let value = |at: At| values.get(at as usize).and_then(Option::as_ref);
        let text = |at: At| value(at).map(Value::to_text).unwrap_or_default();
        let question = text(At::Question);
        if question.trim().is_empty() {
            let field = &self.question;
            return Err(format!(
                "field \"{field}\" of the question is missing, null or empty"
            ));
        }
        let options = value(At::Options).map(Value::texts).unwrap_or_default();
        let options: Vec<String> = options.into_iter().map(Cow::into_owned).collect();
        let key = text(At::EvalKey);
        let benchmark = match text(At::Benchmark) {
            named if !named.is_empty() => named,
            _ if !key.is_empty() => Cow::Borrowed(&*key),
            _ => stem(file).into(),
        };
        let index = text(At::EvalIndex);
        let id = match &self.id {
            None if !index.is_empty() => format!("{key}-{index}").into(),
            _ => text(At::Id),
        };
        Ok(ItemRecord {
            benchmark: benchmark.into_owned(),
            id: id.into_owned(),
            answer: chosen(text(At::Answer).into_owned(), &options),
            question: question.into_owned(),
            passage: text(At::Passage).into_owned(),
            options,
            is_correct: match &*text(At::IsCorrect).to_ascii_lowercase() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
        })
    }

    /// The records of items in files, for [`Contain::new`](super::Contain::new): as
    /// [`ContainRun`](super::ContainRun) reads them.
    ///
    /// # Errors
    /// [`Error::BadRecord`] for a record without a question, and any error of reading.
    pub fn records(&self, items: &Inputs, progress: &dyn Progress) -> Result<Vec<ItemRecord>> {
        let temporary = std::env::temp_dir();
        items.not_read().warn(progress);
        let reading = ItemsReading {
            temporary: &temporary,
            on_bad_record: OnBadRecord::Fail,
            longest: LongestRecord::within(None),
            progress,
        };
        Ok(self.read(&items.files, &reading)?.0)
    }

    /// Reads the records of all files, and what is wrong with the bad ones, which are skipped if `on_bad_record` says so.
    pub(super) fn read(&self, files: &[InputFile], how: &ItemsReading<'_>) -> Result<ReadItems> {
        let progress = how.progress;
        progress.begin("items", files.iter().map(InputFile::stored_bytes).sum());
        let fields = self.values();
        let reading = Reading {
            temporary: Some(how.temporary),
            longest: how.longest,
            ..Reading::new(Wanted::Values(&fields))
        };
        let reading = FilesReading::new(files, reading)?;
        let (mut items, mut skipped) = (Vec::new(), Vec::new());
        let (mut rows, mut bytes) = (vec![0u64; files.len()], 0);
        let mut has_values = vec![false; fields.len()];
        let map = |chunk: Chunk| {
            let parsed = self.parse(&chunk, &fields, &files[chunk.file].relative);
            Ok((chunk.file, chunk.bytes(), parsed))
        };
        reading.map(map, |event| {
            if let Some(Event::Chunk((number, size, (parsed, chunk_has)))) = event {
                bytes += size as u64;
                for (has_value, in_chunk) in has_values.iter_mut().zip(chunk_has) {
                    *has_value |= in_chunk;
                }
                let file = &files[number];
                for (line, record) in parsed {
                    let row = rows[number];
                    rows[number] += 1;
                    match record {
                        Ok(mut record) => {
                            if record.id.is_empty() {
                                record.id = format!("{}:{row}", file.relative);
                            }
                            items.push(record);
                        }
                        Err(problem) => {
                            let bad = BadRecord {
                                file: file.named.clone(),
                                row,
                                line,
                                problem,
                            };
                            if how.on_bad_record == OnBadRecord::Fail {
                                return Err(Error::BadRecord(bad));
                            }
                            skipped.push((number, bad));
                        }
                    }
                }
            }
            advance(progress, reading.consumed(), items.len() as u64, bytes)
        })?;
        if !items.is_empty() {
            let lacking = self.chosen().filter(|at| !has_values[*at as usize]);
            lacking.for_each(|at| how.warn_of_missing(files, &fields[at as usize]));
        }
        Ok((items, skipped))
    }

    /// The fields other than the default ones. The question is not among them: each record has it.
    fn chosen(&self) -> impl Iterator<Item = At> {
        let default = ItemFields::default();
        let all = [
            (At::Passage, &self.passage, default.passage),
            (At::Options, &self.options, default.options),
            (At::Answer, &self.answer, default.answer),
            (At::Id, &self.id, default.id),
            (At::Benchmark, &self.benchmark, default.benchmark),
        ];
        let chosen = all
            .into_iter()
            .filter(|(_, path, default)| path.is_some() && *path != default);
        chosen.map(|(at, ..)| at)
    }

    /// The records of a chunk, and which fields have a value in one of them.
    fn parse(&self, chunk: &Chunk, fields: &[ValueField], file: &str) -> (Vec<Parsed>, Vec<bool>) {
        let (mut parsed, mut has_values) = (Vec::new(), vec![false; fields.len()]);
        for_each_record(chunk, fields, &mut |line, values| {
            for (has_value, value) in has_values.iter_mut().zip(values.iter().copied().flatten()) {
                *has_value |= value.is_some();
            }
            parsed.push((line, values.and_then(|values| self.record(values, file))));
        });
        (parsed, has_values)
    }
}

/// How items are read.
pub(super) struct ItemsReading<'a> {
    /// The folder for decompressed copies of tables.
    pub(super) temporary: &'a Path,
    pub(super) on_bad_record: OnBadRecord,
    pub(super) longest: LongestRecord,
    pub(super) progress: &'a dyn Progress,
}

/// The records of items, and the bad ones with the numbers of their files.
pub(super) type ReadItems = (Vec<ItemRecord>, Vec<(usize, BadRecord)>);

/// The line of a record and its item, or what is wrong with it.
type Parsed = (Option<u64>, std::result::Result<ItemRecord, String>);

/// The name of a file without folders and endings.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.split('.')
        .find(|part| !part.is_empty())
        .unwrap_or(name)
}

/// The option that an answer chooses by its number or letter; else the answer.
fn chosen(answer: String, options: &[String]) -> String {
    if options.contains(&answer) {
        return answer;
    }
    let letter = match answer.as_bytes() {
        [letter @ b'A'..=b'Z'] => Some(usize::from(letter - b'A')),
        _ => None,
    };
    let number = letter.or_else(|| answer.parse().ok());
    number
        .and_then(|number| options.get(number).cloned())
        .unwrap_or(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::progress::Silent;

    fn read(name: &str, lines: &str, fields: &ItemFields) -> Result<Vec<ItemRecord>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, lines).unwrap();
        let inputs = Inputs::find(&[path], None)?;
        fields.records(&inputs, &Silent)
    }

    #[test]
    fn records_have_their_parts() {
        let lines = r#"{"q": "Which?", "c": ["red", "blue", 3], "a": 1}
{"q": "Why?", "a": "so", "key": "k"}
{"q": "How?", "c": ["x", "y"], "a": "B", "key": 7}
"#;
        let fields = ItemFields {
            question: FieldPath::new("q"),
            options: Some(FieldPath::new("c")),
            answer: Some(FieldPath::new("a")),
            id: Some(FieldPath::new("key")),
            ..ItemFields::default()
        };
        let items = read("set.test.jsonl", lines, &fields).unwrap();
        let instructed: Vec<_> = items
            .iter()
            .map(|it| (&*it.benchmark, &*it.id, it.options.join("|"), &*it.answer))
            .collect();
        assert_eq!(
            instructed,
            [
                ("set", "set.test.jsonl:0", "red|blue|3".to_owned(), "blue"),
                ("set", "k", String::new(), "so"),
                ("set", "7", "x|y".to_owned(), "y"),
            ]
        );
    }

    #[test]
    fn records_of_harnesses_are_known_by_their_fields() {
        let lines = "eval_key,eval_instance_index,question,answer,is_correct\nmmlu,4,Which?,red,True\nmmlu,4,Which?,blue,False\n";
        let items = read("x.csv", lines, &ItemFields::default()).unwrap();
        let instructed: Vec<_> = items
            .iter()
            .map(|it| (&*it.benchmark, &*it.id, &*it.answer, it.is_correct))
            .collect();
        assert_eq!(
            instructed,
            [
                ("mmlu", "mmlu-4", "red", Some(true)),
                ("mmlu", "mmlu-4", "blue", Some(false))
            ]
        );
    }

    #[test]
    fn a_record_without_question_is_bad() {
        let failed = read("x.jsonl", "{\"question\": \"\"}\n", &ItemFields::default());
        let message = failed.unwrap_err().to_string();
        assert!(
            message.contains("line 1") && message.contains("\"question\""),
            "{message}"
        );
    }
}
