use super::*;

#[test]
fn common_parents_end_between_components() {
    let common = common_parent(Path::new("/a/b/c"), Path::new("/a/bc"));
    assert_eq!(common, Path::new("/a"));
}

#[test]
fn a_file_is_found_once() {
    let place = tempfile::tempdir().unwrap();
    for name in ["b.jsonl", "a.jsonl", "README.md", ".hidden"] {
        std::fs::write(place.path().join(name), "x").unwrap();
    }
    let mut found = FoundFiles::new(None, false, FileFilter::default());
    let file = place.path().join("b.jsonl");
    found.file(file.clone(), place.path().to_owned()).unwrap();
    found.folder(place.path()).unwrap();
    found.glob(&place.path().join("*.jsonl")).unwrap();
    let names = found
        .files
        .iter()
        .map(|(_, path)| path.file_name().unwrap());
    assert!(names.eq(["b.jsonl", "a.jsonl"]));
    let count = |several: &Option<Several>| several.as_ref().map(|several| several.count);
    // Two files are named more than once, however often, and one describes the others.
    assert_eq!(count(&found.not_read.repeated_files), Some(2));
    assert_eq!(count(&found.not_read.descriptions), Some(1));
    assert!(found.glob(&place.path().join("*.csv")).is_err());
}
