//! What an index was built with: a file of JSON in its folder, which says whether documents and other indexes fit it.
//!
//! The header is written last, so that a folder has one as soon as it is an index.

mod signing;

mod kind;

use std::fs;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::xxh3_64;

use super::store::damaged;
use signing::{Signing, unicode_version};
use simgpu::engine::Engine;
use simgpu::error::{Error, Result};
use simgpu::pipeline::{Banding, Measure, Normalise, Shingling, Unit, Weighting, check_threshold};
use simgpu::scheme::{BaseHash, Scheme};
use simgpu::search::{CandidateMethod, Search, Verification};
use simgpu::store::disk::{OnDisk, is_file, sync_folder};
use simgpu_base::remote;

pub use kind::IndexKind;

/// The name of the header in the folder of an index.
pub(crate) const HEADER: &str = "simgpu-index.json";

/// The field of the checksum.
const CHECKSUM: &str = "checksum";

/// The version of the layout of an index.
const VERSION: u32 = 4;

/// What an index was built with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    simgpu_index: u32,
    kind: String,
    measure: String,
    scheme: String,
    unit: String,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    stop_words: Option<Vec<String>>,
    lowercase: bool,
    strip_punctuation: bool,
    keep_whitespace: bool,
    count: bool,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    unicode_version: Option<String>,
    threshold: f64,
    verify: String,
    /// How documents are signed; `None` if they are not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    signing: Option<Signing>,
}

impl Header {
    /// The header of an index whose documents this engine signs, for this search.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a search or a weighting that an index does not have.
    pub(super) fn new(engine: &Engine, search: &Search) -> Result<Self> {
        check(engine, search)?;
        let (scheme, shingler) = (engine.scheme(), engine.shingler());
        let shingling = shingler.shingling();
        Ok(Header {
            simgpu_index: VERSION,
            kind: IndexKind::from_search(search).name().to_owned(),
            measure: search.measure.name().to_owned(),
            scheme: scheme.to_string(),
            unit: shingling.unit.to_string(),
            size: shingling.size.get(),
            stop_words: match &shingling.unit {
                Unit::StopWords(words) => Some(words.sorted()),
                _ => None,
            },
            lowercase: shingling.normalise.lowercase,
            strip_punctuation: shingling.normalise.strip_punctuation,
            keep_whitespace: shingling.normalise.keep_whitespace,
            count: shingling.weighting == Weighting::Counts,
            unicode_version: unicode_version(&shingling.unit),
            threshold: search.threshold,
            verify: search.verification.name().to_owned(),
            signing: match IndexKind::from_search(search) {
                IndexKind::Lsh => Some(Signing::new(engine, search)),
                IndexKind::Exact => None,
            },
        })
    }

    /// Reads the header of the index in a folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(HEADER);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let (problem, remedy) = match remote::copying_folder(folder) {
                    Some(copying) => (
                        "it is on another machine, and an index is read from a folder of this one"
                            .to_owned(),
                        copying,
                    ),
                    None => (
                        if folder.exists() {
                            format!("no index: it holds no {HEADER}")
                        } else {
                            "no index: there is no such folder".to_owned()
                        },
                        "name the folder of an index, or build one with `simgpu index build`"
                            .to_owned(),
                    ),
                };
                return Err(Error::Input {
                    path: folder.to_owned(),
                    problem,
                    remedy,
                });
            }
            text => text.map_err(Error::io("read", &path))?,
        };
        // Another version may have other fields.
        let version = serde_json::from_str::<Value>(&text).ok();
        let version = version.and_then(|header| header.get("simgpu_index")?.as_u64());
        match version {
            Some(version) if version != u64::from(VERSION) => Err(Error::Input {
                path,
                problem: format!(
                    "the layout of the index is version {version}, and this program reads version {VERSION}"
                ),
                remedy: "use the version of simgpu that built it, or build the index again"
                    .to_owned(),
            }),
            _ => Header::decode(&text).map_err(|problem| damaged(&path, &problem)),
        }
    }

    /// The values as indented JSON, and a checksum of them.
    fn encode(&self) -> serde_json::Result<String> {
        let mut value = serde_json::to_value(self)?;
        if let Value::Object(fields) = &mut value {
            fields.insert(CHECKSUM.to_owned(), self.checksum().into());
        }
        Ok(serde_json::to_string_pretty(&value)? + "\n")
    }

    /// The header of a text, or what is wrong with it.
    fn decode(text: &str) -> std::result::Result<Self, String> {
        let unreadable = |error| format!("its header is unreadable: {error}");
        let mut value: Value = serde_json::from_str(text).map_err(unreadable)?;
        let fields = value.as_object_mut();
        let stated = fields.and_then(|fields| fields.remove(CHECKSUM));
        let header: Header = serde_json::from_value(value).map_err(unreadable)?;
        if stated == Some(header.checksum().into()) {
            Ok(header)
        } else {
            Err("its header has other values than were written".to_owned())
        }
    }

    /// A checksum of all values, so that no other value is taken for the one that was written.
    fn checksum(&self) -> String {
        let values = serde_json::to_string(self).unwrap_or_default();
        format!("{:016x}", xxh3_64(values.as_bytes()))
    }

    /// Whether there is a header in a folder.
    pub(super) fn is_in(folder: &Path) -> Result<bool> {
        is_file(&folder.join(HEADER))
    }

    /// Writes the header into a folder, which then is an index.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(HEADER);
        let write = || {
            let mut builder = tempfile::Builder::new();
            // As all files of the index: who may read them follows from the folder.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            let mut file = builder.tempfile_in(folder)?;
            file.write_all(self.encode()?.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(Error::io("write", &path))?;
        sync_folder(&OnDisk, folder).inspect_err(|_| {
            // After an error the folder is no index, so that the same call resumes.
            let _ = fs::remove_file(&path);
        })
    }

    /// The engine and the search of the index in a folder.
    pub(super) fn resolve(&self, folder: &Path) -> Result<(Engine, Search)> {
        let path = folder.join(HEADER);
        let wrong = |problem: String| damaged(&path, &format!("its header is wrong: {problem}"));
        let kinds = [IndexKind::Lsh, IndexKind::Exact];
        let Some(kind) = kinds.into_iter().find(|kind| kind.name() == self.kind) else {
            let (kind, path) = (&self.kind, path.clone());
            return Err(Error::Input {
                path,
                problem: format!(
                    "this is an index of kind {kind}, and this program reads lsh and exact"
                ),
                remedy: "use the version of simgpu that built it".to_owned(),
            });
        };
        let engine = self.engine().map_err(|error| wrong(error.to_string()))?;
        let search = self
            .search(kind, &engine)
            .map_err(|error| wrong(error.to_string()))?;
        // Fails where values exclude each other, and for words of another version of Unicode.
        let own = Header::new(&engine, &search)?;
        self.check_same(folder, &own)?;
        Ok((engine, search))
    }

    fn engine(&self) -> Result<Engine> {
        let mut scheme = Scheme::named(&self.scheme)?;
        let mut hash = None;
        if let Some(signing) = &self.signing {
            scheme = scheme
                .with_num_perm(signing.num_perm)?
                .with_seed(signing.seed);
            hash = Some(signing.hash.parse::<BaseHash>()?);
        }
        let unit = self.unit()?;
        let shingling = Shingling {
            size: NonZeroUsize::new(self.size).ok_or_else(|| Error::Parameter {
                name: "`size`",
                value: "0".to_owned(),
                expected: "a number from 1 on".to_owned(),
            })?,
            normalise: Normalise {
                lowercase: self.lowercase,
                strip_punctuation: self.strip_punctuation,
                keep_whitespace: self.keep_whitespace,
            },
            weighting: if self.count {
                Weighting::Counts
            } else {
                Weighting::Equal
            },
            unit,
        };
        let builder = Engine::builder().scheme(scheme).shingling(shingling);
        let builder = match hash {
            Some(hash) => builder.hash(hash),
            None => builder,
        };
        builder.work_bytes(0).build()
    }

    fn unit(&self) -> Result<Unit> {
        if let Some(words) = &self.stop_words {
            return Ok(Unit::StopWords(words.iter().map(String::as_str).collect()));
        }
        Unit::plain(&self.unit).ok_or_else(|| Error::UnknownName {
            what: "unit",
            name: self.unit.clone(),
            known: "bytes, chars, words, pieces, code, tokens, stopwords".to_owned(),
        })
    }

    fn search(&self, kind: IndexKind, engine: &Engine) -> Result<Search> {
        check_threshold(self.threshold)?;
        let verifications = [Verification::Signature, Verification::Exact];
        let verification = verifications
            .into_iter()
            .find(|known| known.name() == self.verify);
        let verification = verification.ok_or_else(|| Error::UnknownName {
            what: "verification",
            name: self.verify.clone(),
            known: "signature, exact".to_owned(),
        })?;
        let measures = [Measure::Jaccard, Measure::Contained];
        let measure = measures
            .into_iter()
            .find(|known| known.name() == self.measure);
        let measure = measure.ok_or_else(|| Error::UnknownName {
            what: "measure",
            name: self.measure.clone(),
            known: "jaccard, contained".to_owned(),
        })?;
        let banding = match &self.signing {
            Some(signing) => Banding::new(signing.bands, signing.rows, engine.scheme().num_perm())?,
            None => Search::banding_for(measure, self.threshold, engine.scheme())?,
        };
        Ok(Search {
            measure,
            candidates: match kind {
                IndexKind::Lsh => CandidateMethod::Lsh,
                IndexKind::Exact => CandidateMethod::Join,
            },
            ..Search::through_lsh(self.threshold, banding, verification)
        })
    }

    /// All values, those of signing beside the others.
    fn fields(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        if let Some(Value::Object(signing)) = fields.remove("signing") {
            fields.extend(signing);
        }
        fields
    }

    /// Refuses a header that differs from this one of the index in a folder.
    ///
    /// # Errors
    /// [`Error::Input`] that names the first value that differs, of both.
    pub(super) fn check_same(&self, folder: &Path, other: &Header) -> Result<()> {
        let (own, other) = (self.fields(), other.fields());
        // What else differs may follow from the kind.
        let first = ["kind", "measure"].map(str::to_owned);
        let names = first.iter().chain(own.keys()).chain(other.keys());
        let differing = names
            .into_iter()
            .filter(|name| own.get(name.as_str()) != other.get(name.as_str()))
            .min_by_key(follows_from_others);
        let Some(name) = differing else {
            return Ok(());
        };
        let shown = |fields: &Map<String, Value>| {
            let value = fields.get(name);
            value.map_or("none".to_owned(), Value::to_string)
        };
        Err(Error::Input {
            path: folder.to_owned(),
            problem: format!(
                "the index has {name} {}, not {}",
                shown(&own),
                shown(&other)
            ),
            remedy: format!("use the {name} of the index, or build another index"),
        })
    }
}

/// Whether a field follows from others unless it is chosen: the others say better what differs.
fn follows_from_others(name: &&String) -> bool {
    ["bands", "rows", "slot_bits"].contains(&name.as_str())
}

/// Refuses what an index does not have.
fn check(engine: &Engine, search: &Search) -> Result<()> {
    let refused = |name, value: &str, expected: &str| Error::Parameter {
        name,
        value: value.to_owned(),
        expected: expected.to_owned(),
    };
    match engine.shingler().shingling().weighting {
        Weighting::Equal | Weighting::Counts => {}
        Weighting::Places | Weighting::Given(_) | Weighting::Rarity => {
            return Err(refused(
                "the weighting of an index",
                "by weights or places",
                "equal weights, or counts",
            ));
        }
    }
    if search.verification == Verification::None {
        return Err(refused(
            "`verify` of an index",
            "none",
            "signature or exact",
        ));
    }
    if search.within.is_some() {
        return Err(refused(
            "`measure` of an index",
            "a distance",
            "jaccard or contained",
        ));
    }
    match IndexKind::from_search(search) {
        IndexKind::Exact => search.method(engine).map(|_| ()),
        IndexKind::Lsh if search.measure != Measure::Jaccard => Err(refused(
            "`measure` of an index of kind lsh",
            search.measure.name(),
            "jaccard; an index of kind exact takes it",
        )),
        IndexKind::Lsh => Ok(()),
    }
}

#[cfg(test)]
mod tests;
