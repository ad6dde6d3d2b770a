//! Checks that outputs and inputs are different files.

use std::path::{Path, PathBuf};

use simgpu::error::{Error, Result};

/// Refuses an output that is an input file, or a folder that contains one.
#[doc(hidden)]
pub fn check_not_overwritten(inputs: &[&Path], outputs: &[PathBuf]) -> Result<()> {
    for output in outputs {
        let output_is = real_path(output)?;
        for input in inputs {
            if real_path(input)?.starts_with(&output_is) {
                return Err(Error::Output {
                    path: output.clone(),
                    problem: format!("it would overwrite the input {}", input.display()),
                    remedy: "choose another output".to_owned(),
                });
            }
        }
    }
    Ok(())
}

/// Refuses an output folder that contains the folder of an index, or lies in it.
#[doc(hidden)]
pub fn check_apart(index: &Path, output: &Path) -> Result<()> {
    let (index_is, output_is) = (real_path(index)?, real_path(output)?);
    if index_is.starts_with(&output_is) || output_is.starts_with(&index_is) {
        Err(Error::Output {
            path: output.to_owned(),
            problem: format!("it would overwrite the index {}", index.display()),
            remedy: "choose another output".to_owned(),
        })
    } else {
        Ok(())
    }
}

/// The path with symbolic links resolved. Its last components need not exist.
#[doc(hidden)]
pub fn real_path(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path).map_err(Error::io("find", path))?;
    for existing in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (existing.canonicalize(), path.strip_prefix(existing)) {
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(path)
}
