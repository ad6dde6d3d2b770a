//! SIMD lanes of the CPU: hands sets to the kernels of [`crate::simd`].

use std::cell::Cell;

use super::rows::{Threads, rows_at_a_time, sign_rows, wrong_width};
use crate::documents::Documents;
use crate::error::Result;
use crate::pipeline::{Scratch, ShingleSets, Shingler, SignaturesMut, Signer};
use crate::scheme::{Family, Hashes, Permutations, SlotsMut, Width, lower};
use crate::simd::{Isa, SetSigner};
use crate::threads::try_for_each_chunk;

/// The SIMD backend for one scheme.
pub(super) struct Simd {
    isa: Isa,
    family: Family,
    num_perm: usize,
    /// Every slot of the empty set.
    empty: u64,
    set_signer: SetSigner,
}

impl Simd {
    pub(super) fn new(permutations: &Permutations, empty: u64, isa: Isa) -> Self {
        Simd {
            isa,
            family: permutations.family(),
            num_perm: permutations.num_perm(),
            empty,
            set_signer: SetSigner::new(permutations),
        }
    }
}

impl Simd {
    /// Signs sets into slots that fit them.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the empty slot of a 32-bit family fits 32 bits"
    )]
    fn sign_on(&self, threads: Threads, sets: &ShingleSets<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let (isa, empty) = (self.isa, self.empty);
        match (&self.set_signer, sets.hashes(), slots) {
            (SetSigner::U32ToU32(set_signer), Hashes::U32(x), SlotsMut::U32(slots)) => {
                sign_rows(threads, sets, x, slots, empty as u32, |set, row| {
                    set_signer.sign_set(isa, set, row);
                });
            }
            (SetSigner::U64ToU32(set_signer), Hashes::U64(x), SlotsMut::U32(slots)) => {
                sign_rows(threads, sets, x, slots, empty as u32, |set, row| {
                    set_signer.sign_set(isa, set, row);
                });
            }
            (SetSigner::U64ToU64(set_signer), Hashes::U64(x), SlotsMut::U64(slots)) => {
                sign_rows(threads, sets, x, slots, empty, |set, row| {
                    set_signer.sign_set(isa, set, row)
                });
            }
            _ => return Err(wrong_width(self.family)),
        }
        Ok(())
    }
}

impl Signer for Simd {
    fn describe(&self) -> String {
        format!("simd ({})", self.isa)
    }

    fn num_perm(&self) -> usize {
        self.num_perm
    }

    fn slot_width(&self) -> Width {
        self.family.slot_width()
    }

    fn sign_sets(&self, sets: &ShingleSets<'_>, signatures: SignaturesMut<'_>) -> Result<()> {
        let slots = signatures.slots_for(sets, self.num_perm)?;
        self.sign_on(Threads::Pool, sets, slots)
    }

    fn sign_set(&self, set: Hashes<'_>, slots: SlotsMut<'_>) -> Result<()> {
        let offsets = [0, set.len() as i64];
        let sets = ShingleSets::new(set, &offsets)?;
        let signatures = SignaturesMut::new(self.num_perm, slots)?;
        let slots = signatures.slots_for(&sets, self.num_perm)?;
        self.sign_on(Threads::Caller, &sets, slots)
    }

    /// Shingles and signs each document at once, while its hashes are in the cache.
    fn sign_documents(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        signatures: SignaturesMut<'_>,
    ) -> Result<()> {
        shingler.check_forms(documents)?;
        match signatures.slots_for_rows(documents.len(), self.num_perm)? {
            SlotsMut::U32(slots) => {
                self.sign_each(documents, shingler, slots, |row| SlotsMut::U32(row))
            }
            SlotsMut::U64(slots) => {
                self.sign_each(documents, shingler, slots, |row| SlotsMut::U64(row))
            }
        }
    }
}

/// Hashes of a document that are shingled and signed at a time, by several threads. Pieces that fit the
/// first-level cache were no faster.
const HASHES_AT_A_TIME: usize = 1 << 20;

thread_local! {
    /// Scratch memory of a thread. Empty while the thread signs a document: a thread that waits for others
    /// to sign pieces may begin another document, which must not share it.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

impl Simd {
    fn sign_each<S: Copy + Default + Ord + Send>(
        &self,
        documents: &dyn Documents,
        shingler: &Shingler,
        slots: &mut [S],
        borrow: fn(&mut [S]) -> SlotsMut<'_>,
    ) -> Result<()> {
        let sign_row = |i: usize, row: &mut [S]| {
            let mut scratch = SCRATCH.take().unwrap_or_default();
            let mut signed = Ok(());
            let mut is_first = true;
            let mut partial = Vec::new();
            let document = documents.get(i);
            shingler.for_each_piece(document, HASHES_AT_A_TIME, &mut scratch, |set| {
                let target = if is_first {
                    &mut *row
                } else {
                    partial.resize(self.num_perm, S::default());
                    &mut *partial
                };
                let matrix = SignaturesMut::new(self.num_perm, borrow(target));
                let this = matrix.and_then(|matrix| self.sign_sets(set, matrix));
                if !is_first {
                    lower(row, &partial);
                }
                is_first = false;
                if signed.is_ok() {
                    signed = this;
                }
            });
            // Drops the memory of a very long document.
            if documents.get(i).bytes() <= HASHES_AT_A_TIME {
                SCRATCH.set(Some(scratch));
            }
            signed
        };
        let chunk = self.num_perm * rows_at_a_time(documents.len());
        try_for_each_chunk(slots, chunk, |first, rows| {
            let mut rows = rows.chunks_mut(self.num_perm).zip(first / self.num_perm..);
            rows.try_for_each(|(row, i)| sign_row(i, row))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scalar::Scalar;
    use super::*;
    use crate::documents::TextBatch;
    use crate::pipeline::{Shingling, Signatures, Unit};
    use crate::scheme::{Draws, Scheme, fmix64};

    const FAMILIES: [Family; 8] = [
        Family::Affine32,
        Family::Affine32Even,
        Family::Mersenne31,
        Family::Mersenne61,
        Family::Fast,
        Family::RMinHash,
        Family::Affine64,
        Family::Mersenne61Wide,
    ];

    /// Shingles at the corners of the reductions, then mixed numbers.
    fn shingles(count: usize) -> Vec<u64> {
        let corners = [u64::MAX, 0, (1 << 31) - 1, 1 << 31, (1 << 61) - 1, 1 << 61];
        let mixed = (0..count as u64).map(fmix64);
        let mut shingles: Vec<u64> = corners.into_iter().chain(mixed).collect();
        shingles.truncate(count);
        shingles
    }

    #[allow(clippy::cast_possible_truncation, reason = "any 32 bits will do")]
    fn narrow(shingles: &[u64]) -> Vec<u32> {
        shingles.iter().map(|x| *x as u32).collect()
    }

    /// Signs sets of these lengths on every instruction set and by the definition.
    fn check(family: Family, num_perm: usize, lengths: &[usize]) {
        let drawn = Permutations::draw(family, Draws::AllAThenAllB, 9, num_perm);
        check_permutations(&drawn, lengths);
    }

    fn check_permutations(permutations: &Permutations, lengths: &[usize]) {
        let (family, num_perm) = (permutations.family(), permutations.num_perm());
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + *length as i64);
        }
        let wide = shingles(lengths.iter().sum());
        let narrow = narrow(&wide);
        let hashes = match family.hash_width() {
            Width::U32 => Hashes::U32(&narrow),
            Width::U64 => Hashes::U64(&wide),
        };
        let sets = ShingleSets::new(hashes, &offsets).unwrap();
        let sign = |signer: &dyn Signer| {
            let mut signatures = Signatures::new(num_perm, family.slot_width());
            signatures.sign(signer, &sets).unwrap();
            signatures
        };
        let expected = sign(&Scalar::new(permutations, 7));
        for isa in Isa::available() {
            let actual = sign(&Simd::new(permutations, 7, *isa));
            assert!(actual == expected, "{family:?} {isa} {num_perm}");
        }
    }

    /// Numbers of permutations that enter a main loop, a tail or both.
    #[test]
    fn any_number_of_permutations_equals_the_definition() {
        for family in FAMILIES {
            for num_perm in 1..=300 {
                check(family, num_perm, &[0, 1, 2, 15, 16, 17, 33]);
            }
        }
    }

    /// Sets below, at and above the length of a vector, a chunk and a tile.
    #[test]
    fn sets_of_any_length_equal_the_definition() {
        for family in FAMILIES {
            check(
                family,
                33,
                &[0, 3, 63, 64, 65, 511, 512, 513, 700, 2049, 5000],
            );
        }
    }

    /// Coefficients at the ends of their ranges, which no draw is likely to yield, on sets short and long.
    #[test]
    fn given_coefficients_equal_the_definition() {
        for (family, greatest) in [
            (Family::Affine32, u64::from(u32::MAX)),
            (Family::Affine32Even, u64::from(u32::MAX)),
            (Family::Affine64, u64::MAX),
            (Family::Mersenne31, (1 << 31) - 2),
            (Family::Mersenne61, (1 << 61) - 2),
            (Family::Mersenne61Wide, (1 << 61) - 2),
        ] {
            let factors = [0, 1, 2, 3, greatest / 2, greatest - 1, greatest];
            let addends = [0, 1, 7, greatest - 8, greatest];
            let pairs = factors.iter().flat_map(|a| addends.map(|b| (*a, b)));
            let (a, b): (Vec<u64>, Vec<u64>) = pairs.unzip();
            let given = Permutations::from_coefficients(family, &a, &b).unwrap();
            check_permutations(&given, &[0, 1, 17, 300, 2_000]);
        }
    }

    /// Sets that several threads sign in pieces, against the least of all values, with any slot of the empty set.
    #[test]
    fn pieces_make_the_row_of_their_set() {
        const NUM_PERM: usize = 3;
        for (family, count) in FAMILIES
            .into_iter()
            .flat_map(|family| [65_536, 65_537, 70_000].map(|count| (family, count)))
        {
            let drawn = Permutations::draw(family, Draws::AllAThenAllB, 4, NUM_PERM);
            let wide = shingles(count);
            let narrow = narrow(&wide);
            let least = |k: usize| match family.hash_width() {
                Width::U32 => narrow.iter().map(|x| drawn.value(k, (*x).into())).min(),
                Width::U64 => wide.iter().map(|x| drawn.value(k, *x)).min(),
            };
            let expected: Vec<u64> = (0..NUM_PERM).filter_map(least).collect();
            let hashes = match family.hash_width() {
                Width::U32 => Hashes::U32(&narrow),
                Width::U64 => Hashes::U64(&wide),
            };
            let offsets = [0, count as i64];
            let sets = ShingleSets::new(hashes, &offsets).unwrap();
            for empty in [0, family.empty_slot()] {
                let signers: [Box<dyn Signer>; 2] = [
                    Box::new(Scalar::new(&drawn, empty)),
                    Box::new(Simd::new(&drawn, empty, Isa::best())),
                ];
                for signer in signers {
                    let mut signatures = Signatures::new(NUM_PERM, family.slot_width());
                    signatures.sign(&*signer, &sets).unwrap();
                    let slots: Vec<u64> = match signatures.row(0) {
                        crate::scheme::Slots::U32(slots) => {
                            slots.iter().map(|slot| u64::from(*slot)).collect()
                        }
                        crate::scheme::Slots::U64(slots) => slots.to_vec(),
                    };
                    assert_eq!(slots, expected, "{family:?} {count} {}", signer.describe());
                }
            }
        }
    }

    /// Texts of all units and lengths, signed at once, in pieces, and through their sets.
    #[test]
    fn texts_sign_as_their_sets_do() {
        let words = [
            "the ",
            "naïve\n",
            "don’t  ",
            "東京タワー ",
            "a_b, ",
            "1,000.5 ",
            "\u{a0}x\t",
        ];
        let text = |len: usize, seed: u64| -> String {
            let numbers = (0..len as u64).map(|i| fmix64(seed << 32 | i));
            numbers.map(|i| words[(i % 7) as usize]).collect()
        };
        let mut texts: TextBatch = (0..60)
            .map(|i| text(i % 30 * (i % 5), i as u64))
            .collect::<Vec<_>>()
            .iter()
            .map(|text| &**text)
            .collect();
        texts.push(&text(300_000, 99));
        texts.push("");
        let stop_words = crate::pipeline::StopWords::english();
        for (name, num_perm) in [("affine32", 1), ("mersenne61", 130), ("affine64", 33)] {
            let scheme = Scheme::named(name)
                .unwrap()
                .with_num_perm(num_perm)
                .unwrap();
            for unit in [
                Unit::Bytes,
                Unit::Chars,
                Unit::Words,
                Unit::StopWords(stop_words.clone()),
                Unit::Pieces,
            ] {
                let shingler = Shingler::new(Shingling::of(unit), &scheme, None).unwrap();
                let scalar = crate::backend::Backend::Scalar.signer(&scheme).unwrap();
                let mut expected = Signatures::new(scalar.num_perm(), scalar.slot_width());
                expected
                    .sign(&*scalar, &shingler.shingle(&texts).sets())
                    .unwrap();
                for isa in Isa::available() {
                    let signer = Simd::new(&scheme.permutations(), scheme.empty_slot(), *isa);
                    let shingler = shingler.clone().with_isa(*isa);
                    let signatures = Signatures::of_documents(&signer, &texts, &shingler).unwrap();
                    assert!(signatures == expected, "{isa} {name} {num_perm}");
                }
            }
        }
    }

    #[test]
    fn texts_that_do_not_fit_are_refused() {
        let signer = |name: &str| {
            let scheme = Scheme::named(name).unwrap();
            Simd::new(&scheme.permutations(), scheme.empty_slot(), Isa::best())
        };
        let shingler = Shingler::new(
            Shingling::default(),
            &Scheme::named("affine64").unwrap(),
            None,
        )
        .unwrap();
        let texts: TextBatch = ["a text", "another"].into_iter().collect();
        // Hashes of 64 bits for a family of 32 bits, and one row too few.
        assert!(Signatures::of_documents(&signer("affine32"), &texts, &shingler).is_err());
        let mut slots = vec![0; 128];
        let matrix = SignaturesMut::new(128, SlotsMut::U64(&mut slots)).unwrap();
        assert!(
            signer("affine64")
                .sign_documents(&texts, &shingler, matrix)
                .is_err()
        );
    }
}
