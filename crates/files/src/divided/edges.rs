//! Connects the documents of buckets.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use simgpu::error::Result;
use simgpu::pipeline::Components;

/// The components of documents that are connected: by a bucket, or by other edges. Places may come in any order.
///
/// Beside the edges, memory holds 4 words for each connected document, until [`Edges::take`].
///
/// ```
/// use simgpu_files::divided::{Edges, SharedMembers};
///
/// let mut edges = Edges::default();
/// let mut shared = SharedMembers::default();
/// // Two documents share the key 7 of band 0, and two the key 9 of band 1.
/// for (band, key, place) in [(0, 7, 10), (0, 7, 30), (1, 8, 20), (1, 9, 30), (1, 9, 40)] {
///     edges.add_member(band, key, place, &mut shared)?;
/// }
/// assert_eq!(shared.places, [10, 30, 30, 40]);
/// assert_eq!(edges.take(), [(10, 30), (10, 40)]);
/// # Ok::<(), simgpu::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Edges {
    numbers: HashMap<i64, u32>,
    /// The place of each number.
    places: Vec<i64>,
    components: Components,
    /// The bucket that is being read.
    bucket: Option<OpenBucket>,
}

/// A bucket whose members are being read.
#[derive(Clone, Copy, Debug)]
struct OpenBucket {
    band: u32,
    key: u64,
    /// The place of the first member.
    first: i64,
    /// Whether a second member was read.
    is_shared: bool,
}

/// The members of buckets of two or more: entry i of each list belongs to member i.
#[derive(Clone, Debug, Default)]
pub struct SharedMembers {
    /// Bands.
    pub bands: Vec<u32>,
    /// Keys of the bands.
    pub keys: Vec<u64>,
    /// Places of the documents.
    pub places: Vec<i64>,
}

impl SharedMembers {
    fn push(&mut self, band: u32, key: u64, place: i64) {
        self.bands.push(band);
        self.keys.push(key);
        self.places.push(place);
    }
}

impl Edges {
    /// Adds a member of a bucket. The members of a bucket come in a row; those of buckets of two or more are added to
    /// `shared`. Of a bucket, however large, only the first member is held.
    ///
    /// # Errors
    /// Those of [`Edges::unite`].
    pub fn add_member(
        &mut self,
        band: u32,
        key: u64,
        place: i64,
        shared: &mut SharedMembers,
    ) -> Result<()> {
        let is_open = |bucket: &&mut OpenBucket| (bucket.band, bucket.key) == (band, key);
        let Some(bucket) = self.bucket.as_mut().filter(is_open) else {
            self.bucket = Some(OpenBucket {
                band,
                key,
                first: place,
                is_shared: false,
            });
            return Ok(());
        };
        let first = bucket.first;
        if !std::mem::replace(&mut bucket.is_shared, true) {
            shared.push(band, key, first);
        }
        shared.push(band, key, place);
        self.unite(first, place)
    }

    /// Adds a document of a reference to a bucket, after all documents of the input. Without one of these, the bucket holds
    /// nothing to compare, and connects nothing.
    ///
    /// # Errors
    /// Those of [`Edges::unite`].
    pub fn add_reference(
        &mut self,
        band: u32,
        key: u64,
        place: i64,
        shared: &mut SharedMembers,
    ) -> Result<()> {
        let is_open = |bucket: OpenBucket| (bucket.band, bucket.key) == (band, key);
        if self.bucket.is_some_and(is_open) {
            self.add_member(band, key, place, shared)
        } else {
            Ok(())
        }
    }

    /// Connects two documents.
    ///
    /// # Errors
    /// [`Error::TooManyDocuments`](simgpu::Error::TooManyDocuments) for 2^32 connected documents or more.
    pub fn unite(&mut self, a: i64, b: i64) -> Result<()> {
        let (a, b) = (self.number(a)?, self.number(b)?);
        self.components.unite(a, b);
        Ok(())
    }

    fn number(&mut self, place: i64) -> Result<u32> {
        match self.numbers.entry(place) {
            Entry::Occupied(entry) => Ok(*entry.get()),
            Entry::Vacant(entry) => {
                let number = self.components.add()?;
                self.places.push(place);
                Ok(*entry.insert(number))
            }
        }
    }

    /// The number of connected documents.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no document is connected.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Takes out all edges, as the fewest that leave the same components: (least place of a component, other place),
    /// ascending. The bucket that is being read stays open.
    pub fn take(&mut self) -> Vec<(i64, i64)> {
        let places = std::mem::take(&mut self.places);
        let components = std::mem::take(&mut self.components);
        self.numbers = HashMap::new();
        let mut least = places.clone();
        let roots = (0..).take(places.len());
        let roots: Vec<usize> = roots
            .map(|number| components.root(number) as usize)
            .collect();
        for (place, root) in places.iter().zip(&roots) {
            least[*root] = least[*root].min(*place);
        }
        let edges = places
            .iter()
            .zip(roots)
            .map(|(place, root)| (least[root], *place));
        let mut edges: Vec<(i64, i64)> = edges.filter(|(least, place)| least != place).collect();
        edges.sort_unstable();
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_in_pieces_leave_the_same_components() {
        let pairs = [
            (5, 9),
            (9, 2),
            (7, 8),
            (1 << 40, 7),
            (3, 4),
            (-1, 3),
            (2, 5),
        ];
        let unite_all = |edges: &mut Edges, pairs: &[(i64, i64)]| {
            pairs.iter().for_each(|(a, b)| edges.unite(*a, *b).unwrap());
        };
        let mut whole = Edges::default();
        unite_all(&mut whole, &pairs);
        let expected = whole.take();
        assert_eq!(
            expected,
            [(-1, 3), (-1, 4), (2, 5), (2, 9), (7, 8), (7, 1 << 40)]
        );
        let mut joined = Edges::default();
        for piece in pairs.chunks(2) {
            let mut part = Edges::default();
            unite_all(&mut part, piece);
            unite_all(&mut joined, &part.take());
        }
        assert_eq!(joined.take(), expected);
        assert!(joined.is_empty() && joined.take().is_empty());
    }

    #[test]
    fn a_bucket_of_a_reference_alone_connects_nothing() {
        let (mut edges, mut shared) = (Edges::default(), SharedMembers::default());
        // The documents of the input have places from 0 on.
        for (band, key, place) in [
            (0, 7, 5),
            (0, 8, -3),
            (0, 8, -2),
            (1, 7, 6),
            (1, 7, -3),
            (1, 7, -1),
        ] {
            let add = if place < 0 {
                Edges::add_reference
            } else {
                Edges::add_member
            };
            add(&mut edges, band, key, place, &mut shared).unwrap();
        }
        assert_eq!(edges.take(), [(-3, -1), (-3, 6)]);
        assert_eq!(shared.places, [6, -3, -1]);
        assert_eq!((shared.bands, shared.keys), (vec![1; 3], vec![7; 3]));
    }

    #[test]
    fn a_bucket_goes_on_after_edges_are_taken() {
        let (mut edges, mut shared) = (Edges::default(), SharedMembers::default());
        let mut taken = Vec::new();
        for place in 0..5 {
            let added = edges.add_member(3, u64::MAX, place, &mut shared);
            added.unwrap();
            taken.extend(edges.take());
        }
        assert_eq!(taken, [(0, 1), (0, 2), (0, 3), (0, 4)]);
        assert_eq!(shared.places, [0, 1, 2, 3, 4]);
    }
}
