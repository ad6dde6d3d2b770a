//! What pages of reports have in common: the frame, the style, numbers as people read them, and scales of charts.
//!
//! A page needs neither scripts nor other files. maud escapes every value; charts are SVG.

mod numbers;

mod scale;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use numbers::{listed, names, percent, scored, short};
pub(crate) use scale::{px, short_number, step, ticks_of_counts};

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
