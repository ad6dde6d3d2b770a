//! Storage that grows with the number of documents and may outgrow memory.
//!
//! A store keeps values and returns them; it knows neither file formats nor what the values mean.
//! [`ExactSets`] uses memory up to a bound and a temporary file beyond it. `spill` keeps records on disk and sorts them.

mod exact_sets;

mod set_table;

mod texts;

#[doc(hidden)]
pub mod disk;

mod lock;

#[doc(hidden)]
pub mod spill;

mod temporary;

mod work_folder;

pub use exact_sets::ExactSets;
pub(crate) use exact_sets::NearSets;
pub(crate) use exact_sets::SETS_IN_MEMORY;
#[doc(hidden)]
pub use lock::Locked;
#[doc(hidden)]
pub use temporary::{announce_files, unnamed_file};
#[doc(hidden)]
pub use texts::Texts;
#[doc(hidden)]
pub use work_folder::WorkFolder;
