//! The parameters that a report states.

use std::num::NonZeroU64;

use super::Run;
use simgpu::pipeline::{Measure, Unit, Weighting};
use simgpu::scheme::words_v1;
use simgpu::search::{CandidateMethod, Search};
use simgpu_io::{Fields, Parameters, SearchParameters};

impl<'a> Run<'a> {
    /// All parameters that affect the result.
    pub(crate) fn parameters(&self, search: Option<&Search>) -> Parameters {
        let (scheme, shingler) = (self.engine.scheme(), self.engine.shingler());
        let shingling = shingler.shingling();
        let (major, minor, patch) = words_v1::UNICODE_VERSION;
        let has_words = matches!(shingling.unit, Unit::Words | Unit::StopWords(_));
        let weights = self.fields.weights.as_ref();
        let against = self.against.as_ref().map(|against| &against.fields);
        let size = shingling.unit.takes_size().then(|| shingling.size.get());
        Parameters {
            scheme: scheme.to_string(),
            hash: shingler.hash().to_string(),
            seed: scheme.seed(),
            num_perm: scheme.num_perm_u16().into(),
            unit: shingling.unit.to_string(),
            size: size.map(|size| size as u64),
            lowercase: shingling.normalise.lowercase,
            strip_punctuation: shingling.normalise.strip_punctuation,
            keep_whitespace: shingling.normalise.keep_whitespace,
            count: shingling.weighting == Weighting::Counts,
            weights: (shingling.weighting == Weighting::Rarity).then(|| "rarity".to_owned()),
            unicode_version: has_words.then(|| format!("{major}.{minor}.{patch}")),
            content_field: self.fields.content_names(),
            weights_field: weights.map(|weights| weights.path.to_string()),
            weight_scale: weights.map(|weights| weights.scale.get()),
            id_field: self.fields.id.to_string(),
            limit: self.limit.map(NonZeroU64::get),
            against_content_field: against.map(Fields::content_names),
            against_id_field: against.map(|fields| fields.id.to_string()),
            search: search.map(|search| search_parameters(search, scheme.num_perm())),
        }
    }
}

/// The parameters of a search, for the report.
pub(crate) fn search_parameters(search: &Search, num_perm: usize) -> SearchParameters {
    let is_join = search.candidates == CandidateMethod::Join;
    let unless_join = |number| (!is_join).then_some(number);
    SearchParameters {
        threshold: search.within.is_none().then_some(search.threshold),
        measure: (search.measure != Measure::Jaccard).then(|| search.measure.name().to_owned()),
        distance: search
            .within
            .map(|within| within.distance.name().to_owned()),
        within: search.within.map(|within| within.most),
        candidates: search.candidates.name().to_owned(),
        bands: unless_join(search.banding.bands()),
        rows: unless_join(search.banding.rows()),
        verify: search.verification.name().to_owned(),
        index_verify: (search.index_verification)
            .filter(|_| search.estimates_index())
            .map(|verification| verification.name().to_owned()),
        recall_at_threshold: search.recall_at_threshold(num_perm),
        input_recall_at_threshold: search.estimates_index().then(|| {
            let among_inputs = Search {
                index_verification: None,
                ..search.clone()
            };
            among_inputs.recall_at_threshold(num_perm)
        }),
        recall_by_size_ratio: search.recall_by_size_ratio(num_perm),
    }
}
