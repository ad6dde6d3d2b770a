//! Names: a few words.

use super::likeness::{Likeness, ValuePair, from, jaro_winkler, words};
use super::{Kind, KindRow, Noise};

/// Least Jaro-Winkler similarities of names that are close, near and far.
const LEAST: [f64; 3] = [0.9, 0.78, 0.65];

/// The least cosine of the words of names that are close in any order.
const REORDERED: f64 = 0.6;

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Name,
    name: "name",
    is_found: |_| true,
    clean: |_| None,
    likeness,
    parts: words,
    noise: Noise::OfThings,
};

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let [.., far] = LEAST;
    if (pair.cosine)() >= REORDERED {
        Likeness::Close
    } else if pair.most_jaro_winkler() < far {
        // An upper bound is enough, and needs no look at the letters.
        Likeness::Other
    } else {
        likeness_of(pair.a, pair.b)
    }
}

/// The likeness of two names letter by letter.
pub(super) fn likeness_of(a: &str, b: &str) -> Likeness {
    from(jaro_winkler(a, b), LEAST)
}

#[cfg(test)]
mod tests {
    use super::super::Sketch;
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn names_are_found() {
        for values in [&["Ann", "Bob Ray"][..], &["4 Elm St", "Main"], &["m", "f"]] {
            assert_eq!(kind_of(values), Kind::Name, "{values:?}");
        }
    }

    #[test]
    fn likeness_is_that_of_jaro_and_winkler() {
        use Likeness::{Close, Near, Other};
        for (other, expected) in [
            ("marhta", Close),
            ("marta lee", Near),
            ("margot", Near),
            ("bob", Other),
        ] {
            assert_eq!(compare_as(Kind::Name, "martha", other), expected, "{other}");
        }
        let cosine = &|| REORDERED;
        let (a, b) = ("ann lee", "lee ann");
        let pair = ValuePair {
            a,
            b,
            sketches: [a, b].map(Sketch::new),
            cosine,
        };
        assert_eq!(likeness(&pair), Close);
    }
}
