//! The measurement of errors finds broken schemes and no sound ones.

use simgpu::Result;
use simgpu::backend::Backend;
use simgpu::pipeline::{ShingleSets, SignaturesMut, Signer};
use simgpu::scheme::{Hashes, SlotsMut};
use simgpu::scheme::{Scheme, Width, fmix32};
use simgpu_bench::error::{
    Fault, Finding, Series, SetSource, SigningFunction, WeightLaw, findings,
};
use simgpu_bench::{ErrorCell, Varied};

/// `affine32` with damaged signatures.
struct Broken {
    intact: Box<dyn Signer>,
    damage: fn(&mut [u32]),
}

impl Signer for Broken {
    fn describe(&self) -> String {
        "broken".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.intact.num_perm()
    }

    fn slot_width(&self) -> Width {
        Width::U32
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let mut slots = signatures.into_slots();
        let all = SignaturesMut::new(self.num_perm(), slots.reborrow())?;
        self.intact.sign_sets(sets, all)?;
        if let SlotsMut::U32(slots) = slots {
            slots.chunks_mut(self.num_perm()).for_each(self.damage);
        }
        Ok(())
    }
}

/// `a*fmix32(x) + b_k`, with one `a` in all slots.
struct SharedMultiplier {
    a: u32,
    b: Vec<u32>,
}

impl Signer for SharedMultiplier {
    fn describe(&self) -> String {
        "one multiplier".to_owned()
    }

    fn num_perm(&self) -> usize {
        self.b.len()
    }

    fn slot_width(&self) -> Width {
        Width::U32
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let (Hashes::U32(hashes), SlotsMut::U32(slots)) = (sets.hashes(), signatures.into_slots())
        else {
            panic!("hashes and slots have 32 bits");
        };
        for (i, row) in slots.chunks_mut(self.num_perm()).enumerate() {
            for (slot, b) in row.iter_mut().zip(&self.b) {
                let values = hashes[sets.range(i)].iter();
                let values = values.map(|x| fmix32(*x).wrapping_mul(self.a).wrapping_add(*b));
                *slot = values.min().unwrap_or(u32::MAX);
            }
        }
        Ok(())
    }
}

fn affine32(num_perm: u32, seed: u32) -> Result<Scheme> {
    Ok(Scheme::default().with_num_perm(num_perm)?.with_seed(seed))
}

/// A signing function with the stated properties of `affine32`.
fn like_affine32(
    name: &str,
    new_signer: impl Fn(u32, u32) -> Result<Box<dyn Signer>> + Send + Sync + 'static,
) -> SigningFunction {
    SigningFunction {
        name: name.to_owned(),
        new_signer: Box::new(new_signer),
        ..SigningFunction::of(Scheme::default())
    }
}

fn broken(name: &str, damage: fn(&mut [u32])) -> SigningFunction {
    like_affine32(name, move |num_perm, seed| {
        let intact = Backend::Simd.signer(&affine32(num_perm, seed)?)?;
        Ok(Box::new(Broken { intact, damage }))
    })
}

fn of(findings: &[Finding], scheme: &str) -> Vec<Fault> {
    let of_scheme = findings.iter().filter(|finding| finding.scheme == scheme);
    of_scheme.map(|finding| finding.fault).collect()
}

fn series<'a>(input: &'a SetSource, set_size: usize, similarities: &'a [f64]) -> Series<'a> {
    Series {
        input,
        varied: Varied::Seeds,
        set_size,
        similarities,
        num_perm: 128,
        slot_bits: &[],
        trials: 400,
    }
}

#[test]
fn schemes_with_shared_coefficients_are_found() {
    let functions = [
        SigningFunction::of(Scheme::default()),
        like_affine32("one multiplier", |num_perm, seed| {
            let drawn = affine32(num_perm, seed)?.permutations();
            let narrow = |value: &u64| u32::try_from(*value).unwrap();
            Ok(Box::new(SharedMultiplier {
                a: narrow(&drawn.a()[0]),
                b: drawn.b().iter().map(narrow).collect(),
            }))
        }),
        broken("one permutation", |row| row.fill(row[0])),
        broken("pairs of slots", |row| {
            row.chunks_mut(2).for_each(|slots| slots.fill(slots[0]));
        }),
    ];
    let mut cells: Vec<ErrorCell> = Vec::new();
    for input in [SetSource::Random, SetSource::Progression, SetSource::Zipf] {
        for set_size in [8, 32] {
            let series = series(&input, set_size, &[0.5, 0.9]);
            cells.extend(series.measure(&functions).unwrap());
        }
    }
    let findings = findings(&cells);
    assert_eq!(of(&findings, "affine32"), []);
    for name in ["one multiplier", "one permutation", "pairs of slots"] {
        for fault in [Fault::Dispersion, Fault::Fit, Fault::Coverage] {
            assert!(
                of(&findings, name).contains(&fault),
                "{name}: {findings:#?}"
            );
        }
    }
    assert!(findings.iter().all(|finding| !finding.is_known));
    let sentences: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(
        sentences
            .iter()
            .any(|it| it.starts_with("matches of pairs of slots vary too much on random hashes: "))
    );
    assert!(
        sentences
            .iter()
            .any(|it| it.starts_with("the 95 % intervals of pairs of slots cover "))
    );
}

/// The reference that hash families are compared with shows what theory expects.
#[test]
fn true_permutations_have_no_finding() {
    let mut cells: Vec<ErrorCell> = Vec::new();
    for input in [SetSource::Random, SetSource::Progression, SetSource::Zipf] {
        for varied in [Varied::Seeds, Varied::Data] {
            let series = Series {
                varied,
                ..series(&input, 8, &[0.5, 0.8])
            };
            cells.extend(series.measure(&[SigningFunction::permutations()]).unwrap());
        }
    }
    assert_eq!(cells.len(), 12);
    // At these two similarities, intervals cover more than the pooled limit, whatever signs.
    let found = findings(&cells);
    assert!(
        found.iter().all(|it| it.fault == Fault::Coverage),
        "{found:#?}"
    );
    for cell in cells {
        assert!(
            (cell.coverage - cell.coverage_expected).abs() < 0.03,
            "{cell:?}"
        );
        assert!((cell.error_ratio.unwrap() - 1.0).abs() < 0.2, "{cell:?}");
    }
}

/// Two elements often share the least of many 22-bit values, which shows for large sets only.
#[test]
fn values_of_22_bits_are_found() {
    let functions = [
        SigningFunction::of(Scheme::default()),
        broken("22 bits", |row| {
            row.iter_mut().for_each(|slot| *slot >>= 10)
        }),
    ];
    let similarities = [0.1, 0.5];
    let series = Series {
        trials: 200,
        ..series(&SetSource::Random, 100_000, &similarities)
    };
    let findings = findings(&series.measure(&functions).unwrap());
    assert_eq!(of(&findings, "affine32"), []);
    assert_eq!(of(&findings, "22 bits"), [Fault::Bias]);
    let sentence = findings[0].to_string();
    assert!(
        sentence.starts_with("22 bits is biased on random hashes: +0.01"),
        "{sentence}"
    );
}

/// Linear permutations are biased on progressions, unless hashes are mixed first.
#[test]
fn linear_schemes_without_mixing_are_biased_on_progressions() {
    let schemes = ["affine32", "affine32-even", "mersenne31", "mersenne61"];
    let functions = schemes.map(|name| SigningFunction::of(Scheme::named(name).unwrap()));
    let cells = series(&SetSource::Progression, 1000, &[0.5])
        .measure(&functions)
        .unwrap();
    let findings = findings(&cells);
    for name in &schemes[1..] {
        assert_eq!(of(&findings, name), [Fault::Bias]);
    }
    for finding in &findings {
        assert!(
            (finding.figure + 0.067).abs() < 0.01 && finding.is_known,
            "{finding}"
        );
    }
    let affine32 = &cells[0];
    assert!(
        affine32.bias.abs() < 2.0 * affine32.bias_standard_error,
        "{affine32:?}"
    );
}

/// Fast similarity sketching draws slots without replacement.
#[test]
fn fast_halves_squared_error_on_small_sets() {
    let functions = [SigningFunction::of(Scheme::named("fast").unwrap())];
    for input in [SetSource::Random, SetSource::Progression] {
        let cells = series(&input, 32, &[0.5]).measure(&functions).unwrap();
        let squared = cells[0].error_ratio.unwrap().powi(2);
        assert!((0.4..0.6).contains(&squared), "{squared}");
        assert_eq!(cells[0].fit_p, None);
    }
}

#[test]
fn cells_do_not_depend_on_threads() {
    let functions =
        ["fast", "mersenne61-wide"].map(|name| SigningFunction::of(Scheme::named(name).unwrap()));
    let input = SetSource::Zipf;
    let series = Series {
        varied: Varied::Data,
        trials: 20,
        ..series(&input, 8, &[0.1, 0.5, 0.9])
    };
    let one = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let one = one.install(|| series.measure(&functions)).unwrap();
    let five = rayon::ThreadPoolBuilder::new()
        .num_threads(5)
        .build()
        .unwrap();
    assert_eq!(one, five.install(|| series.measure(&functions)).unwrap());
}

#[test]
fn sets_of_one_element_have_no_error() {
    let functions =
        ["affine32", "fast"].map(|name| SigningFunction::of(Scheme::named(name).unwrap()));
    for input in [SetSource::Random, SetSource::Interval, SetSource::Zipf] {
        let requested = [0.1, 0.3, 0.5, 0.7, 0.9];
        let cells = series(&input, 1, &requested).measure(&functions).unwrap();
        let similarities: Vec<f64> = cells.iter().map(|cell| cell.similarity).collect();
        assert_eq!(similarities, [0.0, 1.0, 0.0, 1.0]);
        assert!(
            cells
                .iter()
                .all(|cell| cell.bias == 0.0 && cell.error_ratio.is_none())
        );
        assert_eq!(findings(&cells), []);
    }
}

/// The squared error of weighted sets over J(1-J)/K, in cells of 2,000 pairs.
#[test]
fn errors_of_weighted_sets_are_ideal() {
    let functions = ["affine32", "affine64", "fast"]
        .map(|name| SigningFunction::of(Scheme::named(name).unwrap()));
    for law in [
        WeightLaw::Counts,
        WeightLaw::Stars,
        WeightLaw::Exponential,
        WeightLaw::Pareto,
    ] {
        let input = SetSource::Weighted(law);
        let series = Series {
            varied: Varied::Data,
            trials: 2000,
            ..series(&input, 100, &[0.6])
        };
        for cell in series.measure(&functions).unwrap() {
            let ratio = cell.error_ratio.unwrap().powi(2);
            let ideal = match cell.scheme.as_str() {
                "fast" => 0.5..=1.0,
                _ => 0.85..=1.15,
            };
            assert!(ideal.contains(&ratio), "{law:?} {}: {ratio}", cell.scheme);
            assert!(cell.bias.abs() < 4.0 * cell.bias_standard_error, "{cell:?}");
        }
    }
}
