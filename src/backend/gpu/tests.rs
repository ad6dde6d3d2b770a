//! The host's side on a device that does nothing, and the shaders' corners on a real one.

use std::io::Write;
use std::sync::Arc;

use super::adapter::noop;
use super::bounds::Bounds;
use super::device::Device;
use super::options::{GpuOptions, Hooks};
use super::preparation::PreparedDevice;
use super::products::{choose, speed_by_bytes};
use super::shader::{Products, has_products};
use super::signer::Gpu;
use super::{Integers, adapters, computes};
use crate::backend::scalar::Scalar;
use crate::backend::simd::Simd;
use crate::backend::{Backend, Hardware};
use crate::documents::TextBatch;
use crate::error::{Error, Unsupported};
use crate::pipeline::device::SignOnDevice;
use crate::pipeline::{
    DeviceBatch, NormalisedTexts, ShingleSets, Shingler, Shingling, Signatures, Signer, Unit,
};
use crate::scheme::Word;
use crate::scheme::{
    Draws, Family, P31, P61, Permutations, Scheme, Width, fmix32, fmix64, mersenne61,
    mersenne61_wide,
};
use crate::scheme::{Hashes, Slots};
use crate::simd::Isa;

fn on_noop(scheme: &Scheme, integers: Integers, bounds: Bounds) -> Gpu {
    let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
    let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
    let options = GpuOptions {
        hooks: Hooks {
            bounds,
            ..Hooks::default()
        },
        ..GpuOptions::default()
    };
    let device = Arc::new(Device::of(&noop().unwrap(), integers).unwrap());
    Gpu(PreparedDevice::on(device, &permutations, empty, &options, cpu, false).unwrap())
}

/// wgpu validates each buffer, binding, copy and dispatch. What comes back must reach the rows of its
/// documents and no others.
#[test]
fn the_host_does_nothing_that_a_device_refuses() {
    let lengths = [0, 1, 7, 4096, 0, 4097, 300_000, 3];
    let tiny = Bounds {
        input_bytes: 1 << 10,
        row_bytes: 1 << 12,
        parts: 3,
        updates: 30_000,
        tile_bytes: 128,
        part_shingles: 50,
        groups: 2,
        loads: 2,
        ..Bounds::default()
    };
    let narrow: Vec<u32> = (0..lengths.iter().sum()).map(fmix32).collect();
    let wide: Vec<u64> = narrow.iter().map(|x| u64::from(*x)).collect();
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + i64::from(length));
    }
    for (name, integers) in [
        ("affine32", Integers::U32),
        ("mersenne31", Integers::U32),
        ("mersenne61", Integers::U64),
        ("affine64", Integers::U64),
    ] {
        for bounds in [Bounds::default(), tiny] {
            let scheme = Scheme::named(name).unwrap().with_num_perm(30).unwrap();
            let signer = on_noop(&scheme, integers, bounds);
            let hashes = match signer.slot_width() {
                Width::U32 => Hashes::U32(&narrow),
                Width::U64 => Hashes::U64(&wide),
            };
            let sets = ShingleSets::new(hashes, &offsets).unwrap();
            let mut signatures = Signatures::new(30, signer.slot_width());
            signatures.sign(&signer, &sets).unwrap();
            assert_eq!(signer.notices(), [""; 0]);
            for (i, length) in lengths.into_iter().enumerate() {
                let expected = if length == 0 { scheme.empty_slot() } else { 0 };
                let is_expected = match signatures.row(i) {
                    Slots::U32(row) => row.iter().all(|slot| u64::from(*slot) == expected),
                    Slots::U64(row) => row.iter().all(|slot| *slot == expected),
                };
                assert!(is_expected, "{name} {length}");
            }
        }
    }
}

#[test]
fn the_device_hashes_windows_of_documents() {
    let scheme = Scheme::default();
    let signer = on_noop(&scheme, Integers::U32, Bounds::default());
    let shingler = Shingler::new(Shingling::of(Unit::Bytes), &scheme, None).unwrap();
    let long = "text ".repeat(5_000_000);
    let texts: TextBatch = ["", "a", "exactly 9", &long].into_iter().collect();
    let signatures = Signatures::of_documents(&signer, &texts, &shingler).unwrap();
    assert_eq!(signer.notices(), [""; 0]);
    assert_eq!(signatures.row(0), Slots::U32(&[u32::MAX; 128]));
    // The device signs nothing that is shorter than a window.
    let cpu = Simd::new(&scheme.permutations(), scheme.empty_slot(), Isa::best());
    let short = Signatures::of_documents(&cpu, &["a"], &shingler).unwrap();
    assert_eq!(signatures.row(1), short.row(0));
    for row in 2..4 {
        assert_eq!(signatures.row(row), Slots::U32(&[0; 128]));
    }
}

/// Threads that send many small loads sleep only while none can be sent.
#[test]
fn no_thread_sleeps_while_a_load_can_be_sent() {
    if adapters().is_empty() {
        let is_required = std::env::var_os("SIMGPU_REQUIRE_GPU").is_some_and(|value| value == "1");
        assert!(!is_required, "no adapter, and SIMGPU_REQUIRE_GPU=1");
        writeln!(std::io::stderr(), "skipped: no adapter").unwrap();
        return;
    }
    let scheme = Scheme::default();
    let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
    let cpu = Box::new(Simd::new(&permutations, empty, Isa::best()));
    let options = GpuOptions {
        hooks: Hooks {
            bounds: Bounds {
                input_bytes: 1 << 14,
                ..Bounds::default()
            },
            ..Hooks::default()
        },
        ..GpuOptions::default()
    };
    let gpu = Gpu::new(&permutations, empty, &options, cpu, false).unwrap();
    let shingler = Shingler::new(Shingling::of(Unit::Bytes), &scheme, None).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (gpu, shingler) = (&gpu, &shingler);
            scope.spawn(move || {
                let mut sent = Vec::new();
                for piece in 0..40 {
                    let mut texts = NormalisedTexts::default();
                    for text in 0..20 {
                        texts.push(&format!("{thread} {piece} {text} ").repeat(100), shingler);
                    }
                    let chosen = (0..texts.len()).collect();
                    let batch = DeviceBatch::Texts { texts, chosen };
                    sent.push(gpu.send(batch, shingler, None).unwrap());
                }
                sent.into_iter()
                    .for_each(|rows| drop(rows.finish().unwrap()));
            });
        }
    });
    assert_eq!(gpu.notices(), [""; 0]);
    let summary = gpu.0.channel.summary();
    assert!(summary.loads > 100 && summary.sleeps > 0, "{summary:?}");
    assert_eq!(summary.wrong_sleeps, 0, "{summary:?}");
}

/// Coefficients and shingles whose sums reach the corners of the reductions, so that shaders compute
/// uncertain slots again. Without an adapter there is nothing to test.
#[test]
fn corners_of_reductions_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    let (p31, p61) = (P31, P61);
    let shingles = |greatest: u64| -> Vec<Vec<u64>> {
        let few = [0, 1, 2, 7, 8, p31 - 1, p31, p31 + 1, u64::from(u32::MAX)];
        let wide = [p61 - 1, p61, p61 + 1, 2 * p61, 7 * p61 + 6, u64::MAX];
        let all = few.into_iter().chain(wide).filter(|x| *x <= greatest);
        let single = all.clone().map(|x| vec![x]);
        single.chain([all.collect(), (0..40).collect()]).collect()
    };
    for (family, greatest) in [
        (Family::Affine32, u64::from(u32::MAX)),
        (Family::Affine32Even, u64::from(u32::MAX)),
        (Family::Affine64, u64::MAX),
        (Family::Mersenne31, p31 - 1),
        (Family::Mersenne61, p61 - 1),
        (Family::Mersenne61Wide, p61 - 1),
    ] {
        let is_odd = matches!(family, Family::Affine32 | Family::Affine64);
        let factors = [1, 2, 3, 1 << 30, (1 << 32) - 1, 1 << 32, 1 << 60];
        let factors = factors.into_iter().chain([greatest - 1, greatest]);
        let factors = factors.filter(|a| *a <= greatest && (!is_odd || a % 2 == 1));
        let addends = [0, 1, 2, 6, 7, 8, greatest - 7, greatest - 1, greatest];
        let pairs = factors.flat_map(|a| addends.map(|b| (a, b)));
        let (a, b): (Vec<u64>, Vec<u64>) = pairs.unzip();
        let drawn = Permutations::from_coefficients(family, &a, &b).unwrap();
        let sets = shingles(match family.hash_width() {
            Width::U32 => u32::MAX.into(),
            Width::U64 => u64::MAX,
        });
        compare(&drawn, &sets);
    }
}

/// Signs sets in every form of a family's shaders, and by the definition.
#[track_caller]
fn compare(drawn: &Permutations, sets: &[Vec<u64>]) {
    let family = drawn.family();
    let wide = sets.concat();
    let narrow: Vec<u32> = wide.iter().map(|x| u32::cut(*x)).collect();
    let mut offsets = vec![0];
    for set in sets {
        offsets.push(offsets[offsets.len() - 1] + set.len() as i64);
    }
    let hashes = match family.hash_width() {
        Width::U32 => Hashes::U32(&narrow),
        Width::U64 => Hashes::U64(&wide),
    };
    let sets = ShingleSets::new(hashes, &offsets).unwrap();
    let sign = |signer: &dyn Signer| {
        let mut signatures = Signatures::new(drawn.num_perm(), family.slot_width());
        signatures.sign(signer, &sets).unwrap();
        signatures
    };
    let scalar = || -> Box<dyn Signer> { Box::new(Scalar::new(drawn, 7)) };
    let expected = sign(&*scalar());
    for integers in [Integers::U32, Integers::U64] {
        for products in [Products::Whole, Products::Bytes] {
            let is_form = products == Products::Whole || has_products(family);
            if !is_form || !computes(family, integers) {
                continue;
            }
            let options = in_form(integers, products);
            let signer = Gpu::new(drawn, 7, &options, scalar(), false).unwrap();
            let signed = sign(&signer);
            for row in 0..offsets.len() - 1 {
                let form = format!("{family:?} {integers:?} {products:?}");
                assert_eq!(signed.row(row), expected.row(row), "{form}, set {row}");
            }
            assert_eq!(signer.notices(), [""; 0]);
        }
    }
}

/// Families whose long sets are signed by chunks, with the number of their values.
const BY_CHUNKS: [(Family, u128); 4] = [
    (Family::Mersenne31, P31 as u128),
    (Family::Mersenne61, 1 << 32),
    (Family::Mersenne61Wide, P61 as u128),
    (Family::Affine64, 1 << 64),
];

fn random(i: u64) -> u64 {
    fmix64(i + 1)
}

/// Sets at the borders of chunks and tiles, of several parts, and those in which shingles or keys are equal, under
/// permutations for each number of slices. Without an adapter there is nothing to test.
#[test]
fn sets_by_chunks_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    let lengths = [
        255, 256, 257, 288, 319, 511, 1023, 1024, 1025, 1152, 2047, 2048, 2049, 3300,
    ];
    let mut sets: Vec<Vec<u64>> = (0..)
        .zip(lengths)
        .map(|(set, length)| (0..length).map(|i| random(set << 32 | i)).collect())
        .collect();
    let long = |number: &dyn Fn(u64) -> u64| (0..1500).map(number).collect();
    sets.extend([
        long(&|_| 0),
        long(&|_| u64::MAX),
        long(&|i| i),
        long(&|i| u64::MAX - i),
        long(&|i| i << 16),
        long(&|i| i << 32),
        long(&|i| random(i % 7)),
        long(&|i| random(i % 300)),
        long(&|i| random(i / 2)),
        long(&|i| if i == 1400 { 1 } else { 0 }),
    ]);
    for (family, _) in BY_CHUNKS {
        for num_perm in [1, 13, 64, 128, 200, 260, 512] {
            let drawn = Permutations::draw(family, Draws::AllAThenAllB, 5, num_perm);
            let few = if num_perm == 128 {
                &sets[..]
            } else {
                &sets[8..]
            };
            compare(&drawn, few);
        }
        let drawn = Permutations::draw(family, Draws::AllAThenAllB, 6, 30);
        compare(&drawn, &[(0..110_000).map(random).collect()]);
    }
}

/// Factors of which one bit is set, or that are the greatest, give many shingles the same key.
#[test]
fn equal_keys_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    for (family, values) in BY_CHUNKS {
        let greatest = match family {
            Family::Mersenne61 => P61 - 1,
            Family::Affine64 => u64::MAX,
            _ => u64::try_from(values - 1).unwrap(),
        };
        let is_odd = u64::from(family == Family::Affine64);
        let factors = (0..greatest.ilog2()).map(|bit| 1 << bit | is_odd);
        let factors: Vec<u64> = factors.chain([greatest, greatest - 2]).collect();
        let addends = (0..).map(|i| match i % 4 {
            0 => 0,
            1 => greatest,
            _ => random(i) % greatest,
        });
        let addends: Vec<u64> = addends.take(factors.len()).collect();
        let given = Permutations::from_coefficients(family, &factors, &addends).unwrap();
        let sets = [
            (0..1500).collect(),
            (0..1500).map(random).collect(),
            (0..1500).map(|i| u64::MAX - i).collect(),
        ];
        compare(&given, &sets);
    }
}

/// Long sets with shingles whose values are so near each other that their keys may stand in another order, among the least
/// and among the greatest values, where keys wrap.
#[test]
#[allow(clippy::cast_possible_truncation, reason = "below 2^64")]
fn near_keys_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    for (family, values) in BY_CHUNKS {
        if family == Family::Mersenne61 {
            continue;
        }
        let modulus = match family {
            Family::Mersenne31 => u128::from(P31),
            _ => 1 << 64,
        };
        let factor = |k: u64| (u128::from(random(k)) % values) as u64 | 1;
        let addend = |k: u64| (u128::from(random(1000 + k)) % values) as u64;
        let (a, b): (Vec<u64>, Vec<u64>) = (0..66).map(|k| (factor(k), addend(k))).unzip();
        let drawn = Permutations::from_coefficients(family, &a, &b).unwrap();
        let unit = values >> 16;
        let sets: Vec<Vec<u64>> = (0..12)
            .map(|set| {
                // Of the sets of greatest values, nothing else.
                let is_wrapped = set % 3 == 2;
                let others = if is_wrapped { 0 } else { 700 + 300 * set };
                let mut shingles: Vec<u64> = (0..others).map(|i| random(set << 32 | i)).collect();
                for k in 0..a.len() {
                    for i in 0..12 {
                        let near =
                            u128::from(random(set << 40 | (k as u64) << 20 | i)) % (4 * unit / 5);
                        let value = if is_wrapped {
                            values - 1 - near
                        } else {
                            near >> (set % 4 * 5)
                        };
                        shingles.push(preimage(a[k], b[k], value, modulus));
                    }
                }
                shingles
            })
            .collect();
        compare(&drawn, &sets);
    }
}

/// The x with `a*x + b = value` modulo 2^64 or a prime of at most 63 bits.
#[allow(clippy::cast_possible_truncation, reason = "modulo at most 2^64")]
fn preimage(a: u64, b: u64, value: u128, modulus: u128) -> u64 {
    let times = |x: u128, y: u128| x.wrapping_mul(y) % modulus;
    // The order of a number divides p - 1, and that of an odd one 2^62.
    let mut left = if modulus.is_power_of_two() {
        (1 << 62) - 1
    } else {
        modulus - 2
    };
    let (mut inverse, mut square) = (1, u128::from(a) % modulus);
    while left > 0 {
        if left % 2 == 1 {
            inverse = times(inverse, square);
        }
        (square, left) = (times(square, square), left / 2);
    }
    let difference = (value + modulus - u128::from(b) % modulus) % modulus;
    times(inverse, difference) as u64
}

/// Long sets in which several shingles have low words so near each other that any of them may have the least value, near
/// the place where low words wrap, too, and factors with up to 32 trailing zeros. Without an adapter there is nothing to
/// test.
#[test]
fn near_low_words_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    let factor = |k: u64| {
        let odd = random(k) | 1;
        let zeros = k % 33;
        ((odd >> 3 & !u64::from(u32::MAX)) | u64::from(u32::cut(odd << zeros))) % P61
    };
    let (a, b): (Vec<u64>, Vec<u64>) = (0..66).map(|k| (factor(k), random(1000 + k) % P61)).unzip();
    let drawn = Permutations::from_coefficients(Family::Mersenne61, &a, &b).unwrap();
    let lengths = [255, 256, 300, 1023, 1024, 1025, 2500, 5000, 40_000];
    let sets: Vec<Vec<u64>> = (0..)
        .zip(lengths)
        .map(|(set, length)| {
            let mut shingles: Vec<u64> = (0..length).map(|i| random(set << 32 | i)).collect();
            for k in 0..a.len() {
                // Shingles whose low words are at most 20 from each other, or from where they wrap.
                let zeros = u32::cut(a[k]).trailing_zeros().min(31);
                let near = u32::cut(random(set ^ (k as u64 * 77))) % 40;
                for distance in [0, 5, 6, 7, near] {
                    let low = match set % 3 {
                        0 => distance,
                        1 => distance.wrapping_sub(8),
                        _ => distance + (1 << 12),
                    };
                    let product = low.wrapping_sub(u32::cut(b[k])) >> zeros;
                    let odd = u64::from(u32::cut(a[k]) >> zeros | 1);
                    shingles.push(preimage(odd, 0, product.into(), 1 << 64));
                }
            }
            shingles
        })
        .collect();
    compare(&drawn, &sets);
}

/// What the shaders promise of keys: a key is the place of the value and an error of 0 to REACH, modulo 2^32; and a window
/// of seven eighths would not do.
#[test]
fn keys_are_near_places() {
    const REACH: u32 = 0x2_0000;
    // CPU twin of key_64.wgsl and key_mersenne31.wgsl; of 32-bit shingles the upper word is 0.
    let key = |a: u64, b: u64, x: u64| {
        let cross = a
            .wrapping_mul(x >> 32)
            .wrapping_add((a >> 32).wrapping_mul(x));
        let halves = (a >> 16 & 0xFFFF) * (x >> 16 & 0xFFFF);
        let sum = cross.wrapping_add(halves).wrapping_add(b >> 32);
        u32::cut(sum).wrapping_add(REACH - 1)
    };
    let some = [
        0,
        1,
        0xFFFF,
        0x1_0000,
        u64::from(u32::MAX),
        1 << 32,
        u64::MAX,
    ];
    let some = || some.into_iter().chain((0..200).map(random));
    let (mut least, mut greatest) = (u32::MAX, 0);
    let mut check = |key: u32, place: u64, shown: [u64; 3]| {
        let error = key.wrapping_sub(u32::cut(place));
        assert!(error <= REACH, "{shown:?}: {error}");
        (least, greatest) = (least.min(error), greatest.max(error));
    };
    for (a, b) in some().flat_map(|a| some().map(move |b| (a, b))).step_by(3) {
        for x in some().chain([0xFFFF_FFFF_0000_FFFF, 0xFFFF]) {
            let sum = a.wrapping_mul(x).wrapping_add(b);
            check(key(a, b, x), sum >> 32, [a, b, x]);
            let (a, b) = (a % P61, b % P61);
            let value = mersenne61_wide(a, b, x);
            check(key(a << 3, (b + 8) << 3, x), value >> 29, [a, b, x]);
            let (a, b, x) = (a % P61, b % P61, u32::cut(x));
            let low = u32::cut(a.wrapping_mul(x.into()).wrapping_add(b));
            let error = low.wrapping_add(8).wrapping_sub(mersenne61(a, b, x));
            assert!(error <= 8, "{a} {b} {x}: {error}");
        }
    }
    assert!(greatest - least > REACH / 8 * 7, "{least} to {greatest}");
    for source in [
        include_str!("../../../shaders/parts/key_64.wgsl"),
        include_str!("../../../shaders/parts/key_mersenne31.wgsl"),
    ] {
        assert!(source.contains(&format!("const REACH = {REACH:#x}u;")));
    }
}

/// Sets long enough for the loop over several tiles, of numbers whose four bytes all vary.
#[test]
fn products_of_bytes_match_the_definition() {
    if adapters().is_empty() {
        return;
    }
    let hashes: Vec<u32> = (0..20_000).map(fmix32).collect();
    let sets = ShingleSets::new(Hashes::U32(&hashes), &[0, 3, 40, 3000, 20_000]).unwrap();
    for name in ["affine32", "affine32-even", "mersenne61"] {
        let scheme = Scheme::named(name).unwrap().with_num_perm(130).unwrap();
        let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
        let scalar = || -> Box<dyn Signer> { Box::new(Scalar::new(&permutations, empty)) };
        let sign = |signer: &dyn Signer| {
            let mut signatures = Signatures::new(130, Width::U32);
            signatures.sign(signer, &sets).unwrap();
            signatures
        };
        let options = in_form(Integers::U32, Products::Bytes);
        let gpu = Gpu::new(&permutations, empty, &options, scalar(), false).unwrap();
        assert!(sign(&gpu) == sign(&*scalar()), "{name}");
        assert_eq!(gpu.notices(), [""; 0]);
    }
}

/// A device keeps the products that were faster on it when they were first needed.
#[test]
fn products_are_measured_once() {
    if adapters().is_empty() {
        return;
    }
    let scheme = Scheme::default();
    let (permutations, empty) = (scheme.permutations(), scheme.empty_slot());
    let cpu = || Box::new(Simd::new(&permutations, empty, Isa::best()));
    let options = in_form(Integers::U32, Products::Whole);
    let mut gpu = Gpu::new(&permutations, empty, &options, cpu(), false).unwrap();
    let ratio = speed_by_bytes(&mut gpu.0).unwrap();
    assert!(ratio > 0.0 && ratio.is_finite(), "{ratio}");
    choose(&mut gpu.0);
    let chosen = gpu.0.device.products.get().copied();
    assert_eq!(chosen, Some(gpu.0.products));
    let mut again = Gpu::new(&permutations, empty, &options, cpu(), false).unwrap();
    choose(&mut again.0);
    assert_eq!(chosen, Some(again.0.products));
    assert_eq!(again.notices(), [""; 0]);
}

fn in_form(integers: Integers, products: Products) -> GpuOptions {
    GpuOptions {
        integers: Some(integers),
        hooks: Hooks {
            products: Some(products),
            ..Hooks::default()
        },
        ..GpuOptions::default()
    }
}

#[test]
fn callers_match_on_why_no_device_signs() {
    let reason = |scheme: &str, hardware: &Hardware| {
        let scheme = Scheme::named(scheme).unwrap();
        match Backend::Gpu.signer_with(&scheme, hardware) {
            Err(Error::Unsupported(reason)) => Some(reason),
            _ => None,
        }
    };
    let best = Hardware::default();
    for scheme in ["fast", "rensa"] {
        assert_eq!(reason(scheme, &best), Some(Unsupported::SchemeNotOnDevices));
    }
    let adapters = adapters().len();
    let mut missing = Hardware::default();
    missing.gpu.device = Some(adapters);
    let expected = match adapters {
        0 => Unsupported::NoAdapter,
        adapters => Unsupported::NoSuchDevice {
            device: adapters,
            adapters,
        },
    };
    assert_eq!(reason("affine32", &missing), Some(expected));
}
