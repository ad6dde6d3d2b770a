//! A folder as text: summary.md, section by section. The page has the same sections, with charts.
//!
//! ```text
//! table        rows and columns, and numbers in them
//! section      a table under its heading
//! machine      the machine and the build
//! throughput   how fast the stages are
//! errors       how far estimates are off
//! found        which pairs are found
//! peers        simgpu compared with other tools
//! warnings     what makes figures doubtful, and what to try
//! sections     all of them
//! screen       the answers alone, for the terminal
//! ```

pub(crate) mod table;

mod section;

mod machine;

mod throughput;

mod errors;

mod found;

mod peers;

mod warnings;

mod sections;

mod screen;

pub(crate) use self::errors::{compared, distinct, swept, usual};
pub(crate) use self::peers::compare_with_peers;
pub(crate) use self::screen::screen;
pub(crate) use self::section::{Section, Topic};
pub(crate) use self::sections::{markdown, sections};
pub(crate) use self::throughput::{Signed, growing, on_threads};
