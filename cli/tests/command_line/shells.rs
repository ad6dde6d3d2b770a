//! `simgpu completions` and `simgpu man`.

use crate::support::{Place, files_in};

#[test]
fn every_shell_has_completions() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = place.run(&format!("completions {shell}")).succeeded();
        let script = String::from_utf8(run.stdout).unwrap();
        assert!(script.contains("prefer-source"), "{shell}");
    }
    place.run("completions tcsh").refused(2, &["tcsh"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let place = Place::new();
    let page = String::from_utf8(place.run("man").succeeded().stdout).unwrap();
    assert!(page.contains(".TH simgpu 1"), "{page}");
    place.run("man pages").succeeded();
    let pages = files_in(&place.path("pages"));
    assert_eq!(pages["simgpu.1"], page.into_bytes());
    for command in [
        "dedup", "pairs", "sign", "link", "evaluate", "show", "tune", "compare", "bench",
        "selftest",
    ] {
        let page = String::from_utf8(pages[&format!("simgpu-{command}.1")].clone()).unwrap();
        assert!(page.contains(".SH OPTIONS"), "{command}");
        let synopsis = page.split(".SH SYNOPSIS\n").nth(1).unwrap();
        let usage = format!("simgpu {command} [OPTIONS]");
        assert!(synopsis.starts_with(&usage), "{command}: {synopsis}");
    }
}
