//! Addresses of e-mail.

use std::borrow::Cow;

use super::likeness::{Likeness, ValuePair, edits, share};
use super::{Kind, KindRow, Noise, names};

/// The least share of the values that are addresses.
const LEAST: f64 = 0.8;

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Email,
    name: "email",
    is_found: |values| share(values, |value| clean(value).is_some()) > LEAST,
    clean,
    likeness,
    parts,
    noise: Noise::Always,
};

/// The address, without a name before it in `Ann <ann@mail.example>`.
fn clean(text: &str) -> Option<String> {
    let address = match text.split_once('<') {
        Some((_, address)) => address.strip_suffix('>')?,
        None => text.strip_prefix("mailto:").unwrap_or(text),
    };
    let address = address.trim();
    let (local, domain) = address.split_once('@')?;
    let is_address = !local.is_empty() && !domain.is_empty() && !domain.contains('@');
    (is_address && !address.contains(char::is_whitespace)).then(|| address.to_owned())
}

/// What stands before the `@`, and the words of the domain.
fn parts(address: &str) -> Vec<Cow<'_, str>> {
    let (local, domain) = split(address);
    let words = domain.split(['.', '-']).filter(|word| !word.is_empty());
    std::iter::once(local)
        .chain(words)
        .map(Cow::Borrowed)
        .collect()
}

/// What stands before the `@`, and after it.
fn split(address: &str) -> (&str, &str) {
    address.split_once('@').unwrap_or((address, ""))
}

/// That of names, of the parts before the `@` where only these differ: colleagues share a domain.
fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let [(a, domain), (b, other)] = [pair.a, pair.b].map(split);
    let alike = if domain == other {
        names::likeness_of(a, b)
    } else {
        names::likeness_of(pair.a, pair.b)
    };
    let parts = if a == b || edits(pair.a, pair.b) <= 1 {
        Likeness::Close
    } else if edits(a, b) <= 1 {
        Likeness::Near
    } else {
        Likeness::Other
    };
    alike.min(parts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn emails_are_found() {
        assert_eq!(
            kind_of(&["Ann@Mail.example", "Bob <bob@b.org>"]),
            Kind::Email
        );
        for values in [
            &["@ann", "@bob"][..],
            &["ann@", "bob@"],
            &["3 @ 5", "1 @ 2"],
        ] {
            assert_ne!(kind_of(values), Kind::Email, "{values:?}");
        }
        assert_eq!(
            clean("mailto:ann@mail.example").as_deref(),
            Some("ann@mail.example")
        );
        for text in ["", "@", "a@b@c", "a b@c", "<a@b", "ann"] {
            assert_eq!(clean(text), None, "{text}");
        }
    }

    #[test]
    fn local_parts_and_edits_are_levels() {
        use Likeness::{Close, Far, Near, Other};
        for (other, expected) in [
            ("ann.smyth@mail.example", Close),
            ("annsmith@mail.example", Close),
            ("ann.smith@mial.example", Close),
            ("ann.smith@other.org", Close),
            ("ann.smith9@b.net", Near),
            ("anna.s@mail.example", Near),
            ("tom.smith@mail.example", Far),
            ("bob.ray@mail.example", Other),
        ] {
            assert_eq!(
                compare_as(Kind::Email, "ann.smith@mail.example", other),
                expected,
                "{other}"
            );
        }
    }
}
