//! Coordinates: latitude and longitude in decimal degrees.

use std::borrow::Cow;

use super::likeness::{Likeness, ValuePair, share, up_to};
use super::{Kind, KindRow, Noise};

/// The least share of the values that are coordinates, and of those with so many digits after each point.
const LEAST: f64 = 0.9;
const LEAST_EXACT: f64 = 0.8;
const FRACTION: usize = 3;

/// Greatest distances of places that are close, near and far, in kilometres.
const MOST_KM: [f64; 3] = [0.1, 1.0, 10.0];

/// The mean radius of the Earth (IUGG).
const RADIUS_KM: f64 = 6371.0088;

/// Cells of one degree, either way: places in one are candidates.
const CELLS: f64 = 50.0;

pub(super) const ROW: KindRow = KindRow {
    kind: Kind::Coordinates,
    name: "coordinates",
    is_found: |values| {
        share(values, |value| parsed(value).is_some()) >= LEAST
            && share(values, |value| parsed(value).is_some() && is_exact(value)) >= LEAST_EXACT
    },
    clean: |text| parsed(text).map(|[latitude, longitude]| format!("{latitude} {longitude}")),
    likeness,
    parts,
    noise: Noise::Always,
};

/// Whether both numbers have digits enough for a place.
fn is_exact(text: &str) -> bool {
    let fractions = text.split('.').skip(1);
    let digits = fractions.map(|rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    digits.filter(|digits| *digits >= FRACTION).count() == 2
}

/// Latitude and longitude: `47.3769, 8.5417`, `(47.3769 8.5417)`, `47.3769° N 8.5417° E` or `POINT (8.5417 47.3769)`.
fn parsed(text: &str) -> Option<[f64; 2]> {
    let (text, mut is_turned) = match text.strip_prefix("point") {
        Some(text) => (text, true),
        None => (text.strip_prefix("geo:").unwrap_or(text), false),
    };
    let mut numbers: Vec<f64> = Vec::with_capacity(2);
    let separates = |letter: char| ",;/()[]{}° ".contains(letter);
    for part in text.split(separates).filter(|part| !part.is_empty()) {
        let number = part.trim_end_matches(['n', 's', 'e', 'w']);
        if !number.is_empty() {
            let known = |byte: u8| byte.is_ascii_digit() || b".+-".contains(&byte);
            numbers.push(number.bytes().all(known).then(|| number.parse().ok())??);
        }
        match (&part[number.len()..], &mut numbers[..]) {
            ("", _) | ("n" | "e", [.., _]) => {}
            ("s" | "w", [.., last]) => *last = -*last,
            _ => return None,
        }
        is_turned |= numbers.len() == 1 && part.ends_with(['e', 'w']);
    }
    let [latitude, longitude] = numbers[..] else {
        return None;
    };
    let turned = [longitude, latitude];
    [[latitude, longitude], turned]
        .into_iter()
        .find(|place| is_place(*place) && !(is_turned && *place != turned))
}

fn is_place([latitude, longitude]: [f64; 2]) -> bool {
    latitude.abs() <= 90.0 && longitude.abs() <= 180.0
}

fn likeness(pair: &ValuePair<'_>) -> Likeness {
    let [Some(a), Some([latitude, longitude])] = [pair.a, pair.b].map(parsed) else {
        return Likeness::Other;
    };
    // Latitude and longitude may be exchanged.
    let turned = Some([longitude, latitude]).filter(|place| is_place(*place));
    let turned = turned.map_or(f64::INFINITY, |turned| distance_km(a, turned));
    up_to(distance_km(a, [latitude, longitude]).min(turned), MOST_KM)
}

/// The distance of two places along a great circle, by haversines.
fn distance_km(a: [f64; 2], b: [f64; 2]) -> f64 {
    let ([latitude, longitude], [other_latitude, other_longitude]) =
        (a.map(f64::to_radians), b.map(f64::to_radians));
    let haversine = |angle: f64| (angle / 2.0).sin().powi(2);
    let h = haversine(latitude - other_latitude)
        + latitude.cos() * other_latitude.cos() * haversine(longitude - other_longitude);
    2.0 * RADIUS_KM * h.min(1.0).sqrt().asin()
}

/// The cells of two grids that are half a cell apart.
fn parts(value: &str) -> Vec<Cow<'_, str>> {
    let Some(place) = parsed(value) else {
        return vec![Cow::Borrowed(value)];
    };
    let cell = |shift: f64| place.map(|degrees| (degrees * CELLS + shift).floor());
    let name = |grid: char, [x, y]: [f64; 2]| Cow::Owned(format!("{grid}{x}/{y}"));
    vec![name('a', cell(0.0)), name('b', cell(0.5))]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{compare_as, kind_of};
    use super::*;

    #[test]
    fn coordinates_are_found() {
        for values in [
            &["47.3769, 8.5417", "(46.9480;7.4474)"][..],
            &["POINT (8.5417 47.3769)", "POINT(7.4474 46.9480)"],
            &["47.3769° N, 8.5417° E", "33.8688 S 151.2093 E"],
            &["-33.8688,151.2093", "geo:40.7128,-74.0060"],
        ] {
            assert_eq!(kind_of(values), Kind::Coordinates, "{values:?}");
        }
        for values in [
            &["12 34", "56 78"][..],
            &["12.50 13.99", "5.00 7.50"],
            &["1980 1999", "1970 1975"],
            &["100.123 200.456", "300.111 95.222"],
            &["47.3769", "8.5417"],
            &["12.5 x 8.3", "10.1 x 7.2"],
            &["1.234 5.678 9.101", "2.345 6.789 1.011"],
        ] {
            assert_ne!(kind_of(values), Kind::Coordinates, "{values:?}");
        }
    }

    #[test]
    fn forms_of_a_place_are_equal() {
        for text in [
            "47.3769, 8.5417",
            "47.37690 8.54170",
            "point(8.5417 47.3769)",
            "8.5417e 47.3769n",
            "47.3769° n, 8.5417° e",
            "geo:47.3769,8.5417",
        ] {
            assert_eq!(
                (ROW.clean)(text).as_deref(),
                Some("47.3769 8.5417"),
                "{text}"
            );
        }
        assert_eq!(
            (ROW.clean)("40.7128 n 74.006 w").as_deref(),
            Some("40.7128 -74.006")
        );
        assert_eq!(
            (ROW.clean)("151.2093 -33.8688").as_deref(),
            Some("-33.8688 151.2093")
        );
        for text in [
            "", "n", "1", "1 2 3", "200 300", "a b", "1-2 3", "s 1 2", "point", "é 1 2",
        ] {
            assert_eq!((ROW.clean)(text), None, "{text}");
        }
    }

    #[test]
    fn distances_are_those_of_the_sphere() {
        // A degree of a meridian, and Zurich to Bern.
        let degree = 2.0 * std::f64::consts::PI * RADIUS_KM / 360.0;
        assert!((distance_km([0.0, 0.0], [1.0, 0.0]) - degree).abs() < 1e-9);
        assert!((distance_km([0.0, 179.5], [0.0, -179.5]) - degree).abs() < 1e-9);
        assert!((distance_km([47.3769, 8.5417], [46.9480, 7.4474]) - 95.5).abs() < 0.5);
    }

    #[test]
    fn distances_give_the_levels() {
        use Likeness::{Close, Far, Near, Other};
        for (other, expected) in [
            ("47.3770, 8.5418", Close),
            ("8.5417, 47.3769", Close),
            ("47.3819, 8.5417", Near),
            ("47.4100, 8.5500", Far),
            ("46.9480, 7.4474", Other),
        ] {
            assert_eq!(
                compare_as(Kind::Coordinates, "47.3769, 8.5417", other),
                expected,
                "{other}"
            );
        }
    }
}
