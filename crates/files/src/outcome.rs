//! The outcome of a run over files.

use simgpu::error::{Error, Result, row_number};
use simgpu::progress::{Progress, Timings, grouped};
use simgpu_io::{FieldPath, Inputs, Places, Repeated, Report};

/// The outcome of a run over files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// The counts, parameters and clusters. Equal inputs and options make equal reports.
    pub report: Report,
    /// The elapsed times of the stages. Those that are not parts of others add up to [`Outcome::elapsed_s`].
    pub timings: Timings,
    /// The elapsed seconds of the run, without the last renames.
    pub elapsed_s: f64,
    /// How often the run went on after it was stopped ([`Error::Resumable`](simgpu::Error::Resumable)). All times are those
    /// since the last time.
    pub resumed: u64,
}

/// The places of all documents of a run that signs nothing, before they are checked.
#[derive(Debug)]
#[doc(hidden)]
pub struct UncheckedPlaces<'a> {
    #[doc(hidden)]
    pub places: Places,
    /// The number of documents.
    #[doc(hidden)]
    pub documents: usize,
    #[doc(hidden)]
    pub id_field: &'a FieldPath,
    /// Whether a repeated id is an error.
    #[doc(hidden)]
    pub unique_ids: bool,
}

impl UncheckedPlaces<'_> {
    /// Completes the places, and warns of what is unusual about the documents of these inputs. `repeated` counts the
    /// repeated ids.
    ///
    /// # Errors
    /// [`Error::NoGoodRecord`] if all records are bad, and [`Error::RepeatedId`].
    #[doc(hidden)]
    pub fn complete<'i>(
        self,
        repeated: impl FnOnce(&mut Places) -> Result<Repeated>,
        inputs: impl IntoIterator<Item = &'i Inputs>,
        progress: &dyn Progress,
    ) -> Result<Places> {
        let UncheckedPlaces {
            mut places,
            documents,
            id_field,
            unique_ids,
        } = self;
        let rows = row_number(documents)?;
        if let Some(ids) = &mut places.ids {
            ids.end()?;
        }
        places.fill_first_rows(rows);
        let input_rows = rows - places.first_input();
        if let (0, Some(first)) = (input_rows, places.first_bad_record()) {
            return Err(Error::NoGoodRecord(first.clone()));
        }
        let repeated = repeated(&mut places)?;
        places.count_repeated_ids(repeated, unique_ids)?;
        warn_of_repeated_ids(progress, places.repeated_ids);
        for (number, inputs) in inputs.into_iter().enumerate() {
            inputs.not_read().warn(progress);
            if number == 0 {
                places.not_read = inputs.not_read().clone();
            }
        }
        for warning in places.warnings(id_field) {
            progress.warn(&warning);
        }
        for file in places.empty_files() {
            progress.warn(&format!("{file} holds no records"));
        }
        Ok(places)
    }
}

/// Warns of documents that repeat an earlier id.
#[doc(hidden)]
pub fn warn_of_repeated_ids(progress: &dyn Progress, repeated_ids: u64) {
    if repeated_ids > 0 {
        let repeated = match repeated_ids {
            1 => "1 document repeats".to_owned(),
            repeated => format!("{} documents repeat", grouped(repeated)),
        };
        progress.warn(&format!(
            "{repeated} an earlier id; identify them by file and row, or pass `unique_ids` to make this an error"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Watched;

    #[test]
    fn repeated_ids_are_told() {
        let told = Watched::stop_at(0);
        warn_of_repeated_ids(&told, 0);
        assert!(told.told.lock().unwrap().is_empty());
        warn_of_repeated_ids(&told, 1);
        warn_of_repeated_ids(&told, 1_200);
        assert!(told.has("1 document repeats an earlier id"));
        assert!(told.has("1,200 documents repeat an earlier id"));
    }
}
