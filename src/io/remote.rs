//! Names of what lies on other machines, which is not read, and how to read it all the same.

use std::path::Path;

use crate::error::Error;

/// What refuses a name with a scheme such as `s3://`, and says which command reads what it names; `None` for any other name.
pub(super) fn refused(path: &Path) -> Option<Error> {
    let name = path.to_str()?;
    let (scheme, rest) = name.split_once("://")?;
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    if scheme.len() < 2 || !scheme.chars().all(is_scheme) {
        return None;
    }
    let piped = |command: &str| {
        format!("pipe it in: `{command} '{name}' | simgpu dedup -`, or another command with `-`")
    };
    let remedy = match scheme {
        "s3" | "s3a" | "s3n" => format!(
            "pipe it in: `aws s3 cp 's3://{rest}' - | simgpu dedup -`, or another command with `-`; `aws s3 sync` copies a folder"
        ),
        "gs" => piped("gcloud storage cat"),
        "http" | "https" => piped("curl -L"),
        "hf" => {
            "download it: `hf download NAME --repo-type dataset --local-dir DIR`, then give DIR"
                .to_owned()
        }
        "file" => format!(
            "give the path alone: {}",
            rest.strip_prefix("localhost").unwrap_or(rest)
        ),
        "postgres" | "postgresql" => piped_rows(&format!(
            "psql '{name}' -At -c 'select row_to_json(t) from TABLE t'"
        )),
        "mysql" | "sqlite" | "duckdb" | "mongodb" => {
            "export the rows as JSON Lines, CSV or Parquet, and give that file".to_owned()
        }
        _ => "copy it to this machine, and give the copy; or pipe it in, and give -".to_owned(),
    };
    Some(Error::Input {
        path: path.to_owned(),
        problem: match scheme {
            "file" => "names with a scheme are not read".to_owned(),
            _ => "it is on another machine, and only local files are read".to_owned(),
        },
        remedy,
    })
}

fn piped_rows(command: &str) -> String {
    format!("pipe its rows in: `{command} | simgpu dedup -`, or another command with `-`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_a_scheme_are_refused() {
        for (name, remedy) in [
            (
                "s3://bucket/a.jsonl.gz",
                "aws s3 cp 's3://bucket/a.jsonl.gz' - | simgpu dedup -",
            ),
            ("s3a://bucket/a", "aws s3 cp 's3://bucket/a' -"),
            ("gs://bucket/a", "gcloud storage cat 'gs://bucket/a' |"),
            ("https://host/a?b=[c]*", "curl -L 'https://host/a?b=[c]*' |"),
            ("hf://datasets/a/b", "hf download"),
            ("file:///a/b", "give the path alone: /a/b"),
            ("file://localhost/a", "give the path alone: /a"),
            (
                "postgres://user@host/base",
                "psql 'postgres://user@host/base' -At",
            ),
            ("abfss://x@y/z", "copy it"),
        ] {
            let told = refused(Path::new(name)).unwrap().to_string();
            assert!(told.contains(name) && told.contains(remedy), "{told}");
        }
        for name in ["a/b", "c:/x", "c://x", "://x", "a b://c", "-"] {
            assert!(refused(Path::new(name)).is_none(), "{name}");
        }
    }
}
