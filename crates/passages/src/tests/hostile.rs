//! Texts that are hostile to searches, and texts at random.

/// A random number below `end`.
pub(crate) fn random(state: &mut u64, end: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % end
}

/// Letters of an alphabet of this size.
pub(crate) fn letters(state: &mut u64, count: usize, alphabet: usize) -> Vec<u8> {
    let letter = |_| b'a' + u8::try_from(random(state, alphabet)).unwrap();
    (0..count).map(letter).collect()
}

/// Texts of many equal windows, many equal anchors, or long periods. `scale` is about the number of bytes.
pub(crate) fn hostile(scale: usize) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let state = &mut 7;
    let same = letters(state, scale / 40, 26);
    let boilerplate = letters(state, 400, 26);
    let phrase = letters(state, 60, 26);
    let mut fibonacci = (vec![b'a'], vec![b'b']);
    while fibonacci.0.len() < scale {
        fibonacci = ([&fibonacci.0[..], &fibonacci.1].concat(), fibonacci.0);
    }
    let edited = letters(state, 2_000, 26);
    let around = |state: &mut u64, len: usize, part: &[u8]| {
        [
            letters(state, len, 26),
            part.to_vec(),
            letters(state, len, 26),
        ]
        .concat()
    };
    vec![
        ("one letter", vec![vec![b'a'; scale]]),
        (
            "one letter in documents of 99 to 101",
            (0..scale / 100).map(|i| vec![b'a'; 99 + i % 3]).collect(),
        ),
        (
            "two letters",
            vec![b"ab".repeat(scale / 4), b"ba".repeat(scale / 4)],
        ),
        (
            "a period of 37",
            (0..scale / 2_000)
                .map(|_| [letters(state, 37, 26).repeat(40), letters(state, 500, 26)].concat())
                .collect(),
        ),
        ("equal documents", vec![same; 40]),
        (
            "boilerplate",
            (0..scale / 600)
                .map(|_| around(state, 100, &boilerplate))
                .collect(),
        ),
        (
            "a phrase shorter than a window",
            (0..scale / 180)
                .map(|_| around(state, 60, &phrase))
                .collect(),
        ),
        (
            "parts of boilerplate",
            (0..scale / 200)
                .map(|_| {
                    let (from, len) = (random(state, 40), 40 + random(state, 60));
                    around(state, 60, &boilerplate[from..from + len])
                })
                .collect(),
        ),
        (
            "edited copies",
            (0..scale / 2_000)
                .map(|i| {
                    let mut copy = edited.clone();
                    for j in 0..20 {
                        copy[(i * 7_919 + j * 104_729) % 2_000] =
                            b'A' + u8::try_from(i % 26).unwrap();
                    }
                    copy
                })
                .collect(),
        ),
        ("two random letters", vec![letters(state, scale, 2)]),
        ("Fibonacci word", vec![fibonacci.0]),
        (
            "Thue-Morse word",
            vec![
                (0..scale)
                    .map(|i| b'a' + u8::from(i.count_ones() % 2 == 1))
                    .collect(),
            ],
        ),
        (
            "dashes and words",
            (0..scale / 400)
                .map(|_| {
                    let parts = [vec![b'-'; 150], letters(state, 80, 26)];
                    [parts.concat(), vec![b'='; 120], letters(state, 30, 26)].concat()
                })
                .collect(),
        ),
        (
            "short and empty",
            vec![
                vec![],
                b"x".to_vec(),
                vec![],
                boilerplate[..100].to_vec(),
                boilerplate[..100].to_vec(),
                boilerplate[..99].to_vec(),
                vec![],
            ],
        ),
    ]
}

/// Pieces of earlier text with edits, among new text.
pub(crate) fn patchwork(state: &mut u64, documents: usize, alphabet: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<u8> = Vec::new();
    let mut texts = Vec::new();
    for _ in 0..documents {
        let start = all.len();
        for _ in 0..random(state, 12) {
            let len = random(state, 200);
            if random(state, 3) > 0 && all.len() > len {
                let from = random(state, all.len() - len + 1);
                all.extend_from_within(from..from + len);
            } else {
                all.extend(letters(state, len / 3, alphabet));
            }
            if random(state, 3) == 0 && all.len() > start {
                let at = all.len() - 1 - random(state, (all.len() - start).min(150));
                all[at] = b'A' + u8::try_from(random(state, 3)).unwrap();
            }
        }
        texts.push(all[start..].to_vec());
    }
    texts
}
