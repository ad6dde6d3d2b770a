//! Schemes by name: a permutation family, or a preset, with a number of permutations and a seed.

use std::fmt;
use std::num::NonZeroU16;
use std::str::FromStr;

use super::base_hash::BaseHash;
use super::family::Family;
use super::permutations::{Draws, MAX_NUM_PERM, Permutations};
use super::preset::{Grams, PRESETS, Preset, PresetHash};
use crate::error::{Error, Result};

/// Everything that decides the values of a signature.
///
/// ```
/// # use simgpu_kernels as simgpu;
/// use simgpu::scheme::Scheme;
///
/// let scheme = Scheme::named("affine32")?.with_num_perm(256)?.with_seed(7);
/// assert_eq!(scheme.to_string(), "affine32");
/// # Ok::<(), simgpu_base::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheme {
    name: SchemeName,
    num_perm: NonZeroU16,
    seed: u32,
}

/// What the name of a scheme selects: a family with this crate's hashing and draws, or a preset, which
/// reproduces another tool's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemeName {
    Family(Family),
    Preset(&'static Preset),
}

/// The families that are schemes without a preset.
const FAMILIES: [(&str, Family); 7] = [
    ("affine32", Family::Affine32),
    ("affine64", Family::Affine64),
    ("mersenne31", Family::Mersenne31),
    ("mersenne61", Family::Mersenne61),
    ("mersenne61-wide", Family::Mersenne61Wide),
    ("affine32-even", Family::Affine32Even),
    ("fast", Family::Fast),
];

/// The number of permutations, except in presets with their own.
pub const DEFAULT_NUM_PERM: u32 = NUM_PERM as u32;

const NUM_PERM: u16 = 128;

impl Default for Scheme {
    /// `affine32`, 128 permutations, seed 1.
    fn default() -> Self {
        Scheme {
            name: SchemeName::Family(Family::Affine32),
            num_perm: const { NonZeroU16::new(NUM_PERM).unwrap() },
            seed: 1,
        }
    }
}

impl Scheme {
    /// The scheme of a name, with 128 permutations and seed 1, or the preset's.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for a name not in [`Scheme::names`].
    pub fn named(name: &str) -> Result<Self> {
        if let Some((_, family)) = FAMILIES.into_iter().find(|(known, _)| *known == name) {
            return Ok(Scheme {
                name: SchemeName::Family(family),
                ..Scheme::default()
            });
        }
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        let preset = preset.ok_or_else(|| Error::UnknownName {
            what: "scheme",
            name: name.to_owned(),
            known: Scheme::names().collect::<Vec<_>>().join(", "),
        })?;
        Scheme {
            name: SchemeName::Preset(preset),
            seed: preset.seed,
            ..Scheme::default()
        }
        .with_num_perm(preset.num_perm)
    }

    /// The names that [`Scheme::named`] accepts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let families = FAMILIES.into_iter().map(|(name, _)| name);
        families.chain(PRESETS.iter().map(|preset| preset.name))
    }

    /// The same scheme with `num_perm` permutations (1 to 2^14).
    ///
    /// # Errors
    /// [`Error::Parameter`] outside that range.
    pub fn with_num_perm(mut self, num_perm: u32) -> Result<Self> {
        self.num_perm = u16::try_from(num_perm)
            .ok()
            .and_then(NonZeroU16::new)
            .filter(|n| u32::from(n.get()) <= MAX_NUM_PERM)
            .ok_or_else(|| Error::Parameter {
                name: "`num_perm`",
                value: num_perm.to_string(),
                expected: format!("a number from 1 to {MAX_NUM_PERM}"),
            })?;
        Ok(self)
    }

    /// The same scheme with coefficients drawn from another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u32) -> Self {
        self.seed = seed;
        self
    }

    /// Number of permutations, which is the number of slots of a signature.
    pub fn num_perm(&self) -> usize {
        self.num_perm.get().into()
    }

    /// The same in a type that every type of numbers of slots holds.
    #[doc(hidden)]
    pub fn num_perm_u16(&self) -> u16 {
        self.num_perm.get()
    }

    /// The seed of the coefficient draws.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// The preset; `None` for a scheme of a family alone.
    pub fn preset(&self) -> Option<&'static Preset> {
        match self.name {
            SchemeName::Family(_) => None,
            SchemeName::Preset(preset) => Some(preset),
        }
    }

    /// The permutation family.
    pub fn family(&self) -> Family {
        match self.name {
            SchemeName::Family(family) => family,
            SchemeName::Preset(preset) => preset.family,
        }
    }

    /// The value of every slot of the empty set.
    pub fn empty_slot(&self) -> u64 {
        let preset = self.preset();
        preset.map_or(self.family().empty_slot(), |preset| preset.empty_slot)
    }

    /// Which consecutive words or tokens form one shingle.
    pub fn grams(&self) -> Grams {
        self.preset().map_or(Grams::Native, |preset| preset.grams)
    }

    /// The base hash of a preset; `None` where the shingling decides.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the multipliers of a 32-bit preset fit 32 bits"
    )]
    pub fn prescribed_hash(&self) -> Option<BaseHash> {
        let first_a = || self.permutations().a()[0];
        Some(match self.preset()?.hash {
            PresetHash::Fixed(hash) => hash,
            PresetHash::Xxh3 => BaseHash::SeededXxh3_32 {
                seed: self.seed.into(),
            },
            PresetHash::Cudf32 => BaseHash::Cudf32 {
                seed: first_a() as u32,
            },
            PresetHash::Cudf64 => BaseHash::Cudf64 { seed: first_a() },
        })
    }

    /// The coefficients (a_k, b_k) of this scheme.
    pub fn permutations(&self) -> Permutations {
        let draws = self.preset().map(|preset| preset.draws);
        let draws = draws.unwrap_or(Draws::AllAThenAllB);
        Permutations::draw(self.family(), draws, self.seed, self.num_perm())
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.name {
            SchemeName::Preset(preset) => preset.name,
            SchemeName::Family(family) => FAMILIES
                .into_iter()
                .find(|(_, named)| *named == family)
                .map_or("unnamed", |(name, _)| name),
        })
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Scheme::named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_displays_as_itself() {
        for name in Scheme::names() {
            assert_eq!(Scheme::named(name).unwrap().to_string(), name);
        }
    }

    #[test]
    fn unknown_names_and_sizes_are_errors() {
        assert!(
            Scheme::named("md5")
                .unwrap_err()
                .to_string()
                .contains("affine32")
        );
        assert!(Scheme::default().with_num_perm(0).is_err());
        assert!(Scheme::default().with_num_perm(MAX_NUM_PERM + 1).is_err());
    }
}
