//! Published signatures of sets.

use serde_json::Value;

use super::machine::Machine;
use super::vectors::{list, number, numbers, parse, scheme_of, size, string, unreadable};
use super::words::{wide_hashes, wrong_slot};
use crate::backend::Backend;
use crate::error::Result;
use crate::pipeline::{Shingler, Shingling, Signer};
use crate::scheme::{Hashes, SlotsMut};
use crate::scheme::{Scheme, ShingleHash, Width, fmix64};

const FAMILIES: &str = include_str!("../../vectors/families.json");
const PEERS: &str = include_str!("../../vectors/peer_signatures.json");
const TEXT_DEDUP: &str = include_str!("../../vectors/text_dedup.json");
const TEXT_DEDUP_041: &str = include_str!("../../vectors/text_dedup_041.json");

/// Names in `peer_signatures.json`, with the presets that reproduce them.
const PRESETS: [(&str, &str); 6] = [
    ("datasketch affine32", "datasketch"),
    ("datasketch affine64", "datasketch64"),
    ("datasketch-legacy", "datasketch-legacy"),
    ("datatrove xxhash precision 64", "datatrove"),
    ("datatrove xxhash precision 32", "datatrove32"),
    ("rensa 0.5 R-MinHash", "rensa"),
];

/// A set and its published signature.
pub(super) struct SignatureCase {
    scheme: Scheme,
    set: Vec<u64>,
    slots: Vec<u64>,
}

impl SignatureCase {
    /// Describes the error in the signature computed by a machine; `None` if it is right.
    pub(super) fn wrong_on(&self, machine: &Machine) -> Option<String> {
        let computed = match machine.compute(&self.scheme, |signer| self.sign(signer)) {
            Ok(computed) => computed,
            Err(problem) => return Some(problem),
        };
        let wrong = wrong_slot(&self.slots, &computed)?;
        Some(format!(
            "{wrong} (set of {}, num_perm {}, seed {})",
            self.set.len(),
            self.scheme.num_perm(),
            self.scheme.seed()
        ))
    }

    fn sign(&self, signer: &dyn Signer) -> Result<Vec<u64>> {
        let family = self.scheme.family();
        // A 32-bit family uses hashes modulo 2^32.
        #[allow(clippy::cast_possible_truncation, reason = "the value modulo 2^32")]
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

/// Sizes of the sets from a formula: empty, below and above the lanes of a register, and large enough for the
/// algorithms of long sets.
const LENGTHS: [u64; 5] = [0, 1, 33, 800, 6_000];

/// Signatures by scheme, families first: the published ones, and those of the scalar backend for sets from a
/// formula.
pub(super) fn groups() -> Result<Vec<(String, Vec<SignatureCase>)>> {
    let mut groups: Vec<(String, Vec<SignatureCase>)> = Vec::new();
    let families = parse(FAMILIES)?;
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
    let peers = parse(PEERS)?;
    for (peer, preset) in PRESETS {
        let peer_cases = list(&peers["schemes"])?.iter();
        for case in peer_cases.filter(|case| case["name"] == peer) {
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
    add_text_dedup(&mut groups, "text-dedup", TEXT_DEDUP)?;
    add_text_dedup(&mut groups, "text-dedup-0.4.1", TEXT_DEDUP_041)?;
    for name in Scheme::names() {
        let scheme = Scheme::named(name)?;
        let scalar = Backend::Scalar.signer(&scheme)?;
        for length in LENGTHS {
            let mut known = SignatureCase {
                scheme: scheme.clone(),
                set: (0..length).map(fmix64).collect(),
                slots: vec![0; scheme.num_perm()],
            };
            known.slots = known.sign(&*scalar)?;
            add(&mut groups, known);
        }
    }
    Ok(groups)
}

/// Adds the signatures of texts by a version of text-dedup.
fn add_text_dedup(
    groups: &mut Vec<(String, Vec<SignatureCase>)>,
    preset: &str,
    vectors: &str,
) -> Result<()> {
    let text_dedup = parse(vectors)?;
    for case in list(&text_dedup["cases"])? {
        let mut scheme = Scheme::named(preset)?.with_num_perm(number(&case["num_perm"])?)?;
        // Without a seed, it is that of the preset.
        if !case["seed"].is_null() {
            scheme = scheme.with_seed(number(&case["seed"])?);
        }
        let mut shingling = Shingling::of_scheme(&scheme);
        shingling.size = size(&case["size"])?;
        let shingler = Shingler::new(shingling, &scheme, None)?;
        let texts = list(&text_dedup["texts"])?.iter();
        for (text, slots) in texts.zip(list(&case["signatures"])?) {
            let shingles = shingler.shingle(&[string(text)?]);
            let known = SignatureCase {
                scheme: scheme.clone(),
                set: wide_hashes(shingles.sets().hashes()),
                slots: numbers(slots)?,
            };
            add(groups, known);
        }
    }
    Ok(())
}

fn add(groups: &mut Vec<(String, Vec<SignatureCase>)>, known: SignatureCase) {
    let name = known.scheme.to_string();
    match groups.iter_mut().find(|(group, _)| *group == name) {
        Some((_, cases)) => cases.push(known),
        None => groups.push((name, vec![known])),
    }
}

/// Hashes tokens by the base hash of a preset.
fn hashes(preset: &Scheme, tokens: &Value) -> Result<Vec<u64>> {
    let hash = preset.prescribed_hash();
    let hash = hash.ok_or_else(|| unreadable("a preset has no base hash"))?;
    let token_hash = |token: &Value| {
        let token = string(token)?.as_bytes();
        Ok(match preset.family().hash_width() {
            Width::U32 => u32::of_bytes(hash, token).into(),
            Width::U64 => u64::of_bytes(hash, token),
        })
    };
    list(tokens)?.iter().map(token_hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_values() {
        let groups = groups().unwrap();
        for name in Scheme::names() {
            let group = groups.iter().find(|(group, _)| group == name);
            let (_, cases) = group.unwrap_or_else(|| panic!("no values of {name}"));
            assert!(cases.iter().any(|case| case.set.len() >= 5_000), "{name}");
            // NeMo's published values need other coefficients. `values::cudf` checks them.
            let has_published = cases.len() > LENGTHS.len();
            assert_eq!(has_published, !name.starts_with("nemo"), "{name}");
        }
    }
}
