//! Tokens that are passed on one by one: what holds them, such as an object of Python, need not be alive all at once.

use super::hash::{HashesOfBytes, Out, TextHash};
use super::sets::ShingleBatch;
use super::shingler::Shingler;
use super::shingling::{Unit, Weighting};
use crate::scheme::SlotVec;

impl Shingler {
    /// Whether each token is a shingle, and all weigh the same.
    pub fn takes_single_tokens(&self) -> bool {
        let shingling = &self.shingling;
        shingling.unit == Unit::Tokens
            && shingling.size.get() == 1
            && shingling.weighting == Weighting::Equal
    }

    /// Appends the shingle set of a document whose tokens `pass` passes to its argument, if the shingler
    /// [takes single tokens](Shingler::takes_single_tokens).
    ///
    /// # Errors
    /// Those of `pass`. Then `batch` is of no use.
    pub fn shingle_single_tokens<E>(
        &self,
        batch: &mut ShingleBatch,
        pass: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<(), E> {
        match &mut batch.hashes {
            SlotVec::U32(out) => self.hash_single_tokens(&mut Out::all(out), pass)?,
            SlotVec::U64(out) => self.hash_single_tokens(&mut Out::all(out), pass)?,
        }
        batch.end_set();
        Ok(())
    }

    fn hash_single_tokens<H: TextHash, E>(
        &self,
        out: &mut Out<'_, H>,
        pass: impl FnOnce(&mut dyn FnMut(&[u8])) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut hashes = HashesOfBytes::new(self.isa, self.hash, out);
        hashes.push_all(pass)?;
        hashes.finish();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::super::shingling::Shingling;
    use crate::documents::{Documents, TokenBatch};
    use crate::scheme::{BaseHash, Hashes, Scheme};
    use crate::simd::Isa;

    use super::*;

    #[test]
    fn sets_equal_those_of_documents() {
        let mut tokens = TokenBatch::default();
        for document in 0..40 {
            for token in 0..document {
                let text = "a token ".repeat(token % 11) + &token.to_string();
                tokens.push_token(&text.as_bytes()[..text.len() - token % 2]);
            }
            tokens.finish_document();
        }
        let cases = [
            ("affine32", BaseHash::Murmur3_32),
            ("affine32", BaseHash::Sha1_32),
            ("affine32", BaseHash::Xxh32),
            ("mersenne61-wide", BaseHash::Murmur3_128),
        ];
        for (scheme, hash) in cases {
            let scheme = Scheme::named(scheme).unwrap();
            let shingler = Shingler::new(Shingling::of(Unit::Tokens), &scheme, Some(hash)).unwrap();
            assert!(shingler.takes_single_tokens());
            for isa in Isa::available() {
                let shingler = shingler.clone().with_isa(*isa);
                let (mut expected, mut actual) = (
                    ShingleBatch::new(shingler.width()),
                    ShingleBatch::new(shingler.width()),
                );
                for row in 0..tokens.len() {
                    let document = Documents::get(&tokens, row);
                    shingler.shingle_onto(document, &mut Scratch::default(), &mut expected);
                    let pass = |push: &mut dyn FnMut(&[u8])| -> Result<(), ()> {
                        tokens.tokens(row).for_each(push);
                        Ok(())
                    };
                    shingler.shingle_single_tokens(&mut actual, pass).unwrap();
                }
                let (expected, actual) = (expected.sets(), actual.sets());
                for row in 0..tokens.len() {
                    assert_eq!(expected.range(row), actual.range(row));
                }
                match (expected.hashes(), actual.hashes()) {
                    (Hashes::U32(expected), Hashes::U32(actual)) => assert_eq!(expected, actual),
                    (Hashes::U64(expected), Hashes::U64(actual)) => assert_eq!(expected, actual),
                    _ => panic!("one width"),
                }
            }
        }
    }

    #[test]
    fn other_shinglings_take_whole_documents() {
        let takes = |shingling| {
            let shingler = Shingler::new(shingling, &Scheme::default(), None).unwrap();
            shingler.takes_single_tokens()
        };
        assert!(!takes(Shingling::of(Unit::Words)));
        let pairs = Shingling {
            size: 2.try_into().unwrap(),
            ..Shingling::of(Unit::Tokens)
        };
        assert!(!takes(pairs));
        let counted = Shingling {
            weighting: Weighting::Counts,
            ..Shingling::of(Unit::Tokens)
        };
        assert!(!takes(counted));
    }

    #[test]
    fn errors_are_passed_on() {
        let shingling = Shingling::of(Unit::Tokens);
        let shingler = Shingler::new(shingling, &Scheme::default(), None).unwrap();
        let mut batch = ShingleBatch::new(shingler.width());
        let result = shingler.shingle_single_tokens(&mut batch, |push| {
            push(b"token");
            Err("no token")
        });
        assert_eq!(result, Err("no token"));
    }
}
