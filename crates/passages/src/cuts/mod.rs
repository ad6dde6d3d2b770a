//! Which parts of texts are cut.

mod list;

mod borders;

mod shrinking;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use self::{list::Cuts, shrinking::Shrinking};
pub(crate) use list::uncut;
pub use shrinking::Snap;
