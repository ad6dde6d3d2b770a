//! Folders of temporary files that a run finds, and did not make itself.
//!
//! They lie in a folder that others may write to, such as `/tmp` or a shared output, so anybody may have put one there. A run
//! uses only those that are its user's own, and follows no link out of them. It removes files by the opened folder, so that
//! nobody can put a link in its place meanwhile. In a folder where others may rename what is not theirs, which `/tmp` forbids,
//! they could still exchange a folder from which a run resumes.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use crate::error::{Error, Result};

/// Refuses a link in place of a folder.
pub(super) fn check_no_link(folder: &Path) -> Result<()> {
    if folder.is_symlink() {
        Err(untrusted(folder, "it is a link, which no run makes"))
    } else {
        Ok(())
    }
}

/// Refuses a folder that is a link, or that another user owns.
pub(super) fn check_own(folder: &Path) -> Result<()> {
    check_no_link(folder)?;
    let metadata = folder
        .symlink_metadata()
        .map_err(Error::io("read", folder))?;
    if is_own(&metadata, folder) {
        Ok(())
    } else {
        Err(untrusted(folder, "it belongs to another user"))
    }
}

fn untrusted(folder: &Path, problem: &str) -> Error {
    Error::Output {
        path: folder.to_owned(),
        problem: format!("{problem}, so a run cannot trust these temporary files"),
        remedy: "remove it, or choose another `temp_dir` or output folder".to_owned(),
    }
}

/// Whether a folder has the owner of what this user makes. That may be another one: some file systems map users.
#[cfg(unix)]
fn is_own(metadata: &std::fs::Metadata, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let own_beside = || {
        let made = tempfile::tempfile_in(folder.parent()?).ok()?;
        Some(made.metadata().ok()?.uid())
    };
    metadata.uid() == rustix::process::geteuid().as_raw() || Some(metadata.uid()) == own_beside()
}

#[cfg(not(unix))]
fn is_own(_: &std::fs::Metadata, _: &Path) -> bool {
    true
}

/// Opens a file of such a folder. A link, or what is no file of its own, is [`io::ErrorKind::InvalidInput`].
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        // To open a pipe would wait for its other end.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path);
    #[cfg(unix)]
    let file = file.map_err(|error| match rustix::io::Errno::from_io_error(&error) {
        Some(rustix::io::Errno::LOOP) => io::ErrorKind::InvalidInput.into(),
        _ => error,
    });
    let file = file?;
    let metadata = file.metadata()?;
    if metadata.is_file() && has_one_name(&metadata) {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

#[cfg(unix)]
fn has_one_name(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    metadata.nlink() == 1
}

#[cfg(not(unix))]
fn has_one_name(_: &std::fs::Metadata) -> bool {
    true
}

/// Removes such a folder: the file `first`, then all others, and `last`.
#[cfg(unix)]
pub(super) fn remove_folder(folder: &Path, first: &str, last: &str) -> io::Result<()> {
    use rustix::fs::{AtFlags, Dir, Mode, OFlags};

    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = File::from(rustix::fs::open(folder, flags, Mode::empty())?);
    if !is_own(&opened.metadata()?, folder) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let remove = |name: &std::ffi::CStr| match rustix::fs::unlinkat(&opened, name, AtFlags::empty())
    {
        Err(rustix::io::Errno::NOENT) => Ok(()),
        removed => removed.map_err(io::Error::from),
    };
    let [first, last] = [first, last].map(std::ffi::CString::new);
    let (first, last) = (first?, last?);
    remove(&first)?;
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name();
        if ![c".", c"..", &last].contains(&name) {
            remove(name)?;
        }
    }
    remove(&last)?;
    std::fs::remove_dir(folder)
}

/// Removes such a folder: the file `first`, then all others, and `last`.
#[cfg(not(unix))]
pub(super) fn remove_folder(folder: &Path, first: &str, last: &str) -> io::Result<()> {
    if folder.symlink_metadata()?.is_symlink() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    match std::fs::remove_file(folder.join(first)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name() != last {
            std::fs::remove_file(entry.path())?;
        }
    }
    std::fs::remove_dir_all(folder)
}

/// Whether a name is that of a file in a folder, without a way out of it.
pub(super) fn is_name(name: &str) -> bool {
    Path::new(name)
        .file_name()
        .is_some_and(|file_name| file_name == name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::{chown, symlink};
    use std::path::PathBuf;
    use std::sync::Arc;

    use serde_json::json;

    use super::super::checkpoint::write_checked;
    use super::super::{Budget, RunIdentity, Spill, Unfinished, end_all, remove_all};
    use super::*;

    /// A folder that others write to, the folder of a stopped run in it, and a file that is none of its business.
    struct Shared {
        folder: tempfile::TempDir,
        run_folder: PathBuf,
        victim: PathBuf,
    }

    impl Shared {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let victim = folder.path().join("victim");
            fs::write(&victim, "kept").unwrap();
            let run = RunIdentity {
                output: "out".to_owned(),
                version: "1".to_owned(),
                format: RunIdentity::FORMAT,
                parameters: [].into(),
                inputs: Vec::new(),
            };
            let budget = Budget {
                run: Some(Arc::new(run)),
                ..Budget::new(folder.path(), 1 << 20)
            };
            let spill = Spill::new(&budget).unwrap();
            let run_folder = spill.folder().to_owned();
            spill.checkpoint("stage", &1).unwrap();
            drop(spill);
            Shared {
                folder,
                run_folder,
                victim,
            }
        }

        fn find(&self) -> Result<Option<Unfinished>> {
            Unfinished::find(self.folder.path(), "out")
        }

        fn plant(&self, name: &str) {
            let files = json!({name: {"blocks": 0, "bytes": 0}});
            let planted = json!({"files": files, "stages": {}, "resumed": 0});
            write_checked(&self.run_folder, "checkpoint.json", &planted).unwrap();
        }

        #[track_caller]
        fn check(&self) {
            assert_eq!(fs::read(&self.victim).unwrap(), b"kept");
        }
    }

    #[test]
    fn a_checkpoint_names_files_of_its_folder_alone() {
        for name in [
            "",
            ".",
            "..",
            "../victim",
            "./victim",
            "a/../../victim",
            "a/b",
            "/",
            "x/",
        ] {
            assert!(!is_name(name), "{name}");
        }
        let shared = Shared::new();
        let absolute = shared.victim.to_str().unwrap().to_owned();
        symlink(&shared.victim, shared.run_folder.join("link")).unwrap();
        fs::hard_link(&shared.victim, shared.run_folder.join("hard")).unwrap();
        for name in ["../victim", &absolute, "link", "hard", ".."] {
            shared.plant(name);
            let found = shared.find().unwrap().unwrap();
            let refused = found.resume(1 << 20).unwrap_err().to_string();
            assert!(
                refused.contains(shared.run_folder.to_str().unwrap()),
                "{refused}"
            );
            shared.check();
        }
        // Nothing is wrong with the folder itself: it is removed.
        shared.find().unwrap().unwrap().discard().unwrap();
        assert!(!shared.run_folder.exists());
        shared.check();
    }

    #[test]
    fn a_link_is_no_folder_of_a_run() {
        let shared = Shared::new();
        let elsewhere = shared.folder.path().join("elsewhere");
        fs::rename(&shared.run_folder, &elsewhere).unwrap();
        symlink(&elsewhere, &shared.run_folder).unwrap();
        let refused = shared.find().unwrap_err().to_string();
        assert!(
            refused.contains(shared.run_folder.to_str().unwrap()),
            "{refused}"
        );
        let files = || fs::read_dir(&elsewhere).unwrap().count();
        let before = files();
        end_all(shared.folder.path());
        remove_all(shared.folder.path());
        super::super::remove_abandoned(shared.folder.path());
        assert_eq!(files(), before);
    }

    #[test]
    fn folders_of_other_users_stay() {
        let shared = Shared::new();
        if chown(&shared.run_folder, Some(65534), None).is_err() {
            let why = "skipped: only root can give a folder to another user";
            writeln!(io::stderr(), "{why}").unwrap();
            return;
        }
        shared.plant("../victim");
        let refused = shared.find().unwrap_err().to_string();
        assert!(refused.contains("another user"), "{refused}");
        assert!(
            refused.contains(shared.run_folder.to_str().unwrap()),
            "{refused}"
        );
        let others = Unfinished::find(shared.folder.path(), "another output");
        assert!(others.unwrap().is_none());
        end_all(shared.folder.path());
        remove_all(shared.folder.path());
        fs::remove_file(shared.run_folder.join("checkpoint.json")).unwrap();
        super::super::remove_abandoned(shared.folder.path());
        assert!(shared.run_folder.join("run.json").exists());
        shared.check();
    }

    /// A pipe in place of a file would hold the run up.
    #[test]
    fn a_pipe_is_no_file_of_a_run() {
        let shared = Shared::new();
        let identity = shared.run_folder.join("run.json");
        fs::remove_file(&identity).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&identity).status();
        if made.is_ok_and(|status| status.success()) {
            assert!(matches!(shared.find(), Err(Error::DamagedSpill { .. })));
        }
    }
}
