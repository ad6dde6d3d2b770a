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
    let scheme = scheme.to_ascii_lowercase();
    let (problem, remedy) = match &*scheme {
        "file" => (
            "names with a scheme are not read",
            format!(
                "give the path alone: {}",
                rest.strip_prefix("localhost").unwrap_or(rest)
            ),
        ),
        "sqlite" | "duckdb" => ("databases are not read", EXPORT.to_owned()),
        "mysql" | "mongodb" | "mongodb+srv" => ("it is on another machine", EXPORT.to_owned()),
        _ => (
            "it is on another machine, and only local files are read",
            of_remote(&scheme, rest, name),
        ),
    };
    Some(Error::Input {
        path: path.to_owned(),
        problem: problem.to_owned(),
        remedy,
    })
}

const EXPORT: &str = "export the rows as JSON Lines, CSV or Parquet, and give that file";

/// What to do with a name of another machine.
fn of_remote(scheme: &str, rest: &str, name: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let piped = |command: String| {
        // A stream has no name that tells its format.
        let format = ["csv", "tsv"].into_iter().find(|ending| {
            let stem = rest.trim_end_matches(".gz").trim_end_matches(".zst");
            stem.ends_with(&format!(".{ending}"))
        });
        let format = format.map_or(String::new(), |format| format!(" --format {format}"));
        format!("pipe it in: `{command} | simgpu dedup -{format}`, or another command with `-`")
    };
    let is_folder = rest.ends_with('/') || rest.contains('*');
    match scheme {
        "s3" | "s3a" | "s3n" if is_folder => {
            "copy it to this machine with `aws s3 sync`, and give the folder".to_owned()
        }
        "s3" | "s3a" | "s3n" => piped(format!("aws s3 cp {} -", quoted(&format!("s3://{rest}")))),
        "gs" if is_folder => {
            "copy it to this machine with `gcloud storage rsync`, and give the folder".to_owned()
        }
        "gs" => piped(format!("gcloud storage cat {}", quoted(name))),
        "http" | "https" => piped(format!("curl -L {}", quoted(name))),
        "hf" => "download it: `hf download NAME --repo-type dataset --local-dir DIR`, and give DIR"
            .to_owned(),
        "postgres" | "postgresql" => {
            piped("psql URL -At -c 'select row_to_json(t) from TABLE t'".to_owned())
        }
        _ => "copy it to this machine, and give the copy; or pipe it in, and give -".to_owned(),
    }
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
            ("postgres://user@host/base", "psql URL -At"),
            (
                "S3://bucket/a.csv.gz",
                "aws s3 cp 's3://bucket/a.csv.gz' - | simgpu dedup - --format csv",
            ),
            ("s3://bucket/*.parquet", "aws s3 sync"),
            ("https://host/it's", r"curl -L 'https://host/it'\''s' |"),
            ("sqlite:///a.db", "export the rows"),
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
