//! What tells one run from another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What decides the results of a run. A run goes on only where one with the same identity was stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct RunIdentity {
    /// Where the results go.
    #[doc(hidden)]
    pub output: String,
    /// The version of this program.
    #[doc(hidden)]
    pub version: String,
    /// The format of its files on disk.
    #[serde(default)]
    #[doc(hidden)]
    pub format: u32,
    /// All parameters that affect the results, by name.
    #[doc(hidden)]
    pub parameters: BTreeMap<String, Value>,
    #[doc(hidden)]
    pub inputs: Vec<InputIdentity>,
}

/// What tells whether an input is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct InputIdentity {
    #[doc(hidden)]
    pub path: String,
    #[doc(hidden)]
    pub bytes: u64,
    /// Nanoseconds since 1970, as text; `None` if unknown.
    #[doc(hidden)]
    pub modified: Option<String>,
}

impl RunIdentity {
    /// The format of files on disk. It changes with every record, so that no run goes on with records of another form.
    #[doc(hidden)]
    pub const FORMAT: u32 = 1;

    /// The first difference between an earlier run and this one, in words; `None` if there is none.
    #[doc(hidden)]
    pub fn difference_from(&self, earlier: &Self) -> Option<Difference> {
        let difference = |problem| {
            Some(Difference {
                problem,
                is_of_file: false,
            })
        };
        if self.version != earlier.version {
            return difference(format!(
                "version {} began it, and this is {}",
                earlier.version, self.version
            ));
        }
        if self.format != earlier.format {
            return difference(format!(
                "another build of version {} began it",
                self.version
            ));
        }
        // Others follow from it.
        let first = ["threshold".to_owned()];
        let all = self.parameters.keys().chain(earlier.parameters.keys());
        let names = first.iter().chain(all);
        let of = |run: &Self, name: &str| match run.parameters.get(name) {
            None | Some(Value::Bool(false)) => Value::Null,
            Some(value) => value.clone(),
        };
        for name in names {
            let (before, now) = (of(earlier, name), of(self, name));
            if before != now {
                let (before, now) = (in_words(&before), in_words(&now));
                return difference(format!("`{name}` was {before}, and is {now}"));
            }
        }
        for (before, now) in earlier.inputs.iter().zip(&self.inputs) {
            if before.path != now.path {
                return difference(format!("it reads {}, not {}", before.path, now.path));
            }
            if before != now {
                return Some(Difference {
                    problem: format!("{} has changed", now.path),
                    is_of_file: true,
                });
            }
        }
        let (before, now) = (earlier.inputs.len(), self.inputs.len());
        if before == now {
            None
        } else {
            difference(format!("it reads {before} files, not {now}"))
        }
    }
}

/// The first difference between two runs.
#[derive(Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct Difference {
    #[doc(hidden)]
    pub problem: String,
    /// Whether a file has changed, so that the earlier run cannot be repeated.
    #[doc(hidden)]
    pub is_of_file: bool,
}

/// A value, as messages name it.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "not given".to_owned(),
        Value::Bool(true) => "given".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run() -> RunIdentity {
        let input = |path: &str| InputIdentity {
            path: path.to_owned(),
            bytes: 7,
            modified: Some("1".to_owned()),
        };
        RunIdentity {
            output: "out".to_owned(),
            version: "1".to_owned(),
            format: 3,
            parameters: [
                ("threshold".to_owned(), json!(0.8)),
                ("count".to_owned(), json!(false)),
            ]
            .into(),
            inputs: vec![input("a"), input("b")],
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let before = run();
        let check = |change: &dyn Fn(&mut RunIdentity), difference: &str| {
            let mut now = run();
            change(&mut now);
            let found = now.difference_from(&before);
            assert_eq!(
                found.map(|found| found.problem).as_deref(),
                Some(difference)
            );
        };
        assert_eq!(run().difference_from(&before), None);
        check(
            &|run| run.version = "2".to_owned(),
            "version 1 began it, and this is 2",
        );
        check(&|run| run.format = 4, "another build of version 1 began it");
        let set = |run: &mut RunIdentity, name: &str, value: Value| {
            run.parameters.insert(name.to_owned(), value);
        };
        check(
            &|run| set(run, "threshold", json!(0.9)),
            "`threshold` was 0.8, and is 0.9",
        );
        check(
            &|run| set(run, "count", json!(true)),
            "`count` was not given, and is given",
        );
        check(
            &|run| set(run, "limit", json!(5)),
            "`limit` was not given, and is 5",
        );
        check(
            &|run| run.parameters.clear(),
            "`threshold` was 0.8, and is not given",
        );
        check(&|run| run.inputs[1].bytes = 8, "b has changed");
        check(
            &|run| run.inputs[0].path = "c".to_owned(),
            "it reads a, not c",
        );
        check(&|run| run.inputs.truncate(1), "it reads 2 files, not 1");
    }
}
