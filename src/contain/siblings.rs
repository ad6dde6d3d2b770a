//! Questions that differ by a few words that matter: figures, names, a negation, or an opposite.

use std::ops::Range;

use super::asked::Place;

/// Words that deny; others are contractions that end so.
const NEGATIONS: &[&str] = &[
    "not", "never", "no", "none", "neither", "nor", "without", "except", "cannot",
];
const CONTRACTIONS: &[&str] = &[
    "isnt", "arent", "wasnt", "werent", "doesnt", "dont", "didnt", "cant", "couldnt", "wont",
    "wouldnt", "shouldnt", "hasnt", "havent", "hadnt",
];

/// Beginnings that deny the rest of a word.
const DENYING: &[&str] = &["un", "in", "im", "il", "ir", "dis", "non"];

/// Letters of a word that is denied by a beginning, at least.
const DENIED: usize = 5;

/// Words, and their opposites.
#[rustfmt::skip] // A line has one topic.
const OPPOSITES: &[(&str, &[&str])] = &[
    ("increase", &["decrease", "reduce"]), ("increases", &["decreases", "reduces"]),
    ("increased", &["decreased", "reduced"]), ("increasing", &["decreasing", "reducing"]),
    ("rise", &["fall"]), ("rises", &["falls"]), ("rising", &["falling"]), ("raise", &["lower"]), ("raises", &["lowers"]),
    ("more", &["less", "fewer"]), ("most", &["least", "fewest"]), ("greater", &["less", "smaller", "lesser"]),
    ("greatest", &["least", "smallest"]), ("larger", &["smaller"]), ("largest", &["smallest"]), ("large", &["small"]),
    ("higher", &["lower"]), ("highest", &["lowest"]), ("high", &["low"]), ("longer", &["shorter"]), ("longest", &["shortest"]),
    ("faster", &["slower"]), ("fastest", &["slowest"]), ("stronger", &["weaker"]), ("strongest", &["weakest"]), ("strong", &["weak"]),
    ("better", &["worse"]), ("best", &["worst"]), ("older", &["younger"]), ("oldest", &["youngest"]),
    ("maximum", &["minimum"]), ("max", &["min"]), ("maximize", &["minimize"]), ("many", &["few"]),
    ("before", &["after"]), ("first", &["last"]), ("early", &["late"]), ("earlier", &["later"]), ("earliest", &["latest"]),
    ("always", &["never"]), ("all", &["none"]), ("with", &["without"]), ("true", &["false"]), ("right", &["wrong", "left"]),
    ("positive", &["negative"]), ("above", &["below"]), ("over", &["under"]), ("up", &["down"]), ("upper", &["lower"]),
    ("internal", &["external"]), ("inside", &["outside"]), ("sum", &["difference"]), ("plus", &["minus"]), ("even", &["odd"]),
    ("gain", &["loss"]), ("gains", &["losses"]), ("buy", &["sell"]), ("buys", &["sells"]), ("accept", &["reject"]),
    ("hot", &["cold"]), ("north", &["south"]), ("east", &["west"]),
];

/// Whether two words are opposites.
fn are_opposite(a: &str, b: &str) -> bool {
    let lists = |a: &str, b: &str| {
        OPPOSITES
            .iter()
            .any(|(word, others)| *word == a && others.contains(&b))
    };
    let denies = |a: &str, b: &str| {
        b.len() >= DENIED
            && DENYING
                .iter()
                .any(|beginning| a.strip_prefix(beginning) == Some(b))
    };
    lists(a, b) || lists(b, a) || denies(a, b) || denies(b, a)
}

fn is_figure(word: &str) -> bool {
    word.starts_with(char::is_numeric)
}

fn denies(word: &str) -> bool {
    NEGATIONS.contains(&word) || CONTRACTIONS.contains(&word)
}

impl Place<'_> {
    /// A negation stands on one side alone, or an opposite in the place of a word: another question. Beside the sentence that
    /// asks, this counts where hardly anything else differs; else it is one of many edits.
    pub(super) fn has_opposite(&self) -> bool {
        /// The most words between two that are in place.
        const BETWEEN: usize = 4;
        /// Places that differ, where hardly anything does.
        const FEW: usize = 2;
        let of_item = |i: usize| self.detail.words.word(i);
        let of_document = |at: usize| self.document.word(at);
        let is_opposite = |items: &Range<usize>, documents: &Range<usize>| {
            let is_denied = items.clone().any(|i| denies(of_item(i)));
            let denied = documents.clone().any(|at| denies(&of_document(at)));
            let has_opposite = |i: usize| {
                let mut documents = documents.clone();
                documents.any(|at| are_opposite(of_item(i), &of_document(at)))
            };
            is_denied != denied || items.clone().any(has_opposite)
        };
        let sentence = &self.detail.question.sentence;
        let asks = |items: &Range<usize>| {
            let first = sentence.first().is_some_and(|first| *first <= items.start);
            first && sentence.last().is_some_and(|last| items.end <= last + 1)
        };
        let mut differing = self.differing();
        differing.extend(self.beyond());
        let is_few = differing.len() <= FEW;
        differing.iter().any(|(items, documents)| {
            items.len() <= BETWEEN
                && documents.len() <= BETWEEN
                && (is_few || asks(items))
                && is_opposite(items, documents)
        })
    }

    /// The words of the document behind the last word of the item, up to two, which its sentence ends with.
    fn beyond(&self) -> Option<(Range<usize>, Range<usize>)> {
        const MOST: usize = 2;
        let (last, end) = self.aligned.pairs().next_back()?;
        let document = self.document;
        let ends = |at: usize| {
            let next = document.text[document.span(at).end..].chars().next();
            next.is_none_or(|c| ".?!\n".contains(c))
        };
        let is_last = last + 1 == self.part.len();
        if !is_last || ends(end) {
            return None;
        }
        let mut behind = (end + 1..document.len()).take(MOST);
        let stop = behind.find(|at| ends(*at))?;
        Some((last + 1..last + 1, end + 1..stop + 1))
    }

    /// The words of the item that are not in place, and those of the document that stand there.
    fn differing(&self) -> Vec<(Range<usize>, Range<usize>)> {
        let pairs: Vec<(usize, usize)> = self.aligned.pairs().collect();
        let (Some((first, start)), Some((last, end))) = (pairs.first(), pairs.last()) else {
            return Vec::new();
        };
        let between = pairs.windows(2).map(|pair| {
            let [(i, x), (j, y)] = [pair[0], pair[1]];
            (i + 1..j, x + 1..y)
        });
        let words = self.part.len();
        let after = (end + words - last).min(self.document.len());
        let edges = [
            (0..*first, start.saturating_sub(*first)..*start),
            (last + 1..words, end + 1..after),
        ];
        let all = between.chain(edges);
        all.filter(|(items, documents)| !items.is_empty() || !documents.is_empty())
            .collect()
    }

    /// A third of the item's figures have another figure in their place, or nothing else differs: a sibling. A figure among other
    /// edits is one of them.
    pub(super) fn has_other_figures(&self) -> bool {
        let of_item = |i: usize| is_figure(self.detail.words.word(i));
        let of_document = |at: usize| is_figure(&self.document.word(at));
        let figures = (0..self.part.len()).filter(|i| of_item(*i));
        let figures: Vec<usize> = figures.collect();
        let is_other = |i: &usize| {
            let before = i
                .checked_sub(1)
                .and_then(|i| self.aligned.get(i))
                .map(|at| at + 1);
            let after = || self.aligned.get(*i + 1).and_then(|at| at.checked_sub(1));
            let place = before.or_else(after).filter(|at| *at < self.document.len());
            !self.aligned.has(*i) && place.is_some_and(of_document)
        };
        let others = figures.iter().filter(|i| is_other(i)).count();
        let are_all = || {
            let mut differing = self.differing().into_iter();
            differing
                .all(|(mut items, mut documents)| items.all(of_item) && documents.all(of_document))
        };
        others > 0 && (3 * others >= figures.len() || are_all())
    }

    /// A third of the item's names have another name in their place: a sibling.
    pub(super) fn has_other_names(&self) -> bool {
        let of_item = |i: usize| is_name(&self.part.text, self.detail.words.span(i));
        let of_document = |i: usize| is_name(self.document.text, self.document.span(i));
        let other = |items: Range<usize>, mut documents: Range<usize>| {
            let mine = items.filter(|i| of_item(*i)).count();
            if mine > 0 && documents.any(of_document) {
                mine
            } else {
                0
            }
        };
        let pairs: Vec<(usize, usize)> = self.aligned.pairs().collect();
        let mut others = 0;
        for pair in pairs.windows(2) {
            let [(i, x), (j, y)] = [pair[0], pair[1]];
            if (2..=4).contains(&(j - i)) && (2..=4).contains(&(y - x)) {
                others += other(i + 1..j, x + 1..y);
            }
        }
        if let Some((i, x)) = pairs.last() {
            // Up to the end of the sentence.
            let left = self.part.len() - 1 - i;
            let end = (x + 1 + left).min(self.document.len());
            let goes_on = |at: &usize| {
                !self
                    .document
                    .between(*x, *at)
                    .contains(['.', '?', '!', '\n'])
            };
            let after = (x + 1..end).take_while(goes_on).count();
            if left <= 3 && after > 0 {
                others += other(i + 1..i + 1 + left, x + 1..x + 1 + after);
            }
        }
        let names = (0..self.part.len()).filter(|i| of_item(*i)).count();
        others > 0 && 3 * others >= names
    }
}

/// Whether a word is a name: it begins with a capital letter within a sentence, and has a small one.
fn is_name(text: &str, span: Range<usize>) -> bool {
    let mut letters = text[span.clone()].chars();
    if !letters.next().is_some_and(char::is_uppercase) || !letters.any(char::is_lowercase) {
        return false;
    }
    let mut before = text[..span.start].chars().rev().take(3);
    let before = before.find(|c| *c == '\n' || !c.is_whitespace());
    before.is_some_and(|c| !"\n.?!:\"\u{201C}(|".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposites_are_listed_or_denied() {
        for (a, b) in [
            ("largest", "smallest"),
            ("fewer", "more"),
            ("possible", "impossible"),
            ("unlikely", "likely"),
            ("never", "always"),
        ] {
            assert!(are_opposite(a, b) && are_opposite(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("inside", "side"),
            ("into", "to"),
            ("more", "more"),
            ("late", "later"),
        ] {
            assert!(!are_opposite(a, b), "{a} {b}");
        }
    }
}
