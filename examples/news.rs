//! Finds the same article on the pages of different papers, by shingles that begin with a stop word, and by shingles of
//! words (MMDS 3.8.6).
//!
//! Half of each page is an article, and the other half front matter and advertisements. Prose has many stop words, and
//! advertisements have few: so three quarters of the stop-word shingles of a page are from its article.

#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, StopWords, Unit, compare};
use simgpu::progress::Silent;
use simgpu::search::{CandidateMethod, Pairs, Search, pairs};

const ARTICLES: usize = 60;

const PAPERS: usize = 8;

/// Papers that print an article.
const PRINTED_BY: usize = 4;

/// Words of an article, and of what surrounds it.
const WORDS: usize = 240;

/// Random numbers from a formula (splitmix64), the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ mixed >> 31) % bound as u64).unwrap_or(0)
    }

    /// A word that is no stop word.
    fn word(&mut self) -> String {
        const SYLLABLES: [&str; 12] = [
            "bra", "cor", "dun", "fel", "gri", "hos", "jak", "lum", "mer", "pol", "ster", "vin",
        ];
        let mut syllable = || SYLLABLES[self.below(SYLLABLES.len())];
        [syllable(), syllable(), syllable()].concat()
    }
}

/// Stop words of prose.
const STOP_WORDS: [&str; 12] = [
    "the", "and", "of", "that", "to", "is", "for", "was", "with", "from", "they", "it",
];

/// Text with a stop word in every `every` words. Equal seeds have equal texts.
fn text(seed: u64, words: usize, every: usize) -> String {
    let mut numbers = Numbers(seed);
    let word = |place: usize| match place % every {
        0 => STOP_WORDS[numbers.below(STOP_WORDS.len())].to_owned(),
        _ => numbers.word(),
    };
    let words: Vec<String> = (0..words).map(word).collect();
    words.join(" ")
}

/// A page of a paper.
struct Page {
    article: usize,
    text: String,
}

/// The page on which a paper prints an article. All pages of a paper have the same surroundings, with which they begin
/// and end, but for the words that `own` counts.
fn page(article: usize, paper: usize, own: usize) -> Page {
    let of_article = text(article as u64, WORDS, 2);
    let of_paper = text(1_000 + paper as u64, WORDS - own, 6);
    let of_page = text((10_000 + article * PAPERS + paper) as u64, own, 6);
    let middle = of_paper
        .match_indices(' ')
        .nth(WORDS / 3)
        .map_or(0, |found| found.0);
    let (front, advertisements) = of_paper.split_at(middle);
    Page {
        article,
        text: [front, &of_article, advertisements.trim(), &of_page].join(" "),
    }
}

/// Every article on the pages of some papers.
fn pages() -> Vec<Page> {
    let mut numbers = Numbers(7);
    let mut pages = Vec::new();
    for article in 0..ARTICLES {
        let first = numbers.below(PAPERS);
        for paper in first..first + PRINTED_BY {
            pages.push(page(article, paper % PAPERS, numbers.below(WORDS / 4)));
        }
    }
    pages
}

/// What a search finds.
struct Found {
    /// The share of the pairs of pages with the same article that are found.
    recall: f64,
    /// Pairs of pages with different articles that are found.
    wrong: usize,
}

fn search(pages: &[Page], unit: &Unit, threshold: f64) -> simgpu::Result<Found> {
    let engine = Engine::builder()
        .shingling(Shingling::of(unit.clone()))
        .build()?;
    let mut search = Search::new(threshold, engine.scheme())?;
    search.candidates = CandidateMethod::Join;
    let texts: Vec<&str> = pages.iter().map(|page| &*page.text).collect();
    let (mut right, mut wrong) = (0_usize, 0_usize);
    pairs(&texts, &engine, &Pairs::new(search), &Silent, &mut |pair| {
        let articles = [pair.a, pair.b].map(|row| pages[row as usize].article);
        if articles[0] == articles[1] {
            right += 1
        } else {
            wrong += 1
        }
        Ok(())
    })?;
    let all = ARTICLES * PRINTED_BY * (PRINTED_BY - 1) / 2;
    Ok(Found {
        recall: right as f64 / all as f64,
        wrong,
    })
}

/// Each unit of shingles, and the share of the shingles of a page that are from its article.
fn units() -> [(&'static str, Unit, f64); 2] {
    [
        ("word shingles", Unit::Words, 0.5),
        (
            "stop-word shingles",
            Unit::StopWords(StopWords::english()),
            0.75,
        ),
    ]
}

/// The similarity of pages with the same article in different surroundings, and of pages with different articles in the
/// same surroundings, if a share of all shingles is from the article: 1/3 and 1/3 for a half, 3/5 and 1/7 for three
/// quarters.
fn expected(of_article: f64) -> (f64, f64) {
    (
        of_article / (2.0 - of_article),
        (1.0 - of_article) / (1.0 + of_article),
    )
}

/// The same of three pages.
fn measured(unit: &Unit) -> simgpu::Result<(f64, f64)> {
    let engine = Engine::builder()
        .shingling(Shingling::of(unit.clone()))
        .build()?;
    let [page, elsewhere, beside] =
        [(0, 0), (0, 1), (1, 0)].map(|(article, paper)| page(article, paper, 0).text);
    let similarity = |other: &str| -> simgpu::Result<f64> {
        let compared = compare([&page, other], engine.shingler(), engine.signer())?;
        Ok(compared.jaccard().unwrap_or(0.0))
    };
    Ok((similarity(&elsewhere)?, similarity(&beside)?))
}

fn main() -> simgpu::Result<()> {
    println!(
        "{:20}{:>20}{:>20}",
        "similarity (book)", "same article", "same surroundings"
    );
    for (name, unit, of_article) in units() {
        let [(article, paper), (in_book, paper_in_book)] = [measured(&unit)?, expected(of_article)];
        let [article, paper] = [(article, in_book), (paper, paper_in_book)]
            .map(|(measured, in_book)| format!("{measured:.3} ({in_book:.3})"));
        println!("{name:20}{article:>20}{paper:>20}");
    }
    let pages = pages();
    println!(
        "\n{} pages: recall, and pairs with different articles",
        pages.len()
    );
    for threshold in [0.2, 0.3, 0.4, 0.5] {
        for (name, unit, _) in units() {
            let found = search(&pages, &unit, threshold)?;
            let recall = 100.0 * found.recall;
            println!("{threshold:.1}  {name:20}{recall:6.1} %{:8}", found.wrong);
        }
    }
    Ok(())
}

#[test]
fn similarities_are_those_of_the_book() {
    let [words, stop_words] = units();
    assert_eq!(expected(words.2), (1.0 / 3.0, 1.0 / 3.0));
    assert_eq!(expected(stop_words.2), (0.6, 1.0 / 7.0));
    for (name, unit, of_article) in [words, stop_words] {
        let [(article, paper), (in_book, paper_in_book)] =
            [measured(&unit).unwrap(), expected(of_article)];
        // A few shingles lie across the seams.
        assert!((article - in_book).abs() < 0.02, "{name}: {article}");
        assert!((paper - paper_in_book).abs() < 0.02, "{name}: {paper}");
    }
}

#[test]
fn stop_words_find_more_articles() {
    let pages = pages();
    for threshold in [0.4, 0.5] {
        let [words, stop_words] =
            units().map(|(_, unit, _)| search(&pages, &unit, threshold).unwrap());
        assert!(
            stop_words.recall > 0.9,
            "{threshold}: {}",
            stop_words.recall
        );
        assert!(
            words.recall < 0.5 * stop_words.recall,
            "{threshold}: {}",
            words.recall
        );
        assert!(stop_words.wrong <= words.wrong);
    }
    // Low enough for word shingles to find all articles, the threshold does not tell papers apart.
    let [words, stop_words] = units().map(|(_, unit, _)| search(&pages, &unit, 0.2).unwrap());
    assert!(
        words.recall > 0.9 && words.wrong > 10 * (stop_words.wrong + 1),
        "{}",
        words.wrong
    );
}
