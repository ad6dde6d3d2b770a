//! Temporary files that nobody else can open.
//!
//! Exact sets, the copy of stdin and the other files that never become output are such files.

use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a temporary file in a folder, readable and writable by its owner alone and without a name, so that
/// nothing remains of it, however the run ends.
///
/// On Linux it never has a name. Elsewhere, and on file systems without such files, it is created exclusively under
/// a random name, which is removed at once; Windows removes it when it is closed.
pub(crate) fn unnamed_file(folder: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    // Linux creates a file without a name with the mode that the umask leaves.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;

    #[test]
    fn only_the_owner_can_open_it() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = unnamed_file(folder.path()).unwrap().metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
        assert_eq!(metadata.nlink(), 0, "it has a name");
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
