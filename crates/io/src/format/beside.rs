//! Files next to data files that hold no documents.

use std::ffi::OsStr;
use std::path::Path;

use super::Format;
use simgpu::error::Result;
use simgpu::store::disk::is_file;

/// Whether a name in a folder is that of a hidden file or folder.
pub(crate) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Whether a name in a folder is that of a file or folder that a program wrote beside its data.
pub(crate) fn is_marker(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "_SUCCESS",
        "_FAILURE",
        "_metadata",
        "_common_metadata",
        "_temporary",
        "_delta_log",
    ];
    NAMES.contains(&name) || name.starts_with("_committed_") || name.starts_with("_started_")
}

/// Whether a file in a folder is one that the Hugging Face `datasets` write beside their tables, in `save_to_disk`: a
/// description, or what they computed from the tables.
pub(crate) fn is_note_of_dataset(path: &Path) -> Result<bool> {
    const OF_TABLES: [&str; 2] = ["dataset_info.json", "state.json"];
    let Some(name) = path.file_name().and_then(OsStr::to_str) else {
        return Ok(false);
    };
    if name == "dataset_dict.json" {
        return Ok(true);
    }
    let is_cache = name.starts_with("cache-") && name.ends_with(".arrow");
    if !is_cache && !OF_TABLES.contains(&name) {
        return Ok(false);
    }
    for note in OF_TABLES {
        if !is_file(&path.with_file_name(note))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a file of this name usually describes the data beside it: `README.md`, `LICENSE`, `CHANGELOG.txt`.
pub(crate) fn is_description(name: &OsStr) -> bool {
    const NAMES: [&str; 8] = [
        "README",
        "LICENSE",
        "LICENCE",
        "COPYING",
        "NOTICE",
        "CHANGELOG",
        "CONTRIBUTING",
        "CITATION",
    ];
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    // Also `README_ja.md` and `LICENSE-MIT`, but not `notice-of-sale.txt`.
    let is_of = |known: &&str| {
        let rest = stem.strip_prefix(known);
        stem.eq_ignore_ascii_case(known) || rest.is_some_and(|rest| rest.starts_with(['-', '_']))
    };
    let is_known = NAMES.iter().any(is_of);
    is_known && Format::from_name(&name, false).is_none_or(|format| format == Format::Text)
}
