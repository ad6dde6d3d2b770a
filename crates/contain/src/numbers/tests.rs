use super::*;
use crate::words::Words;

fn read(text: &str) -> String {
    let words = Words::read_plain(text);
    let token = |i: usize| Token::new(words.word(i).into(), text, words.span(i));
    values((0..words.len()).map(token)).join(" ")
}

#[test]
fn numbers_have_one_value_however_they_are_written() {
    for (text, expected) in [
        ("seventeen goats", "17"),
        ("twenty five or 25", "25 25"),
        ("one hundred and twelve", "112"),
        ("one hundred eighty two", "182"),
        ("two thousand three hundred forty", "2340"),
        ("5 million and 3", "5000000 3"),
        ("five six", "5 6"),
        ("XVII VII I II", "17 7 1 2"),
        ("IIII VX MIX", "1009"),
        ("05 7kg 5", "05 7kg 5"),
        ("five hundred six thousand", "506000"),
        ("3070 nine 20 two", "3070 9 20 2"),
        ("5 million twenty five", "5000025"),
        ("one thousand million", "1000000000"),
        ("18446744073709551615 hundred five", "18446744073709551615"),
        ("one hundred and two hundred", "100 200"),
        ("from two thousand to three thousand", "2000 3000"),
        ("two thousand and three thousand two", "2000 3002"),
        ("one thousand one hundred and two hundred", "1100 200"),
        ("five hundred twenty-two thousand", "522000"),
        ("$50 per one hundred. One thousand widgets", "50 100 1000"),
        ("ninety, five, or ninety-five", "90 5 95"),
        ("two thousand, three hundred (five)", "2300 5"),
        ("twenty\n> five", "25"),
        ("one hundred。five", "100 5"),
        ("one hundred: five", "100 5"),
        ("一百。二十", "100 20"),
        ("two hundred five thousand, hundred thousand", "305000"),
        ("nine hundred five thousand hundred hundred", "915000"),
        ("one million two hundred five thousand, thousand", "1206000"),
        ("½", "1 2"),
        ("2 ½", "2 1 2"),
        ("seventh 7th", "7th 7th"),
        ("十 七", "17"),
        ("一 百 二 十", "120"),
        ("二 〇 二 四", "2024"),
        ("三 万 五 千", "35000"),
        ("none of these", ""),
    ] {
        assert_eq!(read(text), expected, "{text}");
    }
}
