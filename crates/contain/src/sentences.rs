//! Sentences, and the one that asks.

use std::ops::Range;

use crate::words::Words;

/// Words that ask.
pub(super) const WH: &[&str] = &[
    "what", "which", "who", "whom", "whose", "when", "where", "why", "how",
];

/// Words that tell to answer.
pub(super) const IMPERATIVES: &[&str] = &[
    "find",
    "calculate",
    "compute",
    "determine",
    "choose",
    "select",
    "identify",
    "name",
    "evaluate",
    "solve",
    "express",
    "give",
    "state",
    "simplify",
    "convert",
    "estimate",
    "complete",
    "construct",
    "use",
    "list",
    "pick",
    "mark",
    "decide",
    "explain",
    "describe",
    "discuss",
    "suggest",
    "rank",
    "match",
];

/// What asks in Chinese and Japanese, where a word is a letter.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "什么", "什麼", "哪", "谁", "誰", "多少", "几", "怎", "如何", "为何", "何", "是否", "吗", "嗎", "下列", "以下", "下面",
    "どれ", "どの", "どこ", "どちら", "どう", "いつ", "いくつ", "いくら", "なぜ", "だれ", "次の", "求めよ", "求めなさい", "選", "答え",
];

/// The bytes of what asks at the beginning of a text in Chinese or Japanese; 0 if nothing does.
pub(super) fn asks_here(text: &str) -> usize {
    let found = ASKING.iter().filter(|asking| text.starts_with(**asking));
    found.map(|asking| asking.len()).max().unwrap_or(0)
}

/// Closing marks behind the end of a sentence.
const CLOSING: &[char] = &[
    '"', '\'', ')', ']', '\u{201D}', '\u{2019}', '」', '』', '）', '】',
];

/// Marks that end a sentence in scripts that need no space behind it, those of questions first.
const ENDS: &[char] = &['？', '؟', '。', '｡', '．', '！', '।', '॥', '။', '។'];

/// Whether a mark asks.
pub(super) fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟')
}

/// Whether a mark ends a sentence.
pub(super) fn is_end(c: char) -> bool {
    matches!(c, '.' | '?' | '!' | ':' | '…') || ENDS.contains(&c)
}

/// Words with a stop that end no sentence, beside single letters.
const ABBREVIATIONS: &[&str] = &[
    "mr", "mrs", "ms", "dr", "st", "vs", "v", "etc", "no", "fig", "inc", "co", "jr", "sr", "prof",
    "gen", "sen", "approx",
];

/// How a sentence asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asks {
    /// It may be a statement, or its beginning: an open sentence.
    Open,
    /// By its words or a blank.
    Words,
    /// By a question mark.
    Mark,
}

/// The bytes of the sentences of a text. A question mark of code, with a space before it or none after it, ends none.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut at = 0;
    while at < text.len() {
        let Some(end) = end_of_sentence(text, at) else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if !goes_on(text, at, end) {
            if !text[start..end].trim().is_empty() {
                found.push(start..end);
            }
            start = end;
        }
        at = end;
    }
    if !text[start..].trim().is_empty() {
        found.push(start..text.len());
    }
    if found.is_empty() {
        found.push(0..text.len());
    }
    found
}

/// The end of the marks that end a sentence here, if they do.
fn end_of_sentence(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    if rest.starts_with(ENDS) {
        let behind = rest.trim_start_matches(ENDS).trim_start_matches(CLOSING);
        return Some(text.len() - behind.len());
    }
    match rest.as_bytes()[0] {
        b'.' | b'?' | b'!' => {
            let behind = rest.trim_start_matches(['.', '?', '!']);
            let behind =
                behind.trim_start_matches(['"', '\'', ')', ']', '\u{201D}', '\u{2019}', '$']);
            let ends = behind.chars().next().is_none_or(char::is_whitespace);
            ends.then_some(text.len() - behind.len())
        }
        b'\n' => Some(text.len() - rest.trim_start_matches('\n').len()),
        b':' => {
            let blank = &rest[1..rest.len() - rest[1..].trim_start().len()];
            blank.rfind('\n').map(|line| at + 1 + line + 1)
        }
        _ => None,
    }
}

/// Whether the sentence goes on behind these marks.
fn goes_on(text: &str, at: usize, end: usize) -> bool {
    match text.as_bytes()[at] {
        b'.' => {
            let next = text[end..].trim_start_matches(' ').chars().next();
            is_abbreviation(&text[..at]) || next.is_some_and(char::is_lowercase)
        }
        b'?' => text[..at].ends_with(' ') && end < text.len(),
        _ => false,
    }
}

/// Whether the text ends in an abbreviation that lacks its last stop.
fn is_abbreviation(text: &str) -> bool {
    let mut words = text.rsplit(|c: char| c.is_whitespace() || c == '(');
    let word = words.next().unwrap_or_default().to_lowercase();
    let letters = || {
        word.split('.')
            .all(|part| part.len() == 1 && part.as_bytes()[0].is_ascii_lowercase())
    };
    ABBREVIATIONS.contains(&&*word) || letters()
}

/// The sentence that asks, and how: the last that ends in a question mark; else the last that asks by its words; else the last.
/// One of fewer than five words takes in the sentence before.
pub(super) fn asking(text: &str) -> (Range<usize>, Asks) {
    let sentences = sentences(text);
    let kinds: Vec<Asks> = sentences.iter().map(|at| kind(&text[at.clone()])).collect();
    let best = kinds.iter().max().copied().unwrap_or(Asks::Open);
    let mut i = kinds.iter().rposition(|kind| *kind == best).unwrap_or(0);
    let Range { mut start, end } = sentences[i].clone();
    while i > 0 && Words::read(&text[start..end]).len() < 5 {
        i -= 1;
        start = sentences[i].start;
    }
    (start..end, best)
}

fn kind(sentence: &str) -> Asks {
    let sentence = sentence.trim();
    let bare = sentence.trim_end_matches(CLOSING);
    if bare.ends_with(is_question_mark) {
        return Asks::Mark;
    }
    let words = Words::read(sentence);
    let word = |i: usize| (i < words.len()).then(|| words.word(i));
    let begins = word(0).is_some_and(|first| {
        let is_wh = WH.contains(&first) && !["when", "where"].contains(&first);
        let leads = ["then", "please", "in", "for", "to"].contains(&first);
        is_wh
            || IMPERATIVES.contains(&first)
            || (leads && word(1).is_some_and(|second| WH.contains(&second)))
    });
    let asks = begins
        || has_imperative(sentence)
        || sentence.contains("__")
        || sentence.to_lowercase().contains("of the following")
        || ASKING.iter().any(|asking| sentence.contains(asking));
    if asks { Asks::Words } else { Asks::Open }
}

/// Whether an imperative begins the sentence or goes on in it: with a capital after punctuation, or after then, and, please.
fn has_imperative(sentence: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = "";
    let mut at = 0;
    while let Some(start) = sentence[at..].find(is_word).map(|start| at + start) {
        let end = sentence[start..].find(|c| !is_word(c));
        let end = end.map_or(sentence.len(), |end| start + end);
        let (word, between) = (&sentence[start..end], &sentence[at..start]);
        let lower = word.to_lowercase();
        if IMPERATIVES.contains(&&*lower) {
            let is_capital =
                word.starts_with(char::is_uppercase) && word.get(1..) == lower.get(1..);
            let joined = between.strip_prefix(',').unwrap_or(between);
            let is_joined = !joined.is_empty() && joined.trim().is_empty();
            let joins = ["then", "please", "and"].contains(&&*before.to_lowercase());
            if (is_capital && (start == 0 || !between.trim_end().is_empty()))
                || (word == lower && joins && is_joined)
            {
                return true;
            }
        }
        (before, at) = (word, end);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_at_marks_and_lines() {
        let cut = |text: &str| -> Vec<String> {
            let at = sentences(text).into_iter();
            at.map(|at| text[at].trim().to_owned()).collect()
        };
        assert_eq!(
            cut("Mr. Smith, e.g. here. \"Who?\" He said no. 3 left"),
            ["Mr. Smith, e.g. here.", "\"Who?\"", "He said no. 3 left"]
        );
        assert_eq!(
            cut("小明有羊。他有几只？答「三只。」好"),
            ["小明有羊。", "他有几只？", "答「三只。」", "好"]
        );
        assert_eq!(
            cut("x = a ? b : cd. One:\n\n two"),
            ["x = a ? b : cd.", "One:", "two"]
        );
        assert_eq!(cut(" \n"), [""]);
        // White space of two bytes.
        assert_eq!(
            cut("He met\u{85}Dr. Who\u{A0}no. 3. So"),
            ["He met\u{85}Dr. Who\u{A0}no. 3.", "So"]
        );
    }

    #[test]
    fn the_sentence_that_asks_is_found() {
        for (text, sentence, asks) in [
            (
                "Tom has 3. How many hens are left? Show it.",
                "How many hens are left?",
                Asks::Mark,
            ),
            ("How many? Tom has 3 and a hen.", "How many?", Asks::Mark),
            (
                "A car goes. Then, find the speed of it.",
                "Then, find the speed of it.",
                Asks::Words,
            ),
            (
                "Let x be 3. The square of the number is",
                "The square of the number is",
                Asks::Open,
            ),
            (
                "It is so. The capital of France is ____.",
                "The capital of France is ____.",
                Asks::Words,
            ),
            ("小明有羊。他有几只羊？好", "他有几只羊？", Asks::Mark),
            ("下列说法正确的是 A", "下列说法正确的是 A", Asks::Words),
            (
                "Water boils at ten. Why so?",
                "Water boils at ten. Why so?",
                Asks::Mark,
            ),
        ] {
            let (at, found) = asking(text);
            assert_eq!((text[at].trim(), found), (sentence, asks), "{text}");
        }
    }
}
