//! Whether a document asks a question.

use super::*;

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
