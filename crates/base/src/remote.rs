//! Names of what is on other machines, which is neither read nor written, and which commands copy it.

use std::path::Path;

use crate::encoding::quoted;

/// A name with a scheme, such as `s3://bucket/docs.csv`.
struct Remote<'a> {
    /// In lower case.
    scheme: String,
    rest: &'a str,
    name: &'a str,
    /// Whether it is known that it must be a folder.
    is_known_folder: bool,
}

/// A data set of Hugging Face, and what of it is named.
struct DataSet<'a> {
    name: &'a str,
    revision: Option<String>,
    /// A path or a pattern within it; empty for all of it.
    inner: &'a str,
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
        _ if remote.is_database() => "databases are not read",
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

/// Why what has such a name is not found, and how to copy it; `None` for any other name.
pub(crate) fn unread(path: &Path) -> Option<String> {
    let refused = refused_input(path)?;
    Some(format!("{}; {}", refused.problem, copying(path)?))
}

/// How to copy a folder with such a name to this machine; `None` for any other name.
pub fn copying_folder(path: &Path) -> Option<String> {
    let mut folder = Remote::of(path)?;
    folder.is_known_folder = true;
    Some(folder.copying())
}

/// What to do where a folder of this machine is needed; `None` for a name that may be of one.
pub fn local_folder(path: &Path) -> Option<String> {
    let remote = Remote::of(path)?;
    Some(match &*remote.scheme {
        "file" => remote.copying(),
        _ => "it is on another machine; name a folder of this machine".to_owned(),
    })
}

/// The refusal of an output with such a name; `None` for any other name.
pub(crate) fn refused_output(path: &Path) -> Option<Refusal> {
    let remote = Remote::of(path)?;
    let (problem, remedy) = match &*remote.scheme {
        "file" => ("names with a scheme are not written", remote.copying()),
        _ if remote.is_database() => (
            "only files are written, not databases",
            "choose a name on this machine, and load the files that are written with the import of the database".to_owned(),
        ),
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
            is_known_folder: false,
        })
    }

    fn is_database(&self) -> bool {
        const NAMES: [&str; 8] = [
            "sqlite",
            "duckdb",
            "mysql",
            "mariadb",
            "postgres",
            "postgresql",
            "mongodb",
            "mongodb+srv",
        ];
        // Such as `postgresql+psycopg`.
        let name = self.scheme.split('+').next();
        NAMES
            .iter()
            .any(|known| Some(*known) == name || *known == self.scheme)
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
        self.is_known_folder || self.rest.ends_with('/') || self.rest.contains('*')
    }

    /// The name up to the first pattern.
    fn folder(&self) -> String {
        let name = self.bucket_name();
        let Some((plain, _)) = name.split_once('*') else {
            return quoted(&name);
        };
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
            "sqlite" if !self.rest.trim_matches('/').is_empty() => {
                let file = self.rest.strip_prefix('/').unwrap_or(self.rest);
                format!(
                    "export a table: `sqlite3 -csv -header {} 'select * from TABLE' > rows.csv`, and give rows.csv",
                    quoted(file)
                )
            }
            "postgres" | "postgresql" => format!(
                "export a table: `psql {name} -At -c 'select row_to_json(t) from TABLE t' > rows.jsonl`, and give rows.jsonl"
            ),
            "mongodb" | "mongodb+srv" => format!(
                "export a collection: `mongoexport --uri {name} --collection COLLECTION --out rows.jsonl`, and give rows.jsonl"
            ),
            _ if self.is_database() => EXPORT.to_owned(),
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
            "hf" => match self.data_set() {
                Some(data_set) => data_set.downloading(),
                None => "download it: `hf download NAME --repo-type dataset --local-dir DIR`, and give DIR".to_owned(),
            },
            "dbfs" => {
                let path = self.rest.trim_start_matches('/');
                let option = if self.is_folder() { " --recursive" } else { "" };
                let name = quoted(&format!("dbfs:/{path}"));
                let copied = copied(format!("databricks fs cp{option} {name} {last}"));
                format!("on Databricks, give {}; elsewhere, {copied}", quoted(&format!("/dbfs/{path}")))
            }
            "az" | "abfs" | "abfss" | "wasb" | "wasbs" => copied(self.copying_blobs(&last)),
            "hdfs" => {
                let make = if self.rest.contains('*') { format!("mkdir {last} && ") } else { String::new() };
                copied(format!("{make}hdfs dfs -get {} {last}", quoted(self.name)))
            }
            "ftp" | "ftps" | "sftp" if !self.is_folder() => {
                copied(format!("curl -f -o {last} {}", quoted(self.name)))
            }
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
    fn data_set(&self) -> Option<DataSet<'a>> {
        let path = self.rest.strip_prefix("datasets/")?.trim_end_matches('/');
        let data_set = |name: &'a str, revision: Option<&str>, inner: &'a str| {
            let revision = revision.map(decoded);
            (!name.is_empty()).then_some(DataSet {
                name,
                revision,
                inner,
            })
        };
        if let Some((name, rest)) = path.split_once('@') {
            let (revision, inner) = rest.split_once('/').unwrap_or((rest, ""));
            return data_set(name, Some(revision), inner);
        }
        let end = path
            .match_indices('/')
            .nth(1)
            .map_or(path.len(), |(at, _)| at);
        let (name, inner) = path.split_at(end);
        data_set(name, None, inner.trim_start_matches('/'))
    }

    /// The account and the container of a store of Azure, and the path there. The name of `az://` has no account.
    fn blobs(&self) -> (Option<&str>, &str, &str) {
        let (place, path) = self.rest.split_once('/').unwrap_or((self.rest, ""));
        match place.split_once('@') {
            Some((container, host)) => (host.split('.').next(), container, path),
            None => (None, place, path),
        }
    }

    /// The command that copies what is in a store of Azure.
    fn copying_blobs(&self, last: &str) -> String {
        let (account, container, path) = self.blobs();
        let folder = match path.split_once('*') {
            Some((plain, _)) => plain[..plain.rfind('/').map_or(0, |slash| slash + 1)].to_owned(),
            None if path.is_empty() || path.ends_with('/') => path.to_owned(),
            None => format!("{path}/"),
        };
        match account {
            Some(account) if self.is_folder() => {
                let folder = quoted(&format!("{}{folder}*", address(account, container)));
                format!("azcopy copy --recursive {folder} {last}")
            }
            Some(account) => {
                let file = quoted(&format!("{}{path}", address(account, container)));
                format!("azcopy copy {file} {last}")
            }
            None if self.is_folder() => format!(
                "mkdir {last} && az storage blob download-batch --account-name ACCOUNT --source {} --pattern {} --destination {last}",
                quoted(container),
                quoted(&format!("{folder}*"))
            ),
            None => format!(
                "az storage blob download --account-name ACCOUNT --container-name {} --name {} --file {last}",
                quoted(container),
                quoted(path)
            ),
        }
    }

    /// The command that copies a file or folder into a store of Azure.
    fn uploading_blobs(&self, last: &str, is_file: bool) -> String {
        let (account, container, path) = self.blobs();
        match account {
            Some(account) => {
                let there = quoted(&format!("{}{path}", address(account, container)));
                if is_file {
                    format!("azcopy copy {last} {there}")
                } else {
                    format!(
                        "azcopy copy --recursive {} {there}",
                        quoted(&format!("{}/*", self.last()))
                    )
                }
            }
            None if is_file => format!(
                "az storage blob upload --account-name ACCOUNT --container-name {} --name {} --file {last}",
                quoted(container),
                quoted(path)
            ),
            None => format!(
                "az storage blob upload-batch --account-name ACCOUNT --destination {} --destination-path {} --source {last}",
                quoted(container),
                quoted(path)
            ),
        }
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
            ("az" | "abfs" | "abfss" | "wasb" | "wasbs", _) => self.uploading_blobs(&last, is_file),
            ("hdfs", _) => format!("hdfs dfs -put {last} {}", quoted(self.name)),
            ("ftp" | "ftps" | "sftp", true) => format!("curl -T {last} {}", quoted(self.name)),
            ("hf", _) => match self.data_set() {
                Some(data_set) => data_set.uploading(&last),
                None => return format!("write to {last} on this machine, and copy that there"),
            },
            ("dbfs", _) => {
                let path = self.rest.trim_start_matches('/');
                let there = quoted(&format!("/dbfs/{path}"));
                let option = if is_file { "" } else { " --recursive" };
                let name = quoted(&format!("dbfs:/{path}"));
                return format!(
                    "on Databricks, write to {there}; elsewhere, write to {last} on this machine, and copy that there: \
                     `databricks fs cp{option} {last} {name}`"
                );
            }
            _ => return format!("write to {last} on this machine, and copy that there"),
        };
        format!("write to {last} on this machine, and copy that there: `{command}`")
    }
}

/// The address of a container in an account of Azure.
fn address(account: &str, container: &str) -> String {
    format!("https://{account}.blob.core.windows.net/{container}/")
}

impl DataSet<'_> {
    /// How to download what is named of it, and no more.
    fn downloading(&self) -> String {
        let folder = self.name.rsplit('/').next().unwrap_or(self.name);
        let name = quoted(self.name);
        let revision = self.revision();
        let target = |path: &str| match path {
            "" => quoted(folder),
            path => quoted(&format!("{folder}/{path}")),
        };
        let last = self.inner.rsplit('/').next().unwrap_or_default();
        let (what, given) = match self.inner {
            "" => (String::new(), target("")),
            pattern if pattern.contains(['*', '?', '[']) => {
                (format!(" --include {}", quoted(pattern)), target(""))
            }
            file if last.contains('.') => (format!(" {}", quoted(file)), target(file)),
            inner => {
                let pattern = quoted(&format!("{inner}/*"));
                (format!(" --include {pattern}"), target(inner))
            }
        };
        let local = quoted(folder);
        format!(
            "download it: `hf download {name}{what} --repo-type dataset{revision} --local-dir {local}`, and give {given}"
        )
    }

    /// The command that uploads a file or folder.
    fn uploading(&self, last: &str) -> String {
        let there = match self.inner {
            "" => String::new(),
            inner => format!(" {}", quoted(inner)),
        };
        let revision = self.revision();
        format!(
            "hf upload {} {last}{there} --repo-type dataset{revision}",
            quoted(self.name)
        )
    }

    fn revision(&self) -> String {
        let revision = self.revision.as_ref();
        revision.map_or(String::new(), |revision| {
            format!(" --revision {}", quoted(revision))
        })
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
    use crate::error::{check_local_output, remote_input, without_piping};

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
                "`hf download a/b data/c.parquet --repo-type dataset --revision main --local-dir b`, and give b/data/c.parquet",
            ),
            (
                "hf://datasets/a/b/data/*.parquet",
                "`hf download a/b --include 'data/*.parquet' --repo-type dataset --local-dir b`, and give b",
            ),
            (
                "hf://datasets/a/b/data",
                "`hf download a/b --include 'data/*' --repo-type dataset --local-dir b`, and give b/data",
            ),
            (
                "hf://datasets/squad",
                "`hf download squad --repo-type dataset --local-dir squad`, and give squad",
            ),
            ("file:///a/b", "give the path alone: /a/b"),
            ("file:/a/b", "give the path alone: /a/b"),
            (
                "file://localhost/a%20b%C3%A9%",
                "give the path alone: '/a bé%'",
            ),
            (
                "postgres://user@host/base",
                "databases are not read; export a table: `psql 'postgres://user@host/base' -At -c",
            ),
            (
                "s3://bucket/docs/*.parquet",
                "`aws s3 sync s3://bucket/docs/ docs`, and give docs",
            ),
            (
                "https://host/it's.json",
                r"curl -fL -o 'it'\''s.json' 'https://host/it'\''s.json'",
            ),
            (
                "sqlite:///a.db",
                "`sqlite3 -csv -header a.db 'select * from TABLE' > rows.csv`",
            ),
            ("mysql://user@host/base", "export the rows"),
            (
                "abfss://x@y.dfs.core.windows.net/z/a.csv",
                "`azcopy copy https://y.blob.core.windows.net/x/z/a.csv a.csv`, and give a.csv",
            ),
            (
                "az://x/z/*.csv",
                "az storage blob download-batch --account-name ACCOUNT --source x --pattern 'z/*' --destination z`",
            ),
            (
                "az://x/a.csv",
                "`az storage blob download --account-name ACCOUNT --container-name x --name a.csv --file a.csv`",
            ),
            ("ftp://host/a.csv", "`curl -f -o a.csv ftp://host/a.csv`"),
            ("hdfs:///b/a.csv", "`hdfs dfs -get hdfs:///b/a.csv a.csv`"),
            ("any://x/z", "copy it"),
            (
                "dbfs:/data/a.jsonl",
                "on Databricks, give /dbfs/data/a.jsonl; elsewhere, copy it to this machine: \
                 `databricks fs cp dbfs:/data/a.jsonl a.jsonl`, and give a.jsonl",
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
    fn only_streams_are_piped_in() {
        let path = Path::new("s3://bucket/a.jsonl");
        let told = without_piping(remote_input(path).unwrap()).to_string();
        assert!(
            told.ends_with("`aws s3 cp s3://bucket/a.jsonl a.jsonl`, and give a.jsonl"),
            "{told}"
        );
        let copied = copying_folder(Path::new("s3://bucket/seen")).unwrap();
        assert!(
            copied.contains("`aws s3 sync s3://bucket/seen seen`, and give seen"),
            "{copied}"
        );
        for (name, copying) in [
            (
                "abfss://seen@acme.dfs.core.windows.net/2024/seen",
                "'https://acme.blob.core.windows.net/seen/2024/seen/*' seen",
            ),
            ("az://bucket/seen", "--pattern 'seen/*' --destination seen"),
        ] {
            let copied = copying_folder(Path::new(name)).unwrap();
            assert!(copied.contains(copying), "{copied}");
        }
        assert!(local_folder(Path::new("s3://bucket/tmp")).is_some());
        assert!(local_folder(Path::new("tmp")).is_none());
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
                "postgres://user@host/base",
                "only files are written, not databases; choose a name on this machine",
            ),
            (
                "hf://datasets/me/clean",
                "`hf upload me/clean clean --repo-type dataset`",
            ),
            (
                "az://x/out",
                "`az storage blob upload-batch --account-name ACCOUNT --destination x --destination-path out --source out`",
            ),
            (
                "dbfs:/out",
                "on Databricks, write to /dbfs/out; elsewhere, write to out on this machine",
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
