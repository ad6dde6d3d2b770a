//! Links in folders.

use serde_json::json;

use super::own_and_shared;
use crate::support::{Place, Results, json_lines, text};

/// A folder of 985 links to files, 10 that lead to none, and 5 that lead in a circle.
#[cfg(unix)]
fn links() -> Place {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    for i in 0..985 {
        place.write(&format!("store/{i:03}.jsonl"), json_lines([text(i, 20)]));
    }
    std::fs::create_dir_all(place.path("links/sub")).unwrap();
    for i in 0..985 {
        let target = format!("../store/{i:03}.jsonl");
        symlink(target, place.path(&format!("links/l{i:03}.jsonl"))).unwrap();
    }
    for i in 0..9 {
        symlink("../gone.jsonl", place.path(&format!("links/d{i}.jsonl"))).unwrap();
    }
    // A part of its path is a file.
    symlink("../../store/000.jsonl/x", place.path("links/sub/d.jsonl")).unwrap();
    // Above the folder that is searched.
    symlink("../..", place.path("links/sub/up.jsonl")).unwrap();
    symlink(".", place.path("links/here.jsonl")).unwrap();
    symlink("self.jsonl", place.path("links/self.jsonl")).unwrap();
    symlink("two.jsonl", place.path("links/one.jsonl")).unwrap();
    symlink("one.jsonl", place.path("links/two.jsonl")).unwrap();
    place
}

#[cfg(unix)]
#[test]
fn links_to_nowhere_are_counted_once() {
    let place = links();
    for input in ["links", "links/**/*.jsonl"] {
        let run = place.run(&format!("dedup {input} -o out --overwrite"));
        let run = run.succeeded();
        let says = "warning: skipped 10 links that lead to no file, first links/d0.jsonl, and 5 links that lead in a circle, first links/here.jsonl; correct or remove them, or leave them out with --exclude\n";
        assert!(run.stderr.contains(says), "{}", run.stderr);
        assert_eq!(run.stderr.matches("warning: ").count(), 1, "{}", run.stderr);
        let results = Results::of(&place.path("out"));
        assert_eq!(results.count("documents"), 985);
        let not_read = json!({
            "dangling_links": {"count": 10, "first": "d0.jsonl"},
            "cyclic_links": {"count": 5, "first": "here.jsonl"},
        });
        assert_eq!(results.report["not_read"], not_read);
    }
    // The same for pairs, and for searches of links.
    for command in [
        "pairs links -o pairs.csv",
        "link links --fields text -o linked",
    ] {
        let run = place.run(command).succeeded();
        assert!(
            run.stderr.contains("10 links that lead to no file"),
            "{}",
            run.stderr
        );
    }
}

#[cfg(unix)]
#[test]
fn filters_act_before_links_are_followed() {
    let place = links();
    let broken = "d*,here*,self*,one*,two*,*up*";
    let exclude: String = broken
        .split(',')
        .map(|glob| format!(" --exclude {glob}"))
        .collect();
    for (options, warns) in [
        (exclude.as_str(), false),
        (" --include l*.jsonl", false),
        (" --include l*.jsonl --include sub/d*", true),
    ] {
        let run = place.run(&format!("dedup links -o out --overwrite{options}"));
        let run = run.succeeded();
        let has_warned = run
            .stderr
            .contains("skipped 1 link that leads to no file, first links/sub/d.jsonl;");
        assert_eq!(has_warned, warns, "{options}: {}", run.stderr);
        assert_eq!(
            run.stderr.contains("warning"),
            warns,
            "{options}: {}",
            run.stderr
        );
        assert_eq!(Results::of(&place.path("out")).count("documents"), 985);
    }
    // A hidden link is not looked at.
    std::os::unix::fs::symlink("gone", place.path("store/.hidden.jsonl")).unwrap();
    let run = place.run("dedup store -o out --overwrite").succeeded();
    assert!(!run.stderr.contains("link"), "{}", run.stderr);
}

#[cfg(unix)]
#[test]
fn named_links_to_nowhere_are_errors() {
    let place = links();
    let refused = |input: &str, says: &str| {
        let run = place.run(&format!("dedup links/l001.jsonl {input} -o out"));
        run.refused(1, &[input, says]);
    };
    refused("links/d0.jsonl", "the link leads to no file");
    refused("links/self.jsonl", "the link leads in a circle");
    // Nothing but links that lead nowhere.
    std::fs::create_dir(place.path("only")).unwrap();
    std::os::unix::fs::symlink("gone", place.path("only/a.jsonl")).unwrap();
    refused(
        "only",
        "the folder holds no file, only links that lead to none",
    );
}

#[cfg(unix)]
#[test]
fn circles_end_a_glob_soon() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    place.write("docs/a.jsonl", own_and_shared(1));
    place.write("docs/b/c.jsonl", own_and_shared(2));
    // Followed without end, each level has four times the links of the one above it.
    for name in ["p", "q", "b/r", "b/s"] {
        symlink(place.path("docs"), place.path(&format!("docs/{name}"))).unwrap();
    }
    let results = place.dedup("docs/**/*.jsonl");
    assert_eq!(results.count("documents"), 4);
    assert_eq!(results.kept_names(), ["a.jsonl", "b/c.jsonl"]);
    assert_eq!(results.report["not_read"]["cyclic_links"]["count"], 4);
}

#[cfg(unix)]
#[test]
fn folders_that_link_each_other_are_walked_once() {
    use std::os::unix::fs::symlink;
    let place = Place::new();
    // Walked in every order, there would be 12! ways through them.
    for own in 0..12 {
        place.write(&format!("docs/{own}/a.jsonl"), own_and_shared(own));
        for other in (0..12).filter(|other| *other != own) {
            let link = place.path(&format!("docs/{own}/to-{other}"));
            symlink(place.path(&format!("docs/{other}")), link).unwrap();
        }
    }
    assert_eq!(place.dedup("docs").count("documents"), 24);
}
