//! The copy of stdin, seen from outside while a run waits for more of it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Place, SIMGPU, files_in, json_lines};

#[test]
fn the_copy_of_stdin_has_no_name() {
    for (command, folder) in [
        ("dedup - --output out", "out/.partial"),
        ("pairs - --output p.csv", ""),
        ("pairs - --output -", "temporary"),
        ("sign - --output s.npy", ""),
    ] {
        let place = Place::new();
        place.write("temporary/keep", "");
        let mut child = Command::new("sh")
            // Without a umask, nothing but the program limits who may open the copy.
            .args(["-c", "umask 0; exec \"$@\"", "sh", SIMGPU])
            .args(command.split_whitespace())
            .current_dir(place.path(""))
            .env("TMPDIR", place.path("temporary"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // The first bytes of a stream show its format; a copy is made of longer ones.
        let texts = (0..100).map(|i| format!("text {i}"));
        stdin.write_all(json_lines(texts).as_ref()).unwrap();
        let folder = place.path(folder).canonicalize();
        let deadline = Instant::now() + Duration::from_secs(20);
        let found = loop {
            // A file in the folder of which only the descriptor is left.
            let descriptors = fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap();
            let copy = descriptors.flatten().find_map(|entry| {
                let target = fs::read_link(entry.path()).ok()?;
                let inside = target.starts_with(place.path("").canonicalize().unwrap());
                let metadata = fs::metadata(entry.path()).ok()?;
                (inside && metadata.is_file() && metadata.nlink() == 0).then_some(metadata)
            });
            // Opening and limiting the copy are two steps.
            match copy {
                Some(copy) if copy.permissions().mode() & 0o777 == 0o600 => break Some(copy),
                copy if Instant::now() > deadline => break copy,
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let found = found.unwrap_or_else(|| panic!("{command}: no copy in {folder:?}"));
        assert_eq!(found.permissions().mode() & 0o777, 0o600, "{command}");
        let names: Vec<String> = files_in(&place.path("")).into_keys().collect();
        let known = [
            "out/.partial/.lock",
            "p.csv.partial",
            "p.csv.report.json.partial",
            "s.npy.partial",
            "temporary/keep",
        ];
        let known = |name: &String| known.contains(&&**name) || name == "s.npy.json.partial";
        assert!(names.iter().all(known), "{command}: {names:?}");
        drop(stdin);
        assert!(child.wait().unwrap().success(), "{command}");
    }
}
