//! The program knows the profile with which it was built.

use std::fs;
use std::process::Command;

/// Builds a program of one line with the build script of the command: the command itself takes minutes.
#[test]
fn a_build_script_tells_the_profile() {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/build.rs");
    let package = format!(
        "[workspace]\n[package]\nname = \"told\"\nedition = \"2024\"\nbuild = '{script}'\n\
         [profile.dist]\ninherits = \"release\"\n"
    );
    fs::write(folder.path().join("Cargo.toml"), package).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    let program = "fn main() { print!(\"{}\", env!(\"SIMGPU_PROFILE\")) }\n";
    fs::write(folder.path().join("src/main.rs"), program).unwrap();
    for profile in ["dev", "release", "dist"] {
        let run = Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--offline", "--profile", profile])
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", folder.path().join("target"))
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        assert_eq!(String::from_utf8(run.stdout).unwrap(), profile);
    }
}
