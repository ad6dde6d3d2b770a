//! Inputs on which every option can act.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, gzip};

/// A random number below `end`, the same in every run.
fn random(state: &mut u64, end: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % end
}

/// Words from a formula, some of them small.
fn words(state: &mut u64, count: usize) -> Vec<String> {
    const SMALL: [&str; 4] = ["the", "of", "and", "to"];
    let word = |_| match random(state, 4) {
        0 => SMALL[random(state, 4)].to_owned(),
        _ => format!("wor'd{}", random(state, 300)),
    };
    (0..count).map(word).collect()
}

/// Documents in families, whose members differ in words, case, punctuation, white space and repeats. One word more or less
/// makes a similarity of about 0.8. The last families have most of their words in common.
fn documents() -> Vec<Value> {
    let mut state = 1;
    let mut documents = Vec::new();
    let common = words(&mut state, 35);
    for family in 0..32 {
        let base = match family {
            0..22 => words(&mut state, 50),
            _ => [common.clone(), words(&mut state, 15)].concat(),
        };
        for member in 0..7 {
            let mut tokens = base.clone();
            let is_copy = member < 2 && family % 3 == 0;
            for _ in 0..if is_copy { 0 } else { random(&mut state, 4) } {
                let at = random(&mut state, tokens.len());
                tokens[at] = words(&mut state, 1).remove(0);
            }
            if member == 2 {
                tokens.extend_from_within(0..12);
                tokens.extend_from_within(0..12);
            }
            let text = tokens.join(" ");
            let text = match member {
                3 => text.replace("wor'd", "Wor'd"),
                4 => text.replace('\'', ""),
                5 => text.replace(' ', ", ").replacen(", ", "   ", 12),
                6 => text.replacen(' ', "\n\n ", 30),
                _ => text,
            };
            let weight = |token: &String| 0.13 + 0.37 * (token.len() % 5) as f64;
            let id = documents.len();
            documents.push(json!({
                "id": id,
                "key": format!("k{id}"),
                "text": text,
                "body": tokens[..20].join(" "),
                "tokens": tokens,
                "toks": tokens[..18],
                "w": tokens.iter().map(weight).collect::<Vec<_>>(),
                "n": (id * 37 + family) % 101,
            }));
        }
    }
    documents
}

fn lines(documents: &[Value]) -> String {
    documents
        .iter()
        .map(|document| format!("{document}\n"))
        .collect()
}

/// A place with the inputs of all modes.
pub(super) fn place() -> Place {
    let place = Place::new();
    let documents = documents();
    // Members of a family are in both files.
    let (mut a, mut b): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for (i, document) in documents.iter().enumerate() {
        if i % 2 == 0 { &mut a } else { &mut b }.push(document.clone());
    }
    a.push(json!({
        "id": "empty", "key": "empty", "text": "", "body": "", "tokens": [], "toks": [], "w": [], "n": 3,
    }));
    place.write("texts/a.txt", " ");
    for (name, part) in [("a", &a), ("b", &b)] {
        place.write(&format!("docs/{name}.jsonl"), lines(part));
        place.write(
            &format!("zipped/{name}.jsonl.gz"),
            gzip(lines(part).as_bytes()),
        );
    }
    place.write("docs/.c.jsonl", lines(&documents[..9]));
    place.write("zipped/.c.jsonl", lines(&documents[..9]));
    let mut csv = "id,key,text,body,n\n".to_owned();
    for (i, document) in documents.iter().enumerate() {
        let text = document["text"].as_str().unwrap();
        let name = ["a", "b"][i % 2];
        place.write(&format!("texts/{name}{i}.txt"), text);
        if i % 7 == 0 {
            let (body, n) = (&document["body"], &document["n"]);
            writeln!(csv, "c{i},k{i},\"{text}, again\",{body},{n}").unwrap();
        }
    }
    place.write("docs/d.csv", &csv);
    write_repeats(&place, [&a, &b], &csv);
    place.write("texts/.c.txt", documents[0]["text"].as_str().unwrap());
    place.write("stop.txt", "of and wor'd7 wor'd9");
    place.write("temporary/.keep", "");
    let text = |i: usize| documents[i]["text"].as_str().unwrap();
    place.write("one.txt", format!("{} {}", text(0), text(2)));
    place.write("two.txt", format!("{} {} {}", text(3), text(5), text(6)));
    place.run("sign docs -o s.parquet --quiet").succeeded();
    place.run("dedup docs -o removals --quiet").succeeded();
    let pairs = "pairs docs -o found.jsonl --quiet";
    place.run(pairs).succeeded();
    let pairs = "pairs docs --include *.jsonl -o found.csv --quiet";
    place.run(pairs).succeeded();
    write_records(&place);
    write_ratings(&place);
    write_quiz(&place);
    write_indexes(&place);
    place
}

/// Two indexes, and documents for them. The index of words knows the id of one of them.
fn write_indexes(place: &Place) {
    for (index, unit) in [("seen", "words"), ("tokens", "tokens")] {
        let build =
            format!("index build docs/a.jsonl --index {index} --threshold 0.5 --unit {unit}");
        place.run(&build).succeeded();
    }
    let known = json!({"id": 0, "key": "k0", "text": "a text of its own", "body": "a body"});
    let news = place.read("docs/b.jsonl");
    place.write("news/ab.jsonl", [news, lines(&[known]).into()].concat());
    for name in ["d.csv", ".c.jsonl"] {
        place.write(&format!("news/{name}"), place.read(&format!("docs/{name}")));
    }
    place.write("gone.txt", "0\n4\n");
    place.write("none.txt", "");
}

/// Copies a folder.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target)
        } else {
            std::fs::copy(path, target).unwrap();
        }
    }
}

/// Items, and documents that ask some of them: as they are, with a word changed, or in part.
fn write_quiz(place: &Place) {
    let mut state = 7;
    let mut question = || format!("Which of the {}?", words(&mut state, 20).join(" "));
    let (mut items, mut documents) = (Vec::new(), Vec::new());
    let mut csv = "id,key,text,body\n".to_owned();
    for i in 0..150 {
        let (asked, other) = (question(), question());
        let text = match i % 3 {
            0 => format!("It was said. {asked} So it was."),
            1 => format!(
                "It was said. {} So it was.",
                asked.replacen("wor'd", "xor'd", 2)
            ),
            _ => format!("It was said, of {}.", &asked[..asked.len() / 2]),
        };
        if i == 0 {
            place.write("ignored.txt", asked.as_bytes());
        }
        items.push(json!({"question": asked, "other": other, "id": i, "key": format!("i{i}"), "name": "quiz"}));
        documents.push(json!({"id": i, "key": format!("k{i}"), "text": text, "body": other}));
        writeln!(csv, "c{i},k{i},\"{text}, again\",{other}").unwrap();
    }
    place.write("items.jsonl", lines(&items));
    place.write("quiz/a.jsonl", lines(&documents[..60]));
    place.write("quiz/b.jsonl.gz", gzip(lines(&documents[60..]).as_bytes()));
    place.write("quiz/.c.jsonl", lines(&documents[..9]));
    place.write("quiz/d.csv", csv);
    place
        .run("contain quiz -o counted --against items.jsonl -q")
        .succeeded();
}

/// The same documents, and some that repeat a part of themselves.
fn write_repeats(place: &Place, parts: [&[Value]; 2], csv: &str) {
    let mut state = 9;
    let mut repeats: Vec<Value> = (0..60)
        .map(|i| {
            let part = words(&mut state, 30).join(" ");
            let text = format!("{part}\n{}\n{part}\n", words(&mut state, 5).join(" "));
            place.write(&format!("twice/b{i}.txt"), &text);
            place.write(&format!("twice/a{i}.txt"), format!("{text} {part}, {text}"));
            json!({"id": format!("r{i}"), "key": i, "text": text, "body": part})
        })
        .collect();
    let wide = repeats[3]["body"].as_str().unwrap().replace(' ', "  ");
    repeats.push(json!({"id": "wide", "key": 60, "text": wide, "body": "none"}));
    place.write("twice/.c.txt", repeats[0]["text"].as_str().unwrap());
    place.write(
        "twice/c.txt",
        repeats[1]["text"].as_str().unwrap().replace(' ', ", "),
    );
    let upper = repeats[2]["text"].as_str().unwrap().to_uppercase();
    place.write("twice/d.txt", upper);
    for (name, part) in ["a", "b"].into_iter().zip(parts) {
        place.write(&format!("repeats/{name}.jsonl"), lines(part));
    }
    place.write("repeats/b2.jsonl", lines(&repeats));
    let other = |i: usize, change: fn(&str) -> String| {
        let text = change(repeats[i]["text"].as_str().unwrap());
        json!({"id": format!("o{i}"), "key": format!("k{i}"), "text": text, "body": text})
    };
    let changed = [
        other(4, str::to_uppercase),
        other(5, |text| text.replace(' ', ", ")),
    ];
    let hidden = [&repeats[..3], &changed].concat();
    place.write("repeats/.c.jsonl", lines(&hidden));
    place.write("repeats/d.csv", csv);
}

/// Two files of records to link.
fn write_records(place: &Place) {
    let mut state = 5;
    let (mut one, mut two) = (
        "id,key,name,city\n".to_owned(),
        "id,key,name,city\n".to_owned(),
    );
    for i in 0..150 {
        let mut part = || {
            format!(
                "{}{}",
                ["ba", "ke", "mo", "ri"][random(&mut state, 4)],
                random(&mut state, 90)
            )
        };
        let (first, last, city) = (part(), part(), part());
        let first = if i % 9 == 0 { "Bill".to_owned() } else { first };
        // Another quote than that of CSV cuts such a city in two.
        let of_one = if i % 11 == 0 {
            format!("\"{city}, {city}\"")
        } else {
            city.clone()
        };
        writeln!(one, "{i},k{i},{first} {last}{i},{of_one}").unwrap();
        let first = if i % 9 == 0 {
            "William".to_owned()
        } else {
            first
        };
        writeln!(two, "{i},k{i},{first} {last}{i}x,{city}").unwrap();
        if i % 10 == 0 {
            writeln!(two, "{i},l{i},{first} {last}{i},{city} y").unwrap();
            writeln!(one, "{i},l{i},{first} {last}{i},{city} z").unwrap();
        }
    }
    // An evaluation tells records apart by their ids.
    let is_first = |line: &&str| !line.contains(",l");
    let unique: Vec<&str> = one.lines().filter(is_first).collect();
    place.write("unique.csv", unique.join("\n"));
    place.write("one.csv", one);
    place.write("two.csv", two);
    place.write("equal.txt", "William, Bill\n");
    let link = "link unique.csv --fields name,city -o linked --quiet";
    place.run(link).succeeded();
    let mut pairs = "id_a,id_b,id_c\n".to_owned();
    for i in (0..150).step_by(5) {
        writeln!(pairs, "{i},\"{}\",{}", (i + 7) % 150, (i + 8) % 150).unwrap();
    }
    place.write("pairs.csv", pairs);
}

/// Ratings, some of them repeated, and the names of the items.
fn write_ratings(place: &Place) {
    let mut state = 3;
    let mut ratings = "user,user2,item,item2,rating,rating2,timestamp,time2,note\n".to_owned();
    for user in 0..40 {
        for rated in 0..60 {
            let item = (user % 4 * 6 + random(&mut state, 36)) % 60;
            let stars = 1 + random(&mut state, 3) + random(&mut state, 3);
            let (other, time) = (1 + random(&mut state, 5), user * 100 + rated);
            let (user2, item2) = ((user + rated) % 30, (item * 7) % 23);
            writeln!(
                ratings,
                "{user},{user2},{item},{item2},{stars},{other},{time},{},\"a, b\"",
                5000 - time
            )
            .unwrap();
        }
    }
    place.write("ratings.csv", ratings);
    let mut names = "id,id2,name,name2\n".to_owned();
    for item in 0..60 {
        writeln!(names, "{item},{},Film {item},Movie {item}", 59 - item).unwrap();
    }
    place.write("names.csv", names);
}
