//! The machine and the build: environment.json as a table.

use serde_json::Value;

use super::section::{Section, Topic};
use super::table::{Table, digits};

/// environment.json as rows.
pub(super) fn machine(environment: &Value) -> Section {
    let mut table = Table::new(["what", "value"]);
    for (what, value) in environment.as_object().into_iter().flatten() {
        let shown = match (what.as_str(), value) {
            // The calls of each peer would fill a screen. Older folders state the optimization of the command line, which
            // is not that of the kernels.
            ("peers" | "optimization", _) | (_, Value::Null) => continue,
            ("memory_bytes", Value::Number(bytes)) => {
                let gib = bytes.as_f64().unwrap_or_default() / f64::from(1 << 30);
                format!("{} GiB", digits(gib, 3))
            }
            ("gpus", Value::Array(gpus)) => join(gpus.iter().map(gpu), "; "),
            (_, value) => plain(value),
        };
        if !shown.is_empty() {
            table.push([what.replace("_bytes", "").replace('_', " "), shown]);
        }
    }
    Section {
        topic: Topic::Machine,
        note: String::new(),
        table,
    }
}

/// A device and its driver.
fn gpu(gpu: &Value) -> String {
    let [name, kind, api, driver] = ["name", "kind", "api", "driver"].map(|what| plain(&gpu[what]));
    format!("{name} ({kind}, {api}, {driver})")
}

/// A value as text, lists separated by commas.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => join(values.iter().map(plain), ", "),
        Value::Object(values) => join(
            values
                .iter()
                .map(|(name, value)| format!("{name} {}", plain(value))),
            " ",
        ),
        value => value.to_string(),
    }
}

fn join(parts: impl Iterator<Item = String>, between: &str) -> String {
    parts.collect::<Vec<_>>().join(between)
}
