//! Documents that others are compared with: files or indexes.

use std::path::PathBuf;

use clap::Args;
use simgpu::engine::Engine;
use simgpu_files::{Against, Run};
use simgpu_index::Index;
use simgpu_io::{FieldPath, Fields, Inputs, Naming};

use super::inputs::{InputArguments, all_files, check_field};
use crate::Usage;
use crate::options::Mode;

/// What the inputs are compared with.
#[derive(Debug, Default, Args)]
pub struct AgainstArguments {
    /// File, folder or glob to compare the inputs with, in any format; repeat it for more; none of its documents is
    /// removed or written, and no two of them are compared. For dedup, also the folder of an index
    #[arg(long, value_name = "REF", help_heading = "Input")]
    pub against: Vec<PathBuf>,

    /// Field with the text in --against; repeat it to join several fields [default: that of the inputs]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub against_text_field: Vec<String>,

    /// Field with the id in --against [default: that of the inputs]
    #[arg(long, value_name = "FIELD", help_heading = "Input")]
    pub against_id_field: Option<String>,
}

impl AgainstArguments {
    /// Tells indexes from files. Each name is looked at once: a second look may fail, or find something else, and a name that is
    /// neither would be left out.
    ///
    /// # Errors
    /// The error of a name that cannot be looked at.
    pub(crate) fn resolve(&self) -> anyhow::Result<References<'_>> {
        let mut references = References {
            arguments: self,
            indexes: Vec::new(),
            files: Vec::new(),
        };
        for name in &self.against {
            if Index::is_in(name)? {
                references.indexes.push(name.clone());
            } else {
                references.files.push(name.clone());
            }
        }
        Ok(references)
    }

    /// The fields of their records, if those of the inputs are these.
    pub(crate) fn fields(&self, mut fields: Fields) -> Fields {
        if !self.against_text_field.is_empty() {
            let text_fields = self.against_text_field.iter();
            fields.content = text_fields.map(|field| FieldPath::new(field)).collect();
        }
        if let Some(id) = &self.against_id_field {
            fields.id = FieldPath::new(id);
        }
        // Without an id, no id of the inputs would be known either.
        fields.id_required |= self.against_id_field.is_some();
        fields
    }

    /// Compares a run with what was found. `inputs` says how its own records are read.
    pub(crate) fn set<'a>(
        &self,
        run: Run<'a>,
        found: Option<&'a Inputs>,
        inputs: &InputArguments,
        engine: &Engine,
    ) -> Run<'a> {
        let against = found.map(|inputs_found| Against {
            inputs: inputs_found,
            fields: self.fields(inputs.fields(engine.shingler().shingling())),
        });
        Run { against, ..run }
    }
}

/// The names in `against`, by what they are.
pub(crate) struct References<'a> {
    arguments: &'a AgainstArguments,
    /// The folders of indexes.
    pub(crate) indexes: Vec<PathBuf>,
    /// Files, folders of files and globs.
    files: Vec<PathBuf>,
}

impl References<'_> {
    /// The modes that the arguments and the `inputs` lead to.
    pub(crate) fn modes(&self, inputs: &InputArguments) -> Vec<Mode> {
        let mut modes = inputs.modes();
        if self.files.is_empty() {
            modes.push(Mode::NoReference);
        }
        if self.indexes.is_empty() {
            modes.push(Mode::NoIndex);
        }
        if !all_files(&self.arguments.against) {
            modes.retain(|mode| *mode != Mode::NamedFiles);
        }
        modes
    }

    /// Refuses indexes, with what to do in place of a search.
    pub(crate) fn check_no_index(&self, remedy: &str) -> anyhow::Result<()> {
        match self.indexes.first() {
            Some(index) => Err(Usage::error(&format!(
                "`against` names the index {}, and takes files here; {remedy}",
                index.display()
            ))),
            None => Ok(()),
        }
    }

    /// Finds the files, which are read as the inputs are; `None` without any.
    pub(crate) fn find(
        &self,
        inputs: &InputArguments,
        engine: &Engine,
    ) -> anyhow::Result<Option<Inputs>> {
        self.find_with(inputs.naming(engine)?)
    }

    /// Finds the files by this naming; `None` without any.
    pub(crate) fn find_with(&self, naming: Naming) -> anyhow::Result<Option<Inputs>> {
        for field in &self.arguments.against_text_field {
            check_field("against_text_field", Some(field))?;
        }
        if self.files.is_empty() {
            return Ok(None);
        }
        let found = Inputs::find_with(&self.files, naming).map_err(simgpu::error::without_piping);
        Ok(Some(found?))
    }
}
