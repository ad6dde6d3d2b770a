//! The commands from outside: what they print, what they write, what their options do.

#[path = "../support/mod.rs"]
mod support;

mod outputs;

mod dedup;
mod messages;
mod pairs;
mod paths;
mod presets;
mod sign;
