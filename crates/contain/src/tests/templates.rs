//! What many items share, and passages.

use super::*;

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
