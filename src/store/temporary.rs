//! Temporary files that nobody else can open.
//!
//! Exact sets, the copy of stdin and the other files that never become output are such files.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::machine::free_bytes;
use crate::progress::Progress;

/// Creates a temporary file in a folder, readable and writable by its owner alone and without a name, so that
/// nothing remains of it, however the run ends.
///
/// On Linux it never has a name. Elsewhere, and on file systems without such files, it is created exclusively under
/// a random name, which is removed at once; Windows removes it when it is closed.
#[doc(hidden)]
pub fn unnamed_file(folder: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    // Linux creates a file without a name with the mode that the umask leaves.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Says how many more bytes temporary files in a folder will take, about, and refuses a run for which there is no room.
///
/// # Errors
/// [`Error::Output`] with both numbers.
#[doc(hidden)]
pub fn announce_files(folder: &Path, bytes: f64, progress: &dyn Progress) -> Result<()> {
    const MB: f64 = 1e6;
    let needed = (bytes / MB).ceil();
    match free_bytes(folder) {
        Some(free) if bytes > free as f64 => Err(Error::Output {
            path: folder.to_owned(),
            problem: format!(
                "the temporary files of the run need {needed} MB or more, and there are {} MB free",
                free / 1_000_000
            ),
            remedy: "free some space, or name another folder by `temp_dir`".to_owned(),
        }),
        _ => {
            let folder = folder.display();
            progress.tell(&format!(
                "temporary files in {folder} take about {needed} MB more"
            ));
            Ok(())
        }
    }
}

#[cfg(test)]
mod space_tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);

    impl Progress for Told {
        fn tell(&self, message: &str) {
            self.0.lock().unwrap().push(message.to_owned());
        }
    }

    #[test]
    fn files_are_announced_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let told = Told::default();
        announce_files(folder.path(), 2_500_000.0, &told).unwrap();
        let said = told.0.lock().unwrap().join("");
        assert!(said.ends_with("take about 3 MB more"), "{said}");
        if free_bytes(folder.path()).is_some() {
            let refused = announce_files(folder.path(), 1e30, &told).unwrap_err();
            assert!(refused.to_string().contains("MB free"), "{refused}");
        }
    }
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
