//! The shaders: which files of `shaders/` each is composed of, and the layout of its coefficients.
//!
//! A shader is one entry point after the parts that it needs: the width of hashes, the family, the loop.
//! Each family's arithmetic stands in one part; mersenne31 and mersenne61 build on a sum of products that
//! has two forms, with 64-bit integers and without.

use super::workgroup::{QUAD, Workgroup};
use crate::error::Unsupported;
use crate::pipeline::device::TextWindow;
use crate::scheme::Family;
use crate::simd::sign::{Family32, Family64, Mersenne31, Mersenne61, Mersenne61Wide};

/// Which integers a shader uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Integers {
    /// 32 bits only; every adapter has them.
    U32,
    /// 64 bits where they help.
    U64,
}

/// How a shader multiplies numbers of 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Products {
    /// By multiplications of 32 bits.
    #[default]
    Whole,
    /// By multiplications of 24 bits and dot products of bytes: faster on devices without multiplications of 32 bits.
    Bytes,
}

/// What a signing shader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ShaderInput {
    /// Shingle hashes.
    Hashes,
    /// Texts, whose windows it hashes by murmur3-32.
    Text(TextWindow),
}

impl ShaderInput {
    /// Every kind of input, with windows of 9, for what looks at all shaders.
    #[cfg(any(test, feature = "internals"))]
    pub(super) const ALL: [ShaderInput; 3] = [
        ShaderInput::Hashes,
        ShaderInput::Text(TextWindow::Bytes(9)),
        ShaderInput::Text(TextWindow::Chars(9)),
    ];
}

/// A signing shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SignShader {
    pub(super) family: Family,
    pub(super) integers: Integers,
    pub(super) products: Products,
    pub(super) input: ShaderInput,
}

/// Threads of a workgroup that makes band keys.
pub(super) const BAND_THREADS: u32 = 64;

const FMIX32: &str = include_str!("../../../shaders/parts/fmix32.wgsl");
const MURMUR3: &str = include_str!("../../../shaders/parts/murmur3.wgsl");
const HASH32: &str = include_str!("../../../shaders/parts/hash32.wgsl");
const HASH64: &str = include_str!("../../../shaders/parts/hash64.wgsl");
const PRODUCTS_WHOLE: &str = include_str!("../../../shaders/parts/products_whole.wgsl");
const PRODUCTS_BYTES: &str = include_str!("../../../shaders/parts/products_bytes.wgsl");
const AFFINE: &str = include_str!("../../../shaders/parts/affine.wgsl");
const SUM_U32: &str = include_str!("../../../shaders/parts/sum_u32.wgsl");
const SUM_U64: &str = include_str!("../../../shaders/parts/sum_u64.wgsl");
const MERSENNE31: &str = include_str!("../../../shaders/parts/mersenne31.wgsl");
const MERSENNE61: &str = include_str!("../../../shaders/parts/mersenne61.wgsl");
const MERSENNE61_WIDE: &str = include_str!("../../../shaders/parts/mersenne61_wide.wgsl");
const EXACT: &str = include_str!("../../../shaders/parts/exact.wgsl");
const SIGN: &str = include_str!("../../../shaders/parts/sign.wgsl");
const LONG_PART: &str = include_str!("../../../shaders/parts/long_part.wgsl");
const LONG_PART_CHUNKS: &str = include_str!("../../../shaders/parts/long_part_chunks.wgsl");
const STRAIGHT: &str = include_str!("../../../shaders/parts/straight.wgsl");
const KEY_64: &str = include_str!("../../../shaders/parts/key_64.wgsl");
const KEY_MERSENNE31: &str = include_str!("../../../shaders/parts/key_mersenne31.wgsl");
const KEY_MERSENNE61: &str = include_str!("../../../shaders/parts/key_mersenne61.wgsl");
const TEXT: &str = include_str!("../../../shaders/parts/text.wgsl");
const SIGN_HASHES: &str = include_str!("../../../shaders/sign_hashes.wgsl");
const SIGN_TEXT: &str = include_str!("../../../shaders/sign_text.wgsl");
const SIGN_CHARS: &str = include_str!("../../../shaders/sign_chars.wgsl");
const BAND_KEYS: &str = include_str!("../../../shaders/band_keys.wgsl");

/// Whether devices with these integers compute a family.
pub fn computes(family: Family, integers: Integers) -> bool {
    check(family, integers).is_ok()
}

/// Whether the loop of a family multiplies 32 bits, so that it has both kinds of [`Products`].
pub(super) fn has_products(family: Family) -> bool {
    matches!(
        family,
        Family::Affine32 | Family::Affine32Even | Family::Mersenne61
    )
}

/// Checks that a family has a shader with these integers.
pub(super) fn check(family: Family, integers: Integers) -> Result<(), Unsupported> {
    match (family, integers) {
        (Family::Fast | Family::RMinHash, _) => Err(Unsupported::SchemeNotOnDevices),
        (Family::Affine64 | Family::Mersenne61Wide, Integers::U32) => Err(Unsupported::NeedsU64),
        _ => Ok(()),
    }
}

impl SignShader {
    pub(super) fn new(family: Family, integers: Integers, input: ShaderInput) -> Self {
        SignShader {
            family,
            integers,
            products: Products::Whole,
            input,
        }
    }

    /// The same shader with these products, if the family has both kinds.
    pub(super) fn by(self, products: Products) -> Self {
        let products = if has_products(self.family) {
            products
        } else {
            Products::Whole
        };
        SignShader { products, ..self }
    }

    /// Whether it needs 64-bit integers.
    pub(super) fn needs_u64(self) -> bool {
        match self.family {
            Family::Affine64 | Family::Mersenne61Wide => true,
            Family::Mersenne31 | Family::Mersenne61 => self.integers == Integers::U64,
            Family::Affine32 | Family::Affine32Even | Family::Fast | Family::RMinHash => false,
        }
    }

    /// Whether shingles are mixed first.
    pub(super) fn is_mixed(self) -> bool {
        matches!(self.family, Family::Affine32 | Family::Affine64)
    }

    /// Whether there is such a shader.
    #[cfg(any(test, feature = "internals"))]
    pub(super) fn exists(self) -> bool {
        // Texts are hashed to 32 bits, and a second form exists only where 64-bit integers change it.
        let is_wide = self.family.hash_width() == crate::scheme::Width::U64;
        computes(self.family, self.integers)
            && !(is_wide && self.input != ShaderInput::Hashes)
            && (self.integers == Integers::U32 || self.needs_u64())
    }

    pub(super) fn entry_point(self) -> &'static str {
        match self.input {
            ShaderInput::Hashes => "sign_hashes",
            ShaderInput::Text(TextWindow::Bytes(_)) => "sign_text",
            ShaderInput::Text(TextWindow::Chars(_)) => "sign_chars",
        }
    }

    /// The keys by which long parts are signed chunk by chunk, where that takes fewer instructions than all values.
    /// mersenne31 with 64-bit integers has values that cost hardly more than keys.
    fn keys(self) -> Option<&'static str> {
        match self.family {
            Family::Affine64 | Family::Mersenne61Wide => Some(KEY_64),
            Family::Mersenne61 => Some(KEY_MERSENNE61),
            Family::Mersenne31 if !self.needs_u64() => Some(KEY_MERSENNE31),
            _ => None,
        }
    }

    /// Bytes of shingle hashes that a workgroup stages at most, so that devices hold as many workgroups as threads; with
    /// keys, 32 chunks for four slices.
    pub(super) fn most_tile_bytes(self) -> usize {
        match self.keys() {
            Some(_) => self.family.hash_width().bytes() << 10,
            None => 8 << 10,
        }
    }

    /// The values of the constants that a pipeline sets.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a window of a device has at most 64 units"
    )]
    pub(super) fn constants(
        self,
        workgroup: Workgroup,
        tile_quads: u32,
    ) -> Vec<(&'static str, u32)> {
        let mut constants = vec![
            ("THREADS", workgroup.threads),
            ("SLICE_THREADS", workgroup.slice_threads),
            ("SLICES", workgroup.slices),
            ("TILE_QUADS", tile_quads),
            ("IS_MIXED", u32::from(self.is_mixed())),
        ];
        if let ShaderInput::Text(window) = self.input {
            constants.push(("WINDOW", window.units() as u32));
        }
        if self.keys().is_some() {
            constants.push(("SLOTS", workgroup.slots()));
        }
        constants
    }

    /// The source of the module.
    pub(super) fn wgsl(self) -> String {
        let sum = match self.integers {
            Integers::U32 => SUM_U32,
            Integers::U64 => SUM_U64,
        };
        let products = match self.products {
            Products::Whole => PRODUCTS_WHOLE,
            Products::Bytes => PRODUCTS_BYTES,
        };
        let family: &[&str] = match self.family {
            Family::Affine64 => &[HASH64, products, AFFINE],
            Family::Mersenne61Wide => &[HASH64, MERSENNE61_WIDE, EXACT],
            Family::Mersenne31 => &[FMIX32, HASH32, sum, MERSENNE31],
            Family::Mersenne61 => &[FMIX32, HASH32, products, sum, MERSENNE61, EXACT],
            // `check` refuses the families whose slots are filled in rounds.
            Family::Affine32 | Family::Affine32Even | Family::Fast | Family::RMinHash => {
                &[FMIX32, HASH32, products, AFFINE]
            }
        };
        let long_part: &[&str] = match self.keys() {
            Some(keys) => &[STRAIGHT, keys, LONG_PART_CHUNKS],
            None => &[STRAIGHT, LONG_PART],
        };
        let input: &[&str] = match self.input {
            ShaderInput::Hashes => &[SIGN_HASHES],
            ShaderInput::Text(TextWindow::Bytes(_)) => &[MURMUR3, TEXT, SIGN_TEXT],
            ShaderInput::Text(TextWindow::Chars(_)) => &[MURMUR3, TEXT, SIGN_CHARS],
        };
        [family, &[SIGN], long_part, input].concat().join("\n")
    }

    /// The coefficients in the shader's layout: one entry per four permutations, the last one padded.
    pub(super) fn coefficients(self, a: &[u64], b: &[u64]) -> Vec<u32> {
        let mut pairs: Vec<(u64, u64)> = match self.family {
            Family::Mersenne31 => Mersenne31::new(a, b).coefficients().pairs().collect(),
            Family::Mersenne61 => Mersenne61::new(a, b).coefficients().pairs().collect(),
            Family::Mersenne61Wide => Mersenne61Wide::new(a, b).coefficients().pairs().collect(),
            _ => a.iter().copied().zip(b.iter().copied()).collect(),
        };
        // The padding belongs to no slot, but its values must not be those of a constant: small ones would send the whole
        // workgroup into the exact computation, and equal keys all chunks.
        pairs.truncate(a.len());
        if let Some(last) = pairs.last() {
            pairs.resize(a.len().next_multiple_of(QUAD), *last);
        }
        let words: &[Word] = match (self.family, self.integers) {
            (Family::Mersenne31 | Family::Mersenne61, Integers::U32) => &LIMBS,
            _ if self.needs_u64() => return whole(&pairs),
            _ => &LOW_WORDS,
        };
        let quads = pairs.chunks(QUAD);
        let entries = quads.flat_map(|quad| words.iter().map(move |word| (quad, word)));
        entries
            .flat_map(|(quad, word)| quad.iter().map(|(a, b)| word(*a, *b)))
            .collect()
    }
}

/// Picks one 32-bit word of a factor and an addend.
type Word = fn(u64, u64) -> u32;

/// The words that affine.wgsl reads at 32 bits.
const LOW_WORDS: [Word; 2] = [|a, _| bits(a, 0, 32), |_, b| bits(b, 0, 32)];

/// The words that sum_u32.wgsl reads.
const LIMBS: [Word; 8] = [
    |a, _| bits(a, 0, 32),
    |a, _| bits(a, 32, 32),
    |_, b| bits(b, 0, 32),
    |_, b| bits(b, 32, 32),
    |a, _| bits(a, 0, 16),
    |a, _| bits(a, 16, 16),
    |_, b| bits(b, 0, 16),
    |_, b| bits(b, 16, 16),
];

#[allow(clippy::cast_possible_truncation, reason = "at most 32 bits are kept")]
fn bits(number: u64, first: u32, count: u32) -> u32 {
    (number >> first) as u32 & u32::MAX >> (32 - count)
}

/// Factors and addends of 64 bits, low words first.
fn whole(pairs: &[(u64, u64)]) -> Vec<u32> {
    let words = |number: u64| [bits(number, 0, 32), bits(number, 32, 32)];
    let quads = pairs.chunks(QUAD);
    let factors_then_addends = quads.flat_map(|quad| {
        let (a, b): (Vec<u64>, Vec<u64>) = quad.iter().copied().unzip();
        [a, b].concat()
    });
    factors_then_addends.flat_map(words).collect()
}

/// The source of the module that makes band keys.
pub(super) fn band_keys_wgsl() -> String {
    [FMIX32, MURMUR3, BAND_KEYS].join("\n")
}

#[cfg(test)]
#[allow(clippy::print_stdout, reason = "shows the counts")]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use naga::Module;
    use naga::back::{hlsl, msl, pipeline_constants::process_overrides, spv};
    use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

    use super::*;

    const FAMILIES: [Family; 6] = [
        Family::Affine32,
        Family::Affine32Even,
        Family::Affine64,
        Family::Mersenne31,
        Family::Mersenne61,
        Family::Mersenne61Wide,
    ];

    /// Every signing shader.
    fn shaders() -> Vec<SignShader> {
        let mut shaders = Vec::new();
        for family in FAMILIES {
            for integers in [Integers::U32, Integers::U64] {
                for input in ShaderInput::ALL {
                    let shader = SignShader::new(family, integers, input);
                    if shader.exists() {
                        shaders.push(shader);
                        shaders.extend(has_products(family).then(|| shader.by(Products::Bytes)));
                    }
                }
            }
        }
        shaders
    }

    /// Every module, with the capabilities that it may use.
    fn modules() -> Vec<(String, String, Capabilities)> {
        let signing = shaders().into_iter().map(|shader| {
            let needed = if shader.needs_u64() {
                Capabilities::SHADER_INT64
            } else {
                Capabilities::empty()
            };
            (format!("{shader:?}"), shader.wgsl(), needed)
        });
        let band_keys = (
            "band keys".to_owned(),
            band_keys_wgsl(),
            Capabilities::empty(),
        );
        signing.chain([band_keys]).collect()
    }

    /// The module with values in place of its overridable constants.
    fn compiled(wgsl: &str, needed: Capabilities) -> (Module, ModuleInfo) {
        let module = naga::front::wgsl::parse_str(wgsl)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(wgsl)));
        let info = Validator::new(ValidationFlags::all(), needed)
            .validate(&module)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(wgsl)));
        let values = module.overrides.iter().map(|(_, constant)| {
            let name = constant.name.clone().unwrap();
            let value = match &*name {
                "THREADS" | "TILE_QUADS" | "SLOTS" => 128.0,
                "SLICES" => 4.0,
                _ => 32.0,
            };
            (name, value)
        });
        let values = values.collect();
        let (module, info) = process_overrides(&module, &info, None, &values).unwrap();
        (module.into_owned(), info.into_owned())
    }

    fn spirv(module: &Module, info: &ModuleInfo) -> Vec<u32> {
        let unchecked = naga::proc::BoundsCheckPolicy::Unchecked;
        let options = spv::Options {
            flags: spv::WriterFlags::DEBUG,
            bounds_check_policies: naga::proc::BoundsCheckPolicies {
                index: unchecked,
                buffer: unchecked,
                image_load: unchecked,
                binding_array: unchecked,
            },
            force_loop_bounding: false,
            emit_int_div_checks: false,
            ..spv::Options::default()
        };
        spv::write_vec(module, info, &options, None).unwrap()
    }

    /// With no capability but those named: an adapter may lack all others.
    #[test]
    fn every_module_translates_to_every_language() {
        for (name, wgsl, needed) in modules() {
            let (module, info) = compiled(&wgsl, needed);
            assert!(!spirv(&module, &info).is_empty(), "{name}");

            let options = msl::Options {
                lang_version: (2, 3),
                fake_missing_bindings: true,
                ..msl::Options::default()
            };
            let (metal, _) =
                msl::write_string(&module, &info, &options, &msl::PipelineOptions::default())
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(metal.contains("kernel void"), "{name}");

            let options = hlsl::Options {
                shader_model: hlsl::ShaderModel::V6_0,
                ..hlsl::Options::default()
            };
            let pipeline = hlsl::PipelineOptions::default();
            let mut direct = String::new();
            hlsl::Writer::new(&mut direct, &options, &pipeline)
                .write(&module, &info, None)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(direct.contains("numthreads"), "{name}");
        }
    }

    /// No test would check a file outside of all modules. Each entry point names its CPU twin.
    #[test]
    fn every_shader_file_is_part_of_a_module() {
        let shaders = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
        let modules = modules();
        let mut entry_points = BTreeSet::new();
        for folder in [shaders.clone(), shaders.join("parts")] {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    continue;
                }
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.display();
                assert!(text.starts_with("//"), "{name} does not say what it is");
                assert!(
                    modules.iter().any(|(_, wgsl, _)| wgsl.contains(&text)),
                    "{name} is part of no module"
                );
                let entries = text.matches("@compute").count();
                assert_eq!(entries, usize::from(folder == shaders), "{name}");
                if entries == 1 {
                    assert!(text.contains("// CPU twin"), "{name} names no twin");
                    entry_points.insert(path.file_stem().unwrap().to_owned());
                }
            }
        }
        assert_eq!(entry_points.len(), 4);
    }

    /// The arithmetic of a module in SPIR-V: per function its operations, counted once per component of a
    /// vector, and the functions that it calls.
    struct Operations {
        functions: BTreeMap<String, (u32, Vec<String>)>,
    }

    impl Operations {
        fn count(spirv: &[u32]) -> Self {
            let (mut names, mut widths) = (BTreeMap::new(), BTreeMap::new());
            let mut called = Vec::new();
            let mut current = None;
            let mut functions = BTreeMap::new();
            let mut at = 5;
            while at < spirv.len() {
                let (opcode, len) = (spirv[at] & 0xFFFF, (spirv[at] >> 16) as usize);
                let words = &spirv[at..at + len];
                match opcode {
                    // OpName
                    5 => {
                        let bytes: Vec<u8> = words[2..]
                            .iter()
                            .flat_map(|word| word.to_le_bytes())
                            .collect();
                        let text = bytes.split(|byte| *byte == 0).next().unwrap();
                        names.insert(words[1], String::from_utf8(text.to_vec()).unwrap());
                    }
                    // OpTypeVector
                    23 => {
                        widths.insert(words[1], words[3]);
                    }
                    // OpFunction
                    54 => current = Some(words[2]),
                    // OpFunctionCall
                    57 => called.push((current.unwrap(), words[3])),
                    // Conversions, sums and products of integers, comparisons, OpSelect, shifts, bits, and UMin
                    // among the extended ones.
                    113 | 124 | 128..=134 | 169..=191 | 194..=200 | 12
                        if opcode != 12 || words[4] == 38 =>
                    {
                        let width = widths.get(&words[1]).copied().unwrap_or(1);
                        *functions.entry(current.unwrap()).or_insert(0) += width;
                    }
                    _ => {}
                }
                at += len;
            }
            let name = |id: u32| names.get(&id).cloned().unwrap_or_default();
            let calls = |function: u32| {
                let own = called.iter().filter(move |(caller, _)| *caller == function);
                own.map(|(_, callee)| name(*callee)).collect::<Vec<_>>()
            };
            let all: BTreeSet<u32> = functions
                .keys()
                .copied()
                .chain(called.iter().map(|(caller, _)| *caller))
                .collect();
            Operations {
                functions: all
                    .into_iter()
                    .map(|id| {
                        (
                            name(id),
                            (functions.get(&id).copied().unwrap_or(0), calls(id)),
                        )
                    })
                    .collect(),
            }
        }

        /// Operations of a function and of all that it calls.
        fn of(&self, function: &str) -> u32 {
            let Some((own, called)) = self.functions.get(function) else {
                return 0;
            };
            own + called.iter().map(|callee| self.of(callee)).sum::<u32>()
        }
    }

    /// Operations per update in the loops over shingles, whose step is four permutations by eight shingles: of values, and
    /// of keys where there are such.
    #[test]
    fn updates_stay_within_their_operations() {
        let limits = [
            (Family::Affine32, Integers::U32, 3.0, None),
            (Family::Affine32Even, Integers::U32, 3.0, None),
            (Family::Mersenne31, Integers::U64, 9.0, None),
            (Family::Mersenne31, Integers::U32, 27.0, Some(5.25)),
            (Family::Mersenne61, Integers::U64, 10.0, Some(3.0)),
            (Family::Mersenne61, Integers::U32, 29.0, Some(3.0)),
            (Family::Affine64, Integers::U64, 3.0, Some(8.0)),
            (Family::Mersenne61Wide, Integers::U64, 6.0, Some(8.0)),
        ];
        for (family, integers, values, keys) in limits {
            let shader = SignShader::new(family, integers, ShaderInput::Hashes);
            let needed = if shader.needs_u64() {
                Capabilities::SHADER_INT64
            } else {
                Capabilities::empty()
            };
            let (module, info) = compiled(&shader.wgsl(), needed);
            let operations = Operations::count(&spirv(&module, &info));
            assert_eq!(keys.is_some(), shader.keys().is_some());
            // A loop counts with one comparison and one sum, and finds its quads by two products and three sums.
            let loops = [("least_value", 7, Some(values)), ("least_keys", 7, keys)];
            for (name, around, limit) in loops {
                let Some(limit) = limit else {
                    continue;
                };
                let updates = f64::from(operations.of(name) - around) / 32.0;
                println!(
                    "{family:?} {integers:?} {name}: {updates} operations per update, {limit} allowed"
                );
                assert!(
                    updates <= limit,
                    "{family:?} {integers:?} {name}: {updates}"
                );
                // An update has at least a product, a sum and a minimum, or the count missed something.
                assert!(updates >= 3.0, "{family:?} {integers:?} {name}: {updates}");
            }
        }
    }
}
