//! A search for passages on disk, of texts that memory does not hold.

mod records;

mod regions;

mod map;

mod search;

mod choose;

#[cfg(test)]
mod tests;
