//! Made-up shops, and the mistakes of their second list.

use crate::support::Numbers;

pub(super) const FIELDS: [&str; 8] = [
    "name", "phone", "mail", "price", "postcode", "account", "place", "opened",
];

pub(super) const KINDS: [&str; 8] = [
    "name",
    "phone",
    "email",
    "number",
    "postcode",
    "identifier",
    "coordinates",
    "date",
];

pub(super) const SHOPS: usize = 600;

pub(super) const COPIES: usize = 200;

/// A shop, as plainly as it can be written.
#[derive(Clone)]
pub(super) struct Shop {
    name: String,
    /// Without the zero of the country.
    phone: String,
    mail: [String; 2],
    cents: usize,
    postcode: String,
    account: String,
    /// In hundred-thousandths of a degree.
    place: [usize; 2],
    opened: [usize; 3],
}

pub(super) fn letters(numbers: &mut Numbers, from: &str, count: usize) -> String {
    let from: Vec<char> = from.chars().collect();
    (0..count)
        .map(|_| from[numbers.below(from.len())])
        .collect()
}

fn shop(numbers: &mut Numbers) -> Shop {
    let digits = "0123456789";
    let upper = "ABCDEFGHJKLMNPRSTUWXYZ";
    let cents = 100 + numbers.below(200_000);
    let opened = [
        1950 + numbers.below(60),
        1 + numbers.below(12),
        1 + numbers.below(28),
    ];
    let place = [4_600_000, 700_000].map(|least| least + numbers.below(100_000));
    Shop {
        name: letters(numbers, "aeioulmnrst", 8),
        phone: format!("44{}", letters(numbers, digits, 7)),
        mail: [
            letters(numbers, "abcdefghij", 8),
            format!("{}.example", letters(numbers, "klmnop", 6)),
        ],
        cents,
        postcode: [
            letters(numbers, upper, 2),
            letters(numbers, "123456789", 2),
            letters(numbers, digits, 1),
            letters(numbers, upper, 2),
        ]
        .concat(),
        account: letters(numbers, digits, 9),
        place,
        opened,
    }
}

/// A shop as one clerk or another writes it.
pub(super) fn written(shop: &Shop, clerk: usize) -> [String; 8] {
    let [area, local] = [&shop.phone[..2], &shop.phone[2..]];
    let [latitude, longitude] = shop.place.map(|degrees| degrees as f64 / 1e5);
    let (francs, rest) = (shop.cents / 100, shop.cents % 100);
    let thousands = match francs {
        0..1000 => francs.to_string(),
        _ => format!("{},{:03}", francs / 1000, francs % 1000),
    };
    let [year, month, day] = shop.opened;
    let [user, domain] = &shop.mail;
    let (outward, inward) = shop.postcode.split_at(shop.postcode.len() - 3);
    let account = &shop.account;
    let of_clerk = match clerk {
        0 => [
            shop.name.clone(),
            format!("+41 {area} {} {}", &local[..3], &local[3..]),
            format!("{user}@{domain}"),
            format!("${thousands}.{rest:02}"),
            format!("{outward} {inward}"),
            account.clone(),
            format!("\"{latitude:.5}, {longitude:.5}\""),
            format!("{year}-{month:02}-{day:02}"),
        ],
        _ => [
            shop.name.to_uppercase(),
            format!("0{area}/{local}"),
            format!("Shop <{}@{domain}>", user.to_uppercase()),
            format!("{francs}.{rest:02} USD"),
            format!("{outward}{inward}").to_lowercase(),
            format!("{}-{}-{}", &account[..3], &account[3..5], &account[5..]),
            format!("({latitude} {longitude})"),
            format!("{day}.{month}.{year}"),
        ],
    };
    of_clerk.map(|value| {
        if value.contains(',') && !value.starts_with('"') {
            format!("\"{value}\"")
        } else {
            value
        }
    })
}

/// Makes an error in one field.
fn with_error(shop: &mut Shop, field: usize, numbers: &mut Numbers) {
    let replaced = |text: &str, at: usize| -> String {
        let mut letters: Vec<char> = text.chars().collect();
        letters[at] = if letters[at] == '5' { '6' } else { '5' };
        letters.iter().collect()
    };
    let mut below = |bound| numbers.below(bound);
    match field {
        0 => shop.name = shop.name.replacen(['a', 'e', 'i', 'o', 'u'], "y", 1),
        1 => shop.phone = replaced(&shop.phone, 4),
        2 if below(2) == 0 => shop.mail[1] = "other.example".to_owned(),
        2 => shop.mail[0].push('z'),
        3 => shop.cents += shop.cents / [200, 30, 8, 2][below(4)],
        4 => {
            let at = [2, 5, 6][below(3)];
            shop.postcode = replaced(&shop.postcode, at);
            if below(2) == 0 {
                shop.postcode.replace_range(5.., "QQ");
            }
        }
        5 => {
            shop.account = replaced(&shop.account, 2);
            if below(2) == 0 {
                shop.account = replaced(&shop.account, 7);
            }
        }
        6 => shop.place[below(2)] += [30, 500, 4_000, 300_000][below(4)],
        _ => match below(3) {
            0 => shop.opened = [shop.opened[0], shop.opened[2].min(12), shop.opened[1]],
            1 => shop.opened[0] += 1,
            _ => shop.opened[2] = 1 + (shop.opened[2] + 10) % 28,
        },
    }
}

/// Insertions, deletions, replacements and exchanges of neighbours, by all ways to align two texts.
fn edits(a: &str, b: &str) -> usize {
    let [a, b]: [Vec<char>; 2] = [a.chars().collect(), b.chars().collect()];
    let mut table = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = match (i, j) {
                (0, _) | (_, 0) => i + j,
                _ => {
                    let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let mut least = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(table[i - 2][j - 2] + 1);
                    }
                    least
                }
            };
        }
    }
    table[a.len()][b.len()]
}

/// The level of a field of two shops, by the definition; `None` for names and for e-mails that only letters compare.
pub(super) fn level(field: usize, a: &Shop, b: &Shop) -> Option<&'static str> {
    let by_edits = |a: &str, b: &str| match edits(a, b) {
        0 => "equal",
        1 => "close",
        2 => "near",
        3 => "far",
        _ => "other",
    };
    let up_to = |measure: f64, bounds: [f64; 3]| {
        let names = ["close", "near", "far"];
        let found = bounds
            .iter()
            .zip(names)
            .find(|(bound, _)| measure <= **bound);
        found.map_or("other", |(_, name)| name)
    };
    Some(match field {
        1 => by_edits(&a.phone, &b.phone),
        2 if a.mail == b.mail => "equal",
        2 if a.mail[0] == b.mail[0] || edits(&a.mail.join("@"), &b.mail.join("@")) == 1 => "close",
        3 if a.cents == b.cents => "equal",
        3 => up_to(
            a.cents.abs_diff(b.cents) as f64 / a.cents.max(b.cents) as f64,
            [0.01, 0.05, 0.2],
        ),
        4 => {
            let shared = (0..7)
                .take_while(|at| a.postcode[*at..=*at] == b.postcode[*at..=*at])
                .count();
            match edits(&a.postcode, &b.postcode) {
                0 => "equal",
                1 => "close",
                _ if shared >= 5 => "near",
                _ if shared == 4 => "far",
                _ => "other",
            }
        }
        5 => by_edits(&a.account, &b.account),
        6 if a.place == b.place => "equal",
        6 => {
            // Within a degree, the Earth is flat.
            let north = a.place[0].abs_diff(b.place[0]) as f64;
            let middle = (a.place[0] + b.place[0]) as f64 / 2e5;
            let east = a.place[1].abs_diff(b.place[1]) as f64 * middle.to_radians().cos();
            up_to(north.hypot(east) / 1e5 * 111.195, [0.1, 1.0, 10.0])
        }
        7 => {
            let [text, other] = [a, b].map(|shop| {
                format!(
                    "{:04}{:02}{:02}",
                    shop.opened[0], shop.opened[1], shop.opened[2]
                )
            });
            let ([year, month, day], [other_year, other_month, other_day]) = (a.opened, b.opened);
            let is_exchanged = (year, month, day) == (other_year, other_day, other_month);
            let is_year_off =
                (month, day) == (other_month, other_day) && year.abs_diff(other_year) == 1;
            let equal = (0..3)
                .filter(|part| a.opened[*part] == b.opened[*part])
                .count();
            match edits(&text, &other) {
                0 => "equal",
                1 => "close",
                _ if is_exchanged || is_year_off => "close",
                2 => "near",
                _ if equal >= 2 => "near",
                3 => "far",
                _ => "other",
            }
        }
        _ => return None,
    })
}

/// Shops that all differ, and some of them again by another clerk, with one or two errors each.
pub(super) fn shops() -> Vec<Shop> {
    let numbers = &mut Numbers(5);
    let mut shops: Vec<Shop> = (0..SHOPS).map(|_| shop(numbers)).collect();
    for copy in 0..COPIES {
        let mut shop = shops[copy].clone();
        with_error(&mut shop, copy % 8, numbers);
        if copy % 3 == 0 {
            with_error(&mut shop, (copy / 8 + 3) % 8, numbers);
        }
        shops.push(shop);
    }
    shops
}

pub(super) fn word(random: usize) -> String {
    let letters = "abcdefghijklmnop".as_bytes();
    (0..7)
        .map(|at| char::from(letters[random >> (5 * at) & 15]))
        .collect()
}
