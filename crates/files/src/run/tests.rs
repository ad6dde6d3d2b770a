use super::*;
use crate::tests::{engine, overwriting, place, skipping, task};

#[test]
fn outputs_and_temporary_files_stay_apart() {
    let (place, engine) = (place(), engine());
    let inputs = place.inputs();
    let out = place.path("out");
    for (temporary, is_refused) in [("out", true), ("out/below", true), ("other", false)] {
        let temporary = place.path(temporary);
        std::fs::create_dir_all(&temporary).unwrap();
        let run = Run {
            temporary: Some(temporary.clone()),
            ..skipping(&engine, &inputs)
        };
        let refused = run.check_temporary_outside(&out);
        assert_eq!(refused.is_err(), is_refused, "{}", temporary.display());
    }
    let into = |output: &str| {
        let run = Run {
            options: overwriting(true),
            ..skipping(&engine, &inputs)
        };
        run.dedup(&task(&engine), &place.path(output))
    };
    for inside in ["in", "in/b", "in/new"] {
        assert!(
            matches!(into(inside), Err(Error::Output { .. })),
            "{inside}"
        );
    }
    // A folder that holds the inputs would be replaced.
    assert!(into("").is_err());
}
