//! What to do where a record has no text at a path: which fields it has, and how jq makes a text of a list.
//!
//! Every printed command is valid jq, and makes one record per line. A list may be the texts of one record, such as the
//! messages of a chat, or the records themselves; where the record does not show which, both commands are printed.

use serde_json::Value;

use super::fields::{FieldPath, ValueField};
use super::json::{field, json_string, keys};
use super::refusal::listed;

/// The fields of texts in chats and the like, in the order in which they are looked for.
const TEXTS: [&str; 3] = ["content", "value", "text"];

/// Fields of which the objects of a chat have both.
const CHATS: [[&str; 2]; 2] = [["role", "content"], ["from", "value"]];

/// Fields that say who speaks, in chats and in other records.
const SPEAKERS: [&str; 6] = ["role", "from", "speaker", "sender", "author", "user"];

/// What else to do where a field of tokens is missing.
const OF_TOKENS: &str = ", or leave out `unit=tokens` if the records have texts in place of tokens";

/// The start of every command that reads records with jq.
const JQ: &str = "`jq -c '.";

/// A command of jq.
fn command(filter: &str) -> String {
    format!("`jq -c '{}'`", filter.replace('\'', r"'\''"))
}

/// Says that a record has no field at a path, and which fields it has. Messages call the field `what`.
pub(super) fn not_found(record: &str, what: &str, path: &FieldPath, parameter: &str) -> String {
    let missing = format!("there is no {what} \"{path}\"");
    let names = || keys(record).unwrap_or_default();
    let Ok(value) = serde_json::from_str::<Value>(record) else {
        return format!("{missing}; {}", listed("field", &names()));
    };
    // The object that lacks the field, as deep as the path leads.
    let (mut object, mut depth) = (&value, 0);
    for segment in path.segments() {
        match object.get(segment) {
            Some(inner) if inner.is_object() => object = inner,
            Some(Value::Array(items)) => {
                let (array, inner) = path.segments().split_at(depth + 1);
                let remedy = within(array, items, inner, path, parameter);
                return format!(
                    "{missing}; {}{:?} is an array, and fields are found in objects alone; {remedy}",
                    if parameter == "tokens_field" {
                        format!("{}; ", listed("field", &names()))
                    } else {
                        String::new()
                    },
                    array.join(".")
                );
            }
            _ => break,
        }
        depth += 1;
    }
    let listed = match path.segments()[..depth].join(".") {
        outer if outer.is_empty() => listed("field", &names()),
        outer => {
            let object = field(record, &FieldPath::new(&outer)).ok().flatten();
            let names = object.and_then(|object| keys(object).ok());
            format!(
                "of {outer:?}, {}",
                listed("field", &names.unwrap_or_default())
            )
        }
    };
    let is_text = is_of_text(parameter);
    let in_array = is_text.then(|| {
        let outer = &path.segments()[..depth];
        let found = array_below(object, outer, &path.segments()[depth..]);
        found.map(|(array, items)| {
            let wanted = &path.segments()[depth..];
            let is_wrapper = has(items, wanted) && !has_texts(&value) && !has_any(items, &SPEAKERS);
            let turns =
                question_and_answer(&array, items, path).filter(|_| parameter == ValueField::ITEMS);
            let remedy = turns.unwrap_or_else(|| {
                remedy_of(&array, items, wanted, &naming(path, parameter), is_wrapper)
            });
            format!("; {:?} is an array: {remedy}", array.join("."))
        })
    });
    let in_array = in_array.flatten().unwrap_or_default();
    let in_values = if depth == 0 && holds_records(&value) {
        let records = command(".[]");
        format!("; if its values are the records, write one per line: {records}")
    } else {
        in_array
    };
    let several = match parameter {
        "tokens_field" => OF_TOKENS,
        "text_field" => {
            "; if files have different fields, pass it once for each, all of which must be in some file"
        }
        "id_field" | "fields" => ", or give the field the same name in all files",
        _ => "",
    };
    let or = if in_values.is_empty() { "" } else { "or " };
    format!("{missing}; {listed}{in_values}; {or}choose one with `{parameter}`{several}")
}

/// How to make a text of an array that is in place of one at a path, to end a problem with; empty if it is none of texts, or
/// `parameter` names no texts.
pub(super) fn joining(raw: &str, path: &FieldPath, parameter: &str) -> String {
    if !is_of_text(parameter) {
        return String::new();
    }
    let Ok(Value::Array(items)) = serde_json::from_str(raw) else {
        return String::new();
    };
    let joined = text_of_items(&items).map(|text| joined(path.segments(), &text));
    joined.map_or(String::new(), |jq| {
        let name = naming(path, parameter);
        format!(": join its texts into one field: {jq}{name}")
    })
}

/// The problem of a record that is an element of a JSON array, of which each command must take the elements.
pub(super) fn element_problem(problem: &str) -> String {
    problem.replace(JQ, "`jq -c '.[] | .")
}

fn is_of_text(parameter: &str) -> bool {
    matches!(parameter, "text_field" | "fields" | "item_fields")
}

/// The first array of texts in an object, or in an object within it, and its path after `outer`.
fn array_below<'v>(
    object: &'v Value,
    outer: &[String],
    wanted: &[String],
) -> Option<(Vec<String>, &'v [Value])> {
    let members = || object.as_object().into_iter().flatten();
    let path = |names: &[&String]| -> Vec<String> {
        let names = names.iter().map(|name| (*name).clone());
        outer.iter().cloned().chain(names).collect()
    };
    let is_of_texts = |items: &[Value]| {
        let has_objects = items.iter().any(Value::is_object);
        has_objects && (text_of_items(items).is_some() || has(items, wanted))
    };
    let texts_in = |value: &'v Value| {
        let items = value.as_array().map(Vec::as_slice);
        items.filter(|items| is_of_texts(items))
    };
    members()
        .find_map(|(name, value)| Some((path(&[name]), texts_in(value)?)))
        .or_else(|| {
            members().find_map(|(name, inner)| {
                let mut members = inner.as_object().into_iter().flatten();
                members.find_map(|(within, value)| Some((path(&[name, within]), texts_in(value)?)))
            })
        })
}

/// What to do with an array that the path of a field leads into.
fn within(
    array: &[String],
    items: &[Value],
    inner: &[String],
    path: &FieldPath,
    parameter: &str,
) -> String {
    // Numbers of elements are no names.
    let is_number = |name: &String| name.bytes().all(|letter| letter.is_ascii_digit());
    let inner: Vec<String> = inner
        .iter()
        .filter(|name| !is_number(name))
        .cloned()
        .collect();
    if !is_of_text(parameter) {
        let tokens_hint = if parameter == "tokens_field" {
            OF_TOKENS
        } else {
            ""
        };
        return format!("choose another with `{parameter}`{tokens_hint}");
    }
    if let (ValueField::ITEMS, Some(turns)) = (parameter, question_and_answer(array, items, path)) {
        return turns;
    }
    remedy_of(array, items, &inner, &naming(path, parameter), false)
}

/// What to do with an array in which texts are, those of the path `inner` in each of its items if they are there. An object
/// that is a wrapper has no texts of its own beside the array.
fn remedy_of(
    array: &[String],
    items: &[Value],
    inner: &[String],
    naming: &str,
    is_wrapper: bool,
) -> String {
    let text = if !inner.is_empty() && has(items, inner) {
        text_at(items, inner)
    } else {
        text_of_items(items)
    };
    let join = text.map(|text| joined(array, &text) + naming);
    let records = command(&format!("{}[]", jq_path(array)));
    let is_chat = CHATS.iter().any(|[speaker, text]| {
        let mut items = items.iter();
        items.any(|item| item.get(speaker).is_some() && item.get(text).is_some())
    });
    let all_objects = items.iter().all(Value::is_object) && !items.is_empty();
    match join {
        Some(join) if is_chat || !all_objects => format!("join its texts into one field: {join}"),
        _ if is_wrapper && all_objects => {
            format!("if its objects are the records, write one per line: {records}")
        }
        Some(join) => format!(
            "if its objects are the records, write one per line: {records}; if they are parts of one text, join these: {join}"
        ),
        None => "write its texts to one field".to_owned(),
    }
}

/// How to make a question and an answer of the turns of a chat; `None` if it has not both.
fn question_and_answer(array: &[String], items: &[Value], path: &FieldPath) -> Option<String> {
    const ASKING: [&str; 2] = ["user", "human"];
    const ANSWERING: [&str; 5] = ["assistant", "gpt", "model", "bot", "ai"];
    let text = text_of_items(items)?;
    let turns = |speaker: &str, known: &[&str]| {
        let mut speakers = items.iter().filter_map(|item| item.get(speaker)?.as_str());
        let found = speakers.find(|name| known.contains(name))?;
        Some(format!(
            "([{}[] | select(.{speaker} == {}) | {text}] | join(\"\\n\"))",
            jq_path(array),
            json_string(found)
        ))
    };
    let chat = CHATS.iter().find_map(|[speaker, _]| {
        let (question, answer) = (turns(speaker, &ASKING)?, turns(speaker, &ANSWERING)?);
        Some(command(&format!(
            ".question = {question} | .answer = {answer}"
        )))
    });
    let leave_out = if *path == FieldPath::new("question") {
        ""
    } else {
        ", and leave out `item_fields`"
    };
    Some(format!("make fields of its turns: {}{leave_out}", chat?))
}

/// Whether some item has one of the fields of these names.
fn has_any(items: &[Value], names: &[&str]) -> bool {
    let mut items = items.iter();
    items.any(|item| names.iter().any(|name| item.get(name).is_some()))
}

/// The value at a path of members.
fn value_at<'v>(item: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter().try_fold(item, |value, name| value.get(name))
}

/// Whether some item has a field at a path.
fn has(items: &[Value], path: &[String]) -> bool {
    items.iter().any(|item| value_at(item, path).is_some())
}

/// Whether an object has a string among its members.
fn has_texts(object: &Value) -> bool {
    let mut members = object.as_object().into_iter().flatten();
    members.any(|(_, value)| value.is_string())
}

/// Whether an object may hold records by their numbers or names: several objects, and nothing else.
fn holds_records(object: &Value) -> bool {
    let members = object.as_object();
    members.is_some_and(|members| members.len() > 1 && members.values().all(Value::is_object))
}

/// A command that joins the texts that `text` finds in an array.
fn joined(array: &[String], text: &str) -> String {
    let filter = match text {
        "" => format!(".text = ({} | join(\"\\n\"))", jq_path(array)),
        text => format!(".text = ([{}[]{text}] | join(\"\\n\"))", jq_path(array)),
    };
    command(&filter)
}

/// That the joined text is in a field that the parameter must name, unless `path`, which it names, is that field.
fn naming(path: &FieldPath, parameter: &str) -> String {
    match parameter {
        _ if path.segments() == ["text"] => String::new(),
        "text_field" => ", and pass `text_field=text`".to_owned(),
        _ => format!(", and name the field \"text\" in `{parameter}`"),
    }
}

/// How jq finds the text of each item of an array, after `[]`; empty if the items are texts themselves.
fn text_of_items(items: &[Value]) -> Option<String> {
    if items.iter().any(Value::is_string) {
        return Some(String::new());
    }
    let named = |name: &&str| text_at(items, &[(*name).to_owned()]);
    TEXTS.iter().find_map(named).or_else(|| {
        let mut lengths: Vec<(&String, usize)> = Vec::new();
        for (name, value) in items.iter().filter_map(Value::as_object).flatten() {
            let Some(text) = value.as_str() else { continue };
            match lengths.iter_mut().find(|(known, _)| *known == name) {
                Some((_, length)) => *length += text.len(),
                None => lengths.push((name, text.len())),
            }
        }
        // Of equal ones the last: who speaks comes before what is said.
        let (name, _) = lengths.into_iter().max_by_key(|(_, length)| *length)?;
        Some(jq_path(std::slice::from_ref(name)))
    })
}

/// How jq finds the text at a path in each item of an array, after `[]`; `None` if there is none.
fn text_at(items: &[Value], path: &[String]) -> Option<String> {
    let values: Vec<&Value> = items
        .iter()
        .filter_map(|item| value_at(item, path))
        .collect();
    let parts: Vec<&Value> = values
        .iter()
        .filter_map(|value| value.as_array())
        .flatten()
        .collect();
    let name = jq_path(path);
    // Other records may have texts in place of lists.
    let parts_by = |part: &str| {
        Some(format!(
            "{name} | if type == \"array\" then .[]{part} else . end"
        ))
    };
    if parts.iter().any(|part| part["text"].is_string()) {
        return parts_by(".text // empty");
    }
    if parts.iter().any(|part| part.is_string()) {
        return parts_by("");
    }
    values.iter().any(|value| value.is_string()).then_some(name)
}

/// A path as jq spells it.
pub(super) fn jq_path(segments: &[String]) -> String {
    let is_plain = |name: &str| {
        let mut letters = name.chars();
        letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let mut spelled = String::new();
    for name in segments {
        if is_plain(name) {
            spelled.extend([".", name]);
        } else {
            spelled.push_str(if spelled.is_empty() { "." } else { "" });
            spelled.push_str(&format!("[{}]", json_string(name)));
        }
    }
    spelled
}

#[cfg(test)]
mod tests;
