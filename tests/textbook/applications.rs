//! Section 3.8: applications of locality-sensitive hashing.

use simgpu::pipeline::{StopWords, Unit, jaccard};

use super::support::shingles_of;

/// The news application: stop-word shingles make the same article with different adverts more similar than
/// ordinary shingles do.
#[test]
fn section_3_8_6_stop_words_find_the_articles() {
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

/// Pages of which a share f of the shingles is an article, and the rest adverts. Pages with one article have similarity
/// f / (2 - f), and pages with the same adverts (1 - f) / (1 + f).
#[test]
fn section_3_8_6_similarity_of_news_pages() {
    // A stop word and two words make one shingle.
    let part = |name: &str, shingles: usize| -> String {
        let shingles = (0..shingles).map(|i| format!("the {name}{i} {name}"));
        shingles.collect::<Vec<_>>().join(" ")
    };
    let page = |article: &str, adverts: &str, [of_article, of_adverts]: [usize; 2]| {
        let text = part(article, of_article) + " " + &part(adverts, of_adverts);
        let shingles = shingles_of(Unit::StopWords(StopWords::english()), None, &text);
        assert_eq!(shingles.len(), of_article + of_adverts);
        shingles.into_iter().collect::<Vec<_>>()
    };
    for (sizes, one_article, same_adverts) in [
        ([6, 6], 1.0 / 3.0, 1.0 / 3.0),
        ([9, 3], 3.0 / 5.0, 1.0 / 7.0),
    ] {
        let first = page("storm", "soap", sizes);
        assert_eq!(jaccard(&first, &page("storm", "cars", sizes)), one_article);
        assert_eq!(jaccard(&first, &page("vote", "soap", sizes)), same_adverts);
    }
}
