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

pub(crate) use bars::{Bar, Bars, share_bar, square_root};
pub(crate) use command::{Choice, command, push_fields, push_flags};
pub(crate) use difference::{Piece, differences};
pub(crate) use numbers::{listed, names, percent, scored, short};
pub(crate) use scale::{px, short_number, step, ticks_of_counts};
pub(crate) use skipped::{SKIPPED, repeated_ids, skipped};
pub(crate) use visible::{name, visible};
pub(crate) use words::{Room, words};

const STYLE: &str = include_str!("style.css");

/// A page of HTML.
pub(crate) struct Page<'a> {
    pub(crate) title: &'a str,
    /// What stands below the title.
    pub(crate) header: Markup,
    pub(crate) main: Markup,
    /// Where the numbers of the page are.
    pub(crate) footer: &'a str,
}

impl Page<'_> {
    /// The page as text.
    pub(crate) fn render(&self) -> String {
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
