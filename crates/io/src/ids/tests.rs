use super::spilled::end_of_lines;
use super::*;
use simgpu::store::spill::Budget;

/// Ids that come one by one up to `single`, and then all others at a time.
fn all(ids: &[&str], spills_at: usize, single: usize) -> (DocumentIds, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::new(&Budget::new(folder.path(), 1 << 10)).unwrap();
    let mut all = DocumentIds::default();
    for (at, id) in ids[..single].iter().enumerate() {
        if at == spills_at {
            all.spill(&spill).unwrap();
        }
        all.push(id).unwrap();
    }
    if spills_at >= single {
        all.spill(&spill).unwrap();
    }
    let mut others = Texts::default();
    ids[single..].iter().for_each(|id| others.push(id));
    all.append(&others).unwrap();
    all.end().unwrap();
    (all, folder)
}

#[test]
fn lines_end_where_each_line_is_looked_for() {
    let text: String = (0..2_000).map(|i| "x".repeat(i % 7) + "\n").collect();
    let ends = memchr::memchr_iter(b'\n', text.as_bytes());
    for (lines, end) in (1..).zip(ends) {
        assert_eq!(end_of_lines(text.as_bytes(), lines), (end + 1, lines));
    }
    assert_eq!(end_of_lines(text.as_bytes(), 2_001), (text.len(), 2_000));
    assert_eq!(end_of_lines(b"", 3), (0, 0));
}

#[test]
fn ids_on_disk_are_those_in_memory() {
    // More than are digested at a time.
    let many: Vec<String> = (0..70_000)
        .map(|i| format!("\"id {}\"", i % 69_900))
        .collect();
    let many: Vec<&str> = many.iter().map(|id| &**id).collect();
    let numbers = ["3", "1", "-7", "1", "1", "3"];
    for (ids, repeats, first) in [
        (&many[..], 100, Some((0, 69_900))),
        (&numbers[..], 3, Some((1, 3))),
        (&many[..7], 0, None),
    ] {
        let len = ids.len();
        for (spills_at, single) in [(0, len), (2, len), (len, len), (0, 0), (0, 4), (2, 5)] {
            let (mut all, _folder) = all(ids, spills_at, single);
            assert_eq!(all.all_integers(), ids[0] == "3");
            let mut in_order = all.in_order().unwrap();
            for id in ids {
                assert_eq!(in_order.next().unwrap(), *id);
            }
            drop(in_order);
            let (mut in_order, mut lines) = (all.in_order().unwrap(), String::new());
            for (skipped, taken) in [(0, 1), (1, 0), (0, 3), (1, ids.len() - 6)] {
                in_order.skip(skipped).unwrap();
                in_order.append_lines(taken, &mut lines).unwrap();
            }
            let left = (0..).zip(ids).filter(|(row, _)| ![1, 5].contains(row));
            assert!(lines.split_terminator('\n').eq(left.map(|(_, id)| *id)));
            drop(in_order);
            assert_eq!(all.get(5).unwrap(), ids[5]);
            let repeated = all.repeated(0).unwrap();
            assert_eq!((repeated.documents, repeated.first), (repeats, first));
        }
    }
}
