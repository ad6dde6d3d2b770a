//! Texts whose records follow from datatrove's definition.

use std::collections::HashSet;
use std::num::NonZeroUsize;

use simgpu::scheme::{Scheme, Values};

use super::*;

/// What Python says of the ASCII characters.
fn ascii() -> Vec<Character> {
    let characters = (0..128u8).map(char::from).map(|c| Character {
        lower: c
            .is_ascii_uppercase()
            .then(|| c.to_ascii_lowercase().to_string().into()),
        decomposed: None,
        is_digit: c.is_ascii_digit(),
        is_punctuation: c.is_ascii_punctuation(),
        reorders: false,
    });
    characters.collect()
}

fn simplification() -> Simplification {
    Simplification {
        lowercase: true,
        norm_whitespace: true,
        remove_punctuation: true,
        norm_unicode_diacritics: true,
        norm_numbers: true,
        norm_weekdays: true,
        norm_monthnames: true,
    }
}

/// A tokenizer for which runs of letters are words, except `cannot`.
fn tokenizer() -> Tokenizer {
    Tokenizer::new(true, vec!["cannot".into()], HashSet::from([(1, 2)]))
}

fn signer(precision: u32) -> DocumentSigner {
    let hash = NamedHash {
        name: "xxhash",
        precision,
    };
    let config = MinhashConfig {
        n_grams: 2,
        simplification: simplification(),
        layout: RecordLayout::new(hash, 1, 2, 3).unwrap(),
    };
    DocumentSigner::new(config, ascii(), Some(tokenizer())).unwrap()
}

/// The words of a text, all of which are known.
fn words(signer: &mut DocumentSigner, text: &str) -> Vec<String> {
    assert_eq!(signer.read(&Document::<String>::Text, text), None, "{text}");
    signer.words().map(str::to_owned).collect()
}

fn cut(tokens: &str) -> Cut {
    Cut {
        tokens: tokens.into(),
        first: 0,
        last: 0,
    }
}

#[test]
fn texts_become_simplified_words() {
    let mut signer = signer(64);
    signer.tokenizer_mut().unwrap().learn("0", cut("0"));
    for (text, expected) in [
        ("The  QUICK\nfox", "the quick fox"),
        ("one, two; three!", "one two three"),
        ("in 1999 or 3.14", "in 0 or 0"),
        ("on Monday in May", "on WEEKDAY in MONTH"),
        ("", ""),
    ] {
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(words(&mut signer, text), expected, "{text}");
    }
}

#[test]
fn unknown_characters_are_asked_about_once() {
    let mut signer = signer(64);
    let text = "caf\u{e9} \u{e9}t\u{e9}";
    let document = Document::<String>::Text;
    assert_eq!(signer.read(&document, text), Some(Obstacle::Unknown));
    assert_eq!(signer.take_unknown_characters(), HashSet::from(['\u{e9}']));
    let accented = Character {
        lower: None,
        decomposed: Some("e".into()),
        is_digit: false,
        is_punctuation: false,
        reorders: false,
    };
    signer.learn_character('\u{e9}', accented);
    assert_eq!(words(&mut signer, text), ["cafe", "ete"]);
}

#[test]
fn exceptions_are_asked_about() {
    let mut signer = signer(64);
    let document = Document::<String>::Text;
    let obstacle = signer.read(&document, "we cannot go");
    assert_eq!(obstacle, Some(Obstacle::Unknown));
    let stretches = signer.take_unknown_stretches();
    assert_eq!(stretches, HashSet::from(["cannot".into()]));
    signer
        .tokenizer_mut()
        .unwrap()
        .learn("cannot", cut("can not"));
    assert_eq!(
        words(&mut signer, "we cannot go"),
        ["we", "can", "not", "go"]
    );
}

/// A special case could match the last token of one stretch and the first of the next.
#[test]
fn meetings_of_special_cases_are_left_to_spacy() {
    let mut signer = signer(64);
    let edge = |tokens: &str, first, last| Cut {
        tokens: tokens.into(),
        first,
        last,
    };
    let tokenizer = signer.tokenizer_mut().unwrap();
    tokenizer.learn("a1", edge("a 1", 0, 1));
    tokenizer.learn("b2", edge("b 2", 2, 0));
    let mut read = |text: &str| {
        let document: Document<String> = Document::Simplified(text.to_owned());
        signer.read(&document, "")
    };
    assert_eq!(read("b2 a1"), None);
    let text = "a1 b2".to_owned();
    assert_eq!(read(&text), Some(Obstacle::Tokenize(text)));
}

/// A final sigma depends on its neighbours.
#[test]
fn capital_sigma_is_left_to_python() {
    let obstacle = signer(64).read(&Document::<String>::Text, "\u{3a3}");
    assert_eq!(obstacle, Some(Obstacle::Simplify));
}

#[test]
fn records_are_signatures_with_numbers() {
    for precision in [64, 32] {
        let mut signer = signer(precision);
        let mut documents = [Document::<String>::Text, Document::Text];
        let texts = ["a rose is a rose", "word"].map(str::to_owned);
        let obstacles = signer.sign_readable(&texts, &mut documents, 7).unwrap();
        assert_eq!(obstacles, []);
        assert_eq!(documents, [Document::Done, Document::Done]);
        // The second document has no run of two words, and so no record.
        let (count, buckets) = signer.take_records();
        let buckets: Vec<Vec<u8>> = buckets.collect();
        assert_eq!((count, buckets.len()), (1, 2));

        let name = if precision == 64 {
            "datatrove"
        } else {
            "datatrove32"
        };
        let scheme = Scheme::named(name).unwrap();
        let scheme = scheme.with_num_perm(6).unwrap().with_seed(1);
        let engine = simgpu::engine::Engine::builder().scheme(scheme);
        let engine = engine.shingling(simgpu::pipeline::Shingling {
            size: NonZeroUsize::new(2).unwrap(),
            ..simgpu::pipeline::Shingling::of(simgpu::pipeline::Unit::Words)
        });
        let signatures = engine.build().unwrap().sign(&texts[..1]).unwrap();
        let hashes: Vec<Vec<u8>> = match signatures.row(0) {
            Values::U32(slots) => slots
                .iter()
                .map(|slot| slot.to_le_bytes().to_vec())
                .collect(),
            Values::U64(slots) => slots
                .iter()
                .map(|slot| slot.to_le_bytes().to_vec())
                .collect(),
        };
        for (records, hashes) in buckets.iter().zip(hashes.chunks(3)) {
            assert_eq!(*records, [hashes.concat(), vec![7, 0, 0, 0]].concat());
        }
    }
}

#[test]
fn records_are_sorted_by_hashes_then_documents() {
    let record = |hashes: [u32; 2], document: u32| {
        let numbers = [hashes[0], hashes[1], document];
        numbers.map(u32::to_le_bytes).concat()
    };
    let sorted = [
        record([1, 256], 9),
        record([1, 256], 10),
        record([1, 257], 1),
        record([256, 0], 0),
    ];
    let shuffled = [3, 1, 2, 0].map(|place: usize| sorted[place].clone());
    let mut bytes = shuffled.concat();
    // Part of a record.
    bytes.push(1);
    let two = NonZeroUsize::new(2).unwrap();
    assert_eq!(sorted_records(&bytes, two, 32), sorted.concat());
}

#[test]
fn unknown_hash_functions_are_refused() {
    for (name, precision) in [("xxhash", 16), ("md5", 64)] {
        let hash = NamedHash { name, precision };
        assert!(RecordLayout::new(hash, 1, 14, 8).is_none());
    }
}
