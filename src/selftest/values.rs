//! Checks published values that all signers share: coefficients, band keys and base hashes.

use serde_json::Value;

use super::vectors::{list, number, numbers, parse, scheme_of, size, string, unreadable};
use crate::error::{Error, Result};
use crate::pipeline::{Shingler, Shingling, band_key};
use crate::scheme::{
    BaseHash, Scheme, ShingleHash, affine32_even, mersenne61_wide, murmur3_32, murmur3_128,
    words_v1,
};
use crate::scheme::{Hashes, Slots};

const DRAWS: &str = include_str!("../../vectors/draws.json");
const BAND_KEYS: &str = include_str!("../../vectors/band_keys.json");
const MURMUR3: &str = include_str!("../../vectors/murmur3.json");
const WORDS_V1: &str = include_str!("../../vectors/words_v1.json");
const CUDF: &str = include_str!("../../vectors/cudf.json");

/// A published value and the computed one.
pub(super) struct SingleValue {
    name: String,
    expected: u64,
    computed: u64,
}

impl SingleValue {
    /// Describes the error; `None` if the computed value is right.
    pub(super) fn wrong(&self) -> Option<String> {
        let SingleValue {
            name,
            expected,
            computed,
        } = self;
        (expected != computed).then(|| format!("{name}: expected {expected}, got {computed}"))
    }
}

pub(super) fn coefficients() -> Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden = parse(DRAWS)?;
    for case in list(&golden)? {
        let scheme = scheme_of(case, string(&case["family"])?)?;
        let permutations = scheme.permutations();
        let mut known: Vec<_> = (0..).zip(list(&case["first"])?).collect();
        known.push((permutations.a().len() - 1, &case["last"]));
        for (k, pair) in known {
            let [expected_a, expected_b] = numbers(pair)?[..] else {
                return Err(unreadable("a pair of coefficients is missing"));
            };
            let (a, b) = (permutations.a()[k], permutations.b()[k]);
            for (name, expected, computed) in [("a", expected_a, a), ("b", expected_b, b)] {
                values.push(SingleValue {
                    name: format!("{name} of slot {k} of {scheme}, seed {}", scheme.seed()),
                    expected,
                    computed,
                });
            }
        }
    }
    Ok(values)
}

pub(super) fn band_keys() -> Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden = parse(BAND_KEYS)?;
    for case in list(&golden)? {
        let (rows, slot_bits): (usize, u32) = (number(&case["rows"])?, number(&case["slot_bits"])?);
        for (band, keys) in (0u32..).zip(list(&case["keys"])?) {
            let range = band as usize * rows..(band as usize + 1) * rows;
            for (signature, key) in list(&case["signatures"])?.iter().zip(list(keys)?) {
                let range = range.clone();
                let computed = if slot_bits == 32 {
                    let slots: Vec<u32> = numbers(signature)?;
                    slots
                        .get(range)
                        .map(|slots| band_key(band, Slots::U32(slots)))
                } else {
                    let slots: Vec<u64> = numbers(signature)?;
                    slots
                        .get(range)
                        .map(|slots| band_key(band, Slots::U64(slots)))
                };
                values.push(SingleValue {
                    name: format!("band {band} of {rows} rows"),
                    expected: number(key)?,
                    computed: computed.ok_or_else(|| unreadable("a band is missing"))?,
                });
            }
        }
    }
    Ok(values)
}

pub(super) fn murmur3() -> Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden = parse(MURMUR3)?;
    let seeds: Vec<u32> = numbers(&golden["seeds"])?;
    let mut check = |bytes: &[u8], case: &Value| -> Result<()> {
        let name =
            |bits: u32, seed: u32| format!("{bits} bits of {} bytes, seed {seed}", bytes.len());
        for (seed, expected) in seeds.iter().zip(list(&case["murmur3_32"])?) {
            values.push(SingleValue {
                name: name(32, *seed),
                expected: number(expected)?,
                computed: murmur3_32(bytes, *seed).into(),
            });
        }
        values.push(SingleValue {
            name: name(128, 0),
            expected: number(&case["murmur3_128"])?,
            computed: murmur3_128(bytes, 0),
        });
        Ok(())
    };
    for case in list(&golden["bytes"])? {
        let length: u64 = number(&case["length"])?;
        let bytes: Vec<u8> = (0..length).map(|i| ((i * 7 + 3) % 251) as u8).collect();
        check(&bytes, case)?;
    }
    for case in list(&golden["texts"])? {
        check(string(&case["text"])?.as_bytes(), case)?;
    }
    Ok(values)
}

pub(crate) fn words() -> Result<Vec<SingleValue>> {
    let mut values = Vec::new();
    let golden = parse(WORDS_V1)?;
    for case in list(&golden)? {
        let words = list(&case["words"])?.iter().map(string);
        let words = words.collect::<Result<Vec<&str>>>()?;
        let hashed = words.iter().map(|word| words_v1::word(word.as_bytes()));
        let shingle = words_v1::shingle(hashed);
        let name = |bits: u32| format!("{bits} bits of {words:?}");
        values.push(SingleValue {
            name: name(64),
            expected: number(&case["value64"])?,
            computed: shingle,
        });
        values.push(SingleValue {
            name: name(32),
            expected: number(&case["value32"])?,
            computed: u32::of_words(shingle).into(),
        });
    }
    Ok(values)
}

/// cuDF's unit tests use their own coefficients, with a = b, and a hash with seed 0.
pub(super) fn cudf() -> Result<Vec<SingleValue>> {
    let golden = parse(CUDF)?;
    let mut values = Vec::new();
    for (name, hash, bits) in [
        ("nemo", BaseHash::Cudf32 { seed: 0 }, 32),
        ("nemo64", BaseHash::Cudf64 { seed: 0 }, 64),
    ] {
        let scheme = Scheme::named(name)?;
        let mut check = |text: &str, case: &Value, width: &str, params: &str, known: &Value| {
            let mut shingling = Shingling::of_scheme(&scheme);
            shingling.size = size(&case[width])?;
            let shingler = Shingler::new(shingling, &scheme, Some(hash))?;
            let shingles = shingler.shingle(&[text]);
            for (c, known) in numbers(&case[params])?.into_iter().zip(numbers(known)?) {
                let least = match shingles.sets().hashes() {
                    Hashes::U32(set) => {
                        let c = u32::try_from(c)
                            .map_err(|_| unreadable("a coefficient is too large"))?;
                        set.iter().map(|x| affine32_even(c, c, *x).into()).min()
                    }
                    Hashes::U64(set) => set.iter().map(|x| mersenne61_wide(c, c, *x)).min(),
                };
                values.push(SingleValue {
                    name: format!("{name} of {text:?} with coefficients {c}"),
                    expected: known,
                    computed: least.unwrap_or(0),
                });
            }
            Ok::<(), Error>(())
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
