use super::*;
use simgpu::pipeline::StopWords;

fn engine(shingling: Shingling) -> Engine {
    let builder = Engine::builder().shingling(shingling).work_bytes(0);
    builder.build().unwrap()
}

fn header(engine: &Engine) -> Header {
    let search = Search {
        verification: Verification::Signature,
        ..Search::new(0.7, engine.scheme()).unwrap()
    };
    Header::new(engine, &search).unwrap()
}

#[test]
fn a_header_is_read_as_it_was_written() {
    let stop_words: StopWords = ["der", "die", "das"].into_iter().collect();
    let counted = Shingling {
        weighting: Weighting::Counts,
        ..Shingling::of(Unit::Words)
    };
    let shinglings = [
        Shingling::of(Unit::Chars),
        Shingling::of(Unit::Tokens),
        Shingling::of(Unit::StopWords(stop_words)),
        counted,
    ];
    for shingling in shinglings {
        let folder = tempfile::tempdir().unwrap();
        let written = header(&engine(shingling.clone()));
        assert!(!Header::is_in(folder.path()).unwrap());
        written.write(folder.path()).unwrap();
        let read = Header::read(folder.path()).unwrap();
        assert_eq!(read, written);
        let (engine, search) = read.resolve(folder.path()).unwrap();
        assert_eq!(engine.shingler().shingling(), &shingling);
        assert_eq!(search.verification, Verification::Signature);
    }
}

#[test]
fn headers_that_differ_are_errors_with_both_values() {
    let words = header(&engine(Shingling::of(Unit::Words)));
    let chars = header(&engine(Shingling::of(Unit::Chars)));
    let error = words.check_same(Path::new("index"), &chars).unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("words-v1") && message.contains("murmur3"),
        "{message}"
    );
    assert!(words.check_same(Path::new("index"), &words.clone()).is_ok());
}

#[test]
fn any_header_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let good = serde_json::to_string(&header(&engine(Shingling::default()))).unwrap();
    let bad = [
        String::new(),
        "null".to_owned(),
        "{}".to_owned(),
        good.replace("\"num_perm\":128", "\"num_perm\":0"),
        good.replace("\"size\":5", "\"size\":0"),
        good.replace("\"bands\":", "\"bands\":9"),
        good.replace("\"threshold\":0.7", "\"threshold\":1e300"),
        good.replace("\"unit\":\"words\"", "\"unit\":\"miles\""),
        good.replace("\"kind\":\"lsh\"", "\"kind\":\"exact\""),
        good.replace("\"simgpu_index\":4", "\"simgpu_index\":3"),
        good.replace("\"slot_bits\":8", "\"slot_bits\":4"),
        good[..good.len() / 2].to_owned(),
    ];
    let read = |text: &str| {
        std::fs::write(folder.path().join(HEADER), text).unwrap();
        let read = Header::read(folder.path());
        read.and_then(|header| header.resolve(folder.path()).map(|_| ()))
    };
    for text in bad {
        assert_ne!(text, good);
        assert!(read(&text).is_err(), "{text}");
        // The same values with their own checksum.
        if let Ok(header) = serde_json::from_str::<Header>(&text) {
            assert!(read(&header.encode().unwrap()).is_err(), "{text}");
        }
    }
    let good: Header = serde_json::from_str(&good).unwrap();
    let encoded = good.encode().unwrap();
    assert!(read(&encoded).is_ok());
    assert_eq!(Header::decode(&encoded), Ok(good));
    assert!(read(&encoded.replace("\"threshold\": 0.7", "\"threshold\": 0.8")).is_err());
}
