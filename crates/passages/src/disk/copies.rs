//! Leads the windows of copies of mixed regions to where those of the first region of their kind lead.

use super::records::{LinkTarget, Links};
use super::shared::SharedPartitions;
use simgpu::error::Result;
use simgpu::store::spill::Sorted;

/// The most windows of a link to a place.
const MOST_LINKS: usize = 2048;

/// Adds where the windows of mixed regions lead, and leads the copies of these regions to the same places.
pub(super) fn lead_copies(
    inside: Sorted<3>,
    copies: Sorted<3>,
    links: &SharedPartitions<3>,
) -> Result<()> {
    let inside = JoinedLinks {
        records: inside.into_records(),
        next: None,
    };
    let mut inside = HeldLinks {
        records: inside.peekable(),
        held: Vec::new(),
    };
    // Both ascend by the windows of the first regions of their kinds.
    for copy in copies.into_records() {
        let copy = Links::unpack(copy?);
        let LinkTarget::Place(own) = copy.link else {
            continue;
        };
        let (from, to) = (copy.first, copy.end());
        inside.advance(to, from, |passed| links.push_all(&[passed.pack()]))?;
        let mut next = from;
        let lead = |first: usize, end: usize, place: usize| {
            let led = Links {
                first: own + (first - from),
                len: end - first,
                link: LinkTarget::Place(place),
            };
            if first < end {
                links.push_all(&[led.pack()])
            } else {
                Ok(())
            }
        };
        // A window of the first region that leads nowhere is the first of its kind: the copy's leads to it.
        for held in &inside.held {
            let (first, end) = (held.first.max(from), held.end().min(to));
            if let (LinkTarget::Place(place), true) = (held.link, first < end) {
                lead(next, first, next)?;
                lead(first, end, place + (first - held.first))?;
                next = end;
            }
        }
        lead(next, to, next)?;
    }
    inside.finish(|passed| links.push_all(&[passed.pack()]))
}

/// Links in order; those that go on where the last ones ended are one with them.
struct JoinedLinks<I> {
    records: I,
    next: Option<Links>,
}

impl<I: Iterator<Item = Result<[u32; 3]>>> Iterator for JoinedLinks<I> {
    type Item = Result<Links>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(record) = self.records.next() else {
                return self.next.take().map(Ok);
            };
            let links = match record {
                Ok(record) => Links::unpack(record),
                Err(error) => return Some(Err(error)),
            };
            if let Some(last) = &mut self.next
                && last.len < MOST_LINKS
                && last.is_followed_by(links)
            {
                last.len += links.len;
                continue;
            }
            if let Some(last) = self.next.replace(links) {
                return Some(Ok(last));
            }
        }
    }
}

/// Links by their first windows, of which those that may still be asked for are held.
struct HeldLinks<I: Iterator> {
    records: std::iter::Peekable<I>,
    held: Vec<Links>,
}

impl<I: Iterator<Item = Result<Links>>> HeldLinks<I> {
    /// Holds all links that begin before `to` and end behind `from`, which never descends. Passes on each link once.
    fn advance(
        &mut self,
        to: usize,
        from: usize,
        mut pass: impl FnMut(Links) -> Result<()>,
    ) -> Result<()> {
        self.held.retain(|links| links.end() > from);
        let is_before = |next: &Result<Links>| next.as_ref().map_or(true, |next| next.first < to);
        while let Some(links) = self.records.next_if(is_before).transpose()? {
            pass(links)?;
            if links.end() > from {
                self.held.push(links);
            }
        }
        Ok(())
    }

    /// Passes on the links that are left.
    fn finish(mut self, mut pass: impl FnMut(Links) -> Result<()>) -> Result<()> {
        self.records.try_for_each(|next| pass(next?))
    }
}
