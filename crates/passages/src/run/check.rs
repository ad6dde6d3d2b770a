//! Refuses options that contradict each other or the inputs.

use super::options::{PassageAction, PassagesRun};
use crate::rewrite::{check_cut_fields, check_marks};
use crate::sources::Occurrences;
use crate::units::PassageUnit;
use simgpu::error::{Conflict, Error, Result};

impl PassagesRun<'_> {
    /// Refuses options that contradict each other.
    pub(super) fn check(&self) -> Result<()> {
        if self.may_remove_documents() && self.occurrences == Occurrences::All {
            return Err(Conflict::PassagesWithoutOrder.into());
        }
        if let PassageAction::Drop { max_covered } = self.action
            && !(0.0..=1.0).contains(&max_covered)
        {
            return Err(Error::Parameter {
                name: "`max_covered`",
                value: max_covered.to_string(),
                expected: "a share from 0 to 1".to_owned(),
            });
        }
        self.check_reference()?;
        self.check_tokens()?;
        self.check_marks()?;
        self.check_units()?;
        if self.action == PassageAction::Cut {
            check_cut_fields(&self.fields)?;
        }
        Ok(())
    }

    /// Refuses a choice among passages of a reference without one, or of all occurrences.
    fn check_reference(&self) -> Result<()> {
        if self.only_against && (self.against.is_none() || self.occurrences == Occurrences::All) {
            return Err(Error::Parameter {
                name: "`only_against`",
                value: "true".to_owned(),
                expected: "a reference beside it, `against`, and `occurrences=later`".to_owned(),
            });
        }
        Ok(())
    }

    /// Refuses a field for marks in files whose records get none.
    fn check_marks(&self) -> Result<()> {
        if self.action != PassageAction::Mark {
            return Ok(());
        }
        check_marks(self.inputs, &self.mark_field)
    }

    /// Refuses words of programs, and equal bytes of what is normalised.
    fn check_units(&self) -> Result<()> {
        self.units.check()?;
        match self.inputs.first_code().filter(|_| self.units.unit == PassageUnit::Words) {
            None => Ok(()),
            Some(path) => Err(Error::Input {
                path: path.to_owned(),
                problem: "this is program text, of which `unit=words` leaves out the operators: `a + b` and `a - b` have equal words".to_owned(),
                remedy: "pass `unit=code`, or `format=text` to read it as other text".to_owned(),
            }),
        }
    }

    /// Refuses tokens of texts, texts of tokens, and cuts of lists.
    fn check_tokens(&self) -> Result<()> {
        let is_tokens = self.units.unit == PassageUnit::Tokens;
        let against = self.against.as_ref().map(|against| &against.fields);
        let mut fields = std::iter::once(&self.fields).chain(against);
        if fields.any(|fields| fields.is_tokens != is_tokens || fields.weights.is_some()) {
            return Err(Error::Parameter {
                name: "`unit`",
                value: self.units.unit.to_string(),
                expected: if is_tokens {
                    "a unit of texts, or fields of tokens without weights".to_owned()
                } else {
                    "tokens, or fields of texts".to_owned()
                },
            });
        }
        if is_tokens && self.action == PassageAction::Cut {
            return Err(Error::Parameter {
                name: "`action`",
                value: self.action.name().to_owned(),
                expected: "report, mark or drop with `unit=tokens`: lists of tokens are not cut"
                    .to_owned(),
            });
        }
        Ok(())
    }
}
