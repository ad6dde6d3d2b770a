//! The table of n-grams, and the rules of others.

use super::*;

#[test]
fn the_table_finds_the_ngrams_that_comparing_all_finds() {
    for (seed, size) in [(1, 2), (2, 3), (3, 5), (4, 7)] {
        let questions = texts(seed, 12, 30);
        let rule = Rule {
            size,
            ..Rule::default()
        };
        let contain = Contain::new(questions.iter().map(|text| record(text)), rule).unwrap();
        for document in texts(seed + 10, 20, 60) {
            let mut search = TableSearch::default();
            contain.find(&document, &mut search);
            let found: Vec<(usize, Vec<usize>)> = search
                .found
                .iter()
                .map(|(at, gram)| {
                    let parts = contain.table.parts(*gram).iter();
                    (*at, parts.map(|part| *part as usize).collect())
                })
                .collect();
            let holds = |question: &String, gram: &String| {
                windows(question, size)
                    .iter()
                    .any(|(_, other)| other == gram)
            };
            let mut expected = Vec::new();
            for (at, gram) in windows(&document, size) {
                // Equal questions are one part, at the place of the first.
                let mut distinct = Vec::new();
                for question in &questions {
                    if !distinct.contains(&question) {
                        distinct.push(question);
                    }
                }
                let parts = distinct
                    .iter()
                    .enumerate()
                    .filter(|(_, question)| holds(question, &gram));
                let parts: Vec<usize> = parts.map(|(part, _)| part).collect();
                if !parts.is_empty() {
                    expected.push((at, parts));
                }
            }
            assert_eq!(found, expected, "{document}");
        }
    }
}

#[test]
fn ngrams_with_one_key_are_told_apart() {
    let words = words_of_one_hash();
    let text = |word: &str| format!("Which of them is {word} by {word} or not at all?");
    let both = contain(words.each_ref().map(|word| record(&text(word))));
    for (number, word) in words.iter().enumerate() {
        assert_eq!(classes(&both, &text(word)), [(number, Class::Contaminated)]);
    }
    // Nor does a word of no item count for one of the same hash.
    let one = contain([record(&text(&words[0]))]);
    assert!(one.scan(&text(&words[1])).is_empty());
}

#[test]
fn evidence_is_confirmed_by_the_texts() {
    let questions = texts(5, 40, 40);
    let contain = contain(questions.iter().map(|text| record(text)));
    let mut hits = 0;
    for (i, document) in texts(6, 40, 60).iter().enumerate() {
        let document = format!("{document}. {} Then: {document}", questions[i]);
        for hit in contain.scan(&document) {
            hits += 1;
            let question = &contain.items()[hit.item].question;
            let question_grams: BTreeSet<String> = windows(question, 5)
                .into_iter()
                .map(|(_, gram)| gram)
                .collect();
            let document_grams: Vec<String> = windows(&document, 5)
                .into_iter()
                .map(|(_, gram)| gram)
                .collect();
            assert_eq!(hit.ngrams, question_grams.len());
            let shared = question_grams
                .iter()
                .filter(|gram| document_grams.contains(gram))
                .count();
            assert!((1..=shared).contains(&hit.found), "{hit:?}");
            let parts = |gram: &String| {
                let distinct: BTreeSet<&String> = questions.iter().collect();
                distinct
                    .iter()
                    .filter(|text| windows(text, 5).iter().any(|(_, other)| other == gram))
                    .count()
            };
            for (gram, count) in &hit.rarest {
                assert!(question_grams.contains(gram) && document_grams.contains(gram));
                assert_eq!(*count, parts(gram));
            }
            // Both spans begin and end with a word that the other text has.
            let ends = |text: &str| {
                let words = windows(text, 1);
                [words[0].1.clone(), words[words.len() - 1].1.clone()]
            };
            assert_eq!(
                ends(&document[hit.bytes.clone()]),
                ends(&question[hit.item_bytes.clone()])
            );
            assert!((0.0..=1.0).contains(&hit.score));
        }
    }
    assert!(hits > 40, "{hits}");
}

#[test]
fn rules_of_others_find_what_comparing_all_ngrams_finds() {
    let (questions, passages, answers) = (texts(1, 12, 30), texts(2, 12, 30), texts(3, 12, 6));
    let records: Vec<ItemRecord> = (0..12)
        .map(|number| ItemRecord {
            id: number.to_string(),
            passage: passages[number].clone(),
            answer: answers[number].clone(),
            ..record(&questions[number])
        })
        .collect();
    for (of, size) in [
        (RuleOf::Gpt3, 6),
        (RuleOf::S1, 6),
        (RuleOf::Datatrove, 4),
        (RuleOf::S1, 3),
    ] {
        let rule = Rule {
            size,
            ..Rule::of(of)
        };
        let contain = Contain::new(records.clone(), rule).unwrap();
        let ngrams = |text: &str| windows(text, size).into_iter().map(|(_, ngram)| ngram);
        let item_grams = |number: usize| -> BTreeSet<String> {
            let (question, answer) = (&questions[number], &answers[number]);
            match of {
                RuleOf::Gpt3 => ngrams(question).chain(ngrams(&passages[number])).collect(),
                RuleOf::S1 => ngrams(question).collect(),
                _ => {
                    let words = |text: &str| windows(text, 1).len();
                    let all = ngrams(&format!("{question} {answer}")).collect::<Vec<_>>();
                    let in_question = (words(question) + 1).saturating_sub(size);
                    all.into_iter().skip(in_question).collect()
                }
            }
        };
        let mut found = 0;
        for document in texts(7, 20, 40) {
            let document_grams: BTreeSet<String> = ngrams(&document).collect();
            let expected: Vec<(usize, usize)> = (0..12)
                .map(|number| {
                    (
                        number,
                        item_grams(number).intersection(&document_grams).count(),
                    )
                })
                .filter(|(_, common)| *common > 0)
                .collect();
            let hits = contain.scan(&document);
            let numbers: Vec<usize> = hits.iter().map(|hit| hit.item).collect();
            let expected_items: Vec<usize> = expected.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers, expected_items, "{of:?} {document}");
            for hit in &hits {
                assert_eq!((hit.class, hit.lacks.len()), (Class::Contaminated, 0));
                let mut places = [&hit.bytes].into_iter().chain(&hit.also);
                assert!(places.all(|bytes| {
                    ngrams(&document[bytes.clone()])
                        .any(|ngram| item_grams(hit.item).contains(&ngram))
                }));
            }
            found += hits.len();
        }
        assert!(found > 5, "{of:?} {found}");
        let short = record("too short");
        let contain = Contain::new([short], rule).unwrap();
        assert!(!contain.is_decidable(0) && contain.scan("too short, too short").is_empty());
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_scanned(
        question in r"([a-cA]{1,2}[ ,.?_\u{85}\u{2003}:\n]{1,3}){1,12}(__|\?|[.]|)", before in r"[a-cé\u{85}\u{A0}&;<br>?._ \n]{0,20}", after in r"[a-c(\x22?._ \n-]{0,20}",
    ) {
        let options = vec!["a b c".to_owned(), String::new(), "?".to_owned()];
        let record = ItemRecord { options, answer: "a".to_owned(), passage: "a b a b a b".to_owned(), ..record(&question) };
        let other = ItemRecord { passage: String::new(), ..record.clone() };
        let contain = contain([record, other]);
        for text in [format!("{before}{question}{after}"), question.clone() + &question] {
            for hit in contain.scan(&text) {
                proptest::prop_assert!(text.get(hit.bytes.clone()).is_some_and(|text| !text.is_empty()));
                proptest::prop_assert!(hit.found <= hit.ngrams);
            }
        }
    }
}
