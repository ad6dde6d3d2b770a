//! Texts: three words or more on average.

use super::likeness::{from, mean, words};
use super::{Kind, KindRow, Noise};

/// Least cosines of texts that are close, near and far.
const LEAST: [f64; 3] = [0.65, 0.4, 0.2];

/// Words of a text, at least, on average.
const LEAST_WORDS: f64 = 3.0;

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Text,
    name: "text",
    is_found: |values| mean(values, |value| value.words.split(' ').count() as f64) >= LEAST_WORDS,
    clean: |_| None,
    likeness: |pair| from((pair.cosine)(), LEAST),
    parts: words,
    noise: Noise::OfThings,
};

#[cfg(test)]
mod tests {
    use super::super::likeness::Likeness;
    use super::super::tests::kind_of;
    use super::super::{Sketch, ValuePair};
    use super::*;

    #[test]
    fn texts_are_found() {
        for values in [
            &["a red book", "the other long book"][..],
            &["12 Elm Street", "4 Long Lane"],
            &["Canon PIXMA MG3650S black", "HP 15s-fq2 8 GB"],
        ] {
            assert_eq!(kind_of(values), Kind::Text, "{values:?}");
        }
    }

    #[test]
    fn likeness_is_the_cosine() {
        use Likeness::{Close, Far, Near, Other};
        for (cosine, expected) in [(0.65, Close), (0.64, Near), (0.39, Far), (0.19, Other)] {
            let (a, b) = ("a red book", "a red hen");
            let pair = ValuePair {
                a,
                b,
                sketches: [a, b].map(Sketch::new),
                cosine: &|| cosine,
            };
            assert_eq!((ROW.likeness)(&pair), expected, "{cosine}");
        }
    }
}
