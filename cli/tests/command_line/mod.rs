//! The commands from outside: what they print, what they write, what their options do.

pub(crate) mod outputs;

mod action;
mod bags;
mod clusters;
mod compressed;
mod dedup;
mod messages;
mod option_files;
mod output_page;
mod pairs;
mod part_of_inputs;
mod paths;
mod preference;
mod presets;
mod shells;
mod short;
mod show;
mod sign;
mod stdout;
mod weights;
