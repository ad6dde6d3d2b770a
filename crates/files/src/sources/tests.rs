use super::*;

fn removal(document: u32, kept: u32) -> Removal {
    Removal {
        document,
        kept,
        is_identical: true,
        similarity: Some(1.0),
        overlap: None,
        via: None,
    }
}

fn values(names: &[&str]) -> FieldSources {
    let mut sources = FieldSources::new(&FieldPath::new("from"));
    names.iter().for_each(|value| sources.push(value).unwrap());
    sources
}

/// The reports of sources, by counting documents one by one.
#[test]
fn removed_documents_are_counted_by_source() {
    let row_names = ["b", "", "a", "b", "", "b", "a"];
    let values = values(&row_names);
    let mut counts = SourceCounts::new(Sources::Values(&values), 0, 0);
    let removed = [removal(3, 0), removal(4, 2), removal(5, 0), removal(6, 0)];
    removed.iter().for_each(|removal| counts.add(removal));
    let reports = counts.end();
    let names: Vec<Option<&str>> = reports
        .iter()
        .map(|report| report.source.as_deref())
        .collect();
    assert_eq!(names, [Some("b"), None, Some("a")]);
    for report in &reports {
        let name = report.source.as_deref().unwrap_or_default();
        let is_of = |row: u32| row_names[row as usize] == name;
        let documents = (0..7).filter(|row| is_of(*row)).count() as u64;
        let gone = removed
            .iter()
            .filter(|removal| is_of(removal.document))
            .count() as u64;
        assert_eq!(
            (report.documents, report.removed, report.kept),
            (documents, gone, documents - gone)
        );
        for removed_for in &report.removed_for {
            let kept = removed_for.source.as_deref().unwrap_or_default();
            let both = removed.iter().filter(|removal| {
                is_of(removal.document) && row_names[removal.kept as usize] == kept
            });
            assert_eq!(removed_for.removed, both.count() as u64);
        }
        assert_eq!(
            report.removed_for.iter().map(|of| of.removed).sum::<u64>(),
            gone
        );
    }
    // Written and read again, they are the same.
    assert!(values.iter().eq(row_names));
}

#[test]
fn further_sources_are_one() {
    let names: Vec<String> = (0..2200).map(|row| (row % 1100).to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values = values(&names);
    let mut counts = SourceCounts::new(Sources::Values(&values), 0, 0);
    for row in 1..2200 {
        counts.add(&removal(row, row % 50));
    }
    let reports = counts.end();
    assert_eq!(reports.len(), LISTED + 1);
    assert_eq!(
        (reports[LISTED].others, reports[LISTED].documents),
        (Some(100), 200)
    );
    assert_eq!(
        reports.iter().map(|report| report.removed).sum::<u64>(),
        2199
    );
    for report in &reports {
        assert_eq!(
            report.removed_for.iter().map(|of| of.removed).sum::<u64>(),
            report.removed
        );
    }
}

#[test]
fn too_many_values_are_an_error() {
    let mut sources = FieldSources::new(&FieldPath::new("url"));
    for value in 0..=u16::MAX {
        sources.push(&value.to_string()).unwrap();
    }
    sources.push("7").unwrap();
    let refused = sources.push("one more").unwrap_err().to_string();
    assert!(
        refused.contains("\"url\"") && refused.contains("65,536"),
        "{refused}"
    );
}

#[test]
fn many_documents_may_go_for_one_of_a_reference() {
    for (removed, of, expected) in [
        (1000, 1000, false),
        (1001, 1001, true),
        (1001, 1_000_999, true),
        (1001, 1_001_000, false),
        (u64::MAX, u64::MAX, true),
    ] {
        assert_eq!(removes_many(removed, of), expected, "{removed} {of}");
    }
}

#[test]
fn only_unusual_results_are_warned_of() {
    let source = |documents: u64, removed: u64| SourceReport {
        source: Some(documents.to_string()),
        others: None,
        documents,
        kept: documents - removed,
        removed,
        removed_for: Vec::new(),
        lost: None,
    };
    let warned = |largest_cluster, sources: &[SourceReport]| {
        let counts = Counts {
            documents: sources.iter().map(|source| source.documents).sum(),
            removed: sources.iter().map(|source| source.removed).sum(),
            largest_cluster,
            ..Counts::default()
        };
        let warned = unusual(&counts, sources)
            .into_iter()
            .map(|unusual| match unusual {
                Unusual::LargeCluster { .. } => 'c',
                Unusual::SourceLoss { .. } => 's',
                Unusual::ReferenceDocument { .. } => 'r',
            });
        warned.collect::<String>()
    };
    assert_eq!(warned(50, &[source(100, 50)]), "");
    assert_eq!(warned(10, &[source(999, 9)]), "");
    assert_eq!(warned(10, &[source(1000, 9)]), "");
    assert_eq!(warned(11, &[source(1000, 10)]), "c");
    // All of one source, beside another that is large enough.
    assert_eq!(warned(2, &[source(5000, 0), source(1000, 1000)]), "s");
    assert_eq!(warned(2, &[source(5000, 0), source(1001, 500)]), "");
    assert_eq!(warned(2, &[source(999, 0), source(1000, 1000)]), "");
    // No more than twice the share of all.
    assert_eq!(warned(2, &[source(1000, 0), source(1000, 1000)]), "");
    assert_eq!(warned(61, &[source(5000, 100), source(1000, 900)]), "cs");
}
