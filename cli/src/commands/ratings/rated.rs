//! Which fields hold ratings, and what a rating says.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simgpu_io::{FieldPath, Inputs};
use simgpu_ratings::{NameFields, NamesFile, RatingFields};

use crate::Usage;
use crate::arguments::{BadRecordArguments, FormatArguments, check_field};

/// How to read ratings, and the names of items.
#[derive(Args, Debug)]
pub struct RatedArguments {
    /// How to read the inputs.
    #[command(flatten)]
    pub format: FormatArguments,

    /// Field with the user: a string or an integer
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "user",
        help_heading = "Input"
    )]
    pub user_field: String,

    /// Field with the item: a string or an integer
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "item",
        help_heading = "Input"
    )]
    pub item_field: String,

    /// Field with the stars, a number; --as seen needs none
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "rating",
        help_heading = "Input"
    )]
    pub rating_field: String,

    /// Field with the time, a number or a date: of several ratings of an item by a user, the latest counts [default:
    /// timestamp, if there is one; without it, the last counts]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub time_field: Option<String>,

    /// What is done with bad records.
    #[command(flatten)]
    pub bad: BadRecordArguments,

    /// File with the names of items, in any format of the inputs
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub names: Option<PathBuf>,

    /// Field with the id of an item in the file of names
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "id",
        help_heading = "Input"
    )]
    pub name_id_field: String,

    /// Field with the name of an item in the file of names
    #[arg(
        long,
        value_name = "FIELD",
        default_value = "name",
        help_heading = "Input"
    )]
    pub name_field: String,
}

/// The value of `--by`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ByArgument {
    /// Items, as sets of users
    Item,
    /// Users, as sets of items
    User,
}

/// The value of `--as`.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum AsArgument {
    /// Everything rated, whatever the stars
    Seen,
    /// Only what was liked
    Liked,
    /// Liked and hated, as two elements
    LikedHated,
    /// As many copies as stars: bags
    Stars,
}

impl RatedArguments {
    /// The fields of a rating.
    ///
    /// # Errors
    /// A usage error for a field without a name.
    pub fn fields(&self) -> anyhow::Result<RatingFields> {
        for (name, field) in [
            ("user_field", Some(&self.user_field)),
            ("item_field", Some(&self.item_field)),
            ("rating_field", Some(&self.rating_field)),
            ("time_field", self.time_field.as_ref()),
            ("name_id_field", Some(&self.name_id_field)),
            ("name_field", Some(&self.name_field)),
        ] {
            check_field(name, field)?;
        }
        Ok(RatingFields {
            user: FieldPath::new(&self.user_field),
            item: FieldPath::new(&self.item_field),
            rating: FieldPath::new(&self.rating_field),
            time: self.time_field.as_deref().map(FieldPath::new),
        })
    }

    pub(super) fn names_file(&self) -> anyhow::Result<Option<NamesFile>> {
        let Some(names) = &self.names else {
            return Ok(None);
        };
        if crate::streams::is_stream(names) {
            return Err(Usage::error("`names` cannot be stdin; name a file"));
        }
        Ok(Some(NamesFile {
            inputs: Inputs::find(std::slice::from_ref(names), None)
                .map_err(simgpu::error::without_piping)?,
            fields: NameFields {
                id: FieldPath::new(&self.name_id_field),
                name: FieldPath::new(&self.name_field),
            },
        }))
    }
}
