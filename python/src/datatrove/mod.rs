//! datatrove's signatures: `simgpu.datatrove`.

mod records;

mod signer;

mod simplify;

mod words;

pub(crate) use signer::{DatatroveSigner, sort_records};
