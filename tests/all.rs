//! Tests of the library, in one program: each further one would be linked and loaded with all of the library.

mod bags;
mod dependencies;
mod distances;
mod divided;
mod floors;
mod golden;
#[cfg(feature = "io")]
mod in_memory;
#[cfg(feature = "io")]
mod rarity;
mod ratings;
mod tree;
mod weights;
