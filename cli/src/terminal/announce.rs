//! What a run is about to do: its search and its signatures.

use indicatif::HumanCount;
use simgpu::engine::Engine;
use simgpu::pipeline::{Shingling, Unit, Weighting};
use simgpu::progress::Progress;
use simgpu::scheme::{Preset, Scheme, Shingles};
use simgpu::search::{CandidateMethod, Search};
use simgpu_files::{PairsFile, SignatureFile};

use super::numbers::counted;

/// Tells the parameters of a run over documents.
pub(crate) fn announce(progress: &dyn Progress, engine: &Engine, search: Option<&Search>) {
    let scheme = engine.scheme();
    let shingling = engine.shingler().shingling();
    let shingles = shingles_name(shingling);
    let method = search.and_then(|search| search.method(engine).ok());
    if let (Some(search), Some(CandidateMethod::Join)) = (search, method) {
        let within = search.within.map(|within| {
            let (distance, most) = (within.distance.name(), HumanCount(within.most));
            format!(" within {distance} distance {most}")
        });
        progress.tell(&format!(
            "{shingles}, exact join{}",
            within.unwrap_or_default()
        ));
        return;
    }
    let shingles = match method {
        // Which of both depends on the documents.
        Some(CandidateMethod::Auto) => {
            format!("{shingles}, exact join where it costs about as much as LSH, else LSH\nLSH:")
        }
        _ => shingles,
    };
    let mut message = format!(
        "{shingles} hashed by {hash}, {scheme} with {k} permutations on {backend}",
        hash = engine.shingler().hash(),
        k = HumanCount(scheme.num_perm() as u64),
        backend = engine.signer().describe()
    );
    if let Some(search) = search {
        message.push_str(&search_parameters(scheme, search));
    }
    progress.tell(&message);
    let splits_words = |preset: &&Preset| preset.shingles == Shingles::FiveWords;
    match scheme.preset() {
        Some(preset) if shingling.weighting != Weighting::Equal => progress.tell(&format!(
            "signatures differ from those of {}, whose shingles weigh the same",
            preset.name
        )),
        Some(preset) if splits_words(&preset) && shingling.unit.is_made_of_words() => {
            progress.tell(&format!(
                "signatures equal those of {} only for the same tokens; pass them with `unit=tokens`",
                preset.name
            ));
        }
        _ => {}
    }
}

/// Tells the parameters of a run over stored signatures.
pub(crate) fn announce_signatures(
    progress: &dyn Progress,
    signatures: &SignatureFile,
    search: &Search,
) {
    let scheme = signatures.scheme();
    progress.tell(&format!(
        "{signatures} of shingles of {shingles}, {scheme} with {k} permutations and seed {seed}{search}",
        signatures = counted(signatures.documents(), "signature"),
        shingles = signatures.shingles(),
        k = HumanCount(scheme.num_perm() as u64),
        seed = scheme.seed(),
        search = search_parameters(scheme, search),
    ));
}

/// Tells what a run by a file of pairs does.
pub(crate) fn announce_pairs(progress: &dyn Progress, pairs: &PairsFile) {
    progress.tell(&format!(
        "{} of similarity {} or more, found by an earlier run; no shingles and no signatures are computed",
        counted(pairs.pairs(), "pair"),
        pairs.search().threshold
    ));
}

/// The banding and the memory per document, to append to the parameters of signatures.
fn search_parameters(scheme: &Scheme, search: &Search) -> String {
    let bands = counted(search.banding.bands() as u64, "band");
    let rows = counted(search.banding.rows() as u64, "slot");
    let bytes = search.bytes_per_document(scheme.num_perm());
    format!(
        ", {bands} of {rows}\nheld in memory: {} bytes per document, plus its id",
        HumanCount(bytes as u64)
    )
}

/// What is signed: `shingles of 5 words`.
pub(crate) fn shingles_name(shingling: &Shingling) -> String {
    let unit = &shingling.unit;
    let is_unit = *unit == Unit::Tokens && shingling.size.get() == 1;
    let counted = match shingling.weighting {
        Weighting::Equal => "",
        Weighting::Counts => "counted ",
        Weighting::Places => return "tokens, each with its place".to_owned(),
        Weighting::Given(_) => "weighted ",
        Weighting::Rarity => "rarity-weighted ",
    };
    if unit.takes_size() && !is_unit {
        let size = HumanCount(shingling.size.get() as u64);
        let unit = match unit {
            Unit::Code => "tokens of code".to_owned(),
            unit => unit.to_string(),
        };
        let unit = match shingling.size.get() {
            1 if shingling.unit == Unit::Code => "token of code",
            1 => unit.strip_suffix('s').unwrap_or(&unit),
            _ => &unit,
        };
        format!("{counted}shingles of {size} {unit}")
    } else {
        format!("{counted}shingles of {unit}")
    }
}
