use super::*;
use crate::DedupOutput;
use crate::tests::{Place, Watched, engine, place, skipping, task, watched_by};

/// The report of a run over all inputs of a place, or over some of their records, and what it told.
fn report(place: &Place, limit: Option<u64>) -> (Result<Report>, Watched<'static>) {
    let engine = engine();
    let told = Watched::stop_at(usize::MAX);
    let inputs = place.inputs();
    let mut run = Run {
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
    if let Some(limit) = limit.and_then(NonZeroU64::new) {
        run = Run {
            limit: Some(limit),
            ..run
        };
    }
    let temporary = &place.path("in");
    let outcome = run.dedup(&task(&engine), DedupOutput::Nowhere { temporary });
    (outcome.map(|outcome| outcome.report), told)
}

#[test]
fn inputs_without_a_good_record_are_an_error() {
    let place = Place::new();
    place.write("in/a.jsonl", "{\"id\": 1}\n{\"id\": 2}\n");
    let refused = report(&place, None).0.unwrap_err();
    assert!(matches!(refused, Error::NoGoodRecord(record) if record.row == 0));
    place.write("in/b.jsonl", "{\"text\": \"a\"}\n");
    let counts = report(&place, None).0.unwrap().counts;
    assert_eq!((counts.documents, counts.kept, counts.skipped), (3, 1, 2));
}

#[test]
fn files_without_records_are_told() {
    let place = Place::new();
    place.write("in/a.jsonl", "");
    let (empty, told) = report(&place, None);
    assert_eq!(empty.unwrap().empty_files, ["a.jsonl"]);
    assert!(told.has("the inputs hold no records"));
    place.write("in/b.jsonl", "{\"text\": \"a\"}\n");
    assert!(report(&place, None).1.has("a.jsonl holds no records"));
    place.write("in/c.jsonl", "\n\n");
    let (empty, told) = report(&place, None);
    assert_eq!(empty.unwrap().empty_files, ["a.jsonl", "c.jsonl"]);
    assert!(told.has("2 files hold no records, first"));
}

#[test]
fn a_limit_counts_records_of_all_files() {
    let place = place();
    let all = report(&place, None).0.unwrap().counts.documents;
    let first = place.lines("in/a.jsonl").len() as u64;
    for limit in [1, 5, first - 1, first, first + 1, all, all + 9] {
        let counts = report(&place, Some(limit)).0.unwrap().counts;
        assert_eq!(counts.documents, limit.min(all));
    }
}
