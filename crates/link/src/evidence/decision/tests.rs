use super::*;
use crate::evidence::report::ClassEvidence;
use crate::evidence::verdict::Verdict;
use simgpu::progress::Silent;
use simgpu::scheme::fmix64;

/// A word that tells a number, of several syllables, so that no two are alike.
pub(in crate::evidence) fn word(number: u64) -> String {
    let syllables = [
        "ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu", "pa", "re", "si", "to", "vu",
        "wa",
    ];
    let random = fmix64(number);
    (0..4)
        .map(|at| syllables[usize::from(random.to_le_bytes()[at] % 16)])
        .collect()
}

/// A date that tells a number.
pub(in crate::evidence) fn date(number: u64) -> String {
    format!(
        "19{:02}-{:02}-{:02}",
        number % 90,
        1 + number / 90 % 12,
        1 + number / 1080 % 28
    )
}

/// A person: given name, surname, street, phone, date of birth. Members of a household share surname, street and phone.
fn person(person: u64, household: u64) -> [String; 5] {
    let random = |field: u64, seed: u64| fmix64(seed << 8 | field);
    let born = random(4, person);
    [
        word(random(0, person) % 60),
        word(1000 + random(1, household) % 300),
        word(5000 + random(2, household) % 3000),
        format!("{:07}", random(3, household) % 10_000_000),
        date(born),
    ]
}

fn evidence(records: &[[String; 5]]) -> Evidence {
    let columns = (0..5).map(|field| {
        let texts = records.iter().map(|record| &*record[field]);
        Column::new(&texts.collect::<Vec<&str>>(), None, &|_| None)
    });
    let fields = Fields::from_columns(columns);
    Evidence::decide(fields, &vec![1; records.len()], &Silent).unwrap()
}

/// 1,500 persons in households of three, and 400 of them again with an error.
fn with_errors() -> Vec<[String; 5]> {
    let mut records: Vec<[String; 5]> = (0..1500).map(|i| person(i, i / 3)).collect();
    for i in 0..400 {
        let mut copy = person(i, i / 3);
        let field = usize::from(fmix64(i).to_le_bytes()[0] % 5);
        copy[field] = match field {
            0..3 => copy[field].replacen(['a', 'e', 'i', 'o', 'u'], "y", 1),
            _ => String::new(),
        };
        records.push(copy);
    }
    records
}

fn names() -> Vec<String> {
    ["given", "surname", "street", "phone", "born"]
        .map(str::to_owned)
        .into()
}

#[test]
fn households_are_not_persons() {
    let records: Vec<[String; 5]> = (0..1500).map(|i| person(i, i / 3)).collect();
    let evidence = evidence(&records);
    assert_eq!(evidence.clusters.linked(), 0);
    let verdict = evidence.verdict(&names());
    assert!(matches!(&verdict, Verdict::Nothing(because) if because.contains("phone")));
    let report = evidence.report(&verdict, |_| 1);
    // The household is a class of its own: every third record has two partners in it.
    let household = report
        .classes
        .iter()
        .find(|class| class.shares == [1, 2, 3]);
    let pairs = household.map_or(0.0, |class| class.pairs);
    assert!((1400.0..1600.0).contains(&pairs), "{pairs}");
}

#[test]
fn persons_with_errors_are_found_in_households() {
    let evidence = evidence(&with_errors());
    assert_eq!(evidence.verdict(&names()), Verdict::Links);
    let first = &evidence.clusters.first;
    let found = (0..400).filter(|i| first[1500 + i] as usize == *i).count();
    assert!(found >= 390, "{found}");
    assert!(evidence.clusters.linked() <= 2 * found + 8);
    let [least, right, most] = evidence.expected.precision().unwrap();
    assert!(
        least > 0.9 && right > 0.95 && most <= 1.0,
        "{least} {right} {most}"
    );
}

#[test]
fn two_fields_are_too_few() {
    let records: Vec<[String; 5]> = (0..1500)
        .map(|i| {
            let [_, surname, _, phone, _] = person(i, i / 3);
            [String::new(), surname, String::new(), phone, String::new()]
        })
        .collect();
    let Verdict::TooWeak(because) = evidence(&records).verdict(&names()) else {
        panic!("two fields are evidence");
    };
    assert!(
        because.contains("only 2 fields tell records apart (phone"),
        "{because}"
    );
}

#[test]
fn what_explains_a_pair_adds_up_to_its_odds() {
    let evidence = evidence(&with_errors());
    let report = evidence.report(&Verdict::Links, |_| 1);
    let pair = evidence
        .shown
        .iter()
        .max_by(|a, b| a.log_odds.total_cmp(&b.log_odds))
        .unwrap();
    let points: Vec<f64> = evidence
        .explain(pair.records.map(|record| record as usize), 5)
        .into_iter()
        .map(|(_, points)| points)
        .collect();
    // By the definition, from what the report says.
    let odds_of_class = |class: &ClassEvidence| {
        let shared: f64 = class.shares.iter().map(|field| points[*field]).sum();
        class.pairs / report.all_pairs * shared.exp2()
    };
    let same = report.classes.iter().find(|class| class.is_same).unwrap();
    let others = report.classes.iter().filter(|class| !class.is_same);
    let others: f64 = others.map(odds_of_class).sum();
    let log_odds = (odds_of_class(same) / others).ln();
    assert!(
        (log_odds - pair.log_odds).abs() < 1e-6,
        "{log_odds} {}",
        pair.log_odds
    );
}
