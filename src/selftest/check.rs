//! Runs all checks on all signers of this machine.

use super::machine::Machine;
use super::signatures;
use super::texts::{self, TextCase};
use super::values::{self, SingleValue};
use crate::backend::{Backend, Hardware};
use crate::error::Result;
use crate::scheme::Scheme;
use crate::simd::Isa;

/// Selects the signers to check. The default is every signer that this machine can run.
///
/// ```
/// use simgpu::backend::Backend;
/// use simgpu::selftest::{CheckOutcome, Selftest};
///
/// let selftest = Selftest {
///     backend: Backend::Scalar,
///     ..Selftest::default()
/// };
/// for check in selftest.run()? {
///     assert!(!matches!(check.outcome, CheckOutcome::Failed { .. }), "{check:?}");
/// }
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Selftest {
    /// The backend to check. [`Backend::Auto`] checks scalar, SIMD, and the GPU backend on every hardware
    /// device.
    pub backend: Backend,
    /// The instruction set for SIMD; `None` checks every instruction set of this CPU. If set,
    /// [`Backend::Auto`] skips the scalar backend.
    pub isa: Option<Isa>,
    /// The device for [`Backend::Gpu`] and [`Backend::Hybrid`]. Both forms of its kernels are checked.
    #[cfg(feature = "gpu")]
    pub gpu: crate::backend::gpu::GpuOptions,
}

/// The result of checking one group of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Description of the signer ([`Signer::describe`](crate::pipeline::Signer::describe)); `None` for values
    /// that all signers share.
    pub signer: Option<String>,
    /// Name of the group: a scheme for its signatures, or for example `texts` or `murmur3`.
    pub values: String,
    /// Whether the values are right.
    pub outcome: CheckOutcome,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// All values equal the published ones.
    Passed {
        /// Number of values compared.
        values: usize,
    },
    /// At least one value differs.
    Failed {
        /// The first wrong value, with the expected and the computed number; or the error of the signer.
        first: String,
    },
    /// The signer does not support this scheme.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl CheckOutcome {
    fn of<T>(values: &[T], wrong: impl Fn(&T) -> Option<String>) -> Self {
        match values.iter().find_map(wrong) {
            None => CheckOutcome::Passed {
                values: values.len(),
            },
            Some(first) => CheckOutcome::Failed { first },
        }
    }
}

impl Selftest {
    /// Runs all checks: first signer by signer, then the values that all signers share.
    ///
    /// A wrong value is no error: see [`Check::outcome`].
    ///
    /// # Errors
    /// If the selected backend, instruction set or device cannot be used on this machine, and
    /// [`Error::Defect`](crate::Error::Defect) if the published values cannot be read.
    pub fn run(&self) -> Result<Vec<Check>> {
        check_all(&self.machines()?)
    }

    fn machines(&self) -> Result<Vec<Machine>> {
        let mut machines = Vec::new();
        let includes_scalar = match self.backend {
            Backend::Scalar => true,
            Backend::Auto => self.isa.is_none(),
            _ => false,
        };
        if includes_scalar {
            let hardware = Hardware::with_isa(Isa::named("portable")?);
            machines.push(Machine::new(Backend::Scalar, hardware)?);
        }
        if matches!(self.backend, Backend::Auto | Backend::Simd) {
            for isa in Isa::available() {
                if self.isa.is_none_or(|selected| selected == *isa) {
                    machines.push(Machine::new(Backend::Simd, Hardware::with_isa(*isa))?);
                }
            }
        }
        #[cfg(feature = "gpu")]
        self.add_devices(&mut machines)?;
        Ok(machines)
    }
}

fn check_all(machines: &[Machine]) -> Result<Vec<Check>> {
    let groups = signatures::groups()?;
    let texts = texts::cases()?;
    let mut checks = Vec::new();
    for machine in machines {
        for (scheme, cases) in &groups {
            checks.push(Check {
                signer: Some(machine.name.clone()),
                values: scheme.clone(),
                outcome: match machine.unsupported(&Scheme::named(scheme)?) {
                    None => CheckOutcome::of(cases, |case| case.wrong_on(machine)),
                    Some(reason) => CheckOutcome::Unsupported { reason },
                },
            });
        }
        let is_supported = |case: &&TextCase| machine.unsupported(&case.scheme).is_none();
        let texts: Vec<&TextCase> = texts.iter().filter(is_supported).collect();
        checks.push(Check {
            signer: Some(machine.name.clone()),
            values: "texts".to_owned(),
            outcome: CheckOutcome::of(&texts, |case| case.wrong_on(machine)),
        });
    }
    let shared = [
        ("coefficients", values::coefficients()?),
        ("band keys", values::band_keys()?),
        ("murmur3", values::murmur3()?),
        ("words-v1", values::words()?),
        ("cuDF", values::cudf()?),
    ];
    for (name, values) in shared {
        checks.push(Check {
            signer: None,
            values: name.to_owned(),
            outcome: CheckOutcome::of(&values, SingleValue::wrong),
        });
    }
    Ok(checks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{ShingleSets, SignaturesMut, Signer};
    use crate::scheme::SlotsMut;
    use crate::scheme::Width;

    /// A signer that computes the last slot wrongly.
    struct Wrong(Box<dyn Signer>);

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
            let num_perm = self.num_perm();
            match signatures.slots_for(sets, num_perm)? {
                SlotsMut::U32(slots) => {
                    let signed = SignaturesMut::new(num_perm, SlotsMut::U32(slots))?;
                    self.0.sign_sets(sets, signed)?;
                    slots[num_perm - 1] ^= 1;
                }
                SlotsMut::U64(slots) => {
                    let signed = SignaturesMut::new(num_perm, SlotsMut::U64(slots))?;
                    self.0.sign_sets(sets, signed)?;
                    slots[num_perm - 1] ^= 1;
                }
            }
            Ok(())
        }
    }

    #[test]
    fn a_wrong_slot_is_found_for_every_scheme() {
        let wrong = Machine {
            name: "wrong".to_owned(),
            isa: Isa::best(),
            open: Box::new(|scheme| Ok(Box::new(Wrong(Backend::Scalar.signer(scheme)?)))),
        };
        let checks = check_all(&[wrong]).unwrap();
        let (signed, shared): (Vec<_>, Vec<_>) =
            checks.iter().partition(|check| check.signer.is_some());
        assert!(signed.len() >= 8 && shared.len() == 5);
        for check in signed {
            let CheckOutcome::Failed { first } = &check.outcome else {
                panic!("{check:?}");
            };
            assert!(first.starts_with("slot "), "{}: {first}", check.values);
        }
        let has_passed = |check: &&Check| matches!(check.outcome, CheckOutcome::Passed { .. });
        assert!(shared.iter().all(has_passed));
    }

    #[test]
    fn instructions_do_not_apply_to_scalar() {
        let selftest = Selftest {
            backend: Backend::Scalar,
            isa: Some(Isa::best()),
            ..Selftest::default()
        };
        let machines = selftest.machines().unwrap();
        let names: Vec<&str> = machines.iter().map(|machine| &*machine.name).collect();
        assert_eq!(names, ["scalar"]);
    }
}
