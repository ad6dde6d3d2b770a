//! `simgpu selftest`.

use std::fmt::Write as _;
use std::io::Write as _;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::Value;
#[cfg(feature = "gpu")]
use simgpu::backend::gpu::Integers;
use simgpu::backend::{Backend, Hardware};
use simgpu::pipeline::{
    Hashes, Shingler, Shingling, Signatures, Signer, Slots, SlotsMut, TextBatch, Unit, band_key,
};
use simgpu::scheme::{
    BaseHash, HashValue, Scheme, Width, affine32_even, fmix64, mersenne61_wide, murmur3_32,
    murmur3_128, words_v1,
};
use simgpu::simd::Isa;

use super::arguments::BackendArguments;

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
pub(super) struct Arguments {
    #[command(flatten)]
    machine: BackendArguments,
}

/// The values, as the tests read them.
const FAMILIES: &str = include_str!("../../tests/golden/families.json");
const PEERS: &str = include_str!("../../tests/golden/peer_signatures.json");
const TEXT_DEDUP: &str = include_str!("../../tests/golden/text_dedup.json");
const DRAWS: &str = include_str!("../../tests/golden/draws.json");
const BAND_KEYS: &str = include_str!("../../tests/golden/band_keys.json");
const MURMUR3: &str = include_str!("../../tests/golden/murmur3.json");
const WORDS_V1: &str = include_str!("../../tests/golden/words_v1.json");
const CUDF: &str = include_str!("../../tests/golden/cudf.json");
const TEXTS: &str = include_str!("../../tests/golden/texts.json");

/// Presets by the names of their values among those of the peers.
const PRESETS: [(&str, &str); 6] = [
    ("datasketch affine32", "datasketch"),
    ("datasketch affine64", "datasketch64"),
    ("datasketch-legacy", "datasketch-legacy"),
    ("datatrove xxhash precision 64", "datatrove"),
    ("datatrove xxhash precision 32", "datatrove32"),
    ("rensa 0.5 R-MinHash", "rensa"),
];

pub(super) fn run(arguments: &Arguments) -> anyhow::Result<()> {
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
    let groups = signature_groups()?;
    let texts = text_cases()?;
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
        ("coefficients", coefficients()?),
        ("band keys", band_keys()?),
        ("murmur3", murmur3()?),
        ("words-v1", words()?),
        ("cuDF", cudf()?),
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

/// A signature that is known.
struct SignatureCase {
    scheme: Scheme,
    set: Vec<u64>,
    slots: Vec<u64>,
}

impl SignatureCase {
    /// What is wrong with the signature that a machine computes.
    fn wrong_on(&self, machine: &Machine) -> Option<String> {
        let computed = match self.sign(machine) {
            Ok(computed) => computed,
            Err(error) => return Some(error.to_string()),
        };
        let wrong = wrong_slot(&self.slots, &computed)?;
        Some(format!(
            "{wrong} (set of {}, num_perm {}, seed {})",
            self.set.len(),
            self.scheme.num_perm(),
            self.scheme.seed()
        ))
    }

    fn sign(&self, machine: &Machine) -> simgpu::Result<Vec<u64>> {
        let signer = (machine.open)(&self.scheme)?;
        let family = self.scheme.family();
        // A 32-bit family takes its hashes modulo 2^32.
        #[allow(clippy::cast_possible_truncation, reason = "that is what modulo does")]
        let narrow: Vec<u32> = self.set.iter().map(|hash| *hash as u32).collect();
        let set = match family.hash_width() {
            Width::U32 => Hashes::U32(&narrow),
            Width::U64 => Hashes::U64(&self.set),
        };
        Ok(match family.slot_width() {
            Width::U32 => {
                let mut slots = vec![0; self.slots.len()];
                signer.sign_set(set, SlotsMut::U32(&mut slots))?;
                slots.into_iter().map(u64::from).collect()
            }
            Width::U64 => {
                let mut slots = vec![0; self.slots.len()];
                signer.sign_set(set, SlotsMut::U64(&mut slots))?;
                slots
            }
        })
    }
}

/// The first slot that is not as expected.
fn wrong_slot(expected: &[u64], computed: &[u64]) -> Option<String> {
    let mut slots = computed.iter().zip(expected).enumerate();
    let (k, (got, expected)) = slots.find(|(_, (got, expected))| got != expected)?;
    Some(format!("slot {k}: expected {expected}, got {got}"))
}

/// A text, how it is shingled and signed, and its values.
struct TextCase {
    text: String,
    shingler: Shingler,
    scheme: Scheme,
    /// What scalar computes now, shingling on portable instructions.
    now: TextValues,
    /// What it computed when this version was made.
    then: TextValues,
}

/// What is computed of a text.
#[derive(PartialEq, Eq)]
struct TextValues {
    hashes: Vec<u64>,
    /// The number of hashes and their sum modulo 2^64, which any wrong one changes.
    shingles: (usize, u64),
    slots: Vec<u64>,
}

impl TextValues {
    fn of(text: &str, shingler: &Shingler, signer: &dyn Signer, isa: Isa) -> simgpu::Result<Self> {
        let shingler = shingler.clone().with_isa(isa);
        let texts: TextBatch = [text].into_iter().collect();
        let hashes = wide_hashes(shingler.shingle(&texts).sets().hashes());
        let signatures = Signatures::of_texts(signer, &texts, &shingler)?;
        Ok(TextValues {
            shingles: (
                hashes.len(),
                hashes.iter().copied().fold(0, u64::wrapping_add),
            ),
            hashes,
            slots: wide_slots(signatures.slots()),
        })
    }
}

impl TextCase {
    /// What is wrong with the shingles and the signature that a machine computes.
    fn wrong_on(&self, machine: &Machine) -> Option<String> {
        let signer = (machine.open)(&self.scheme);
        let values = signer
            .and_then(|signer| TextValues::of(&self.text, &self.shingler, &*signer, machine.isa));
        let values = match values {
            Ok(values) => values,
            Err(error) => return Some(error.to_string()),
        };
        let wrong_shingles = || {
            let is_right =
                values.hashes == self.now.hashes && values.shingles == self.then.shingles;
            (!is_right).then(|| "shingles are wrong".to_owned())
        };
        let wrong = wrong_slot(&self.then.slots, &values.slots)
            .or_else(|| wrong_slot(&self.now.slots, &values.slots))
            .or_else(wrong_shingles)?;
        let shingling = self.shingler.shingling();
        let (size, unit) = (shingling.size, &shingling.unit);
        let (bytes, scheme) = (self.text.len(), &self.scheme);
        Some(format!(
            "{wrong} ({bytes} bytes in {size} {unit}, {scheme})"
        ))
    }
}

/// How many permutations texts are signed with.
const TEXT_NUM_PERM: u32 = 8;

/// Texts by a formula: ASCII, more than ASCII, and a mix longer than 64 KiB.
fn texts() -> [(&'static str, String); 3] {
    const ASCII: [&str; 8] = [
        "the",
        "quick;  brown",
        "fox's",
        "1,000.50",
        "a_b",
        "internationalisation",
        "x\n\n",
        "(end).",
    ];
    const OTHERS: [&str; 8] = [
        "na\u{ef}ve",
        "\u{6771}\u{4eac}",
        "\u{201c}x\u{201d}",
        "don\u{2019}t",
        "\u{a0}\u{2014}",
        "\u{1f600}",
        "e\u{301}t\u{e9}",
        "\u{441}\u{43b}\u{43e}\u{432}\u{43e}",
    ];
    let of = |words: u64, others: u64| -> String {
        let piece = |i: u64| {
            let random = fmix64(i + 1);
            let pieces = if random % 16 < others { OTHERS } else { ASCII };
            format!(
                "{}{} ",
                pieces[(random >> 8) as usize % 8],
                (random >> 16) % 100
            )
        };
        (0..words).map(piece).collect()
    };
    [
        ("ascii", of(200, 0)),
        ("others", of(200, 8)),
        ("long", of(12_000, 1)),
    ]
}

/// How texts are shingled and signed: a scheme and what texts are cut into, unless it is the scheme's.
const TEXT_METHODS: [(&str, Option<Unit>); 11] = [
    ("affine32", Some(Unit::Bytes)),
    ("affine32-even", Some(Unit::Bytes)),
    ("mersenne31", Some(Unit::Bytes)),
    ("mersenne61", Some(Unit::Bytes)),
    ("affine32", Some(Unit::Chars)),
    ("affine32", Some(Unit::Words)),
    ("affine64", Some(Unit::Bytes)),
    ("affine64", Some(Unit::Chars)),
    ("affine64", Some(Unit::Words)),
    ("nemo", None),
    ("nemo64", None),
];

/// The texts in every way, with the values of scalar, and none yet of the time of this version.
fn scalar_text_cases() -> anyhow::Result<Vec<(String, TextCase)>> {
    let mut cases = Vec::new();
    let portable = Isa::named("portable")?;
    for (name, text) in texts() {
        for (scheme, unit) in TEXT_METHODS {
            let scheme = Scheme::named(scheme)?.with_num_perm(TEXT_NUM_PERM)?;
            let shingling = unit.map_or_else(|| Shingling::of_scheme(&scheme), Shingling::of);
            let name = format!("{name}, {} {}, {scheme}", shingling.size, shingling.unit);
            let shingler = Shingler::new(shingling, &scheme, None)?;
            let signer = Backend::Scalar.signer(&scheme)?;
            let values = || TextValues::of(&text, &shingler, &*signer, portable);
            cases.push((
                name,
                TextCase {
                    now: values()?,
                    then: values()?,
                    text: text.clone(),
                    shingler,
                    scheme,
                },
            ));
        }
    }
    Ok(cases)
}

/// The texts in every way, with what scalar computes and what it computed when this version was made.
fn text_cases() -> anyhow::Result<Vec<TextCase>> {
    let golden: Value = serde_json::from_str(TEXTS)?;
    let with_golden = |(name, mut case): (String, TextCase)| {
        let known = &golden["values"][&name];
        let known_shingles = numbers(&known["shingles"]).context(name)?;
        let [count, sum] = known_shingles[..] else {
            bail!("a count and a sum are missing");
        };
        case.then.shingles = (usize::try_from(count)?, sum);
        case.then.slots = numbers(&known["signature"])?;
        Ok(case)
    };
    scalar_text_cases()?.into_iter().map(with_golden).collect()
}

fn wide_hashes(hashes: Hashes<'_>) -> Vec<u64> {
    match hashes {
        Hashes::U32(hashes) => hashes.iter().copied().map(u64::from).collect(),
        Hashes::U64(hashes) => hashes.to_vec(),
    }
}

fn wide_slots(slots: Slots<'_>) -> Vec<u64> {
    match slots {
        Slots::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Slots::U64(slots) => slots.to_vec(),
    }
}

/// Lengths of sets by a formula: the empty set, less and more than the lanes of a register, and more
/// than where long sets take another way.
const LENGTHS: [u64; 5] = [0, 1, 33, 800, 6_000];

/// The known signatures by scheme, families first; of sets by a formula, those of scalar.
fn signature_groups() -> anyhow::Result<Vec<(String, Vec<SignatureCase>)>> {
    let mut groups: Vec<(String, Vec<SignatureCase>)> = Vec::new();
    let families: Value = serde_json::from_str(FAMILIES)?;
    for case in list(&families)? {
        let scheme = scheme_of(case, string(&case["family"])?)?;
        for (set, slots) in list(&case["inputs"])?
            .iter()
            .zip(list(&case["signatures"])?)
        {
            let known = SignatureCase {
                scheme: scheme.clone(),
                set: numbers(set)?,
                slots: numbers(slots)?,
            };
            add(&mut groups, known);
        }
    }
    let peers: Value = serde_json::from_str(PEERS)?;
    for (peer, preset) in PRESETS {
        let of_peer = list(&peers["schemes"])?.iter();
        for case in of_peer.filter(|case| case["name"] == peer) {
            let scheme = scheme_of(case, preset)?;
            let documents = list(&peers["documents"])?.iter();
            for (tokens, slots) in documents.zip(list(&case["signatures"])?) {
                let known = SignatureCase {
                    scheme: scheme.clone(),
                    set: hashes(&scheme, tokens)?,
                    slots: numbers(slots)?,
                };
                add(&mut groups, known);
            }
        }
    }
    let text_dedup: Value = serde_json::from_str(TEXT_DEDUP)?;
    for case in list(&text_dedup["cases"])? {
        // Its seed is always that of the preset.
        let scheme = Scheme::named("text-dedup")?;
        let scheme = scheme.with_num_perm(u32::try_from(number(&case["num_perm"])?)?)?;
        let mut shingling = Shingling::of_scheme(&scheme);
        shingling.size = usize::try_from(number(&case["size"])?)?.try_into()?;
        let shingler = Shingler::new(shingling, &scheme, None)?;
        let texts = list(&text_dedup["texts"])?.iter();
        for (text, slots) in texts.zip(list(&case["signatures"])?) {
            let shingles = shingler.shingle(&[string(text)?].into_iter().collect());
            let known = SignatureCase {
                scheme: scheme.clone(),
                set: wide_hashes(shingles.sets().hashes()),
                slots: numbers(slots)?,
            };
            add(&mut groups, known);
        }
    }
    let scalar = Machine {
        name: "scalar".to_owned(),
        isa: Isa::named("portable")?,
        open: Box::new(|scheme| Backend::Scalar.signer(scheme)),
    };
    for name in Scheme::names() {
        let scheme = Scheme::named(name)?;
        for length in LENGTHS {
            let mut known = SignatureCase {
                scheme: scheme.clone(),
                set: (0..length).map(fmix64).collect(),
                slots: vec![0; scheme.num_perm()],
            };
            known.slots = known.sign(&scalar)?;
            add(&mut groups, known);
        }
    }
    Ok(groups)
}

fn add(groups: &mut Vec<(String, Vec<SignatureCase>)>, known: SignatureCase) {
    let name = known.scheme.to_string();
    match groups.iter_mut().find(|(group, _)| *group == name) {
        Some((_, cases)) => cases.push(known),
        None => groups.push((name, vec![known])),
    }
}

/// The hashes of tokens by a preset's own base hash.
fn hashes(preset: &Scheme, tokens: &Value) -> anyhow::Result<Vec<u64>> {
    let hash = preset.prescribed_hash().context("a preset has a hash")?;
    let of_token = |token: &Value| {
        let token = string(token)?.as_bytes();
        Ok(match preset.family().hash_width() {
            Width::U32 => u32::of_bytes(hash, token).into(),
            Width::U64 => u64::of_bytes(hash, token),
        })
    };
    list(tokens)?.iter().map(of_token).collect()
}

/// A value that is known, and the one computed.
struct SingleValue {
    what: String,
    expected: u64,
    computed: u64,
}

impl SingleValue {
    fn wrong(&self) -> Option<String> {
        let SingleValue {
            what,
            expected,
            computed,
        } = self;
        (expected != computed).then(|| format!("{what}: expected {expected}, got {computed}"))
    }
}

fn coefficients() -> anyhow::Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden: Value = serde_json::from_str(DRAWS)?;
    for case in list(&golden)? {
        let scheme = scheme_of(case, string(&case["family"])?)?;
        let permutations = scheme.permutations();
        let mut known: Vec<_> = (0..).zip(list(&case["first"])?).collect();
        known.push((permutations.a().len() - 1, &case["last"]));
        for (k, pair) in known {
            let pair = numbers(pair)?;
            let (a, b) = (&permutations.a()[k], &permutations.b()[k]);
            for (name, expected, computed) in [("a", pair.first(), a), ("b", pair.get(1), b)] {
                values.push(SingleValue {
                    what: format!("{name} of slot {k} of {scheme}, seed {}", scheme.seed()),
                    expected: *expected.context("a pair")?,
                    computed: *computed,
                });
            }
        }
    }
    Ok(values)
}

fn band_keys() -> anyhow::Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden: Value = serde_json::from_str(BAND_KEYS)?;
    for case in list(&golden)? {
        let rows = usize::try_from(number(&case["rows"])?)?;
        for (band, keys) in (0u32..).zip(list(&case["keys"])?) {
            let of_band = band as usize * rows..(band as usize + 1) * rows;
            for (signature, key) in list(&case["signatures"])?.iter().zip(list(keys)?) {
                let signature = numbers(signature)?;
                let slots = signature.get(of_band.clone()).context("a band")?;
                let narrow: Result<Vec<u32>, _> =
                    slots.iter().map(|slot| u32::try_from(*slot)).collect();
                let slots = match (number(&case["slot_bits"])?, &narrow) {
                    (32, Ok(narrow)) => Slots::U32(narrow),
                    _ => Slots::U64(slots),
                };
                values.push(SingleValue {
                    what: format!("band {band} of {rows} rows"),
                    expected: number(key)?,
                    computed: band_key(band, slots),
                });
            }
        }
    }
    Ok(values)
}

fn murmur3() -> anyhow::Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden: Value = serde_json::from_str(MURMUR3)?;
    let seeds = numbers(&golden["seeds"])?;
    let mut check = |bytes: &[u8], case: &Value| -> anyhow::Result<()> {
        let what =
            |bits: u32, seed: u64| format!("{bits} bits of {} bytes, seed {seed}", bytes.len());
        for (seed, expected) in seeds.iter().zip(list(&case["murmur3_32"])?) {
            values.push(SingleValue {
                what: what(32, *seed),
                expected: number(expected)?,
                computed: murmur3_32(bytes, u32::try_from(*seed)?).into(),
            });
        }
        values.push(SingleValue {
            what: what(128, 0),
            expected: number(&case["murmur3_128"])?,
            computed: murmur3_128(bytes, 0),
        });
        Ok(())
    };
    for case in list(&golden["bytes"])? {
        let formula = (0..number(&case["length"])?).map(|i| (i * 7 + 3) % 251);
        let bytes: Result<Vec<u8>, _> = formula.map(u8::try_from).collect();
        check(&bytes?, case)?;
    }
    for case in list(&golden["texts"])? {
        check(string(&case["text"])?.as_bytes(), case)?;
    }
    Ok(values)
}

fn words() -> anyhow::Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden: Value = serde_json::from_str(WORDS_V1)?;
    for case in list(&golden)? {
        let words = list(&case["words"])?.iter().map(string);
        let words = words.collect::<anyhow::Result<Vec<&str>>>()?;
        let of_words = words.iter().map(|word| words_v1::word(word.as_bytes()));
        let shingle = words_v1::shingle(of_words);
        let what = |bits: u32| format!("{bits} bits of {words:?}");
        values.push(SingleValue {
            what: what(64),
            expected: number(&case["value64"])?,
            computed: shingle,
        });
        values.push(SingleValue {
            what: what(32),
            expected: number(&case["value32"])?,
            computed: u32::of_words(shingle).into(),
        });
    }
    Ok(values)
}

/// cuDF's unit tests choose the coefficients, with a = b, and leave the hash without a seed.
fn cudf() -> anyhow::Result<Vec<SingleValue>> {
    let golden: Value = serde_json::from_str(CUDF)?;
    let mut values = Vec::new();
    for (name, hash, bits) in [
        ("nemo", BaseHash::Cudf32 { seed: 0 }, 32),
        ("nemo64", BaseHash::Cudf64 { seed: 0 }, 64),
    ] {
        let scheme = Scheme::named(name)?;
        let mut check = |text: &str, case: &Value, size: &str, params: &str, known: &Value| {
            let mut shingling = Shingling::of_scheme(&scheme);
            shingling.size = usize::try_from(number(&case[size])?)?.try_into()?;
            let shingler = Shingler::new(shingling, &scheme, Some(hash))?;
            let shingles = shingler.shingle(&[text].into_iter().collect());
            for (c, known) in numbers(&case[params])?.into_iter().zip(numbers(known)?) {
                let least = match shingles.sets().hashes() {
                    Hashes::U32(set) => {
                        let c = u32::try_from(c)?;
                        set.iter().map(|x| affine32_even(c, c, *x).into()).min()
                    }
                    Hashes::U64(set) => set.iter().map(|x| mersenne61_wide(c, c, *x)).min(),
                };
                values.push(SingleValue {
                    what: format!("{name} of {text:?} with coefficients {c}"),
                    expected: known,
                    computed: least.unwrap_or(0),
                });
            }
            anyhow::Ok(())
        };
        let case = &golden["cudf_minhash_char"];
        let known = list(&case[&format!("expected_u{bits}")])?;
        for (text, known) in list(&case["inputs"])?.iter().zip(known) {
            check(
                string(text)?,
                case,
                "width_chars",
                "params_a_equals_b",
                known,
            )?;
        }
        let case = &golden["cudf_minhash_py"];
        for text in ["this is my", "favorite book"] {
            check(
                text,
                case,
                "width",
                "params",
                &case[text][&format!("u{bits}")],
            )?;
        }
    }
    Ok(values)
}

fn scheme_of(case: &Value, name: &str) -> anyhow::Result<Scheme> {
    let num_perm = u32::try_from(number(&case["num_perm"])?)?;
    let seed = u32::try_from(number(&case["seed"])?)?;
    Ok(Scheme::named(name)?
        .with_num_perm(num_perm)?
        .with_seed(seed))
}

fn list(value: &Value) -> anyhow::Result<&[Value]> {
    Ok(value.as_array().context("a list is missing")?)
}

fn string(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("a string is missing")
}

/// A number, or a string that holds one.
fn number(value: &Value) -> anyhow::Result<u64> {
    match value.as_u64() {
        Some(number) => Ok(number),
        None => Ok(string(value)?.parse()?),
    }
}

fn numbers(value: &Value) -> anyhow::Result<Vec<u64>> {
    list(value)?.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simgpu::pipeline::{ShingleSets, SignaturesMut};

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

    #[test]
    fn every_scheme_has_values() {
        let groups = signature_groups().unwrap();
        for name in Scheme::names() {
            let group = groups.iter().find(|(group, _)| group == name);
            let (_, cases) = group.unwrap_or_else(|| panic!("no values of {name}"));
            assert!(cases.iter().any(|case| case.set.len() >= 5_000), "{name}");
            // NeMo's published values have other coefficients; they are checked by definition.
            let has_published = cases.len() > LENGTHS.len();
            assert_eq!(has_published, !name.starts_with("nemo"), "{name}");
        }
    }

    #[test]
    fn texts_are_short_and_long_and_of_all_kinds() {
        let [(_, ascii), (_, others), (_, long)] = texts();
        assert!(ascii.is_ascii() && !others.is_ascii() && !long.is_ascii());
        assert!(long.len() > 64 << 10);
        assert_eq!(text_cases().unwrap().len(), 33);
    }

    /// A machine that signs well what it shingled wrongly.
    #[test]
    fn a_wrong_shingle_is_found() {
        let (_, mut case) = scalar_text_cases().unwrap().remove(0);
        let machine = Machine {
            name: "scalar".to_owned(),
            isa: Isa::best(),
            open: Box::new(|scheme| Backend::Scalar.signer(scheme)),
        };
        assert_eq!(case.wrong_on(&machine), None);
        case.then.shingles.1 ^= 1;
        let wrong = case.wrong_on(&machine).unwrap();
        assert!(wrong.starts_with("shingles are wrong"), "{wrong}");
    }

    /// Freezes what the scalar backend computes of the texts, shingling on portable instructions:
    /// `cargo test --bin simgpu freeze_texts -- --ignored`.
    #[test]
    #[ignore = "writes tests/golden/texts.json"]
    fn freeze_texts() {
        let mut lines = Vec::new();
        for (name, case) in scalar_text_cases().unwrap() {
            let TextValues {
                shingles: (count, sum),
                slots,
                ..
            } = case.now;
            let strings =
                |numbers: &[u64]| -> Vec<String> { numbers.iter().map(u64::to_string).collect() };
            let values = serde_json::json!({
                "shingles": strings(&[count as u64, sum]),
                "signature": strings(&slots),
            });
            lines.push(format!("    \"{name}\": {values}"));
        }
        let source = "the scalar backend of this program, shingling on portable instructions; written by the test freeze_texts in src/cli/selftest.rs, where the formula of the texts is; shingles are their number and the sum of their hashes modulo 2^64";
        let page = format!(
            "{{\n  \"source\": \"{source}\",\n  \"values\": {{\n{}\n  }}\n}}\n",
            lines.join(",\n")
        );
        std::fs::write("tests/golden/texts.json", page).unwrap();
    }
}
