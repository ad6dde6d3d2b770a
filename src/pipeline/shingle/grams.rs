//! Shingles of tokens and of pieces, joined and hashed as bytes. With a preset, they are joined as its tool joins
//! them.
//!
//! Several tokens are hashed with their lengths, because a token may hold any byte, even a space: joined by spaces,
//! `["a b", "c"]` and `["a", "b c"]` would be one shingle.

use super::hash::{Out, TextHash};
use super::pieces::{full_pieces, is_word, pieces};
use super::scratch::Scratch;
use super::sequence::Join;
use super::shingler::Shingler;
use crate::scheme::{BaseHash, Grams};

impl Shingler {
    /// Appends the shingles of a list of tokens.
    pub(super) fn shingle_tokens<'a, H: TextHash>(
        &self,
        hash: BaseHash,
        tokens: impl IntoIterator<Item = &'a [u8]>,
        scratch: &mut Scratch,
        out: &mut Out<'_, H>,
    ) {
        let size = match (self.grams, self.shingling.size.get()) {
            (_, 1) => {
                let tokens = tokens
                    .into_iter()
                    .inspect(|token| scratch.push_token(token));
                self.hash_each(hash, tokens, out);
                return;
            }
            (Grams::Cudf, size) => size.saturating_add(1),
            (_, size) => size,
        };
        scratch.joined.clear();
        scratch.joined.join_by(match self.grams {
            Grams::Cudf => Join::Nothing,
            // The tool of a preset joins by one space, which its tokens do not hold.
            _ if self.is_of_preset => Join::Space,
            _ => Join::Lengths,
        });
        for token in tokens {
            scratch.push_token(token);
            scratch.joined.push(token);
        }
        let joined = &scratch.joined;
        if !self.leaves_out(joined.len()) {
            self.hash_each(hash, joined.spans(size), out);
        }
    }

    /// Appends the shingles of the pieces of a normalised text.
    pub(super) fn shingle_pieces<H: TextHash>(
        &self,
        hash: BaseHash,
        text: &str,
        scratch: &mut Scratch,
        out: &mut Out<'_, H>,
    ) {
        scratch.joined.clear();
        let mut push = |piece: &str| scratch.joined.push(piece.as_bytes());
        match self.grams {
            Grams::FromFiveFullPieces => full_pieces(text).for_each(&mut push),
            _ => pieces(text).for_each(&mut push),
        }
        let joined = &scratch.joined;
        let is_left_out = match self.grams {
            Grams::FromFivePieces | Grams::FromFiveFullPieces => joined.len() < 5,
            // A text of empty pieces has no shingle.
            _ => self.leaves_out(joined.len()) || !text.contains(is_word),
        };
        if !is_left_out {
            self.hash_each(hash, joined.spans(self.shingling.size.get()), out);
        }
    }

    /// Whether the scheme drops a document of `units` words or tokens because it is shorter than a shingle.
    pub(super) fn leaves_out(&self, units: usize) -> bool {
        self.grams == Grams::FullOnly && units < self.shingling.size.get()
    }
}
