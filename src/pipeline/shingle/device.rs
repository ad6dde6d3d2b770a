//! What a device needs to shingle texts itself.

use std::borrow::Cow;

use super::normalise::Normalise;
use super::shingler::Shingler;
use super::shingling::{Unit, Weighting};
use super::text_buffer::NormalisedTexts;
use crate::scheme::{BaseHash, Width};

/// Windows of a text that are its shingles: of so many bytes, or of so many characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TextWindow {
    Bytes(usize),
    Chars(usize),
}

impl TextWindow {
    /// The number of units.
    pub(crate) fn units(self) -> usize {
        let (TextWindow::Bytes(size) | TextWindow::Chars(size)) = self;
        size
    }
}

impl Shingler {
    /// The window, if the hashes of a text are murmur3-32 with seed 0 of all windows of the normalised text;
    /// otherwise `None`. A text shorter than the window is one window, an empty text none.
    pub(crate) fn text_window(&self) -> Option<TextWindow> {
        let size = self.shingling.size.get();
        let window = match self.shingling.unit {
            Unit::Bytes => TextWindow::Bytes(size),
            Unit::Chars => TextWindow::Chars(size),
            _ => return None,
        };
        let is_fused = self.hash == BaseHash::Murmur3_32
            && self.width == Width::U32
            && self.shingling.weighting == Weighting::Equal;
        is_fused.then_some(window)
    }

    /// The same shingler for texts that are already normalised.
    pub(crate) fn for_normalised(&self) -> Self {
        let mut shingler = self.clone();
        shingler.shingling.normalise = Normalise {
            keep_whitespace: true,
            ..Normalise::default()
        };
        shingler
    }
}

impl NormalisedTexts {
    /// A text. Normalised text is UTF-8, so this borrows it.
    pub(crate) fn text(&self, i: usize) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes(i))
    }
}
