//! Deduplicates texts in memory, and shows what was removed, why, and what is kept.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use simgpu::engine::Engine;
use simgpu::progress::Silent;
use simgpu::search::{Dedup, Search, Verification, dedup};

fn main() -> simgpu::Result<()> {
    let texts: Vec<String> = [
        "The ship left the harbour at dawn with a cargo of salt and reached the island before the storm broke.",
        "The quick brown fox jumps over the lazy dog, but the dog does not look up.",
        "The ship left the harbour at dawn with a cargo of salt and reached the island before the storm ended.",
        "The quick brown fox jumps over the lazy dog, but the dog does not look up.",
        "",
        "Yesterday the ship left the harbour at dawn with a cargo of salt and reached the island before the storm broke.",
    ]
    .map(String::from)
    .to_vec();

    let engine = Engine::builder().build()?;
    let mut search = Search::new(0.8, engine.scheme())?;
    search.verification = Verification::Exact;
    let found = dedup(&texts, &engine, &Dedup::new(search), &Silent)?;

    for removed in &found.removed {
        let similarity = removed
            .similarity
            .expect("exact verification computes every similarity");
        println!(
            "removed {} for {}: similarity {similarity:.3}, found by {}",
            removed.document,
            removed.kept,
            removed.found_by(found.verification.name()),
        );
    }
    for row in found.kept() {
        println!("kept {row}: {:?}", texts[row as usize]);
    }

    // An empty text is always kept.
    assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1, 4]);
    let how: Vec<_> = found
        .removed
        .iter()
        .map(|removed| (removed.document, removed.kept, removed.is_identical))
        .collect();
    assert_eq!(how, [(2, 0, false), (3, 1, true), (5, 0, false)]);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
