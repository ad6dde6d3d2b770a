//! The pickled state of a `MinHash`: version, scheme, GPU mode, seed (i64) and slots, little-endian.

use simgpu::scheme::{SlotVec, Values};

use super::scheme::{PermutationScheme, UnknownCode};

/// The first byte of a pickled state.
const STATE_VERSION: u8 = 1;

/// Bytes of a pickled state before the slots.
const STATE_HEADER: usize = 11;

/// datasketch's modes. Sketches are always computed on the CPU: one set is too little work for a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuMode {
    /// Never asks for a GPU.
    Disable,
    /// Would use one that is there.
    Detect,
    /// Fails without one.
    Always,
}

impl GpuMode {
    /// All modes, by the number that a state has for them.
    const ALL: [GpuMode; 3] = [GpuMode::Disable, GpuMode::Detect, GpuMode::Always];

    /// datasketch's name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            GpuMode::Disable => "disable",
            GpuMode::Detect => "detect",
            GpuMode::Always => "always",
        }
    }

    /// The mode of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        GpuMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// What a pickle keeps of a sketch beside its hash function and given permutations.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchState {
    /// The scheme of the slots.
    pub scheme: PermutationScheme,
    /// The mode, which values do not depend on.
    pub gpu_mode: GpuMode,
    /// The seed of the permutations.
    pub seed: i64,
    /// The slots.
    pub slots: SlotVec,
}

/// Why bytes are no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateError {
    /// Nothing wrote these bytes.
    Damaged,
    /// The scheme is unknown.
    UnknownScheme(UnknownCode),
}

/// The bytes of a state, of slots that stay where they are.
pub fn state_bytes(
    scheme: PermutationScheme,
    gpu_mode: GpuMode,
    seed: i64,
    slots: &SlotVec,
) -> Vec<u8> {
    let mut state = Vec::with_capacity(STATE_HEADER + 8 * slots.len());
    state.extend([STATE_VERSION, scheme.code(), gpu_mode as u8]);
    state.extend(seed.to_le_bytes());
    match slots {
        Values::U32(slots) => state.extend(slots.iter().flat_map(|slot| slot.to_le_bytes())),
        Values::U64(slots) => state.extend(slots.iter().flat_map(|slot| slot.to_le_bytes())),
    }
    state
}

impl SketchState {
    /// The bytes of the state.
    pub fn to_bytes(&self) -> Vec<u8> {
        state_bytes(self.scheme, self.gpu_mode, self.seed, &self.slots)
    }

    /// The state with these bytes.
    ///
    /// # Errors
    /// If [`SketchState::to_bytes`] cannot have written them.
    pub fn from_bytes(state: &[u8]) -> Result<Self, StateError> {
        let damaged = StateError::Damaged;
        let (header, slots) = state.split_first_chunk::<STATE_HEADER>().ok_or(damaged)?;
        let [STATE_VERSION, code, mode, seed @ ..] = header else {
            return Err(damaged);
        };
        let scheme = match code {
            0 => PermutationScheme::Legacy,
            code => PermutationScheme::from_code(*code).map_err(StateError::UnknownScheme)?,
        };
        let gpu_mode = *GpuMode::ALL.get(usize::from(*mode)).ok_or(damaged)?;
        let slots = match scheme {
            PermutationScheme::Affine32 => {
                let (slots, []) = slots.as_chunks::<4>() else {
                    return Err(damaged);
                };
                Values::U32(slots.iter().map(|slot| u32::from_le_bytes(*slot)).collect())
            }
            PermutationScheme::Legacy | PermutationScheme::Affine64 => {
                let (slots, []) = slots.as_chunks::<8>() else {
                    return Err(damaged);
                };
                Values::U64(slots.iter().map(|slot| u64::from_le_bytes(*slot)).collect())
            }
        };
        Ok(SketchState {
            scheme,
            gpu_mode,
            seed: i64::from_le_bytes(*seed),
            slots,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> SketchState {
        SketchState {
            scheme: PermutationScheme::Affine32,
            gpu_mode: GpuMode::Detect,
            seed: 258,
            slots: Values::U32(vec![1, u32::MAX]),
        }
    }

    #[test]
    fn a_state_has_these_bytes() {
        let expected = [
            1, 1, 1, 2, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255,
        ];
        assert_eq!(state().to_bytes(), expected);
        assert_eq!(SketchState::from_bytes(&expected), Ok(state()));
    }

    #[test]
    fn damaged_states_are_refused() {
        let bytes = state().to_bytes();
        for (place, byte, error) in [
            (0, 2, StateError::Damaged),
            (1, 3, StateError::UnknownScheme(UnknownCode(3))),
            (2, 3, StateError::Damaged),
        ] {
            let mut bytes = bytes.clone();
            bytes[place] = byte;
            assert_eq!(SketchState::from_bytes(&bytes), Err(error));
        }
        let cut = SketchState::from_bytes(&bytes[..bytes.len() - 1]);
        assert_eq!(cut, Err(StateError::Damaged));
    }
}
