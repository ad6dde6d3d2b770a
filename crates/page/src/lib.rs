//! What pages of reports have in common.
//!
//! ```text
//! numbers     numbers and names as people read them
//! visible     texts without characters that change what is around them
//! difference  what two texts have in common, word by word
//! scale       round numbers and coordinates of charts
//! words       texts of which the beginnings are shown
//! bars        a chart of upright bars
//! command     the command that repeats a run
//! skipped     the bad records of a run, and repeated ids
//! ```
//!
//! A page needs neither scripts nor other files. maud escapes every value; charts are SVG.

mod bars;

mod command;

mod difference;

mod numbers;

mod scale;

mod skipped;

mod visible;

mod words;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use bars::{Bar, Bars, share_bar, square_root};
pub use command::command;
pub use command::{Choice, push_fields, push_flags};
pub use difference::{Piece, differences};
pub use numbers::{listed, percent};
pub use numbers::{names, scored, short};
pub use scale::{px, short_number};
pub use scale::{step, ticks_of_counts};
pub use skipped::skipped;
pub use skipped::{SKIPPED, repeated_ids};
pub use visible::name;
pub use visible::visible;
pub use words::Room;
pub use words::words;

const STYLE: &str = include_str!("style.css");

/// A page of HTML.
#[doc(hidden)]
#[derive(Debug)]
pub struct Page<'a> {
    #[doc(hidden)]
    pub title: &'a str,
    /// What stands below the title.
    #[doc(hidden)]
    pub header: Markup,
    #[doc(hidden)]
    pub main: Markup,
    /// Where the numbers of the page are.
    #[doc(hidden)]
    pub footer: &'a str,
}

impl Page<'_> {
    /// The page as text.
    #[doc(hidden)]
    pub fn render(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    header {
                        h1 { (self.title) }
                        (self.header)
                    }
                    main { (self.main) }
                    footer { p.note { (self.footer) } }
                }
            }
        };
        page.into_string()
    }
}
