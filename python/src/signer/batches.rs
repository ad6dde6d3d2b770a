//! Signs documents and sets in batches.

use std::ops::Range;

use simgpu::documents::Documents;
use simgpu::engine::Engine;
use simgpu::pipeline::{ShingleSets, SignaturesMut};
use simgpu::progress::advance;
use simgpu::scheme::{Hashes, SlotsMut};

use super::run::Run;
use crate::texts::Sets;

/// The work of a row beside its text, in bytes of text.
pub(super) const PER_ROW: usize = 16;

/// Hashes between two looks at whether to stop: some 5 ms on one core.
const BATCH_HASHES: usize = 1 << 20;

pub(super) fn sign_documents<D: Documents + ?Sized>(
    run: Run<'_>,
    documents: &D,
) -> simgpu::Result<()> {
    let Run {
        engine,
        slots,
        progress,
    } = run;
    if let Some(progress) = progress {
        let signatures = SignaturesMut::new(engine.scheme().num_perm(), slots)?;
        return engine.sign_into(documents, signatures, progress);
    }
    engine.shingler().check_forms(documents)?;
    let shingles = engine.shingler().shingle(documents);
    let sets = shingles.sets();
    let ranges = (0..sets.len()).map(|i| sets.range(i));
    sign_each(engine, sets.hashes(), ranges, slots)
}

/// Signs sets, one after the other, on this thread alone.
fn sign_each(
    engine: &Engine,
    hashes: Hashes<'_>,
    sets: impl Iterator<Item = Range<usize>>,
    slots: SlotsMut<'_>,
) -> simgpu::Result<()> {
    let mut rest = slots;
    for set in sets {
        let (own, others) = rest.split_at(engine.scheme().num_perm());
        rest = others;
        engine.signer().sign_set(hashes.range(set), own)?;
    }
    Ok(())
}

pub(super) fn sign_sets(run: Run<'_>, all: &[Sets<'_>]) -> simgpu::Result<()> {
    let Run {
        engine,
        slots,
        progress,
    } = run;
    let count: usize = all.iter().map(Sets::len).sum();
    if let Some(progress) = progress {
        progress.begin("sign", count as u64);
    }
    let (mut rest, mut done) = (slots, 0);
    for sets in all {
        let Some(progress) = progress else {
            let (own, others) = rest.split_at(sets.len() * engine.scheme().num_perm());
            rest = others;
            let ranges = sets.offsets.windows(2).map(|set| set[0]..set[1]);
            sign_each(engine, sets.hashes, ranges, own)?;
            continue;
        };
        let mut first = 0;
        while first < sets.len() {
            let enough = sets.offsets[first] + BATCH_HASHES;
            let end = sets.offsets.partition_point(|offset| *offset < enough);
            let end = end.min(sets.len());
            let (own, others) = rest.split_at((end - first) * engine.scheme().num_perm());
            rest = others;
            sign_batch(engine, sets, first..end, own)?;
            for notice in engine.signer().notices() {
                progress.warn(&notice);
            }
            done += end - first;
            first = end;
            advance(progress, done as u64, done as u64, 0)?;
        }
    }
    Ok(())
}

/// Signs the sets `range` of `sets`, on the current pool.
fn sign_batch(
    engine: &Engine,
    sets: &Sets<'_>,
    range: Range<usize>,
    slots: SlotsMut<'_>,
) -> simgpu::Result<()> {
    let offsets = &sets.offsets[range.start..=range.end];
    let (first, end) = (offsets[0], offsets[range.len()]);
    let offsets: Vec<i64> = offsets.iter().map(|at| (at - first) as i64).collect();
    let sets = ShingleSets::new(sets.hashes.range(first..end), &offsets)?;
    let signatures = SignaturesMut::new(engine.scheme().num_perm(), slots)?;
    engine.signer().sign_sets(&sets, signatures)
}
