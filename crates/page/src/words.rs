//! Texts of which the beginnings are shown, with what is marked in them.

use maud::{Markup, html};

use super::difference::Piece;
use super::visible::{is_hidden, visible};
use simgpu::progress::grouped;

/// How much of a text is shown at most.
#[derive(Clone, Copy)]
#[doc(hidden)]
#[derive(Debug)]
pub struct Room {
    /// Bytes of HTML.
    #[doc(hidden)]
    pub bytes: usize,
    #[doc(hidden)]
    pub lines: usize,
}

/// The words of one side, with the line breaks of the text.
#[doc(hidden)]
pub fn words(pieces: &[Piece<'_>], most: Room) -> Markup {
    let mut left = most;
    let mut shown = Vec::new();
    for piece in pieces {
        let (part, is_whole) = match piece {
            Piece::Same(text) => {
                // Lines of blanks before a text say nothing.
                let text = if shown.is_empty() {
                    text.trim_start()
                } else {
                    text
                };
                let (text, is_whole) = cut(text, left);
                (html! { (text) }, is_whole)
            }
            Piece::Other(text) => {
                // Blanks after a word are not marked.
                let words = text.trim_end();
                let (shown, is_whole) = cut(words, left);
                let blanks = if is_whole { &text[words.len()..] } else { "" };
                (html! { mark { (shown) } (blanks) }, is_whole)
            }
            Piece::Omitted(words) => (omitted(*words, "identical words"), true),
            Piece::OmittedOther(words) => {
                (html! { mark { (omitted(*words, "more words")) } }, true)
            }
            Piece::Gap(bytes) => (omitted(*bytes, "bytes more"), true),
            Piece::Rest => (html! { i { " … the rest is not compared here" } }, true),
        };
        let lines = part.0.bytes().filter(|byte| *byte == b'\n').count();
        left.bytes = left.bytes.saturating_sub(part.0.len());
        left.lines = left.lines.saturating_sub(lines);
        shown.push(part);
        if left.bytes == 0 || left.lines == 0 || !is_whole {
            shown.push(html! { i { " … the rest is not shown" } });
            break;
        }
    }
    html! { @for part in shown { (part) } }
}

fn omitted(words: usize, what: &str) -> Markup {
    html! { i { " … " (grouped(words as u64)) " " (what) " … " } }
}

/// The beginning of a text as it is shown, for which there is room, and whether that is all.
fn cut(text: &str, most: Room) -> (String, bool) {
    let Room {
        bytes: mut left,
        mut lines,
    } = most;
    let beyond = text.char_indices().find(|(_, letter)| {
        let bytes = match letter {
            '&' | '<' | '>' | '"' => 6,
            letter if is_hidden(*letter) => 14,
            letter => letter.len_utf8(),
        };
        let is_beyond = bytes > left || (*letter == '\n' && lines <= 1);
        left = left.saturating_sub(bytes);
        lines -= usize::from(*letter == '\n' && lines > 0);
        is_beyond
    });
    let end = beyond.map_or(text.len(), |(at, _)| at);
    (visible(&text[..end]).into_owned(), end == text.len())
}
