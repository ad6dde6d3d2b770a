//! Arguments that several commands share, and the settings they resolve to. The command line fills them through clap;
//! another front end fills their fields.

mod numbers;

mod inputs;

mod reference;

mod records;

mod backend;

mod signing;

mod process;

mod run;

mod banding;

mod search;

pub use backend::BackendArguments;
pub use banding::{BandingArguments, requested_banding};
pub use inputs::{FormatArgument, FormatArguments, InputArguments, SelectionArguments};
pub(crate) use inputs::{all_files, check_field, globs, modes_of_files};
pub use numbers::{delimiter, memory_size, quote, size};
pub(crate) use numbers::{num_perm_range, number, whole_number, whole_number_or_0};
#[cfg(feature = "bench")]
pub(crate) use process::check_threads;
pub use process::{Caller, ProcessArguments, THREADS_PER_CORE, cores};
pub use records::{BadRecordArguments, OnBadRecordArgument, RecordArguments};
pub use reference::AgainstArguments;
pub(crate) use reference::References;
pub(crate) use run::local_folder;
pub use run::{HoldArguments, RecordMemoryArguments, RunArguments};
pub use search::{
    CandidatesArgument, DistanceArgument, MeasureArgument, SearchArguments, VerifyArgument,
    candidate_method, method_within, modes_of_method, modes_of_search, requested_distance,
};
pub use signing::{
    SHINGLE_OPTIONS, SigningArguments, StopWordsArgument, UnitArgument, WeightsArgument, scheme_of,
    unit_modes,
};
pub(crate) use signing::{SIGNATURE_OPTIONS, shingling_of};
