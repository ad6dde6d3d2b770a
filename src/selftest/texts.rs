//! Checks shingles and signatures of texts from a formula.

use super::machine::Machine;
use super::vectors::{numbers, parse, unreadable};
use super::words::{wide_hashes, wide_slots, wrong_slot};
use crate::backend::Backend;
use crate::error::Result;
use crate::pipeline::{Shingler, Shingling, Signatures, Signer, Unit};
use crate::scheme::{Scheme, fmix64};
use crate::simd::Isa;

const TEXTS: &str = include_str!("../../vectors/texts.json");

/// A text with its shingler, its scheme and the expected values.
pub(super) struct TextCase {
    text: String,
    shingler: Shingler,
    pub(super) scheme: Scheme,
    /// Computed by the scalar backend, shingling on portable instructions.
    scalar: TextValues,
    recorded: RecordedValues,
}

/// The shingles and the signature of a text.
#[derive(PartialEq, Eq)]
struct TextValues {
    hashes: Vec<u64>,
    slots: Vec<u64>,
}

/// Values of the scalar backend, recorded with this version in `vectors/texts.json`.
struct RecordedValues {
    /// The number of hashes and their sum modulo 2^64, which any wrong hash changes.
    shingles: (u64, u64),
    slots: Vec<u64>,
}

impl TextValues {
    fn of(text: &str, shingler: &Shingler, signer: &dyn Signer, isa: Isa) -> Result<Self> {
        let shingler = shingler.clone().with_isa(isa);
        let texts = [text];
        let signatures = Signatures::of_documents(signer, &texts, &shingler)?;
        Ok(TextValues {
            hashes: wide_hashes(shingler.shingle(&texts).sets().hashes()),
            slots: wide_slots(signatures.slots()),
        })
    }

    fn record(&self) -> RecordedValues {
        let sum = self.hashes.iter().copied().fold(0, u64::wrapping_add);
        RecordedValues {
            shingles: (self.hashes.len() as u64, sum),
            slots: self.slots.clone(),
        }
    }
}

impl TextCase {
    /// Describes the error in the shingles and signature computed by a machine; `None` if they are right.
    pub(super) fn wrong_on(&self, machine: &Machine) -> Option<String> {
        let values = machine.compute(&self.scheme, |signer| {
            TextValues::of(&self.text, &self.shingler, signer, machine.isa)
        });
        let values = match values {
            Ok(values) => values,
            Err(problem) => return Some(problem),
        };
        let wrong_shingles = || {
            let is_right = values.hashes == self.scalar.hashes
                && values.record().shingles == self.recorded.shingles;
            (!is_right).then(|| "shingles are wrong".to_owned())
        };
        let wrong = wrong_slot(&self.recorded.slots, &values.slots)
            .or_else(|| wrong_slot(&self.scalar.slots, &values.slots))
            .or_else(wrong_shingles)?;
        let shingling = self.shingler.shingling();
        let (size, unit) = (shingling.size, &shingling.unit);
        let (bytes, scheme) = (self.text.len(), &self.scheme);
        Some(format!(
            "{wrong} ({bytes} bytes in {size} {unit}, {scheme})"
        ))
    }
}

/// Slots per signature of a text.
const TEXT_NUM_PERM: u32 = 8;

/// Texts from a formula: ASCII, more than ASCII, and a mix longer than 64 KiB.
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

/// Methods of shingling and signing texts: a scheme, and a unit unless it is the scheme's.
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

/// All texts by all methods as the scalar backend computes them now, with the names of their recorded values.
fn scalar_cases() -> Result<Vec<(String, TextCase)>> {
    let mut cases = Vec::new();
    let portable = Isa::named("portable")?;
    for (name, text) in texts() {
        for (scheme, unit) in TEXT_METHODS {
            let scheme = Scheme::named(scheme)?.with_num_perm(TEXT_NUM_PERM)?;
            let shingling = unit.map_or_else(|| Shingling::of_scheme(&scheme), Shingling::of);
            let name = format!("{name}, {} {}, {scheme}", shingling.size, shingling.unit);
            let shingler = Shingler::new(shingling, &scheme, None)?;
            let signer = Backend::Scalar.signer(&scheme)?;
            let scalar = TextValues::of(&text, &shingler, &*signer, portable)?;
            let case = TextCase {
                text: text.clone(),
                shingler,
                scheme,
                recorded: scalar.record(),
                scalar,
            };
            cases.push((name, case));
        }
    }
    Ok(cases)
}

/// All texts by all methods, with the recorded values.
pub(super) fn cases() -> Result<Vec<TextCase>> {
    let recorded = parse(TEXTS)?;
    let with_recorded = |(name, mut case): (String, TextCase)| {
        let values = &recorded["values"][&name];
        let [count, sum] = numbers(&values["shingles"])?[..] else {
            return Err(unreadable(&format!("shingles of {name} are missing")));
        };
        case.recorded = RecordedValues {
            shingles: (count, sum),
            slots: numbers(&values["signature"])?,
        };
        Ok(case)
    };
    scalar_cases()?.into_iter().map(with_recorded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Hardware;

    #[test]
    fn texts_are_ascii_and_unicode_short_and_long() {
        let [(_, ascii), (_, others), (_, long)] = texts();
        assert!(ascii.is_ascii() && !others.is_ascii() && !long.is_ascii());
        assert!(long.len() > 64 << 10);
        assert_eq!(cases().unwrap().len(), 33);
    }

    /// The signature is right, but the sum of the shingles is not.
    #[test]
    fn a_wrong_shingle_is_found() {
        let (_, mut case) = scalar_cases().unwrap().remove(0);
        let machine = Machine::new(Backend::Scalar, Hardware::default()).unwrap();
        assert_eq!(case.wrong_on(&machine), None);
        case.recorded.shingles.1 ^= 1;
        let wrong = case.wrong_on(&machine).unwrap();
        assert!(wrong.starts_with("shingles are wrong"), "{wrong}");
    }

    /// Records the values of the scalar backend, shingling on portable instructions:
    /// `cargo test --features selftest --lib freeze_texts -- --ignored`.
    #[test]
    #[ignore = "writes vectors/texts.json"]
    fn freeze_texts() {
        let mut lines = Vec::new();
        for (name, case) in scalar_cases().unwrap() {
            let RecordedValues {
                shingles: (count, sum),
                slots,
            } = case.recorded;
            let strings =
                |numbers: &[u64]| -> Vec<String> { numbers.iter().map(u64::to_string).collect() };
            let values = serde_json::json!({
                "shingles": strings(&[count, sum]),
                "signature": strings(&slots),
            });
            lines.push(format!("    \"{name}\": {values}"));
        }
        let source = "the scalar backend of this program, shingling on portable instructions; written by the test freeze_texts in src/selftest/texts.rs, where the formula of the texts is; shingles are their number and the sum of their hashes modulo 2^64";
        let page = format!(
            "{{\n  \"source\": \"{source}\",\n  \"values\": {{\n{}\n  }}\n}}\n",
            lines.join(",\n")
        );
        std::fs::write("vectors/texts.json", page).unwrap();
    }
}
