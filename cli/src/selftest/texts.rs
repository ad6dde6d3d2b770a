//! Texts by a formula, and what is computed of them.

use anyhow::{Context, bail};
use serde_json::Value;
use simgpu::backend::Backend;
use simgpu::documents::TextBatch;
use simgpu::pipeline::{Shingler, Shingling, Signatures, Signer, Slots, Unit};
use simgpu::scheme::{Scheme, fmix64};
use simgpu::simd::Isa;

use super::golden::numbers;
use super::{Machine, on_its_own, wide_hashes, wrong_slot};

const TEXTS: &str = include_str!("../../../vectors/texts.json");

/// A text, how it is shingled and signed, and its values.
pub(crate) struct TextCase {
    text: String,
    shingler: Shingler,
    pub(crate) scheme: Scheme,
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
        on_its_own(signer)?;
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
    pub(crate) fn wrong_on(&self, machine: &Machine) -> Option<String> {
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
fn scalar_cases() -> anyhow::Result<Vec<(String, TextCase)>> {
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
pub(crate) fn cases() -> anyhow::Result<Vec<TextCase>> {
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
    scalar_cases()?.into_iter().map(with_golden).collect()
}

fn wide_slots(slots: Slots<'_>) -> Vec<u64> {
    match slots {
        Slots::U32(slots) => slots.iter().copied().map(u64::from).collect(),
        Slots::U64(slots) => slots.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_short_and_long_and_of_all_kinds() {
        let [(_, ascii), (_, others), (_, long)] = texts();
        assert!(ascii.is_ascii() && !others.is_ascii() && !long.is_ascii());
        assert!(long.len() > 64 << 10);
        assert_eq!(cases().unwrap().len(), 33);
    }

    /// A machine that signs well what it shingled wrongly.
    #[test]
    fn a_wrong_shingle_is_found() {
        let (_, mut case) = scalar_cases().unwrap().remove(0);
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
    #[ignore = "writes vectors/texts.json"]
    fn freeze_texts() {
        let mut lines = Vec::new();
        for (name, case) in scalar_cases().unwrap() {
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
        let source = "the scalar backend of this program, shingling on portable instructions; written by the test freeze_texts in src/cli/selftest/texts.rs, where the formula of the texts is; shingles are their number and the sum of their hashes modulo 2^64";
        let page = format!(
            "{{\n  \"source\": \"{source}\",\n  \"values\": {{\n{}\n  }}\n}}\n",
            lines.join(",\n")
        );
        std::fs::write("vectors/texts.json", page).unwrap();
    }
}
