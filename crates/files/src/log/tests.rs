use super::*;
use crate::tests::{Watched, change_unseen, engine, place, skipping, task, watched_by};
use crate::{DedupOutput, Run};
use simgpu::engine::Engine;
use simgpu::pipeline::Weighting;

#[test]
fn a_file_that_changes_after_the_count_is_an_error() {
    let mut shingling = engine().shingler().shingling().clone();
    shingling.weighting = Weighting::Rarity;
    let engine = Engine::builder().shingling(shingling).work_bytes(1);
    let engine = engine.build().unwrap();
    let place = place();
    let inputs = place.inputs();
    let path = place.path("in/d.jsonl");
    let change = || change_unseen(&path);
    let told = Watched::at("read", 1, &change);
    let temporary = &place.path("out");
    std::fs::create_dir(temporary).unwrap();
    let run = Run {
        options: watched_by(&told),
        ..skipping(&engine, &inputs)
    };
    let failed = run.dedup(&task(&engine), DedupOutput::Nowhere { temporary });
    assert!(matches!(failed, Err(Error::InputChanged { path: of }) if of == path));
}

#[test]
fn a_bad_record_ends_the_run_unless_it_is_skipped() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let run = Run {
        on_bad_record: OnBadRecord::Fail,
        ..skipping(&engine, &inputs)
    };
    let failed = run.dedup(&task(&engine), &place.path("out")).unwrap_err();
    let Error::BadRecord(bad) = failed else {
        panic!("{failed}");
    };
    let records = crate::tests::records(&place, "a.jsonl");
    let first = records.iter().position(|(_, id)| id.is_none()).unwrap() as u64;
    assert_eq!(
        (bad.file, bad.row, bad.line),
        (place.path("in/a.jsonl"), first, Some(first + 1))
    );
}
