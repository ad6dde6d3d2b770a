//! Says why a document of a result of `dedup` was removed, or what was removed for it.
//!
//! The chain comes from the result alone. Texts are read from the inputs that `run.json` names; what cannot be read is
//! said, and the rest is shown all the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::shown_texts::{ShinglingParameters, Texts, TextsOfPair};
use simgpu::error::{Error, Result};
use simgpu::store::disk::{is_file, metadata};
use simgpu_io::{
    DocumentPlace, PlaceOfRow, REPORT, RUN_RECORD, RecordedInput, RemovedFile, RemovedRow,
    documents_of_id, id_text, read_json, with_suffix,
};

/// The documents of a result that have an id.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Shown {
    /// Each of them, in input order.
    pub documents: Vec<ShownDocument>,
    /// Inputs with texts that cannot be shown, and why.
    pub unread: BTreeMap<String, String>,
}

/// A document of a result.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct ShownDocument {
    /// Where it is.
    #[serde(flatten)]
    pub document: DocumentPlace,
    /// Whether it is kept.
    pub kept: bool,
    /// The chain to the kept document: this document, then those that connect it, each removed; the last one names the kept
    /// document. Empty if the document is kept. With greedy clustering there is one link.
    pub chain: Vec<RemovedRow>,
    /// The number of documents removed for it.
    pub removed_count: u64,
    /// The first of these, in input order.
    pub removed: Vec<RemovedRow>,
    /// The texts of removed documents beside those of their kept ones: this document first, or the first removed for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<TextsOfPair>,
}

/// The most documents removed for one that are listed.
const LISTED: usize = 100;

/// The most of these whose texts are shown.
const COMPARED: usize = 3;

/// The most ids that resemble an unknown one.
const NEAR: usize = 3;

/// Shows the documents with an id in a folder of `dedup`, and reads the texts of the inputs if asked. A string and the number
/// with its digits are the same id here.
///
/// # Errors
/// [`Error::Input`] for a folder without a result of `dedup`, an unknown id, or a result that dedup did not write as it is.
/// The same for an input that is there and cannot be read. Inputs that changed or are gone are no error: [`Shown::unread`] names
/// them.
pub fn show(folder: &Path, id: &str, with_texts: bool) -> Result<Shown> {
    let report = report_of(folder)?;
    let clusters = folder.join("clusters.parquet");
    if !is_file(&clusters)? {
        return Err(refused(folder, "clusters.parquet is missing in it"));
    }
    let Some(removed) = RemovedFile::find(folder)? else {
        let problem = "removed.jsonl, removed.jsonl.zst or removed.parquet is missing in it";
        return Err(refused(folder, problem));
    };
    let (found, near) = documents_of_id(&clusters, id, NEAR)?;
    if found.is_empty() {
        return Err(unknown_id(&clusters, id, &near));
    }
    let mut documents: Vec<ShownDocument> = found
        .into_iter()
        .map(|found| ShownDocument {
            document: found.document,
            kept: found.is_kept,
            chain: Vec::new(),
            removed_count: 0,
            removed: Vec::new(),
            texts: Vec::new(),
        })
        .collect();
    let rows = add_rows(&mut documents, &removed)?;
    if rows != report.counts.removed {
        let counted = report.counts.removed;
        let problem = format!("it has {rows} documents, and {REPORT} counts {counted}");
        return Err(removed.odd(&problem));
    }
    add_chains(&mut documents, &removed)?;
    let mut unread = BTreeMap::new();
    if with_texts {
        let record: Record = read_json(&folder.join(RUN_RECORD))?.unwrap_or_default();
        add_texts(&mut documents, &report, record.inputs, &mut unread)?;
    }
    Ok(Shown { documents, unread })
}

/// What `run.json` says of the inputs; nothing if an earlier version wrote it.
#[derive(Default, Deserialize)]
struct Record {
    #[serde(default)]
    inputs: Vec<RecordedInput>,
}

/// What `report.json` says of the run.
#[derive(Deserialize)]
pub(super) struct ReportOfDedup {
    command: String,
    #[serde(default)]
    counts: Counts,
    #[serde(default)]
    pub(super) parameters: ShinglingParameters,
}

#[derive(Default, Deserialize)]
struct Counts {
    /// Not in the reports of other commands.
    #[serde(default)]
    removed: u64,
}

fn report_of(folder: &Path) -> Result<ReportOfDedup> {
    let Some(found) = metadata(folder)? else {
        return Err(refused(folder, "there is no such folder"));
    };
    if found.is_file() {
        let problem = if is_file(&with_suffix(folder, ".report.json"))? {
            "it is a result of pairs, which removes nothing"
        } else {
            "it is a file"
        };
        return Err(refused(folder, problem));
    }
    let Some(report) = read_json::<ReportOfDedup>(&folder.join(REPORT))? else {
        let problem = format!("it holds no complete run: there is no {REPORT} of simgpu in it");
        return Err(refused(folder, &problem));
    };
    match &*report.command {
        "dedup" => Ok(report),
        other => Err(refused(
            folder,
            &format!("it holds a result of {other}, not of dedup"),
        )),
    }
}

fn refused(folder: &Path, problem: &str) -> Error {
    Error::Input {
        path: folder.to_owned(),
        problem: problem.to_owned(),
        remedy: "name the output folder of dedup".to_owned(),
    }
}

fn unknown_id(clusters: &Path, id: &str, near: &[String]) -> Error {
    let quoted = near.iter().map(|id| format!("{id:?}"));
    let remedy = match near {
        [] => "name an id that it holds".to_owned(),
        _ => format!("did you mean {}?", quoted.collect::<Vec<_>>().join(", ")),
    };
    Error::Input {
        path: clusters.to_owned(),
        problem: format!("no document has the id {id:?}"),
        remedy,
    }
}

fn place(document: &DocumentPlace) -> PlaceOfRow {
    (document.reference, document.file.clone(), document.row)
}

/// Adds what was removed for each document, and why those were removed that were. Returns the number of all removed documents.
fn add_rows(documents: &mut [ShownDocument], removed: &RemovedFile) -> Result<u64> {
    let places: Vec<PlaceOfRow> = documents
        .iter()
        .map(|shown| place(&shown.document))
        .collect();
    let numbers: HashMap<PlaceOfRow, usize> = places.iter().cloned().zip(0..).collect();
    removed.for_each_of(&places, |row| {
        if let Some(number) = numbers.get(&place(&row.document())) {
            documents[*number].chain = vec![row.clone()];
        }
        let kept = row.kept().and_then(|kept| numbers.get(&place(&kept)));
        if let Some(number) = kept {
            let shown = &mut documents[*number];
            shown.removed_count += 1;
            if shown.removed.len() < LISTED {
                shown.removed.push(row);
            }
        }
    })
}

/// Follows the documents that connect each removed one to its kept one.
fn add_chains(documents: &mut [ShownDocument], removed: &RemovedFile) -> Result<()> {
    for shown in documents {
        let Some(first) = shown.chain.first() else {
            continue;
        };
        let (Some(kept), Some(_)) = (first.kept(), &first.via_id) else {
            continue;
        };
        let mut cluster: HashMap<String, RemovedRow> = HashMap::new();
        removed.for_each_of(&[place(&kept)], |row| {
            cluster.entry(id_text(&row.id)).or_insert(row);
        })?;
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut next = first.via_id.clone();
        // The kept document is not removed, so the chain ends there. Repeated ids may lead in a circle.
        while let Some(row) = next.and_then(|id| cluster.get(&id_text(&id))) {
            if !seen.insert(id_text(&row.id)) {
                break;
            }
            shown.chain.push(row.clone());
            next = row.via_id.clone();
        }
    }
    Ok(())
}

/// Adds the texts of removed documents and of those kept instead.
fn add_texts(
    documents: &mut [ShownDocument],
    report: &ReportOfDedup,
    inputs: Vec<RecordedInput>,
    unread: &mut BTreeMap<String, String>,
) -> Result<()> {
    let pairs_of = |shown: &ShownDocument| -> Vec<(DocumentPlace, Option<DocumentPlace>)> {
        let rows = if shown.kept {
            &shown.removed[..shown.removed.len().min(COMPARED)]
        } else {
            &shown.chain[..shown.chain.len().min(1)]
        };
        rows.iter()
            .map(|row| (row.document(), row.kept()))
            .collect()
    };
    let mut wanted: BTreeSet<PlaceOfRow> = BTreeSet::new();
    for shown in documents.iter() {
        wanted.insert(place(&shown.document));
        for (removed, kept) in pairs_of(shown) {
            wanted.insert(place(&removed));
            wanted.extend(kept.as_ref().map(place));
        }
    }
    let texts = Texts::read(&report.parameters, inputs, &wanted, unread)?;
    for shown in documents {
        let pairs = pairs_of(shown);
        shown.texts = if pairs.is_empty() {
            vec![texts.compare(shown.document.clone(), None)]
        } else {
            pairs
                .into_iter()
                .map(|(removed, kept)| texts.compare(removed, kept))
                .collect()
        };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Run;
    use crate::tests::{engine, place as place_of_files, skipping, task};
    use simgpu::pipeline::Clustering;
    use simgpu::search::Dedup;

    #[test]
    fn what_is_shown_is_what_the_lines_say() {
        let (place, engine) = (place_of_files(), engine());
        let inputs = place.inputs();
        for clustering in [Clustering::Greedy, Clustering::Connected] {
            let task = Dedup {
                clustering,
                ..task(&engine)
            };
            let run = Run {
                options: crate::tests::overwriting(true),
                ..skipping(&engine, &inputs)
            };
            run.dedup(&task, &place.path("out")).unwrap();
            let lines = place.lines("out/removed.jsonl");
            for line in lines.iter().step_by(7) {
                let id = line["id"]
                    .as_str()
                    .map_or_else(|| line["id"].to_string(), str::to_owned);
                let shown = show(&place.path("out"), &id, false).unwrap();
                let listed = shown.documents.iter().find(|shown| {
                    shown.document.file == line["file"] && shown.document.row == line["row"]
                });
                let shown = listed.unwrap();
                assert_eq!(serde_json::to_value(&shown.chain[0]).unwrap(), *line);
                let last = shown.chain.last().unwrap();
                assert_eq!(
                    serde_json::to_value(&last.kept_id).unwrap(),
                    line["kept_id"]
                );
                if let Some(via) = &last.via_id {
                    assert_eq!(via.get(), last.kept_id.as_ref().unwrap().get());
                }
                let kept = last.kept().unwrap();
                let kept_shown =
                    super::show(&place.path("out"), &id_text(&kept.id), false).unwrap();
                let named = kept_shown.documents.iter();
                let mut named = named.filter(|shown| shown.document.file == kept.file);
                let kept_document = named.find(|shown| shown.document.row == kept.row).unwrap();
                let same = lines.iter().filter(|other| {
                    other["kept_row"] == line["kept_row"] && other["kept_file"] == line["kept_file"]
                });
                assert!(kept_document.kept && kept_document.chain.is_empty());
                assert_eq!(kept_document.removed_count, same.count() as u64);
            }
            assert!(lines.len() > 20);
        }
    }
}
