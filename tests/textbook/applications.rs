//! Section 3.8: applications of locality-sensitive hashing.

use simgpu::pipeline::{StopWords, Unit, jaccard};

use super::support::shingles_of;

/// The news application: stop-word shingles make the same article with different adverts more similar than
/// ordinary shingles do.
#[test]
fn section_3_8_3_stop_words_find_the_articles() {
    let article = "the minister said that it is for the people of the country to decide what they want \
                   and how they are to have it";
    let [advert, another] = [
        "Buy Sudzo soap powder today",
        "Drive Blitz cars everywhere today",
    ];
    let similarity = |unit: &dyn Fn() -> Unit, a: &str, b: &str| {
        let sets = [a, b].map(|text| {
            let set = shingles_of(unit(), None, text);
            set.into_iter().collect::<Vec<_>>()
        });
        jaccard(&sets[0], &sets[1])
    };
    let (one, two) = (
        format!("{advert} {article}"),
        format!("{another} {article}"),
    );
    let ordinary = similarity(&|| Unit::Words, &one, &two);
    let stop_words = similarity(&|| Unit::StopWords(StopWords::english()), &one, &two);
    assert!(stop_words > ordinary, "{stop_words} against {ordinary}");
    assert_eq!(stop_words, 1.0);
}
