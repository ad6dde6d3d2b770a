//! The lists of rows: one for each key of a band, and one for each digest without shingles.
//!
//! A list has two parts. What a bulk build wrote is in one table, to which no key is added, so that a [filter](super::filter) can
//! have all of its keys; what was added later, which has greater rows, is in another.
//!
//! A list is never cut. It is kept in pieces of [`PIECE`] rows, so that a row is added to the longest one by writing at most one
//! piece. The head of a list has the number of its full pieces and the rows that follow them; the full pieces have keys
//! of their own behind that of the head.
//!
//! In an index of kind `exact`, the lists of shingles stand in place of bands ([`prefix`](super::prefix)), and each row has a second
//! word behind it.

use super::store::Put;
use super::store::{Batch, Snapshot, Table, UserKey, Value};
use simgpu::error::{Error, Result};

/// The key of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum ListKey {
    /// The documents with this key in a band, or with the shingle of this hash.
    Band(u16, u64),
    /// The documents with this digest that have no shingles.
    Digest(u128),
}

/// The tables that have parts of lists, in the order of their rows.
pub(super) const TABLES: [Table; 2] = [Table::Built, Table::Bands];

/// What stands in place of a band for documents without shingles. There are at most 2^16 - 1 bands.
const NO_BAND: u16 = u16::MAX;

/// What [`ListKey::from_band`] leaves out of the key of a band: 16 bits.
const LEFT_OUT: u64 = 0xFFFF;

/// Rows of a full piece.
const PIECE: usize = 1024;

impl ListKey {
    /// The list of a key of a band, by its upper 48 bits, which saves an eighth of the space. Of 4 billion documents, one in 4,000
    /// shares a list with one by chance alone, and the two are then compared.
    pub(super) fn from_band(band: u16, key: u64) -> Self {
        ListKey::Band(band, key & !LEFT_OUT)
    }

    /// A key of 64 bits ends without 16 that are 0.
    pub(super) fn encode(self) -> Vec<u8> {
        match self {
            ListKey::Band(band, key) => {
                let bytes = key.to_be_bytes();
                let kept = match key & LEFT_OUT {
                    0 => &bytes[..6],
                    _ => &bytes,
                };
                [&band.to_be_bytes()[..], kept].concat()
            }
            ListKey::Digest(digest) => [&NO_BAND.to_be_bytes()[..], &digest.to_be_bytes()].concat(),
        }
    }

    /// The key of a list, and the number of the piece, whose key this is; the head has none. `None` if it is no key.
    fn decode(key: &[u8]) -> Option<(Self, Option<u32>)> {
        let (band, rest) = key.split_first_chunk()?;
        let (key, piece) = match u16::from_be_bytes(*band) {
            NO_BAND => {
                let (digest, piece) = rest.split_first_chunk()?;
                (ListKey::Digest(u128::from_be_bytes(*digest)), piece)
            }
            // The number of a piece has four bytes.
            band => {
                let len = if rest.len() % 4 == 2 { 6 } else { 8 };
                let (key, piece) = rest.split_at_checked(len)?;
                let mut bytes = [0; 8];
                bytes[..len].copy_from_slice(key);
                let key = u64::from_be_bytes(bytes);
                if len == 8 && key & LEFT_OUT == 0 {
                    return None;
                }
                (ListKey::Band(band, key), piece)
            }
        };
        let piece = match piece {
            [] => None,
            piece => Some(u32::from_be_bytes(piece.try_into().ok()?)),
        };
        Some((key, piece))
    }

    fn piece(self, number: u32) -> Vec<u8> {
        [&self.encode()[..], &number.to_be_bytes()].concat()
    }
}

/// The head of a list.
#[derive(Debug, Default, PartialEq)]
struct Head {
    full: u32,
    rows: Vec<u32>,
}

impl Head {
    /// The rows and, if there are full pieces, their number and a byte that tells of it.
    fn encode(&self) -> Vec<u8> {
        let mut bytes = rows_to_bytes(&self.rows);
        match self.full {
            0 => {}
            full => bytes.extend([&full.to_le_bytes()[..], &[1]].concat()),
        }
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (full, rows) = match bytes.len() % 4 {
            0 => (0, bytes),
            1 => {
                let (rows, end) = bytes.split_last_chunk::<5>()?;
                let (full, [1]) = end.split_first_chunk()? else {
                    return None;
                };
                (u32::from_le_bytes(*full), rows)
            }
            _ => return None,
        };
        Some(Head {
            full,
            rows: rows_of_bytes(rows)?,
        })
    }
}

fn rows_to_bytes(rows: &[u32]) -> Vec<u8> {
    rows.iter().flat_map(|row| row.to_le_bytes()).collect()
}

fn rows_of_bytes(bytes: &[u8]) -> Option<Vec<u32>> {
    let (rows, rest) = bytes.as_chunks();
    let rows = rows.iter().map(|row| u32::from_le_bytes(*row));
    rest.is_empty().then(|| rows.collect())
}

/// Whether the table may have a part of a list. False: it has none.
fn may_be_in(at: &Snapshot<'_>, table: Table, key: ListKey) -> Result<bool> {
    match (table, key) {
        (Table::Built, ListKey::Band(band, key)) => at.may_be_built(band, key),
        _ => Ok(true),
    }
}

/// The head of the part of a list that a table has.
fn head(at: &Snapshot<'_>, table: Table, key: ListKey) -> Result<Head> {
    if !may_be_in(at, table, key)? {
        return Ok(Head::default());
    }
    match at.get(table, &key.encode())? {
        Some(value) => Head::decode(&value).ok_or_else(|| unreadable(at)),
        None => Ok(Head::default()),
    }
}

fn unreadable(at: &Snapshot<'_>) -> Error {
    at.damaged("a list of rows is unreadable")
}

/// Appends the rows of a list to `rows`.
///
/// # Errors
/// [`Error::Input`] if the list is damaged; [`Error::Io`].
pub(super) fn read(at: &Snapshot<'_>, key: ListKey, rows: &mut Vec<u32>) -> Result<()> {
    TABLES.into_iter().try_for_each(|table| {
        let head = head(at, table, key)?;
        read_pieces(at, table, key, &head, rows)
    })
}

/// Appends the rows of the part of a list that has this head.
fn read_pieces(
    at: &Snapshot<'_>,
    table: Table,
    key: ListKey,
    head: &Head,
    rows: &mut Vec<u32>,
) -> Result<()> {
    for number in 0..head.full {
        let piece = at.get(table, &key.piece(number))?;
        let piece = piece.and_then(|piece| rows_of_bytes(&piece));
        rows.extend(piece.ok_or_else(|| unreadable(at))?);
    }
    rows.extend_from_slice(&head.rows);
    Ok(())
}

/// The number of words of a list.
///
/// # Errors
/// As [`read`].
pub(super) fn len(at: &Snapshot<'_>, key: ListKey) -> Result<u64> {
    let mut words = 0;
    for table in TABLES {
        let head = head(at, table, key)?;
        words += u64::from(head.full) * PIECE as u64 + head.rows.len() as u64;
    }
    Ok(words)
}

/// Appends rows to a list.
///
/// # Errors
/// As [`read`].
pub(super) fn append(
    at: &Snapshot<'_>,
    batch: &mut Batch<'_>,
    key: ListKey,
    rows: &[u32],
) -> Result<()> {
    let mut head = head(at, Table::Bands, key)?;
    head.rows.extend_from_slice(rows);
    write(batch, Table::Bands, key, head);
    Ok(())
}

/// Writes the rows of a head, those that fill pieces as such.
fn write(batch: &mut Batch<'_>, table: Table, key: ListKey, mut head: Head) {
    let full = head.rows.len() / PIECE;
    for rows in head.rows[..full * PIECE].chunks_exact(PIECE) {
        batch.put(table, &key.piece(head.full), &rows_to_bytes(rows));
        head.full += 1;
    }
    head.rows.drain(..full * PIECE);
    batch.put(table, &key.encode(), &head.encode());
}

/// Calls `put` with the keys and values of a new list, by ascending key.
pub(super) fn for_each_entry(key: ListKey, rows: &[u32], put: Put<'_>) -> Result<()> {
    let (pieces, rest) = rows.as_chunks::<PIECE>();
    let mut head = Head {
        full: 0,
        rows: rest.to_vec(),
    };
    pieces.iter().for_each(|_| head.full += 1);
    put(&key.encode(), &head.encode())?;
    for (number, rows) in (0..).zip(pieces) {
        put(&key.piece(number), &rows_to_bytes(rows))?;
    }
    Ok(())
}

/// Writes the part of a list anew that had `before` rows in a table, and now has these, which are some of them.
pub(super) fn replace(
    batch: &mut Batch<'_>,
    table: Table,
    key: ListKey,
    rows: Vec<u32>,
    before: usize,
) {
    for number in (0u32..).take(before / PIECE).skip(rows.len() / PIECE) {
        batch.remove(table, &key.piece(number));
    }
    if rows.is_empty() {
        batch.remove(table, &key.encode())
    } else {
        write(batch, table, key, Head { full: 0, rows })
    }
}

/// The parts of lists that a table has, by ascending key.
///
/// # Errors
/// As [`read`].
pub(super) fn parts<'a>(
    at: &'a Snapshot<'_>,
    table: Table,
) -> impl Iterator<Item = Result<(ListKey, Vec<u32>)>> + 'a {
    let part = move |entry: Result<(UserKey, Value)>| {
        let (key, value) = entry?;
        let (key, piece) = ListKey::decode(&key).ok_or_else(|| unreadable(at))?;
        // The pieces are read with their head.
        if piece.is_some() {
            return Ok(None);
        }
        if !may_be_in(at, table, key)? {
            return Err(at.damaged("its filter lacks a list of rows"));
        }
        let head = Head::decode(&value).ok_or_else(|| unreadable(at))?;
        let mut rows = Vec::new();
        read_pieces(at, table, key, &head, &mut rows)?;
        Ok(Some((key, rows)))
    };
    at.entries(table)
        .filter_map(move |entry| part(entry).transpose())
}

/// Calls `each` with all lists, by ascending key.
///
/// # Errors
/// As [`read`]; those of `each`.
pub(super) fn for_each(
    at: &Snapshot<'_>,
    mut each: impl FnMut(ListKey, Vec<u32>) -> Result<()>,
) -> Result<()> {
    let mut parts = TABLES.map(|table| parts(at, table));
    let mut heads = [None, None];
    for (head, parts) in heads.iter_mut().zip(&mut parts) {
        *head = parts.next().transpose()?;
    }
    while let Some(least) = heads.iter().flatten().map(|(key, _)| *key).min() {
        let mut rows = Vec::new();
        for (head, parts) in heads.iter_mut().zip(&mut parts) {
            if let Some((_, part)) = head.take_if(|(key, _)| *key == least) {
                rows.extend(part);
                *head = parts.next().transpose()?;
            }
        }
        each(least, rows)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::store::{Opening, Store};
    use super::*;

    #[test]
    fn lists_of_any_length_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::New).unwrap();
        let keys = [ListKey::Band(0, 7), ListKey::Band(0, 8), ListKey::Digest(7)];
        let mut expected = [Vec::new(), Vec::new(), Vec::new()];
        for (turn, added) in [1, PIECE - 2, 3, 0, 2 * PIECE, PIECE - 2, 1, 1]
            .into_iter()
            .enumerate()
        {
            for (list, key) in keys.into_iter().enumerate().take(1 + turn % 3) {
                let first = u32::try_from(expected[list].len()).unwrap();
                let rows: Vec<u32> = (first..).take(added).collect();
                let (at, mut batch) = (store.snapshot(), store.batch());
                append(&at, &mut batch, key, &rows).unwrap();
                batch.commit().unwrap();
                expected[list].extend(rows);
            }
            let at = store.snapshot();
            let mut all = Vec::new();
            for_each(&at, |_, rows| {
                all.push(rows);
                Ok(())
            })
            .unwrap();
            let written = expected.iter().filter(|rows| !rows.is_empty());
            assert_eq!(all, written.cloned().collect::<Vec<_>>());
            for (key, rows) in keys.into_iter().zip(&expected) {
                let mut read_rows = Vec::new();
                read(&at, key, &mut read_rows).unwrap();
                assert_eq!(&read_rows, rows);
            }
        }
    }

    #[test]
    fn a_list_that_is_replaced_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), Opening::New).unwrap();
        let key = ListKey::Band(3, 1);
        let all: Vec<u32> = (0..).take(3 * PIECE + 5).collect();
        for len in [
            0,
            1,
            PIECE - 1,
            PIECE,
            2 * PIECE,
            2 * PIECE + 1,
            3 * PIECE + 5,
        ] {
            let (at, mut batch) = (store.snapshot(), store.batch());
            append(&at, &mut batch, key, &all).unwrap();
            batch.commit().unwrap();
            let mut batch = store.batch();
            replace(
                &mut batch,
                Table::Bands,
                key,
                all[..len].to_vec(),
                all.len(),
            );
            batch.commit().unwrap();
            let at = store.snapshot();
            let (mut rows, mut entries) = (Vec::new(), 0);
            read(&at, key, &mut rows).unwrap();
            assert_eq!(rows, all[..len]);
            at.for_each(Table::Bands, |_, _| {
                entries += 1;
                Ok(())
            })
            .unwrap();
            assert_eq!(entries, len / PIECE + usize::from(len > 0));
            let mut batch = store.batch();
            replace(&mut batch, Table::Bands, key, Vec::new(), len);
            batch.commit().unwrap();
        }
    }

    #[test]
    fn any_bytes_are_a_list_or_none() {
        for len in 0..30 {
            let bytes: Vec<u8> = (0..)
                .take(len)
                .map(|byte: u8| byte.wrapping_mul(37))
                .collect();
            if let Some(head) = Head::decode(&bytes) {
                assert_eq!(head.encode(), bytes);
            }
            let _ = ListKey::decode(&bytes);
        }
    }
}
