//! Paths, without a look at the disk.

use std::path::{Component, Path, PathBuf};

use simgpu::error::{Error, Result};

pub(crate) fn absolute(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    // `absolute` keeps `..`, which would break comparisons of prefixes.
    let mut plain = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    Ok(plain)
}

pub(crate) fn parent_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}

pub(crate) fn common_parent(a: &Path, b: &Path) -> PathBuf {
    let shared = a.components().zip(b.components());
    shared
        .take_while(|(a, b)| a == b)
        .map(|(component, _)| component)
        .collect()
}

pub(crate) fn with_slashes(path: &Path) -> String {
    let components = path.components().map(|c| c.as_os_str().to_string_lossy());
    components.collect::<Vec<_>>().join("/")
}
