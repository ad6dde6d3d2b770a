//! A folder as a page: report.html, with charts that need no script.
//!
//! ```text
//! scale     where numbers are on an axis, and which are labelled
//! figure    a drawing with its name
//! mark      points, lines and areas between two axes, and legends
//! chart     marks between two axes
//! bars      rows of a name, a number and a picture of it
//! heat      a map in colours
//! speed     charts of throughput
//! quality   charts of errors and of candidate pairs
//! table     tables, and lists of sentences
//! page      all of it
//! ```

mod scale;

mod figure;

mod mark;

mod chart;

mod bars;

mod heat;

mod speed;

mod quality;

mod table;

mod page;

pub(crate) use self::page::page;
