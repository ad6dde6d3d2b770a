//! A deduplication divided among machines, with lists that play the engine, against the same on one machine.

use std::collections::{BTreeMap, HashMap, HashSet};

use simgpu::engine::Engine;
use simgpu::pipeline::{Clustering, Removal};
use simgpu::progress::Silent;
use simgpu::scheme::fmix64;
use simgpu::search::{Dedup, Pairs, Search, Verification, dedup, dedup_against, pairs};
use simgpu_files::divided::{
    Compared, ComponentSearch, ComponentTask, ConnectedBatch, Edges, SharedMembers, sign_batch,
};

/// Families of edited copies, repeats, texts without shingles, and boilerplate in one bucket.
fn texts() -> Vec<String> {
    let word = |seed: u64, at: u64| format!("w{}", fmix64(seed << 20 | at) % 3_000);
    let mut texts = vec![String::new()];
    for family in 0..60 {
        let mut words: Vec<String> = (0..40).map(|at| word(family, at)).collect();
        for member in 0..1 + family % 6 {
            if member % 3 > 0 {
                let at = usize::try_from(fmix64(family << 8 | member) % 40).unwrap();
                words[at] = format!("e{family}x{member}");
            }
            texts.push(words.join(" "));
        }
    }
    let common: Vec<String> = (0..30).map(|at| word(99, at)).collect();
    for number in 0..80 {
        texts.push(format!("{} number {number}", common.join(" ")));
    }
    texts
}

/// A connected document.
struct Connected {
    component: i64,
    place: i64,
    buckets: Vec<u8>,
    is_input: bool,
}

/// Connects the first documents of each text by their buckets: in order of components, then of places. The first texts, as
/// many as `reference`, are those of a reference; all places are the rows less this number.
fn connected(
    texts: &[String],
    reference: usize,
    search: &Search,
    engine: &Engine,
) -> (Vec<Connected>, Vec<usize>) {
    let signed = sign_batch(&texts, engine, search).unwrap();
    let bands = search.banding.bands();
    let mut first_of = HashMap::new();
    let mut first = Vec::new();
    let place_of = |row: usize| row as i64 - reference as i64;
    let mut members = BTreeMap::<(u32, u64), Vec<i64>>::new();
    for (row, digest) in signed.digests.iter().enumerate() {
        let first_row = digest.map_or(row, |digest| *first_of.entry(digest).or_insert(row));
        first.push(first_row);
        if digest.is_some() && first_row == row {
            for (band, key) in (0..).zip(&signed.keys[bands * row..][..bands]) {
                members.entry((band, *key)).or_default().push(place_of(row));
            }
        }
    }
    // Documents of the input, and those of the reference that stand for one.
    let inputs: HashSet<i64> = (reference..texts.len())
        .flat_map(|row| [row, first[row]])
        .map(place_of)
        .collect();
    let (mut edges, mut shared) = (Edges::default(), SharedMembers::default());
    for ((band, key), places) in &members {
        let (own, others): (Vec<i64>, Vec<i64>) =
            places.iter().partition(|place| inputs.contains(place));
        for place in own {
            let added = edges.add_member(*band, *key, place, &mut shared);
            added.unwrap();
        }
        for place in others {
            let added = edges.add_reference(*band, *key, place, &mut shared);
            added.unwrap();
        }
    }
    let components: HashMap<i64, i64> = edges
        .take()
        .into_iter()
        .map(|(least, place)| (place, least))
        .collect();
    let mut buckets_of = BTreeMap::<(i64, i64), Vec<u8>>::new();
    for ((band, key), place) in shared.bands.iter().zip(&shared.keys).zip(&shared.places) {
        let component = components.get(place).copied().unwrap_or(*place);
        let buckets = buckets_of.entry((component, *place)).or_default();
        buckets.extend(band.to_le_bytes());
        buckets.extend(key.to_le_bytes());
    }
    let connected = buckets_of
        .into_iter()
        .map(|((component, place), buckets)| Connected {
            component,
            place,
            buckets,
            is_input: inputs.contains(&place),
        });
    (connected.collect(), first)
}

/// Documents, those of the reference first.
struct Corpus<'a> {
    texts: &'a [String],
    reference: usize,
}

/// Searches connected documents in batches of three.
fn searched(
    corpus: &Corpus<'_>,
    connected: &[Connected],
    task: ComponentTask,
    most_bytes: usize,
    engine: &Engine,
) -> ComponentSearch {
    let Corpus { texts, reference } = *corpus;
    let mut search = ComponentSearch::new(task, most_bytes, engine);
    for part in connected.chunks(3) {
        let column = |value: fn(&Connected) -> i64| part.iter().map(value).collect::<Vec<_>>();
        let (components, places) = (column(|row| row.component), column(|row| row.place));
        let buckets: Vec<&[u8]> = part.iter().map(|row| row.buckets.as_slice()).collect();
        let inputs: Vec<bool> = part.iter().map(|row| row.is_input).collect();
        let batch = ConnectedBatch {
            components: &components,
            places: &places,
            keepers: &places,
            buckets: &buckets,
            inputs: Some(&inputs).filter(|_| reference > 0).map(Vec::as_slice),
        };
        let text =
            |place: &i64| texts[usize::try_from(*place + reference as i64).unwrap()].as_str();
        let compared: Vec<&str> = places.iter().map(text).collect();
        search
            .add(&batch, &Compared::Documents(&compared), engine)
            .unwrap();
    }
    search.finish().unwrap();
    search
}

#[test]
fn divided_removals_are_those_of_one_machine() {
    let (texts, engine) = (texts(), Engine::builder().build().unwrap());
    let mut search = Search::new(0.6, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    let (connected, first) = connected(&texts, 0, &search, &engine);
    let corpus = Corpus {
        texts: &texts,
        reference: 0,
    };
    let cases = [
        (Clustering::Greedy, usize::MAX),
        (Clustering::Greedy, 5),
        (Clustering::Connected, usize::MAX),
    ];
    for (clustering, max_bucket) in cases {
        let task = Dedup {
            clustering,
            max_bucket,
            ..Dedup::new(search.clone())
        };
        let whole = dedup(&texts, &engine, &task, &Silent).unwrap();
        // Greedy clusters need no more memory than some documents take.
        let budgets: &[usize] = match clustering {
            Clustering::Greedy => &[0, 20_000, usize::MAX],
            Clustering::Connected => &[usize::MAX],
        };
        for most_bytes in budgets {
            let task = ComponentTask::Dedup(task.clone());
            let found = searched(&corpus, &connected, task, *most_bytes, &engine);
            let kept: HashMap<i64, i64> = found
                .removals
                .iter()
                .map(|removal| (removal.document, removal.kept))
                .collect();
            let removed_row = |(row, first): (i64, &usize)| match kept.get(&(*first as i64)) {
                Some(kept) => Some((row, *kept)),
                None => (row != *first as i64).then_some((row, *first as i64)),
            };
            let rows: Vec<_> = (0..).zip(&first).filter_map(removed_row).collect();
            let rows_of =
                |removed: &Removal| (i64::from(removed.document), i64::from(removed.kept));
            let expected: Vec<_> = whole.removed.iter().map(rows_of).collect();
            assert!(expected.len() > 100, "{}", expected.len());
            assert_eq!(rows, expected, "{clustering:?} {max_bucket} {most_bytes}");
            let (one, all) = (found.counts(), &whole.counts);
            assert_eq!(
                [
                    one.candidate_pairs,
                    one.similar_pairs,
                    one.omitted_pairs,
                    one.large_buckets
                ],
                [
                    all.candidate_pairs,
                    all.similar_pairs,
                    all.omitted_pairs,
                    all.large_buckets
                ],
            );
        }
    }
}

#[test]
fn divided_pairs_are_those_of_one_machine() {
    let (texts, engine) = (texts(), Engine::builder().build().unwrap());
    let mut search = Search::new(0.6, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    let (connected, first) = connected(&texts, 0, &search, &engine);
    let corpus = Corpus {
        texts: &texts,
        reference: 0,
    };
    let found = searched(
        &corpus,
        &connected,
        ComponentTask::Pairs(search.clone()),
        usize::MAX,
        &engine,
    );
    let divided: HashSet<(i64, i64)> = found.pairs.iter().map(|pair| (pair.a, pair.b)).collect();
    assert_eq!(divided.len(), found.pairs.len());
    let mut whole = Vec::new();
    let mut each = |pair| {
        whole.push(pair);
        Ok(())
    };
    pairs(&texts, &engine, &Pairs::new(search), &Silent, &mut each).unwrap();
    let is_first = |row: u32| first[row as usize] == row as usize;
    let distinct: HashSet<(i64, i64)> = whole
        .iter()
        .filter(|pair| is_first(pair.a) && is_first(pair.b))
        .map(|pair| (i64::from(pair.a), i64::from(pair.b)))
        .collect();
    assert!(distinct.len() > 100, "{}", distinct.len());
    assert_eq!(divided, distinct);
}

#[test]
fn divided_removals_for_a_reference_are_those_of_one_machine() {
    let (texts, engine) = (texts(), Engine::builder().build().unwrap());
    // Some texts are of the reference, and some of these are on both sides.
    let is_old = |row: usize| row.is_multiple_of(7);
    let rows = (0..texts.len()).filter(|row| is_old(*row));
    let old: Vec<String> = rows.map(|row| texts[row].clone()).collect();
    let new = (0..texts.len()).filter(|row| !is_old(*row) || row.is_multiple_of(21));
    let new: Vec<String> = new.map(|row| texts[row].clone()).collect();
    let (all, reference) = ([&old[..], &new[..]].concat(), old.len());
    let mut search = Search::new(0.6, engine.scheme()).unwrap();
    search.verification = Verification::Exact;
    let (connected, first) = connected(&all, reference, &search, &engine);
    let corpus = Corpus {
        texts: &all,
        reference,
    };
    for (clustering, most_bytes) in [
        (Clustering::Greedy, usize::MAX),
        (Clustering::Greedy, 0),
        (Clustering::Connected, usize::MAX),
    ] {
        let task = Dedup {
            clustering,
            max_bucket: usize::MAX,
            ..Dedup::new(search.clone())
        };
        let whole = dedup_against(&new, &old, None, &engine, &task, &Silent).unwrap();
        let task = ComponentTask::Dedup(task);
        let found = searched(&corpus, &connected, task, most_bytes, &engine);
        let row = |place: i64| u32::try_from(place + reference as i64).unwrap();
        let removals = found.removals.iter();
        let kept: HashMap<u32, u32> = removals
            .map(|removal| (row(removal.document), row(removal.kept)))
            .collect();
        let removed_row = |(row, first): (u32, &usize)| {
            let first = u32::try_from(*first).unwrap();
            let kept = kept.get(&first).copied().unwrap_or(first);
            (kept != row).then_some((row, kept))
        };
        let inputs = (0..).zip(&first).skip(reference);
        let rows: Vec<(u32, u32)> = inputs.filter_map(removed_row).collect();
        let expected = whole.removed.iter();
        let expected: Vec<(u32, u32)> = expected
            .map(|removed| (removed.document, removed.kept))
            .collect();
        let there = expected.iter().filter(|(_, kept)| *kept < whole.reference);
        let there = there.count();
        assert!(there > 20 && there < expected.len(), "{there}");
        assert_eq!(rows, expected, "{clustering:?} {most_bytes}");
        let (one, all) = (found.counts(), &whole.counts);
        assert_eq!(
            [one.candidate_pairs, one.similar_pairs],
            [all.candidate_pairs, all.similar_pairs]
        );
    }
}
