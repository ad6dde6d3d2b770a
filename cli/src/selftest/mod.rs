//! `simgpu selftest`.

mod golden;

mod signatures;

mod texts;

mod values;

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::bail;
use clap::Args;
#[cfg(feature = "gpu")]
use simgpu::backend::gpu::Integers;
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::{Hashes, Signer};
use simgpu::scheme::Scheme;
use simgpu::simd::Isa;
use texts::TextCase;
use values::SingleValue;

use crate::arguments::BackendArguments;

/// Check that every backend computes the published values
///
/// The values were computed by a second implementation in another language, and by the tools whose values
/// the presets reproduce. Long sets and texts are made by formulas; their values are those of the scalar
/// backend, now and, for texts, when this version was made.
#[derive(Args, Debug)]
#[command(
    mut_arg("backend", |backend| backend.help(
        "What is checked: scalar, simd, gpu, hybrid, or auto, which is scalar and simd on every instruction set of this CPU, and gpu on every device that is no software"
    )),
    mut_arg("isa", |isa| isa.help(
        "Check simd on this instruction set alone: portable, avx2, avx512, neon [default: all that this CPU has]"
    ))
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: BackendArguments,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let machines = machines(&arguments.machine)?;
    let lines = check_all(&machines)?;
    let mut page = table(&lines)?;
    let failed = lines.iter().filter(|line| line.wrong.is_some()).count();
    if failed == 0 {
        let names: Vec<&str> = machines.iter().map(|machine| &*machine.name).collect();
        let supported = lines.iter().filter(|line| line.unsupported.is_none());
        let (checks, names) = (supported.count(), names.join(", "));
        writeln!(page, "all {checks} checks passed on: {names}")?;
    }
    std::io::stdout().write_all(page.as_bytes())?;
    if failed > 0 {
        bail!(
            "{failed} of {} checks failed: do not use what this machine computes, and please report it",
            lines.len()
        );
    }
    Ok(())
}

/// Something that opens signers, and the instructions on which it shingles.
struct Machine {
    name: String,
    isa: Isa,
    #[allow(clippy::type_complexity, reason = "it is said once")]
    open: Box<dyn Fn(&Scheme) -> simgpu::Result<Box<dyn Signer>>>,
}

impl Machine {
    /// Why it does not compute a scheme, if it is not to.
    fn unsupported(&self, scheme: &Scheme) -> Option<String> {
        match (self.open)(scheme) {
            Err(error @ simgpu::Error::Unsupported(_)) => Some(error.to_string()),
            _ => None,
        }
    }
}

/// What there is to check: what was asked for, or all.
fn machines(asked: &BackendArguments) -> anyhow::Result<Vec<Machine>> {
    let (backend, hardware) = asked.resolve()?;
    let isa = hardware.isa;
    let of_hardware = |backend: Backend, hardware: Hardware| -> anyhow::Result<Machine> {
        Ok(Machine {
            name: backend
                .signer_with(&Scheme::default(), &hardware)?
                .describe(),
            isa: hardware.isa,
            open: Box::new(move |scheme| backend.signer_with(scheme, &hardware)),
        })
    };
    let of_backend = |backend: Backend, isa: Isa| {
        of_hardware(
            backend,
            Hardware {
                isa,
                ..hardware.clone()
            },
        )
    };
    let mut machines = Vec::new();
    if matches!(backend, Backend::Auto | Backend::Scalar) && !asked.names_isa() {
        machines.push(of_backend(Backend::Scalar, Isa::named("portable")?)?);
    }
    let isas = Isa::available().iter();
    let isas = isas.filter(|available| !asked.names_isa() || **available == isa);
    if matches!(backend, Backend::Auto | Backend::Simd) {
        for isa in isas {
            machines.push(of_backend(Backend::Simd, *isa)?);
        }
    }
    #[cfg(feature = "gpu")]
    for hardware in on_gpus(backend, &hardware) {
        let backend = match backend {
            Backend::Hybrid => Backend::Hybrid,
            _ => Backend::Gpu,
        };
        let machine = of_hardware(backend, hardware)?;
        // An adapter without 64-bit integers has one form.
        if !machines.iter().any(|known| known.name == machine.name) {
            machines.push(machine);
        }
    }
    Ok(machines)
}

/// Every device that is to be checked, in both forms of its kernels: the one that was asked for, or all that
/// `auto` would consider.
#[cfg(feature = "gpu")]
fn on_gpus(backend: Backend, asked: &Hardware) -> Vec<Hardware> {
    let devices: Vec<Option<usize>> = match backend {
        Backend::Gpu | Backend::Hybrid => vec![asked.gpu.device],
        Backend::Auto => {
            let adapters = simgpu::backend::gpu::adapters();
            let hardware = adapters.iter().filter(|adapter| !adapter.is_software);
            hardware.map(|adapter| Some(adapter.number)).collect()
        }
        _ => Vec::new(),
    };
    let forms = devices
        .into_iter()
        .flat_map(|device| [Integers::U64, Integers::U32].map(|integers| (device, integers)));
    let of_form = |(device, integers)| {
        let mut hardware = asked.clone();
        hardware.gpu.device = device;
        hardware.gpu.integers = Some(integers);
        hardware
    };
    forms.map(of_form).collect()
}

/// One check: who computed what, how many values of it, and what was wrong first.
struct Line {
    by: String,
    what: String,
    checked: usize,
    wrong: Option<String>,
    /// Why there was nothing to check.
    unsupported: Option<String>,
}

fn check_all(machines: &[Machine]) -> anyhow::Result<Vec<Line>> {
    let groups = signatures::groups()?;
    let texts = texts::cases()?;
    let mut lines = Vec::new();
    for machine in machines {
        for (scheme, cases) in &groups {
            let unsupported = machine.unsupported(&Scheme::named(scheme)?);
            lines.push(Line {
                by: machine.name.clone(),
                what: scheme.clone(),
                checked: cases.len(),
                wrong: match unsupported {
                    None => cases.iter().find_map(|case| case.wrong_on(machine)),
                    Some(_) => None,
                },
                unsupported,
            });
        }
        let is_supported = |case: &&TextCase| machine.unsupported(&case.scheme).is_none();
        let texts: Vec<&TextCase> = texts.iter().filter(is_supported).collect();
        lines.push(Line {
            by: machine.name.clone(),
            what: "texts".to_owned(),
            checked: texts.len(),
            wrong: texts.iter().find_map(|case| case.wrong_on(machine)),
            unsupported: None,
        });
    }
    let shared = [
        ("coefficients", values::coefficients()?),
        ("band keys", values::band_keys()?),
        ("murmur3", values::murmur3()?),
        ("words-v1", values::words()?),
        ("cuDF", values::cudf()?),
    ];
    for (what, values) in shared {
        lines.push(Line {
            by: "definition".to_owned(),
            what: what.to_owned(),
            checked: values.len(),
            wrong: values.iter().find_map(SingleValue::wrong),
            unsupported: None,
        });
    }
    Ok(lines)
}

fn table(lines: &[Line]) -> anyhow::Result<String> {
    let width = |column: fn(&Line) -> &str| {
        let lengths = lines.iter().map(|line| column(line).len());
        lengths.max().unwrap_or(0)
    };
    let (by, what) = (width(|line| &line.by), width(|line| &line.what));
    let mut page = String::new();
    for line in lines {
        write!(page, "{:by$}  {:what$}  ", line.by, line.what)?;
        match (&line.wrong, &line.unsupported) {
            (Some(wrong), _) => writeln!(page, "FAILED  {wrong}")?,
            (None, Some(reason)) => writeln!(page, "{reason}")?,
            (None, None) => writeln!(page, "ok  {:>4} values", line.checked)?,
        }
    }
    Ok(page)
}

/// Whether a signer did all of it: where another took over, the values are not its own.
fn on_its_own(signer: &dyn Signer) -> simgpu::Result<()> {
    match signer.notices().pop() {
        None => Ok(()),
        Some(notice) => Err(simgpu::Error::Conflict(notice)),
    }
}

/// The first slot that is not as expected.
fn wrong_slot(expected: &[u64], computed: &[u64]) -> Option<String> {
    let mut slots = computed.iter().zip(expected).enumerate();
    let (k, (got, expected)) = slots.find(|(_, (got, expected))| got != expected)?;
    Some(format!("slot {k}: expected {expected}, got {got}"))
}

fn wide_hashes(hashes: Hashes<'_>) -> Vec<u64> {
    match hashes {
        Hashes::U32(hashes) => hashes.iter().copied().map(u64::from).collect(),
        Hashes::U64(hashes) => hashes.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::pipeline::{ShingleSets, SignaturesMut, SlotsMut};
    use simgpu::scheme::Width;

    /// A signer that is wrong in one slot.
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

        fn sign_sets(
            &self,
            sets: &ShingleSets<'_>,
            signatures: SignaturesMut<'_>,
        ) -> simgpu::Result<()> {
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
    fn a_wrong_slot_is_found_for_every_scheme_and_named() {
        let wrong = Machine {
            name: "wrong".to_owned(),
            isa: Isa::best(),
            open: Box::new(|scheme| Ok(Box::new(Wrong(Backend::Scalar.signer(scheme)?)))),
        };
        let lines = check_all(&[wrong]).unwrap();
        let (of_wrong, shared): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| line.by == "wrong");
        assert!(of_wrong.len() >= 8 && shared.len() == 5);
        for line in &of_wrong {
            let wrong = line.wrong.as_deref().unwrap_or("ok");
            assert!(wrong.starts_with("slot "), "{}: {wrong}", line.what);
        }
        assert!(shared.iter().all(|line| line.wrong.is_none()));
        assert!(
            table(&of_wrong)
                .unwrap()
                .contains("FAILED  slot 0: expected ")
        );
    }
}
