//! The ids that a result and the truth share, and those that only one has.

use super::found::Found;
use super::truth::Truth;
use simgpu_io::Labels;

/// Which ids result and truth share.
#[derive(Default)]
pub(super) struct SharedIds {
    pub(super) in_result: u64,
    pub(super) in_truth: u64,
    pub(super) both: u64,
    pub(super) not_in_truth: u64,
    pub(super) not_in_result: u64,
    pub(super) first_in_result: Option<String>,
    pub(super) first_in_truth: Option<String>,
    pub(super) first_not_in_truth: Option<String>,
    pub(super) first_not_in_result: Option<String>,
}

impl SharedIds {
    /// `known` is the number of ids of the result, of each collection.
    pub(super) fn new(found: &Found, truth: &Truth, known: &[u32]) -> Self {
        let mut shared = SharedIds::default();
        for ((ids, has), known) in found.ids.iter().zip(&truth.has).zip(known) {
            for number in 0..ids.len() {
                let is_in_truth = has.get(number as usize).copied().unwrap_or(false);
                shared.add(ids, number, [number < *known, is_in_truth]);
            }
        }
        shared
    }

    fn add(&mut self, ids: &Labels, number: u32, [in_result, in_truth]: [bool; 2]) {
        let note = |is: bool, count: &mut u64, first: &mut Option<String>| {
            if is {
                *count += 1;
                first.get_or_insert_with(|| ids.json(number).into_owned());
            }
        };
        note(in_result, &mut self.in_result, &mut self.first_in_result);
        note(in_truth, &mut self.in_truth, &mut self.first_in_truth);
        note(
            !in_truth,
            &mut self.not_in_truth,
            &mut self.first_not_in_truth,
        );
        note(
            !in_result,
            &mut self.not_in_result,
            &mut self.first_not_in_result,
        );
        self.both += u64::from(in_result && in_truth);
    }
}
