//! `simgpu selftest`.

use std::fmt::Write as _;

use anyhow::bail;
use clap::Args;
use simgpu::error::with_flags;
use simgpu::selftest::{Check, CheckOutcome, Selftest};

use crate::arguments::BackendArguments;
use crate::options::Given;
use crate::streams::print;

/// Check that every backend computes the published signature values
///
/// Published values come from an independent implementation in another language and from the tools that the
/// presets reproduce. On long sets and texts made from formulas, every backend must match the scalar backend;
/// signatures of the texts must also match those recorded with this version.
#[derive(Args, Debug)]
#[command(
    mut_arg("backend", |backend| backend.help(
        "Backend to check: scalar, simd, gpu, hybrid, or auto (scalar and simd on every instruction set of this CPU, gpu on every hardware device)"
    )),
    mut_arg("isa", |isa| isa.help(
        "Check simd on this instruction set only: portable, avx2, avx512, avx512vnni, neon [default: all that this CPU supports]"
    ))
)]
pub(crate) struct SelftestArguments {
    #[command(flatten)]
    machine: BackendArguments,
}

pub(crate) fn run(arguments: &SelftestArguments, given: &Given) -> anyhow::Result<()> {
    given.check(arguments.machine.modes()?)?;
    let (backend, hardware) = arguments.machine.resolve()?;
    let selftest = Selftest {
        backend,
        isa: arguments.machine.names_isa().then_some(hardware.isa),
        #[cfg(feature = "gpu")]
        gpu: hardware.gpu,
    };
    let checks = selftest.run()?;
    print(page(&checks)?)?;
    let failed = failed(&checks);
    if failed > 0 {
        bail!(
            "{failed} of {} checks failed; do not use results of this machine, and please report the failed checks",
            checks.len()
        );
    }
    Ok(())
}

/// How many checks failed.
pub fn failed(checks: &[Check]) -> usize {
    let is_failed = |check: &&Check| matches!(check.outcome, CheckOutcome::Failed { .. });
    checks.iter().filter(is_failed).count()
}

/// A table of the checks and, if none failed, a summary.
///
/// # Errors
/// None that can occur.
pub fn page(checks: &[Check]) -> anyhow::Result<String> {
    let mut page = table(checks)?;
    if failed(checks) == 0 {
        let is_passed = |check: &&Check| matches!(check.outcome, CheckOutcome::Passed { .. });
        let passed = checks.iter().filter(is_passed).count();
        let mut signers: Vec<&str> = checks
            .iter()
            .filter_map(|check| check.signer.as_deref())
            .collect();
        signers.dedup();
        writeln!(
            page,
            "all {passed} checks passed on: {}",
            signers.join(", ")
        )?;
    }
    Ok(page)
}

/// The signer that computed the values, or the definition.
fn by(check: &Check) -> &str {
    check.signer.as_deref().unwrap_or("definition")
}

fn table(checks: &[Check]) -> anyhow::Result<String> {
    let width = |column: fn(&Check) -> &str| {
        let lengths = checks.iter().map(|check| column(check).len());
        lengths.max().unwrap_or(0)
    };
    let (by_width, values_width) = (width(by), width(|check| &check.values));
    let mut page = String::new();
    for check in checks {
        let (by, values) = (by(check), &check.values);
        write!(page, "{by:by_width$}  {values:values_width$}  ")?;
        match &check.outcome {
            CheckOutcome::Passed { values } => writeln!(page, "ok  {values:>4} values")?,
            CheckOutcome::Failed { first } => writeln!(page, "FAILED  {first}")?,
            CheckOutcome::Unsupported { reason } => writeln!(page, "{}", with_flags(reason))?,
        }
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_every_outcome() {
        let check = |signer: Option<&str>, values: &str, outcome: CheckOutcome| Check {
            signer: signer.map(str::to_owned),
            values: values.to_owned(),
            outcome,
        };
        let first = "slot 0: expected 1, got 2".to_owned();
        let reason = "unsupported: no kernel".to_owned();
        let checks = [
            check(Some("scalar"), "affine32", CheckOutcome::Failed { first }),
            check(Some("gpu"), "fast", CheckOutcome::Unsupported { reason }),
            check(None, "murmur3", CheckOutcome::Passed { values: 12 }),
        ];
        assert_eq!(
            table(&checks).unwrap(),
            "scalar      affine32  FAILED  slot 0: expected 1, got 2\n\
             gpu         fast      unsupported: no kernel\n\
             definition  murmur3   ok    12 values\n"
        );
    }
}
