//! Tests of the library, in one program: each further one would be linked and loaded with all of the library.

mod bags;
mod dependencies;
mod distances;
mod floors;
mod golden;
mod tree;
mod weights;
