//! What is cut out of texts.

/// Parts of a text in bytes, which ascend and share nothing.
pub(crate) type Cuts = [[u32; 2]];

/// What becomes of a record.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Fate<'a> {
    Drop,
    /// It stays, without these parts of its text.
    Cut(&'a Cuts),
    /// It stays, with a field that lists these parts of its text.
    Mark(&'a Cuts),
}

/// Appends what is left of bytes.
pub(super) fn push_without(bytes: &[u8], cuts: &Cuts, left: &mut Vec<u8>) {
    let mut from = 0;
    for [start, end] in cuts {
        left.extend_from_slice(&bytes[from..*start as usize]);
        from = *end as usize;
    }
    left.extend_from_slice(&bytes[from..]);
}

/// The cuts of each of the parts that were joined to a text ([`push_joined`](super::fields::push_joined)), by their lengths.
pub(super) fn cuts_of_parts(
    cuts: &Cuts,
    lengths: impl Iterator<Item = usize>,
) -> Vec<Vec<[u32; 2]>> {
    let mut end = 0;
    let part = |len: usize| {
        let start = match (end, len) {
            (0, _) | (_, 0) => end,
            (end, _) => end + 1,
        };
        end = start + len;
        let within = |[from, to]: &[u32; 2]| {
            let [from, to] = [from, to].map(|at| (*at as usize).clamp(start, end) - start);
            let of = |at: usize| u32::try_from(at).ok();
            // A cut ends where it is given by such a number, so that each within it fits.
            Some([of(from)?, of(to)?]).filter(|_| from < to)
        };
        cuts.iter().filter_map(within).collect()
    };
    lengths.map(part).collect()
}
