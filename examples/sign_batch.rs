//! Signs a batch of texts, and estimates the similarity of two of them with its 95 % interval.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use simgpu::engine::Engine;
use simgpu::scheme::Scheme;

fn main() -> simgpu::Result<()> {
    let scheme = Scheme::named("affine32")?.with_num_perm(256)?;
    let engine = Engine::builder().scheme(scheme).build()?;

    // The first two differ in the last of 20 words, so they share 15 of 17 shingles of five words.
    let texts = [
        "The ship left the harbour at dawn with a cargo of salt and reached the island before the storm broke.",
        "The ship left the harbour at dawn with a cargo of salt and reached the island before the storm ended.",
        "The quick brown fox jumps over the lazy dog, but the dog does not look up.",
    ];
    let signatures = engine.sign(&texts)?;
    println!(
        "{} signatures of {} slots",
        signatures.len(),
        signatures.num_perm()
    );

    let estimate = signatures.jaccard_estimate(0, 1);
    let (low, high) = estimate.interval(0.95)?;
    println!(
        "similarity of texts 0 and 1: {:.3} ({low:.3} to {high:.3})",
        estimate.jaccard()
    );

    assert_eq!((signatures.len(), signatures.num_perm()), (3, 256));
    assert!((low..=high).contains(&(15.0 / 17.0)));
    assert!(signatures.estimate(0, 2) < low);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
