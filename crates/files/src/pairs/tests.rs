use super::*;
use std::fs::File;

use crate::tests::{LITTLE, engine, overwriting, place, search, skipping};
use simgpu::error::Error;
use simgpu_io::with_suffix;

#[test]
fn pairs_are_the_same_wherever_they_go() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let task = Pairs::new(search(&engine, Verification::Exact));
    let run = |memory| Run {
        memory: Some(memory),
        ..skipping(&engine, &inputs)
    };
    let (file, disk) = (place.path("pairs.jsonl"), place.path("disk.jsonl"));
    let outcome = run(1 << 30).pairs(&task, PairsOutput::File(&file)).unwrap();
    let pairs = place.lines("pairs.jsonl");
    assert_eq!(outcome.report.counts.similar_pairs, pairs.len() as u64);
    assert!(pairs.len() > 100);
    let spilled = run(LITTLE).pairs(&task, PairsOutput::File(&disk)).unwrap();
    assert_eq!(spilled.report.counts, outcome.report.counts);
    assert_eq!(place.text("disk.jsonl"), place.text("pairs.jsonl"));
    let mut streamed = Vec::new();
    let temporary = &place.path("in");
    let target = &mut streamed;
    let stream = PairsOutput::Stream { target, temporary };
    run(1 << 30).pairs(&task, stream).unwrap();
    assert_eq!(streamed, place.text("pairs.jsonl").into_bytes());
    let nowhere = run(1 << 30).pairs(&task, PairsOutput::Nowhere { temporary });
    assert_eq!(nowhere.unwrap().report.counts, outcome.report.counts);
    // Each names the places of its documents.
    for pair in pairs {
        for side in ["a", "b"] {
            let (file, row) = (&pair[format!("file_{side}")], &pair[format!("row_{side}")]);
            let records = crate::tests::records(&place, file.as_str().unwrap());
            let row = usize::try_from(row.as_u64().unwrap()).unwrap();
            assert_eq!(records[row].1.as_ref(), Some(&pair[format!("id_{side}")]));
        }
    }
}

#[test]
fn only_pairs_are_protected() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let task = Pairs::new(search(&engine, Verification::Exact));
    let file = place.path("pairs.csv");
    let write = |overwrite| {
        let run = Run {
            options: overwriting(overwrite),
            ..skipping(&engine, &inputs)
        };
        run.pairs(&task, PairsOutput::File(&file))
    };
    // A report without pairs is left from an interrupted run.
    place.write("pairs.csv.report.json", "{}");
    write(false).unwrap();
    assert!(
        place
            .text("pairs.csv.report.json")
            .contains("similar_pairs")
    );
    let before = place.text("pairs.csv");
    assert!(before.starts_with("id_a,id_b,similarity,file_a,row_a,file_b,row_b\n"));
    assert!(matches!(write(false), Err(Error::Output { .. })));
    assert_eq!(place.text("pairs.csv"), before);
    write(true).unwrap();
}

#[test]
fn pairs_without_their_report_are_replaced() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let task = Pairs::new(search(&engine, Verification::Exact));
    let file = place.path("out/pairs.csv");
    let write = || {
        let run = Run {
            page: true,
            ..skipping(&engine, &inputs)
        };
        run.pairs(&task, PairsOutput::File(&file))
    };
    place.write("out/other", "");
    write().unwrap();
    let expected = place.results("out");
    let report = place.path("out/pairs.csv.report.json");
    let partial = place.path("out/pairs.csv.report.json.partial");
    let page = place.path("out/pairs.csv.report.html");
    for has_page in [true, false] {
        // As a run leaves them that is killed before the report has its name, or before the page has its own.
        std::fs::rename(&report, &partial).unwrap();
        if !has_page {
            std::fs::rename(&page, with_suffix(&page, ".partial")).unwrap();
        }
        write().unwrap();
        assert_eq!(place.results("out"), expected, "{has_page}");
    }
    // While a run gives names, another one stays out.
    std::fs::rename(&report, &partial).unwrap();
    let claimed = File::options().write(true).open(&partial).unwrap();
    claimed.lock().unwrap();
    let refused = write().unwrap_err().to_string();
    assert!(refused.contains("another run is writing it"), "{refused}");
    drop(claimed);
    // Pairs that the report does not describe are of someone else.
    place.write("out/pairs.csv", "mine");
    let refused = write().unwrap_err().to_string();
    assert!(refused.contains("the file exists"), "{refused}");
    assert_eq!(place.text("out/pairs.csv"), "mine");
}
