//! Words that make another question of one: opposites, other operations and other modals.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Beginnings that deny the rest of a word.
const DENYING: &[&str] = &["un", "in", "im", "il", "ir", "dis", "non"];

/// Letters of a word that is denied by a beginning, at least.
const DENIED: usize = 5;

/// Words and their opposites, beside those of WordNet.
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
    // Chinese and Japanese, a letter each.
    ("大", &["小"]), ("多", &["少"]), ("高", &["低", "矮"]), ("长", &["短"]), ("長", &["短"]), ("上", &["下"]), ("前", &["后", "後"]),
    ("左", &["右"]), ("正", &["反", "负", "負", "错", "誤"]), ("确", &["误", "誤"]), ("确", &["错"]), ("对", &["错"]), ("真", &["假"]),
    ("强", &["弱"]), ("強", &["弱"]), ("快", &["慢"]), ("早", &["晚", "迟"]), ("新", &["旧", "老"]), ("内", &["外"]), ("加", &["减", "削"]),
    ("増", &["減"]), ("增", &["减", "降"]), ("升", &["降"]), ("乘", &["除"]), ("买", &["卖"]), ("男", &["女"]), ("东", &["西"]), ("南", &["北"]),
    ("有", &["无", "無"]), ("先", &["后", "後"]), ("始", &["终", "末"]), ("好", &["坏", "差"]), ("优", &["劣"]), ("轻", &["重"]), ("开", &["关", "闭"]),
    ("进", &["出", "退"]), ("入", &["出"]), ("胜", &["败", "负"]), ("吸", &["呼"]), ("冷", &["热"]), ("阴", &["阳"]), ("生", &["死"]), ("支", &["反"]),
    ("远", &["近"]), ("深", &["浅"]), ("厚", &["薄"]), ("宽", &["窄"]), ("粗", &["细"]), ("易", &["难"]), ("主", &["次", "客"]), ("公", &["私"]),
];

/// Words of other meanings that stand in the same places of questions: an operation, a measure or a unit in the place of
/// another one. A list has its meanings, and a meaning its words.
#[rustfmt::skip]
const OTHERS: &[&[&[&str]]] = &[
    &[&["sum", "total", "altogether"], &["difference"], &["product"], &["quotient"], &["ratio"], &["average", "mean"], &["median"], &["mode"],
        &["range"], &["remainder"], &["maximum"], &["minimum"], &["variance"], &["percentage", "percent"], &["fraction"], &["square"], &["cube"],
        &["root"], &["inverse"], &["reciprocal"], &["factorial"], &["logarithm"]],
    &[&["add", "added"], &["subtract", "subtracted"], &["multiply", "multiplied"], &["divide", "divided"]],
    &[&["plus"], &["minus"], &["times"]],
    &[&["area"], &["perimeter"], &["circumference"], &["volume"], &["diameter"], &["radius"], &["length"], &["width"], &["height"], &["depth"],
        &["surface"], &["diagonal"], &["weight"], &["mass"], &["density"]],
    &[&["speed", "velocity"], &["distance"], &["acceleration"], &["time"], &["force"], &["momentum"], &["energy"], &["power"], &["pressure"],
        &["temperature"], &["frequency"], &["wavelength"], &["voltage"], &["current"], &["resistance"], &["charge"]],
    &[&["cost", "costs"], &["profit"], &["revenue"], &["price"], &["income"], &["tax"], &["tip"], &["discount"], &["interest"]],
    &[&["numerator"], &["denominator"]],
    &[&["derivative"], &["integral"], &["limit"]],
    &[&["sine"], &["cosine"], &["tangent"]],
    &[&["seconds", "second"], &["minutes", "minute"], &["hours", "hour"], &["days", "day"], &["weeks", "week"], &["months", "month"],
        &["years", "year"]],
    &[&["cents"], &["dollars"]],
    &[&["inches"], &["feet"], &["yards"], &["miles"], &["metres", "meters"], &["kilometres", "kilometers"], &["centimetres", "centimeters"]],
    &[&["twice"], &["half"], &["thrice"]],
    &[&["first"], &["second"], &["third"], &["fourth"], &["fifth"], &["last"]],
    &[&["monday"], &["tuesday"], &["wednesday"], &["thursday"], &["friday"], &["saturday"], &["sunday"]],
    &[&["must"], &["can", "could", "may", "might"], &["should", "ought"], &["will", "would"]],
];

/// Inflections that a word and its opposite share.
const INFLECTIONS: &[&str] = &[
    "", "s", "es", "ed", "d", "ing", "er", "r", "est", "st", "ly",
];

/// The opposites of WordNet, each pair in both orders.
static WORDNET: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("opposites.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    let pairs = lines.flat_map(|line| {
        let (word, opposites) = line.split_once(' ').unwrap_or((line, ""));
        let opposites = opposites.split(' ');
        opposites.flat_map(move |opposite| [(word, opposite), (opposite, word)])
    });
    pairs.collect()
});

/// Whether two words are opposites.
pub(super) fn is_opposite(a: &str, b: &str) -> bool {
    let lists = |a: &str, b: &str| {
        let mut found = OPPOSITES.iter().filter(|(word, _)| *word == a);
        found.any(|(_, others)| others.contains(&b))
    };
    let denies = |a: &str, b: &str| {
        let mut beginnings = DENYING.iter();
        b.len() >= DENIED && beginnings.any(|beginning| a.strip_prefix(beginning) == Some(b))
    };
    lists(a, b) || lists(b, a) || denies(a, b) || denies(b, a) || is_antonym(a, b)
}

/// Whether WordNet has two words, in the same inflection, as opposites.
fn is_antonym(a: &str, b: &str) -> bool {
    let mut shared = INFLECTIONS
        .iter()
        .filter(|end| a.ends_with(*end) && b.ends_with(*end));
    shared.any(|inflection| {
        let [stems_a, stems_b] = [a, b].map(|word| stems(word, inflection));
        let mut pairs = stems_a
            .iter()
            .flat_map(|a| stems_b.iter().map(move |b| (&**a, &**b)));
        pairs.any(|pair| WORDNET.contains(&pair))
    })
}

/// What a word may be without an inflection: `tallest` is `tall`, `biggest` is `big`, `earlier` is `early`.
fn stems(word: &str, inflection: &str) -> Vec<String> {
    let Some(stem) = word.strip_suffix(inflection).filter(|stem| stem.len() > 1) else {
        return Vec::new();
    };
    let mut stems = vec![stem.to_owned()];
    if !inflection.is_empty() {
        if let Some(stem) = stem.strip_suffix('i') {
            stems.push(format!("{stem}y"));
        }
        stems.push(format!("{stem}e"));
        let mut last = stem.chars().rev();
        if let (Some(a), Some(b)) = (last.next(), last.next())
            && a == b
        {
            stems.push(stem[..stem.len() - a.len_utf8()].to_owned());
        }
    }
    stems
}

/// Whether one word asks for another operation, measure, unit or modal than the other.
pub(super) fn ask_otherwise(a: &str, b: &str) -> bool {
    OTHERS.iter().any(|meanings| {
        let meaning = |word: &str| meanings.iter().position(|words| words.contains(&word));
        meaning(a).is_some_and(|stems_a| meaning(b).is_some_and(|stems_b| stems_a != stems_b))
    })
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
            ("expanded", "contracted"),
            ("thickest", "thinnest"),
            ("heavier", "lighter"),
            ("ascending", "descending"),
            ("大", "小"),
        ] {
            assert!(is_opposite(a, b) && is_opposite(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("inside", "side"),
            ("into", "to"),
            ("more", "more"),
            ("late", "later"),
            ("", ""),
        ] {
            assert!(!is_opposite(a, b), "{a} {b}");
        }
    }

    #[test]
    fn other_operations_have_another_meaning() {
        for (a, b) in [
            ("sum", "product"),
            ("area", "perimeter"),
            ("must", "may"),
            ("hours", "days"),
        ] {
            assert!(ask_otherwise(a, b) && ask_otherwise(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("sum", "total"),
            ("mean", "average"),
            ("sum", "area"),
            ("can", "may"),
        ] {
            assert!(!ask_otherwise(a, b), "{a} {b}");
        }
    }

    #[test]
    fn every_line_of_wordnet_has_two_words() {
        assert!(WORDNET.len() > 2_000);
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        assert!(WORDNET.iter().all(|(a, b)| is_word(a) && is_word(b)));
    }
}
