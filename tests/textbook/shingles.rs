//! Section 3.2: shingling of documents.

use std::collections::BTreeSet;

use simgpu::documents::Document;
use simgpu::pipeline::{Bag, Scratch, Shingler, Shingling, StopWords, Unit};
use simgpu::scheme::{BaseHash, Scheme, ShingleHash};

use super::support::{hashed, letters, shingles_of};

#[test]
fn example_3_3_k_shingles() {
    for unit in [Unit::Bytes, Unit::Chars] {
        let shingles = shingles_of(unit, Some(2), "abcdabd");
        assert_eq!(shingles, hashed(["ab", "bc", "cd", "da", "bd"]));
    }
    assert_eq!(letters(2, "abcab"), hashed(["ab", "bc", "ca"]));
}

#[test]
fn example_3_4_white_space() {
    let plane = "The plane was ready for touch down";
    let quarterback = "The quarterback scored a touchdown";
    let (of_plane, of_quarterback) = (letters(9, plane), letters(9, quarterback));
    assert!(of_plane.is_superset(&hashed(["touch dow", "ouch down"])));
    assert!(of_quarterback.is_superset(&hashed(["touchdown"])));
    assert!(of_plane.is_disjoint(&hashed(["touchdown"])));
    assert_eq!(letters(9, &plane.replace(' ', " \n\t ")), of_plane);
    let without_blanks = plane.replace(' ', "");
    assert!(letters(9, &without_blanks).is_superset(&hashed(["touchdown"])));
}

#[test]
fn section_3_2_2_bounds_the_number_of_shingles() {
    let text = "A rose is a rose is a rose, and so on.";
    for k in 1..=text.len() {
        let shingles = shingles_of(Unit::Bytes, Some(k), text);
        assert!(shingles.len() <= text.len() - k + 1, "k = {k}");
    }
    let distinct = "abcdefghijklmnopqrstuvwxyz";
    assert_eq!(
        shingles_of(Unit::Bytes, Some(5), distinct).len(),
        26 - 5 + 1
    );
}

#[test]
fn section_3_2_a_word_touches_few_shingles() {
    let which = letters(3, "The dog which chased the cat");
    let that = letters(3, "The dog that chased the cat");
    let removed: BTreeSet<u32> = which.difference(&that).copied().collect();
    assert_eq!(
        removed,
        hashed(["g w", " wh", "whi", "hic", "ich", "ch ", "h c"])
    );
}

#[test]
fn example_3_5_stop_word_shingles() {
    let sentence = "A spokesperson for the Sudzo Corporation revealed today that studies have shown \
                    it is good for people to buy Sudzo products";
    let shingles = shingles_of(Unit::StopWords(StopWords::english()), None, sentence);
    let of_the_book = [
        "A spokesperson for",
        "for the Sudzo",
        "the Sudzo Corporation",
        "that studies have",
        "have shown it",
        "it is good",
        "is good for",
        "for people to",
        "to buy Sudzo",
    ];
    assert_eq!(shingles, hashed(of_the_book));
    let advert = shingles_of(Unit::StopWords(StopWords::english()), None, "Buy Sudzo");
    assert!(advert.is_empty());
}

#[test]
fn exercise_3_2_custom_stop_words() {
    let stop_words = || ["I", "that", "you", "for", "your"].into_iter().collect();
    let text = "I recommend that you buy Sudzo for your laundry.";
    let whole = [
        "I recommend that",
        "that you buy",
        "you buy Sudzo",
        "for your laundry",
    ];
    // "your laundry" lacks a third word, so it is no shingle until one follows.
    assert_eq!(
        shingles_of(Unit::StopWords(stop_words()), None, text),
        hashed(whole)
    );
    let continued = shingles_of(Unit::StopWords(stop_words()), None, &format!("{text} x"));
    assert_eq!(
        continued,
        hashed(whole.into_iter().chain(["your laundry x"]))
    );
}

/// The variation of example 3.3: ab occurs twice.
#[test]
fn example_3_3_bag_of_shingles() {
    let shingling = Shingling::of(Unit::Chars)
        .with_size(2.try_into().unwrap())
        .unwrap();
    let shingler = Shingler::new(shingling, &Scheme::default(), None).unwrap();
    let mut hashes = Vec::new();
    shingler.exact_hashes(
        Document::Text("abcdabd"),
        &mut Scratch::default(),
        &mut hashes,
    );
    let bag: Bag<u64> = hashes.into_iter().collect();
    let of_the_book = ["ab", "bc", "cd", "da", "ab", "bd"];
    let hash = |shingle: &str| u64::of_bytes(BaseHash::Murmur3_128, shingle.as_bytes());
    assert_eq!(bag, of_the_book.map(hash).into_iter().collect());
    assert_eq!((bag.len(), bag.counts().len()), (6, 5));
}

#[test]
fn lecture_example_of_a_test() {
    let text = "This is a test";
    // "is " occurs twice among the twelve.
    let characters = [
        "Thi", "his", "is ", "s i", " is", "s a", " a ", "a t", " te", "tes", "est",
    ];
    assert_eq!(letters(3, text), hashed(characters));
    let words = shingles_of(Unit::Words, Some(3), text);
    assert_eq!(words, hashed(["This is a", "is a test"]));
}

#[test]
fn exercise_3_2_1_first_shingles() {
    let ten = [
        "The", "he ", "e m", " mo", "mos", "ost", "st ", "t e", " ef", "eff",
    ];
    assert_eq!(letters(3, "The most eff"), hashed(ten));
}

/// The first sentence of section 3.2.
const SENTENCE: &str = "The most effective way to represent documents as sets, for the purpose of identifying lexically \
     similar documents is to construct from the document the set of short strings that appear within it.";

/// The last stop word, "it", has no two words after it.
#[test]
fn exercise_3_2_2_stop_words_of_three_letters() {
    let words = SENTENCE.split([' ', ',', '.']);
    let short = words.filter(|word| (1..=3).contains(&word.len()));
    let shingles = shingles_of(Unit::StopWords(short.collect()), None, SENTENCE);
    let thirteen = [
        "The most effective",
        "way to represent",
        "to represent documents",
        "as sets for",
        "for the purpose",
        "the purpose of",
        "of identifying lexically",
        "is to construct",
        "to construct from",
        "the document the",
        "the set of",
        "set of short",
        "of short strings",
    ];
    assert_eq!(shingles, hashed(thirteen));
}

/// Exchanging two paragraphs changes no shingle inside them, and fewer than 2k at each of the three boundaries.
#[test]
fn section_3_2_reordered_paragraphs() {
    let (a, b) = SENTENCE.split_at(SENTENCE.len() / 2);
    let (start, end) = ("In the beginning. ", " Thus it ends.");
    let before = format!("{start}{a}{b}{end}");
    let after = format!("{start}{b}{a}{end}");
    for k in 1..=12 {
        let (before, after) = (letters(k, &before), letters(k, &after));
        let changed = before.symmetric_difference(&after).count();
        assert!(changed <= 3 * 2 * (k - 1), "k = {k}: {changed}");
        assert!(k < 5 || changed > 2 * (k - 1), "k = {k}: {changed}");
    }
}

/// The number of possible shingles: 27 letters and blanks, of which about 20 are frequent.
#[test]
fn section_3_2_2_possible_shingles() {
    let alphabet: Vec<u8> = (b'a'..=b'z').chain([b' ']).collect();
    assert_eq!(alphabet.len().pow(5), 14_348_907);
    assert_eq!(20u32.pow(4), 160_000);
    // All two-letter shingles of the alphabet occur in a text that holds each pair of letters.
    let mut text = String::new();
    for a in &alphabet {
        for b in &alphabet {
            text.extend([*a, *b].map(char::from));
        }
    }
    let pairs: BTreeSet<u32> = shingles_of(Unit::Bytes, Some(2), &text.replace("  ", " "));
    // Merged white space has no two blanks in a row.
    assert_eq!(pairs.len(), 27 * 27 - 1);
}
