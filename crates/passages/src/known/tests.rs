//! Tests of the table.

use super::*;
use crate::lengths::Lengths;

fn lengths() -> Lengths {
    Lengths::new(100.try_into().unwrap())
}

#[test]
fn every_run_is_found_in_order() {
    for threads in [1, 3] {
        let mut known = KnownWindows::new(&lengths(), 10, threads);
        let mut rooms = Rooms::default();
        let key = |i: usize| (i as u32 % 7_001).wrapping_mul(0x9E37_79B1);
        for i in 0..30_000 {
            known.grow();
            let windows = AnchoredWindows::new(i + 4_095, i + i % 4_096, i + 4_095);
            let context = i as u32 + 4_095;
            let (at, found) = known.find(key(i));
            let slot = KeySlot { at, key: key(i) };
            match found {
                SlotEntry::Nothing => assert!(known.enter(&mut rooms, slot, windows)),
                SlotEntry::One(one) => {
                    let first = FirstRun {
                        one,
                        context: context - 7_001,
                    };
                    let second = RunInContext { windows, context };
                    assert!(known.enter_second(&mut rooms, slot, first, second));
                }
                found => {
                    let SlotEntry::Group(group) = found else {
                        panic!("{found:?}")
                    };
                    assert!(known.lock(at, group, known.len(found)));
                    let run = RunInContext { windows, context };
                    known.enter_beside(&mut rooms, slot, group, run);
                }
            }
        }
        for start in 0..7_001 {
            let (_, found) = known.find(key(start));
            let runs = known.runs(found);
            assert_eq!(known.len(found), runs.len());
            let entered: Vec<usize> = (start..30_000).step_by(7_001).collect();
            assert_eq!(runs.len(), entered.len());
            let SlotEntry::Group(group) = found else {
                panic!("{found:?}")
            };
            for (n, (windows, i)) in runs.into_iter().zip(entered).enumerate() {
                assert_eq!(windows.anchor(), i + 4_095);
                assert_eq!(windows.first(), i + i % 4_096);
                assert_eq!(windows.last(), i + 4_095);
                let agreeing = known.agreeing(group, known.len(found), i as u32 + 4_095);
                assert!(agreeing & 1 << n != 0);
            }
        }
    }
}

#[test]
fn contexts_agree_on_either_side() {
    let sides = [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF];
    let contexts = sides.into_iter().flat_map(|a| sides.map(|b| a << 16 | b));
    let contexts: Vec<u32> = contexts.collect();
    for all in contexts.chunks(5) {
        let known = KnownWindows::new(&lengths(), 10, 1);
        let mut rooms = Rooms::default();
        let group = known.add_group(&mut rooms, 16).unwrap();
        for context in all {
            let run = RunInContext {
                windows: AnchoredWindows::default(),
                context: *context,
            };
            known.push(&mut rooms, group, run);
        }
        for context in &contexts {
            let agrees = |a: u32, b: u32| a != 0 && a == b;
            let expected = all.iter().enumerate().fold(0, |mask, (i, other)| {
                let either =
                    agrees(context >> 16, other >> 16) || agrees(context & 0xFFFF, other & 0xFFFF);
                mask | u64::from(either) << i
            });
            assert_eq!(known.agreeing(group, all.len(), *context), expected);
        }
    }
}
