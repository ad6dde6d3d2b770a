//! Spells the library's parameters as flags.

/// Spells the parameters in a message of the library as flags: `` `on_bad_record=skip` `` becomes
/// `--on-bad-record skip`.
pub(crate) fn with_flags(message: &str) -> String {
    simgpu::error::spell(message, |name, value| {
        let flag = format!("--{}", name.replace('_', "-"));
        match value {
            Some(value) => format!("{flag} {value}"),
            None => flag,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_spelled_as_flags() {
        let messages = [
            ("pass `overwrite` to replace", "pass --overwrite to replace"),
            ("pass `on_bad_record=skip`", "pass --on-bad-record skip"),
            ("run `simgpu selftest`", "run `simgpu selftest`"),
            ("a`b: not found", "a`b: not found"),
            ("`A B` and `c`", "`A B` and --c"),
        ];
        for (message, expected) in messages {
            assert_eq!(with_flags(message), expected);
        }
    }
}
