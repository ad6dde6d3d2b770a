use super::*;
use crate::tests::{Place, engine, place, search, skipping};
use simgpu::search::Verification;

/// Signs the documents of a place.
fn sign(place: &Place, name: &str) -> PathBuf {
    let engine = engine();
    let path = place.path(name);
    let inputs = place.inputs();
    let outcome = skipping(&engine, &inputs).sign(&path).unwrap();
    let counts = outcome.report.counts;
    let signed = SignatureFile::open(&path).unwrap();
    assert_eq!(signed.documents(), counts.documents - counts.skipped);
    assert_eq!(signed.shingles(), "2 words (words-v1)");
    path
}

fn pairs(place: &Place, signatures: &Path, name: &str) -> Result<Outcome> {
    let signed = SignatureFile::open(signatures)?;
    let task = Pairs::new(search(&engine(), Verification::Signature));
    let output = place.path(name);
    SignatureRun::new(signed).pairs(&task, PairsOutput::File(&output))
}

#[test]
fn signatures_have_the_pairs_of_their_documents() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let task = Pairs::new(search(&engine, Verification::Signature));
    let file = place.path("documents.jsonl");
    let direct = skipping(&engine, &inputs).pairs(&task, PairsOutput::File(&file));
    let direct = direct.unwrap().report;
    for ending in ["npy", "parquet"] {
        let signed = sign(&place, &format!("signed.{ending}"));
        let name = format!("{ending}.jsonl");
        let report = pairs(&place, &signed, &name).unwrap().report;
        let [expected, found] = ["documents.jsonl", &name].map(|name| place.lines(name));
        assert_eq!(found.len(), expected.len());
        for (mut found, mut expected) in found.into_iter().zip(expected) {
            for side in ["a", "b"] {
                if ending == "npy" {
                    // A matrix has no ids.
                    let (file, row) = (
                        &found[format!("file_{side}")],
                        &found[format!("row_{side}")],
                    );
                    expected[format!("id_{side}")] =
                        format!("{}:{row}", file.as_str().unwrap()).into();
                } else {
                    // Some ids were numbers.
                    for pair in [&mut found, &mut expected] {
                        let id = pair[format!("id_{side}")].to_string();
                        pair[format!("id_{side}")] = id.trim_matches('"').into();
                    }
                }
            }
            assert_eq!(found, expected);
        }
        for counts in [&report.counts, &direct.counts] {
            assert!(counts.skipped > 3);
        }
        assert_eq!(report.counts.documents, direct.counts.documents);
        assert_eq!(report.counts.skipped, direct.counts.skipped);
        assert_eq!(report.empty_files, ["b/c.jsonl"]);
    }
}

#[test]
fn a_matrix_that_is_not_the_described_one_is_refused() {
    let place = place();
    let signed = sign(&place, "signed.npy");
    let mut bytes = std::fs::read(&signed).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&signed, &bytes).unwrap();
    let refused = pairs(&place, &signed, "pairs.jsonl")
        .unwrap_err()
        .to_string();
    assert!(refused.contains("its digest does not match"), "{refused}");
    assert!(!place.path("pairs.jsonl").exists());
    bytes.push(0);
    std::fs::write(&signed, &bytes).unwrap();
    assert!(SignatureFile::open(&signed).is_err());
}

#[test]
fn a_description_that_does_not_fit_is_refused() {
    let place = place();
    let signed = sign(&place, "signed.npy");
    let described = place.text("signed.npy.json");
    let value: serde_json::Value = serde_json::from_str(&described).unwrap();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut changed = value.clone();
        change(&mut changed);
        place.write("signed.npy.json", changed.to_string());
        let refused = pairs(&place, &signed, "pairs.jsonl").map(|_| ());
        refused.unwrap_err().to_string()
    };
    for (pointer, wrong, problem) in [
        ("/simgpu_report", 0.into(), "its layout is version 0"),
        (
            "/parameters/num_perm",
            64.into(),
            "it states 64 permutations",
        ),
        ("/counts/documents", 3.into(), "it states 3 documents"),
        ("/files/0/first_row", 1.into(), "do not ascend from 0"),
        ("/files/2/first_row", 99_999.into(), "do not ascend from 0"),
        ("/skipped/0/file", "d.jsonl".into(), "out of order"),
        ("/skipped/1/row", 0.into(), "out of order"),
        ("/files", serde_json::json!([]), "it lists no signed file"),
    ] {
        let told = refused(&|value| *value.pointer_mut(pointer).unwrap() = wrong.clone());
        assert!(told.contains(problem), "{pointer}: {told}");
    }
}
