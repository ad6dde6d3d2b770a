//! Phrases that documents have without the item, and refusals.

use super::*;

/// What is found in documents in the light of their own counts; document `i` is in file `i % files`.
fn with_own_phrases(items: &[ItemRecord], documents: &[String], files: usize) -> Vec<Vec<Hit>> {
    let contain = contain(items.to_vec());
    let (mut spread, mut scratch) = (Spread::default(), Scratch::default());
    for (i, text) in documents.iter().enumerate() {
        spread.add(&format!("{}", i % files), &contain.read(text, &mut scratch));
    }
    let phrases = contain.phrases(&spread);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("phrases.parquet");
    phrases.write(&path).unwrap();
    assert_eq!(Phrases::read(&path).unwrap(), phrases);
    let contain = contain.with_phrases(&phrases).unwrap();
    let hits = documents.iter();
    hits.map(|text| contain.read(text, &mut scratch).hits)
        .collect()
}

#[test]
fn copies_of_an_item_are_never_a_phrase() {
    let edited = ROBE.replace("blue fiber", "blue thread");
    for (copies, all, files) in [
        (1, 400, 1),
        (10, 400, 10),
        (300, 800, 10),
        (5_000, 20_000, 10),
    ] {
        let documents: Vec<String> = (0..all)
            .map(|i| {
                if i >= copies {
                    return filler(i, 12);
                }
                let item = if i % 3 == 2 { &*edited } else { ROBE };
                format!("{} {item} {}", filler(i, 6), filler(i + all, 6))
            })
            .collect();
        let found = with_own_phrases(&[record(ROBE)], &documents, files);
        let asked = found.iter().filter(|hits| contaminated(hits)).count();
        assert_eq!(asked, copies, "{files}");
        assert!(found[copies..].iter().all(Vec::is_empty));
    }
}

#[test]
fn phrases_of_many_sources_are_excused() {
    let items = [
        record(
            "Use indirect truth tables to determine whether the following argument is valid, and choose an option which presents a counterexample if it is not: G or H; not H; so what of G?",
        ),
        record(
            "Let x be a root of the quadratic equation a x squared plus b x plus c equals zero. What is the sum of all the real roots of this equation where a equals seven and b equals nine and c one?",
        ),
        record(
            "Four score and seven years ago our fathers brought forth on this continent a new nation conceived in liberty. Which president spoke so?",
        ),
    ];
    let words = |i: usize| filler(i, 9);
    let phrases: [&dyn Fn(usize) -> String; 3] = [
        &|i| {
            format!(
                "Use indirect truth tables to determine whether the following argument is valid, and choose an option which presents a counterexample if it is not: {}; so what of X?",
                [
                    "P or Q; not P",
                    "if R then S; R",
                    "S; T",
                    "K or L; not L",
                    "not M; N",
                    "U; if U then V"
                ][i % 6]
            )
        },
        &|i| {
            format!(
                "Let x be a root of the quadratic equation a x squared plus b x plus c equals zero. What is the sum of all the real roots of this equation where {} one?",
                filler(i, 3)
            )
        },
        &|_| {
            "Four score and seven years ago our fathers brought forth on this continent a new nation conceived in liberty. Who knows the rest?".to_owned()
        },
    ];
    for phrase in phrases {
        let mut documents: Vec<String> = (0..40)
            .map(|i| format!("{}. {} {}.", words(i), phrase(i), words(i + 50)))
            .collect();
        let copies = items
            .iter()
            .map(|item| format!("{}\n{}\n", words(7), item.question));
        documents.extend(copies);
        let found = with_own_phrases(&items, &documents, 4);
        for (text, hits) in documents.iter().zip(&found) {
            let is_copy = items.iter().any(|item| text.contains(&*item.question));
            assert_eq!(contaminated(hits), is_copy, "{text} {hits:?}");
        }
    }
}

#[test]
fn copies_of_one_variant_are_no_phrase() {
    let variant = ROBE.replace("takes 2 bolts", "needs two rolls");
    let documents: Vec<String> = (0..60)
        .map(|i| format!("{}. {variant} {}.", filler(i, 9), filler(i + 60, 9)))
        .collect();
    let found = with_own_phrases(&[record(ROBE)], &documents, 4);
    assert!(found.iter().all(|hits| contaminated(hits)));
}

#[test]
fn counts_of_other_items_are_refused() {
    let documents: Vec<String> = (0..40)
        .map(|i| format!("{} {}", &ROBE[..68], filler(i, 9)))
        .collect();
    let mut spread = Spread::default();
    let one = contain([record(ROBE)]);
    for (i, text) in documents.iter().enumerate() {
        spread.add(
            ["a", "b", "c"][i % 3],
            &one.read(text, &mut Scratch::default()),
        );
    }
    let phrases = one.phrases(&spread);
    assert_eq!(phrases.public()[0].documents, 40);
    let other = contain([record("Why is the sky of our old town so blue in June?")]);
    assert!(other.with_phrases(&phrases).is_err());
}

#[test]
fn rules_out_of_range_are_refused() {
    let rules = [(1, 0.7), (33, 0.7), (5, 0.0), (5, 1.5), (5, f64::NAN)];
    for (size, threshold) in rules {
        let rule = Rule {
            size,
            threshold,
            ..Rule::default()
        };
        assert!(Contain::new([record("Why?")], rule).is_err());
    }
    assert!(Contain::new([], Rule::default()).is_err());
}
