//! Shingles documents on one thread: each unit, in bytes of text per second.
//!
//!     cargo bench --bench shingle -- words
//!
//! Texts: ASCII pages of the example corpus; pages with a few other characters; and the ASCII pages in Cyrillic
//! letters, which have almost no ASCII stretches.

#[allow(dead_code, reason = "each bench uses a part of the module")]
mod stages;

use criterion::{BenchmarkId, Criterion, Throughput};
use simgpu::documents::TextBatch;
use simgpu::pipeline::{Shingler, Shingling, StopWords, Unit};
use simgpu::scheme::Scheme;

/// Frequent stop words, written in both alphabets.
const STOP_WORDS: [&str; 12] = [
    "the", "of", "and", "to", "a", "in", "is", "that", "for", "this", "by", "it",
];

fn main() {
    stages::run(&[bench_shingle]);
}

fn bench_shingle(criterion: &mut Criterion) {
    let ascii = stages::documents(str::is_ascii);
    let mixed = stages::documents(|text| !text.is_ascii());
    let cyrillic: Vec<String> = ascii.iter().map(|text| in_cyrillic(text)).collect();
    let stop_words = STOP_WORDS.into_iter().collect::<StopWords>();
    let cyrillic_stop_words = STOP_WORDS.map(in_cyrillic);
    let cyrillic_stop_words: StopWords = cyrillic_stop_words.iter().map(String::as_str).collect();
    let texts = [
        ("ascii", &ascii, &stop_words),
        ("mixed", &mixed, &stop_words),
        ("cyrillic", &cyrillic, &cyrillic_stop_words),
    ];
    let mut group = criterion.benchmark_group("shingle");
    for (alphabet, documents, stop_words) in texts {
        let texts: TextBatch = documents.iter().map(String::as_str).collect();
        let bytes: usize = texts.iter().map(str::len).sum();
        group.throughput(Throughput::Bytes(bytes as u64));
        for unit in [
            Unit::Bytes,
            Unit::Chars,
            Unit::Words,
            Unit::StopWords(stop_words.clone()),
            Unit::Pieces,
        ] {
            let id = BenchmarkId::new(unit.to_string(), alphabet);
            let shingler = Shingler::new(Shingling::of(unit), &Scheme::default(), None);
            let shingler = shingler.expect("the default hash fits the scheme");
            group.bench_function(id, |bencher| bencher.iter(|| shingler.shingle(&texts)));
        }
    }
    group.finish();
}

/// Replaces each Latin letter by a Cyrillic one.
fn in_cyrillic(text: &str) -> String {
    const LETTERS: [char; 26] = [
        'а', 'б', 'ц', 'д', 'е', 'ф', 'г', 'х', 'и', 'й', 'к', 'л', 'м', 'н', 'о', 'п', 'щ', 'р',
        'с', 'т', 'у', 'в', 'ш', 'ж', 'ы', 'з',
    ];
    let letter = |c: char| match c {
        'a'..='z' => LETTERS[c as usize - 'a' as usize],
        'A'..='Z' => LETTERS[c as usize - 'A' as usize],
        other => other,
    };
    text.chars().map(letter).collect()
}
