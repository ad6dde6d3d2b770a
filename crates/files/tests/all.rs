//! Tests of runs over files, in one program.

mod divided;
mod in_memory;
mod rarity;
