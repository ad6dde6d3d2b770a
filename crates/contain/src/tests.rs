//! What `Contain` finds in texts.

use std::collections::BTreeSet;

use super::table::TableSearch;
use super::vocabulary::tests::words_of_one_hash;
use super::{
    Class, Contain, Hit, ItemPart, ItemRecord, Lack, Phrases, Rule, RuleOf, Scratch, Spread,
};

const ROBE: &str = "A robe takes 2 bolts of blue fiber and half that much white fiber. How many bolts in total does it take?";

fn record(question: &str) -> ItemRecord {
    ItemRecord {
        question: question.to_owned(),
        ..ItemRecord::default()
    }
}

fn contain(records: impl IntoIterator<Item = ItemRecord>) -> Contain {
    Contain::new(records, Rule::default()).unwrap()
}

fn classes(contain: &Contain, text: &str) -> Vec<(usize, Class)> {
    contain
        .scan(text)
        .iter()
        .map(|hit| (hit.item, hit.class))
        .collect()
}

/// The windows of so many words, as texts without punctuation.
fn windows(text: &str, size: usize) -> Vec<(usize, String)> {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words
        .windows(size)
        .map(|window| window.join(" "))
        .enumerate()
        .collect()
}

/// Texts of few words, so that n-grams repeat.
fn texts(mut state: u64, count: usize, most: u64) -> Vec<String> {
    let mut next = |end: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut text = |_| {
        let words = 1 + next(most);
        (0..words)
            .map(|_| format!("W{}", next(4)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    (0..count).map(&mut text).collect()
}

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
fn whoever_asks_is_contaminated_and_whoever_states_is_not() {
    let contain = contain([record(ROBE)]);
    let asks = [
        format!("Our reader wrote: {ROBE} We do not know."),
        ROBE.to_uppercase().replace([',', '.'], ""),
        ROBE.split(' ').collect::<Vec<_>>().join("\n> "),
        ROBE.replace(' ', "&#32;").replace('?', "&#63;"),
        ROBE.replace("blue fiber", "green wool"),
    ];
    for text in asks {
        assert_eq!(
            classes(&contain, &text),
            [(0, Class::Contaminated)],
            "{text}"
        );
    }
    let states = [
        "A robe takes 2 bolts of blue fiber and half that much white fiber. That makes 3 bolts in total.",
        "A robe takes 2 bolts of blue fiber and half that much white fiber. It was sold at the market. How many were sold?",
        "A robe takes 4 bolts of blue fiber and half that much white fiber.",
    ];
    for text in states {
        assert!(
            classes(&contain, text)
                .iter()
                .all(|(_, class)| *class != Class::Contaminated),
            "{text}"
        );
    }
    assert_eq!(classes(&contain, "A robe takes 2 bolts."), []);
}

/// Families of questions that differ from an item by one word that matters.
#[test]
fn a_negation_an_opposite_or_another_figure_makes_another_question() {
    for (item, others) in [
        (
            "In the cells of plants and animals alike, which of these organelles is most often found beside the nucleus of the cell?",
            &[
                ("is most", "is not most"),
                ("most often", "least often"),
                ("is most", "isn't most"),
            ][..],
        ),
        (
            "When the price of a good on a free market rises by 12 percent, which of the following will not increase in that year?",
            &[
                ("not increase", "increase"),
                ("not increase", "not decrease"),
                ("12 percent", "15 percent"),
                ("market rises", "market falls"),
            ],
        ),
        (
            "A farmer keeps seven brown hens and a goat on his old hill farm: what is the largest number of eggs possible in a week?",
            &[
                ("largest", "smallest"),
                ("possible", "impossible"),
                ("in a week", "in a week not"),
            ],
        ),
        (
            "A train of 12 wagons with 40 seats each leaves at 7 in the morning and 9 wagons are full: how many of the 480 seats are free?",
            &[
                ("12", "14"),
                ("40", "44"),
                ("at 7", "at 8"),
                ("9 wagons", "6 wagons"),
                ("480", "560"),
            ],
        ),
    ] {
        let contain = contain([record(item)]);
        assert_eq!(classes(&contain, item), [(0, Class::Contaminated)]);
        for (word, other) in others {
            let text = item.replace(word, other);
            assert_ne!(text, item);
            let found = contain.scan(&text);
            assert!(!contaminated(&found), "{text}");
        }
    }
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

#[test]
fn an_item_is_found_at_each_place() {
    let contain = contain([record(ROBE)]);
    let between =
        " And now for something else that has nothing to do with robes or bolts. ".repeat(5);
    let text = format!("{ROBE}{between}<p CLASS=\"q\">{ROBE}</p>{between}{ROBE}");
    let hits = contain.scan(&text);
    let [hit] = &hits[..] else {
        panic!("{hits:?}");
    };
    let places: Vec<&str> = [&hit.bytes]
        .into_iter()
        .chain(&hit.also)
        .map(|bytes| &text[bytes.clone()])
        .collect();
    assert_eq!(places, [&ROBE[..ROBE.len() - 1]; 3]);
    assert_eq!(hit.class, Class::Contaminated);
}

#[test]
fn copies_side_by_side_are_all_found() {
    let contain = contain([record(ROBE)]);
    for between in [" ", " And again: ", "\n\n"] {
        let text = [ROBE; 5].join(between);
        let hits = contain.scan(&text);
        assert_eq!((hits.len(), hits[0].also.len()), (1, 4), "{between}");
    }
}

#[test]
fn what_many_items_share_is_their_template() {
    let nouns = [
        "rose", "lily", "tulip", "daisy", "aster", "iris", "peony", "lotus", "poppy", "clover",
    ];
    let frame = "Read the following short text with care and then answer in one word";
    let ask = |noun: &str| {
        format!(
            "{frame}: how often did the old {noun} of our {noun} farm near {noun} hill open its {noun} flowers?"
        )
    };
    let contain = contain(nouns.map(|noun| record(&ask(noun))));
    let page = format!(
        "{frame}, as we were taught at school: how often did the old hop open? Nobody knew."
    );
    assert_eq!(classes(&contain, &page), []);
    let found = classes(&contain, &ask("lily"));
    assert_eq!(found, [(1, Class::Contaminated)]);
}

#[test]
fn a_passage_alone_is_no_contamination() {
    let passage = "Four score and seven years ago our fathers brought forth on this continent a new nation conceived in liberty";
    let question = "According to the speaker in this text, on what idea was the nation of his fathers founded?";
    let record = ItemRecord {
        passage: passage.to_owned(),
        answer: "Liberty".to_owned(),
        ..record(question)
    };
    let contain = contain([record]);
    let hits = contain.scan(&format!("He began: {passage}."));
    assert_eq!(
        (hits[0].class, &hits[0].parts[..]),
        (Class::Passage, &[ItemPart::Passage][..])
    );
    let hits = contain.scan(&format!("{passage}.\n\n{question}\nLiberty"));
    let parts = [ItemPart::Question, ItemPart::Passage, ItemPart::Answer];
    assert_eq!(
        (hits[0].class, &hits[0].parts[..]),
        (Class::Contaminated, &parts[..])
    );
}

/// Four passages, with one question that is all template.
fn records_of_a_template() -> Vec<ItemRecord> {
    let passages = [
        "The old mill on the river Corr ground less flour in each dry year, yet its owner bought two more wheels.",
        "Every student of the music school in Velden plays the piano, but half of the concerts were given by violinists.",
        "Sales of paper maps fell by a third after the bridge was closed, while the shops at the harbour sold more of them.",
        "The council planted lime trees along the avenue, and the number of songbirds counted in spring went down.",
    ];
    let asks = |i: usize| {
        let ending = ["", " above", " described", " in the text"][i % 4];
        format!(
            "Which one of the following, if true, most helps to resolve the apparent discrepancy{ending}?"
        )
    };
    let with_passage = |(i, passage): (usize, &&str)| ItemRecord {
        id: format!("q{i}"),
        passage: (*passage).to_owned(),
        options: (0..4)
            .map(|k| format!("reason {k} that concerns matter number {i} of the list"))
            .collect(),
        ..record(&asks(i))
    };
    let mut records: Vec<ItemRecord> = passages.iter().enumerate().map(with_passage).collect();
    // More of them, so that the question is in many parts.
    let more = (4..16).map(|i| ItemRecord {
        id: format!("q{i}"),
        passage: filler(i, 30),
        ..record(&format!("{} Case {i}.", asks(i)))
    });
    records.extend(more);
    records
}

#[test]
fn a_template_question_needs_its_passage_or_all_options() {
    let records = records_of_a_template();
    let contain = contain(records.clone());
    let found = |text: &str| -> Vec<usize> {
        let hits = contain.scan(text).into_iter();
        let hits = hits.inspect(|hit| {
            let lacks_passage = hit.lacks.contains(&Lack::Passage);
            assert!(
                !(lacks_passage && hit.parts.contains(&ItemPart::Passage)),
                "{hit:?}"
            );
        });
        hits.filter(|hit| hit.class == Class::Contaminated)
            .map(|hit| hit.item)
            .collect()
    };
    for (i, record) in records[..4].iter().enumerate() {
        let ItemRecord {
            passage,
            question,
            options,
            ..
        } = record;
        let options = options.join("\nB. ");
        assert!(contain.is_decidable(i));
        assert_eq!(found(&format!("{passage}\n\n{question}")), [i]);
        assert_eq!(found(&format!("{question}\nA. {options}")), [i]);
        let other = &records[(i + 1) % 4].passage;
        for text in [
            passage.clone(),
            question.clone(),
            format!(
                "{passage}\n\nWhat is the main point that the writer of this text wants to make?"
            ),
            format!("{}\nA. {}", question, &options[..60]),
        ] {
            assert!(!found(&text).contains(&i), "{text}");
        }
        assert!(!found(&format!("{other}\n\n{question}")).contains(&i));
    }
}

#[test]
fn items_are_found_in_scripts_without_spaces() {
    let questions = [
        "小明的农场里有十七只山羊和二十三只绵羊，每只山羊每天吃三公斤草，请问农场一周一共需要多少公斤的草？",
        "次の文のうち、日本国憲法が定める国会の権限として最も適切なものはどれか。",
        "ข้อใดต่อไปนี้เป็นเมืองหลวงของประเทศที่มีแม่น้ำสายยาวที่สุดในทวีปแอฟริกา?",
    ];
    let contain = contain(questions.map(record));
    for (i, question) in questions.iter().enumerate() {
        assert!(contain.is_decidable(i));
        for text in [
            format!("练习 1. {question} A B C D"),
            format!("{question}\n"),
        ] {
            assert_eq!(
                classes(&contain, &text),
                [(i, Class::Contaminated)],
                "{text}"
            );
        }
    }
    for (word, other) in [("十七", "十八"), ("需要", "不需要"), ("三公斤", "四公斤")]
    {
        let found = contain.scan(&questions[0].replace(word, other));
        assert!(!contaminated(&found), "{other}");
    }
    let mixed = format!("请看下题{ROBE}答案见下页");
    let contain = self::contain([record(ROBE)]);
    assert_eq!(classes(&contain, &mixed), [(0, Class::Contaminated)]);
}

#[test]
fn a_blank_line_ends_a_complete_sentence_alone() {
    let contain = contain([record(ROBE)]);
    let spaced = ROBE
        .replace("white fiber.", "white fiber.\n\n")
        .replace("bolts in total", "bolts\n\nin total");
    assert!(contaminated(&contain.scan(&spaced)));
    let split = ROBE.replace("How many bolts in total", "How many bolts.\n\nIn total");
    assert!(!contaminated(&contain.scan(&split)));
}

#[test]
fn other_forms_of_signs_and_numbers_are_equal() {
    let item = "A farmer keeps 17 goats in 3 pens of 40 metres by -25 metres, so that x <= 40 * 25 / 17 holds. How many square metres does each of the VII goats have?";
    let contain = contain([record(item)]);
    let forms: &[&[(&str, &str)]] = &[
        &[
            ("17 goats", "seventeen goats"),
            ("40 metres", "forty metres"),
        ],
        &[("VII", "7"), ("-25", "\u{2212}25")],
        &[("*", "×"), ("/", "÷"), ("<=", "≤")],
        &[("*", "\\times"), ("/", "\\div"), ("<=", "\\le")],
        &[("17", "\u{ff11}\u{ff17}")],
        &[(" ", "\n")],
    ];
    for form in forms {
        let text = form
            .iter()
            .fold(item.to_owned(), |text, (a, b)| text.replace(a, b));
        assert_ne!(text, item);
        assert!(contaminated(&contain.scan(&text)), "{text}");
    }
    for (sign, other) in [
        ("-25", "25"),
        ("*", "+"),
        ("/", "*"),
        ("<=", ">="),
        ("17 goats", "eighteen goats"),
        ("VII", "VIII"),
    ] {
        let text = item.replacen(sign, other, 1);
        assert!(!contaminated(&contain.scan(&text)), "{text}");
    }
}

#[test]
fn another_name_operation_or_modal_asks_something_else() {
    let item = "Mr Weng has 12 apples and his sister Ivana has 15 pears, and they may sell 4 of these each day. What is the sum of the pears that Ivana can sell before Weng's birthday?";
    let contain = contain([record(item)]);
    assert!(contaminated(&contain.scan(item)));
    for (word, other) in [
        ("that Ivana", "that Weng"),
        ("before", "after"),
        ("the sum", "the product"),
        ("can sell", "must sell"),
    ] {
        let text = item.replace(word, other);
        assert_ne!(text, item);
        assert!(!contaminated(&contain.scan(&text)), "{text}");
    }
}

#[test]
fn items_that_differ_in_signs_are_apart_or_undecidable() {
    let ask = |end: &str| ItemRecord {
        id: end.to_owned(),
        ..record(&format!(
            "Complete the rest of the sequence, making sure that all parentheses are closed properly: {end}"
        ))
    };
    let brackets = ["[ [", "( [", "{ ( [", "< ("].map(ask);
    let found = contain(brackets.clone());
    assert_eq!((found.items().len(), found.items()[0].merged.len()), (1, 3));
    assert!(!found.is_decidable(0));
    assert!(!contaminated(&found.scan(&brackets[0].question)));
    let signs = ["3 + 4 * 5", "3 - 4 * 5"].map(ask);
    let found = contain(signs.clone());
    for (i, record) in signs.iter().enumerate() {
        let hits = found.scan(&record.question).into_iter();
        let asked = hits.filter(|hit| hit.class == Class::Contaminated);
        assert_eq!(asked.map(|hit| hit.item).collect::<Vec<_>>(), [i]);
    }
    // A comma more makes no other item.
    let one = contain([ask("so, it is"), ask("so it is")]);
    assert_eq!((one.items().len(), one.is_decidable(0)), (1, true));
}

#[test]
fn a_docstring_is_found_as_a_comment() {
    let item = "from typing import List\n\n\ndef below_zero(operations: List[int]) -> bool:\n    \"\"\" You're given a list of deposit and withdrawal operations on a bank account that starts with zero balance. Your task is to detect if at any point the balance falls below zero.\n    >>> below_zero([1, 2, -4, 5])\n    True\n    \"\"\"\n";
    let contain = contain([record(item)]);
    let java = "class Solution {\n    /**\n     You're given a list of deposit and withdrawal operations on a bank account that starts with zero balance.\n     Your task is to detect if at any point the balance falls below zero.\n     >>> belowZero(Arrays.asList(1, 2, -4, 5))\n     true\n     */\n    public boolean belowZero(List<Integer> operations) {";
    assert!(contaminated(&contain.scan(java)));
    let other = java
        .replace(
            "deposit and withdrawal operations on a bank account that starts with zero balance",
            "nodes",
        )
        .replace("the balance falls below zero", "there is a cycle");
    assert!(!contaminated(&contain.scan(&other)));
}

#[test]
fn open_sentences_need_options_or_the_end_of_the_line() {
    let options = [
        "the heart of the cell",
        "a wall of the cell",
        "a store of sugar",
        "a kind of virus",
    ];
    let question =
        "In the cells of plants and animals the organelle that holds most of the genes is";
    let contain = contain([ItemRecord {
        options: options.map(str::to_owned).to_vec(),
        answer: options[0].to_owned(),
        ..record(question)
    }]);
    let listed = options.map(|option| format!("- {option}")).join("\n");
    for (text, class) in [
        (
            format!("{question} the nucleus, which divides first."),
            Class::Short,
        ),
        (format!("{question} {}", options[0]), Class::Short),
        (format!("{question}\n{listed}"), Class::Contaminated),
        (format!("{question}:\n\nNext"), Class::Contaminated),
    ] {
        assert_eq!(classes(&contain, &text), [(0, class)], "{text}");
    }
}

/// A text of so many words that no other number has.
fn filler(number: usize, words: usize) -> String {
    let words = (0..words).map(|i| format!("w{}", (number * 7919 + i * 104_729) % 9973));
    words.collect::<Vec<_>>().join(" ")
}

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

fn contaminated(hits: &[Hit]) -> bool {
    hits.iter().any(|hit| hit.class == Class::Contaminated)
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
