//! Asks of each text whether one like it was seen before, and remembers it if not.
//!
//!     cargo run --package simgpu-index --example seen_before

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::path::Path;

use simgpu::Result;
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit};
use simgpu::search::{Search, Verification};
use simgpu_index::{Index, OnKnownId, Verdict};

const NEWS: [&str; 4] = [
    "The ferry to the islands was cancelled this morning because of the storm",
    "The council will vote on the new bridge next week",
    "BREAKING: the ferry to the islands was cancelled this morning because of the storm",
    "A storm has cancelled nothing but a picnic",
];

/// An index of shingles of five characters, and of texts of which more than half are alike.
fn create(folder: &Path) -> Result<Index> {
    let shingling = Shingling::of(Unit::Chars).with_size(5.try_into().expect("5 is not 0"))?;
    let engine = Engine::builder().shingling(shingling).build()?;
    let search = Search {
        verification: Verification::Exact,
        ..Search::new(0.5, engine.scheme())?
    };
    Index::create(folder, engine, &search)
}

/// The texts that were new.
fn new_texts(folder: &Path) -> Result<Vec<&'static str>> {
    let index = create(folder)?;
    let mut new = Vec::new();
    for (number, text) in (0u64..).zip(NEWS) {
        match &index.check_or_add(text, number.into())?[..] {
            [] => new.push(text),
            [hit, ..] => println!("{:.2} like {}: {text}", hit.similarity, hit.id),
        }
    }
    Ok(new)
}

fn main() -> Result<()> {
    let folder = tempfile::tempdir().map_err(simgpu::Error::io("create a folder in", "."))?;
    let folder = folder.path().join("seen");
    for text in new_texts(&folder)? {
        println!("new: {text}");
    }
    // The index stays. A batch costs less than its texts one by one.
    let index = Index::open(&folder)?;
    let ids = [10, 11, 12, 13].map(|id: u64| id.into());
    let verdicts = index.add_if_new(&NEWS, &ids, OnKnownId::Fail)?;
    let is_seen = |verdict: &&Verdict| matches!(verdict, Verdict::Seen(_));
    println!(
        "{} of them are known now",
        verdicts.iter().filter(is_seen).count()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edited_news_are_seen_before() {
        let folder = tempfile::tempdir().unwrap();
        let new = new_texts(&folder.path().join("seen")).unwrap();
        assert_eq!(new, [NEWS[0], NEWS[1], NEWS[3]]);
        main().unwrap();
    }
}
