//! Clocks, workloads and backends that are made up.

use std::sync::Mutex;

use simgpu::pipeline::{ShingleSets, SignaturesMut, Signer};
use simgpu::progress::Silent;
use simgpu::scheme::{SlotsMut, Width};
use simgpu::{Error, Result};

use crate::throughput::clock::Clock;
use crate::throughput::runner::{Entrant, RunSchedule, Workload, run_rounds};
use crate::{Row, Stage, TimedRun};

/// A clock advanced by workloads, in units of 2^-20 s, which add up exactly.
#[derive(Default)]
pub(super) struct Fake(Mutex<u64>);

pub(super) const UNIT_S: f64 = 1.0 / (1 << 20) as f64;

impl Fake {
    fn advance(&self, units: u64) {
        *self.0.lock().unwrap() += units;
    }
}

impl Clock for Fake {
    fn now_s(&self) -> f64 {
        *self.0.lock().unwrap() as f64 * UNIT_S
    }

    fn reference_s(&self) -> f64 {
        self.advance(100);
        100.0 * UNIT_S
    }
}

/// A pass of a fixed length with given checksums.
struct Sleep<'a> {
    clock: &'a Fake,
    units: u64,
    checksums: Vec<u64>,
}

impl Workload for Sleep<'_> {
    fn pass(&mut self) -> Result<()> {
        self.clock.advance(self.units);
        Ok(())
    }

    fn checksum(&mut self) -> Result<u64> {
        match self.checksums.len() {
            0 => Err(Error::Disagreement("all checksums are used up".to_owned())),
            1 => Ok(self.checksums[0]),
            _ => Ok(self.checksums.remove(0)),
        }
    }

    fn ceiling_updates_per_s(&self) -> Option<f64> {
        self.clock.advance(7);
        Some(self.clock.now_s())
    }
}

pub(super) fn entrant<'a>(
    clock: &'a Fake,
    backend: &str,
    units: u64,
    checksums: &[u64],
) -> Entrant<'a> {
    Entrant {
        run: TimedRun {
            backend: backend.to_owned(),
            scheme: "affine32".to_owned(),
            input: "nothing".to_owned(),
            ..TimedRun::unmeasured(Stage::Sign)
        },
        workload: Box::new(Sleep {
            clock,
            units,
            checksums: checksums.to_vec(),
        }),
        expected: None,
    }
}

const ROUNDS: RunSchedule = RunSchedule {
    rounds: 3,
    run_s: 1000.0 * UNIT_S,
};

pub(super) fn runs_of(entrants: &mut [Entrant<'_>], clock: &Fake) -> Result<Vec<TimedRun>> {
    let mut runs = Vec::new();
    run_rounds(entrants, ROUNDS, clock, &Silent, &mut |record| {
        if let Row::Run(run) = record {
            runs.push(run);
        }
        Ok(())
    })?;
    Ok(runs)
}

/// The error of entrants, and the number of runs before it.
pub(super) fn failure(entrants: &mut [Entrant<'_>], clock: &Fake) -> (String, usize) {
    let mut runs = 0;
    let failed = run_rounds(entrants, ROUNDS, clock, &Silent, &mut |_| {
        runs += 1;
        Ok(())
    });
    let error = failed.unwrap_err();
    assert!(matches!(error, Error::Disagreement(_)), "{error}");
    (error.to_string(), runs)
}

/// A signer with one wrong slot.
pub(super) struct Wrong(pub(super) Box<dyn Signer>);

impl Signer for Wrong {
    fn describe(&self) -> String {
        "wrong".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.0.num_perm()
    }

    fn slot_width(&self) -> Width {
        self.0.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let mut slots = signatures.into_slots();
        let matrix = SignaturesMut::new(self.num_perm(), slots.reborrow())?;
        self.0.sign_sets(sets, matrix)?;
        if let SlotsMut::U32(slots) = slots {
            slots[77] ^= 1;
        }
        Ok(())
    }
}
