//! Ids of records, and what happens to bad records.

use clap::{Args, ValueEnum};
use simgpu_io::OnBadRecord;

/// The ids of records, and what is done with bad ones.
#[derive(Debug, Args)]
pub struct RecordArguments {
    /// Field with the id, which every record must have [default: id; unless every record has
    /// one, all ids are FILE:ROW]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub id_field: Option<String>,

    /// Fail if an id is missing or occurs twice
    #[arg(long, help_heading = "Input")]
    pub unique_ids: bool,

    /// What is done with bad ones.
    #[command(flatten)]
    pub bad: BadRecordArguments,
}

impl RecordArguments {
    /// The field of the id.
    pub fn id(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }

    /// Whether every record must have an id: also if ids must be unique.
    pub fn needs_id(&self) -> bool {
        self.id_field.is_some() || self.unique_ids
    }
}

/// What is done with bad records.
#[derive(Debug, Args)]
pub struct BadRecordArguments {
    /// Response to a record that cannot be read
    #[arg(
        long,
        value_enum,
        value_name = "ACTION",
        default_value = "fail",
        help_heading = "Input"
    )]
    pub on_bad_record: OnBadRecordArgument,
}

/// The value of `--on-bad-record`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum OnBadRecordArgument {
    /// Stop with an error
    Fail,
    /// Omit and count the record; dedup also lists it in report.json
    Skip,
}

impl OnBadRecordArgument {
    /// What a run does with a bad record.
    pub fn resolve(self) -> OnBadRecord {
        match self {
            OnBadRecordArgument::Fail => OnBadRecord::Fail,
            OnBadRecordArgument::Skip => OnBadRecord::Skip,
        }
    }
}
