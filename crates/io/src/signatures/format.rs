//! The formats of signature files.

use std::path::{Path, PathBuf};

use simgpu::error::{Error, Result};

/// The format of a file of signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignaturesFormat {
    /// Parquet: ids and signatures, with the report of the run in the metadata.
    Parquet,
    /// NumPy: the matrix `(documents, num_perm)` of type `<u4` or `<u8`. A `.json` file beside it holds the
    /// report of the run and the digest of the matrix.
    Npy,
}

impl SignaturesFormat {
    /// The format for the extension of a file name.
    ///
    /// # Errors
    /// [`Error::Output`] for an unknown extension.
    pub fn of_path(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("parquet" | "pq") => Ok(SignaturesFormat::Parquet),
            Some("npy") => Ok(SignaturesFormat::Npy),
            _ => Err(Error::Output {
                path: path.to_owned(),
                problem: "unknown file extension".to_owned(),
                remedy: "choose a name that ends in .parquet or .npy".to_owned(),
            }),
        }
    }
}

/// The path of the description of a matrix.
#[doc(hidden)]
pub fn description_of(matrix: &Path) -> PathBuf {
    let mut name = matrix.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}
