use super::*;
use crate::RunOptions;
use crate::tests::{LITTLE, Watched, assert_complete, engine, place, skipping, task, watched_by};
use simgpu::pipeline::Clustering;
use simgpu::search::CandidateMethod;

#[test]
fn counts_that_do_not_add_up_are_refused() {
    let counts = |documents, kept, removed, skipped| Counts {
        documents,
        kept,
        removed,
        skipped,
        ..Counts::default()
    };
    assert!(check_sum(&counts(9, 4, 3, 2)).is_ok());
    for wrong in [counts(9, 4, 3, 1), counts(9, 5, 3, 2), counts(9, 4, 0, 2)] {
        assert!(matches!(check_sum(&wrong), Err(Error::Accounting { .. })));
    }
}

#[test]
fn documents_alone_are_clusters_of_one() {
    let sizes = |histogram: &[(u64, u64)]| ClusterSizes {
        histogram: histogram.iter().copied().collect(),
        of_reference: 0,
        most_for_reference: None,
        listed: Vec::new(),
    };
    let of = |known, kept| histogram(&sizes(known), kept);
    assert_eq!(
        of(&[(2, 3), (4, 1)], 9),
        BTreeMap::from([(1, 5), (2, 3), (4, 1)])
    );
    assert_eq!(of(&[(2, 3)], 3), BTreeMap::from([(2, 3)]));
    assert_eq!(of(&[], 1), BTreeMap::from([(1, 1)]));
}

#[test]
fn results_account_for_every_record() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let mut known = Vec::new();
    for clustering in [Clustering::Greedy, Clustering::Connected] {
        for keep in [KeepPolicy::First, KeepPolicy::Longest] {
            let task = Dedup {
                clustering,
                keep,
                ..task(&engine)
            };
            let run = |name: &str, memory| {
                let told = Watched::stop_at(usize::MAX);
                let run = Run {
                    memory: Some(memory),
                    options: RunOptions {
                        overwrite: true,
                        ..watched_by(&told)
                    },
                    ..skipping(&engine, &inputs)
                };
                run.dedup(&task, &place.path(name)).unwrap();
                assert_complete(&place, name);
                assert_eq!(told.has("goes on on disk"), memory == LITTLE);
                place.results(name)
            };
            let in_memory = run("memory", 1 << 30);
            assert!(run("disk", LITTLE) == in_memory, "{task:?}");
            assert!(!known.contains(&in_memory), "{task:?}");
            known.push(in_memory);
        }
    }
}

#[test]
fn reports_say_what_depends_on_the_method() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let report = |candidates| {
        let mut task = task(&engine);
        task.search.candidates = candidates;
        let nowhere = DedupOutput::Nowhere {
            temporary: &place.path("in"),
        };
        let run = skipping(&engine, &inputs).dedup(&task, nowhere);
        run.unwrap().report
    };
    let bands = |report: &Report| {
        let search = report.parameters.search.as_ref().unwrap();
        (
            search.candidates.clone(),
            search.bands.is_some(),
            report.dedup.as_ref().and_then(|dedup| dedup.max_bucket),
        )
    };
    let lsh = report(CandidateMethod::Lsh);
    assert_eq!(bands(&lsh), ("lsh".to_owned(), true, Some(4096)));
    let join = report(CandidateMethod::Join);
    assert_eq!(bands(&join), ("join".to_owned(), false, None));
    let known = join.parameters.search.unwrap().recall_at_threshold;
    assert!((known - 1.0).abs() < f64::EPSILON);
    assert!(lsh.counts.removed > 100 && join.counts.removed >= lsh.counts.removed);
}
