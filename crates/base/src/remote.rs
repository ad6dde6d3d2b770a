//! Names of what is on other machines, which is neither read nor written, and which commands copy it.

use std::path::Path;

use crate::encoding::quoted;

/// A name with a scheme, such as `s3://bucket/docs.csv`.
struct Remote<'a> {
    /// In lower case.
    scheme: String,
    rest: &'a str,
    name: &'a str,
}

/// Why such a name cannot be given, and what to do.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) problem: &'static str,
    pub(crate) remedy: String,
}

/// The refusal of an input with such a name, which says which command copies it; `None` for any other name.
pub(crate) fn refused_input(path: &Path) -> Option<Refusal> {
    let remote = Remote::of(path)?;
    let problem = match &*remote.scheme {
        "file" => "names with a scheme are not read",
        "sqlite" | "duckdb" => "databases are not read",
        "mysql" | "mongodb" | "mongodb+srv" => "it is on another machine",
        _ => "it is on another machine, and only local files are read",
    };
    let piped = remote.piping().unwrap_or_default();
    let remedy = remote.copying() + &piped;
    Some(Refusal { problem, remedy })
}

/// How to copy what has such a name to this machine; `None` for any other name.
pub fn copying(path: &Path) -> Option<String> {
    Remote::of(path).map(|remote| remote.copying())
}

/// The refusal of an output with such a name; `None` for any other name.
pub(crate) fn refused_output(path: &Path) -> Option<Refusal> {
    let remote = Remote::of(path)?;
    let (problem, remedy) = match &*remote.scheme {
        "file" => ("names with a scheme are not written", remote.copying()),
        _ => (
            "it is on another machine, and only local files are written",
            remote.uploading(),
        ),
    };
    Some(Refusal { problem, remedy })
}

const EXPORT: &str = "export the rows as JSON Lines, CSV or Parquet, and give that file";

impl<'a> Remote<'a> {
    fn of(path: &'a Path) -> Option<Self> {
        let name = path.to_str()?;
        let (scheme, rest) = match name.split_once("://") {
            Some(parts) => parts,
            // These have one slash, too.
            None => {
                let (scheme, _) = name.split_once(":/")?;
                let is_known = ["dbfs", "file", "hdfs"].contains(&&*scheme.to_ascii_lowercase());
                is_known.then(|| (scheme, &name[scheme.len() + 1..]))?
            }
        };
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        (scheme.len() > 1 && scheme.chars().all(is_scheme)).then(|| Remote {
            scheme: scheme.to_ascii_lowercase(),
            rest,
            name,
        })
    }

    /// The name without what follows the path of a web address.
    fn path(&self) -> &str {
        match &*self.scheme {
            "http" | "https" => self.rest.split(['?', '#']).next().unwrap_or(self.rest),
            _ => self.rest,
        }
    }

    /// The last name of the path that is no pattern, for a copy.
    fn last(&self) -> &str {
        let mut names = self.path().split('/').filter(|name| !name.is_empty());
        let is_plain = |name: &&str| !name.contains('*');
        names.rfind(is_plain).unwrap_or("copy")
    }

    fn is_folder(&self) -> bool {
        self.rest.ends_with('/') || self.rest.contains('*')
    }

    /// The name up to the first pattern.
    fn folder(&self) -> String {
        let name = self.bucket_name();
        let plain = name.split('*').next().unwrap_or(&name);
        let end = plain.rfind('/').map_or(plain.len(), |slash| slash + 1);
        quoted(&plain[..end])
    }

    /// The name as programs of its store spell it.
    fn bucket_name(&self) -> String {
        match &*self.scheme {
            "s3a" | "s3n" => format!("s3://{}", self.rest),
            _ => format!("{}://{}", self.scheme, self.rest),
        }
    }

    /// How to copy it to this machine.
    fn copying(&self) -> String {
        let last = quoted(self.last());
        let copied =
            |command: String| format!("copy it to this machine: `{command}`, and give {last}");
        let name = quoted(&self.bucket_name());
        match &*self.scheme {
            "file" => {
                let path = self.rest.strip_prefix("localhost").unwrap_or(self.rest);
                format!("give the path alone: {}", quoted(&decoded(path)))
            }
            "sqlite" | "duckdb" | "mysql" | "mongodb" | "mongodb+srv" => EXPORT.to_owned(),
            "s3" | "s3a" | "s3n" if self.is_folder() => {
                copied(format!("aws s3 sync {} {last}", self.folder()))
            }
            "s3" | "s3a" | "s3n" => {
                let copied = copied(format!("aws s3 cp {name} {last}"));
                if self.last().contains('.') {
                    copied
                } else {
                    format!("{copied}; if it is a folder, `aws s3 sync {name} {last}`")
                }
            }
            "gs" if self.is_folder() => copied(format!(
                "mkdir {last} && gcloud storage rsync --recursive {} {last}",
                self.folder()
            )),
            "gs" => copied(format!("gcloud storage cp {name} {last}")),
            "http" | "https" => copied(format!("curl -fL -o {last} {}", quoted(self.name))),
            "hf" => match self.dataset() {
                Some(dataset) => {
                    let folder = quoted(dataset.rsplit('/').next().unwrap_or(dataset));
                    let dataset = quoted(dataset);
                    format!(
                        "download it: `hf download {dataset} --repo-type dataset --local-dir {folder}`, and give {folder}"
                    )
                }
                None => "download it: `hf download NAME --repo-type dataset --local-dir DIR`, and give DIR".to_owned(),
            },
            "postgres" | "postgresql" => {
                let query = "'select row_to_json(t) from TABLE t'";
                format!("export the rows: `psql URL -At -c {query} > rows.jsonl`, and give rows.jsonl")
            }
            "dbfs" => format!(
                "copy it to this machine, and give the copy; on Databricks, give /dbfs/{}",
                self.rest.trim_start_matches('/')
            ),
            _ => "copy it to this machine, and give the copy".to_owned(),
        }
    }

    /// How a stream reads it, if one does.
    fn piping(&self) -> Option<String> {
        let command = match &*self.scheme {
            _ if self.is_folder() => return None,
            "s3" | "s3a" | "s3n" => format!("aws s3 cp {} -", quoted(&self.bucket_name())),
            "gs" => format!("gcloud storage cat {}", quoted(&self.bucket_name())),
            "http" | "https" => format!("curl -fL {}", quoted(self.name)),
            _ => return None,
        };
        // A stream has no name that tells its format.
        let format = match self.ending()? {
            "csv" => " and `format=csv`",
            "tsv" => " and `format=tsv`",
            "txt" | "md" | "html" => " and `format=text`",
            _ => "",
        };
        Some(format!(
            "; or, for one input, pipe in the output of `{command}`, with - in place of the name{format}"
        ))
    }

    /// The ending of its name, without that of a compressed file.
    fn ending(&self) -> Option<&str> {
        let mut endings = self.path().rsplit('.');
        let last = endings.next()?;
        match last {
            "gz" | "gzip" | "zst" | "zstd" | "xz" | "bz2" => endings.next(),
            _ => Some(last),
        }
    }

    /// The name of a data set of Hugging Face.
    fn dataset(&self) -> Option<&str> {
        let path = self.rest.strip_prefix("datasets/")?;
        let path = path.split('@').next()?.trim_end_matches('/');
        let (owner, rest) = path.split_once('/')?;
        let name = rest.split('/').next()?;
        Some(&path[..owner.len() + 1 + name.len()])
    }

    /// How to write there.
    fn uploading(&self) -> String {
        let last = quoted(self.last());
        let is_file = self.last().contains('.');
        let name = quoted(&self.bucket_name());
        let command = match (&*self.scheme, is_file) {
            ("s3" | "s3a" | "s3n", true) => format!("aws s3 cp {last} {name}"),
            ("s3" | "s3a" | "s3n", false) => format!("aws s3 sync {last} {name}"),
            ("gs", true) => format!("gcloud storage cp {last} {name}"),
            ("gs", false) => format!("gcloud storage rsync --recursive {last} {name}"),
            _ => return format!("write to {last} on this machine, and copy that there"),
        };
        format!("write to {last} on this machine, and copy that there: `{command}`")
    }
}

/// A path of which a URL spells some bytes as `%20`.
fn decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = &after[if byte.is_some() { 2 } else { 0 }..];
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{check_local_output, remote_input};

    #[test]
    fn inputs_with_a_scheme_are_refused() {
        for (name, remedy) in [
            (
                "s3://bucket/a.jsonl.gz",
                "copy it to this machine: `aws s3 cp s3://bucket/a.jsonl.gz a.jsonl.gz`, and give a.jsonl.gz; or, for one input, \
                 pipe in the output of `aws s3 cp s3://bucket/a.jsonl.gz -`, with - in place of the name",
            ),
            (
                "S3A://bucket/a",
                "if it is a folder, `aws s3 sync s3://bucket/a a`",
            ),
            (
                "gs://bucket/a.txt",
                "`gcloud storage cat gs://bucket/a.txt`, with - in place of the name and `format=text`",
            ),
            (
                "https://host/a.csv?b=[c]*",
                "`curl -fL -o a.csv 'https://host/a.csv?b=[c]*'`, and give a.csv",
            ),
            (
                "https://host/a.csv.bz2?b=c",
                "with - in place of the name and `format=csv`",
            ),
            ("https://host", "curl -fL -o host https://host"),
            (
                "hf://datasets/a/b",
                "`hf download a/b --repo-type dataset --local-dir b`, and give b",
            ),
            (
                "hf://datasets/a/b@main/data/c.parquet",
                "`hf download a/b --repo-type",
            ),
            ("file:///a/b", "give the path alone: /a/b"),
            ("file:/a/b", "give the path alone: /a/b"),
            (
                "file://localhost/a%20b%C3%A9%",
                "give the path alone: '/a bé%'",
            ),
            ("postgres://user@host/base", "psql URL -At"),
            (
                "s3://bucket/docs/*.parquet",
                "`aws s3 sync s3://bucket/docs/ docs`, and give docs",
            ),
            (
                "https://host/it's.json",
                r"curl -fL -o 'it'\''s.json' 'https://host/it'\''s.json'",
            ),
            ("sqlite:///a.db", "export the rows"),
            ("abfss://x@y/z", "copy it"),
            (
                "dbfs:/data/a.jsonl",
                "on Databricks, give /dbfs/data/a.jsonl",
            ),
        ] {
            let told = remote_input(Path::new(name)).unwrap().to_string();
            assert!(told.contains(name) && told.contains(remedy), "{told}");
            let copying = copying(Path::new(name)).unwrap();
            assert!(
                told.contains(&copying) && !copying.contains(" - "),
                "{told}"
            );
        }
        for name in [
            "a/b", "c:/x", "c://x", "://x", "a b://c", "-", "./s3://a", "ab:/c",
        ] {
            assert!(remote_input(Path::new(name)).is_none(), "{name}");
            check_local_output(Path::new(name)).unwrap();
        }
    }

    #[test]
    fn outputs_with_a_scheme_are_refused() {
        for (name, remedy) in [
            (
                "s3://bucket/out",
                "write to out on this machine, and copy that there: `aws s3 sync out s3://bucket/out`",
            ),
            (
                "gs://bucket/p.csv",
                "`gcloud storage cp p.csv gs://bucket/p.csv`",
            ),
            (
                "https://host/p.csv",
                "write to p.csv on this machine, and copy that there",
            ),
            (
                "file:///a/b",
                "names with a scheme are not written; give the path alone: /a/b",
            ),
        ] {
            let told = check_local_output(Path::new(name)).unwrap_err().to_string();
            assert!(told.contains(name) && told.contains(remedy), "{told}");
        }
    }
}
