//! Single values that are known, whatever computes signatures: coefficients, band keys, base hashes.

use anyhow::Context;
use serde_json::Value;
use simgpu::pipeline::{Hashes, Shingler, Shingling, Slots, band_key};
use simgpu::scheme::{
    BaseHash, HashValue, Scheme, affine32_even, mersenne61_wide, murmur3_32, murmur3_128, words_v1,
};

use super::golden::{list, number, numbers, scheme_of, string};

const DRAWS: &str = include_str!("../../../vectors/draws.json");
const BAND_KEYS: &str = include_str!("../../../vectors/band_keys.json");
const MURMUR3: &str = include_str!("../../../vectors/murmur3.json");
const WORDS_V1: &str = include_str!("../../../vectors/words_v1.json");
const CUDF: &str = include_str!("../../../vectors/cudf.json");

/// A value that is known, and the one computed.
pub(crate) struct SingleValue {
    what: String,
    expected: u64,
    computed: u64,
}

impl SingleValue {
    pub(crate) fn wrong(&self) -> Option<String> {
        let SingleValue {
            what,
            expected,
            computed,
        } = self;
        (expected != computed).then(|| format!("{what}: expected {expected}, got {computed}"))
    }
}

pub(crate) fn coefficients() -> anyhow::Result<Vec<SingleValue>> {
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

pub(crate) fn band_keys() -> anyhow::Result<Vec<SingleValue>> {
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

pub(crate) fn murmur3() -> anyhow::Result<Vec<SingleValue>> {
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

pub(crate) fn words() -> anyhow::Result<Vec<SingleValue>> {
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
pub(crate) fn cudf() -> anyhow::Result<Vec<SingleValue>> {
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
