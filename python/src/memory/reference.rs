//! The documents, or signatures, that others are compared with.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::beside::{Ids, check_length};
use crate::columns::Frame;
use crate::errors::parameter_error;
use crate::options::Options;
use crate::signatures::PySignatures;
use crate::texts::{Column, Tokens, column_name};
use crate::tokens::TokenList;

/// Documents that others are compared with.
pub(crate) struct ReferenceDocuments<'py> {
    pub(crate) documents: Column<'py>,
    /// `None` if they have none, or no column of the name.
    ids: Option<Ids>,
}

impl<'py> ReferenceDocuments<'py> {
    /// The texts, as [`Column::texts`].
    pub(crate) fn texts(&self, py: Python<'_>) -> PyResult<Vec<&str>> {
        let texts = self.documents.texts();
        texts.map_err(|error| in_against(py, error))
    }

    /// The lists of tokens, as [`Column::tokens`].
    pub(crate) fn tokens<'a>(
        &'a self,
        py: Python<'_>,
        lists: &'a mut Vec<TokenList<'py>>,
    ) -> PyResult<Tokens<'a>> {
        let tokens = self.documents.tokens(lists);
        tokens.map_err(|error| in_against(py, error))
    }

    /// The ids, if there are any.
    pub(crate) fn ids(&self) -> Option<&Ids> {
        self.ids.as_ref()
    }
}

/// The error of documents that are in `against`.
fn in_against(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(format!("against: {}", error.value(py)))
    } else {
        error
    }
}

impl<'py> Options<'py> {
    /// The documents that others are compared with, and their ids: if `id` names a column, and they have it.
    pub(crate) fn reference(&self) -> PyResult<Option<ReferenceDocuments<'py>>> {
        let Some(against) = self.value("against")? else {
            return Ok(None);
        };
        if against.cast::<PySignatures>().is_ok() {
            let message = "against are Signatures, but data are documents; sign them, and give their Signatures";
            return Err(parameter_error(self.py(), message));
        }
        let has_columns =
            !against.is_instance_of::<PyList>() && !against.is_instance_of::<PyTuple>();
        let column = self.value("column")?.filter(|_| has_columns);
        let column = column_name(&against, column.as_ref())?;
        let id = self.named_column("id")?.filter(|_| has_columns);
        // Read once, because a stream ends, and to read a query again may give its rows in another order.
        let frame = match &id {
            Some(_) => Frame::new(&against, "against").ok(),
            None => None,
        };
        let (Some(id), Some(frame)) = (id, frame) else {
            let documents =
                Column::called("the documents of against", &against, column.as_deref())?;
            let ids = None;
            return Ok(Some(ReferenceDocuments { documents, ids }));
        };
        let column = match column {
            Some(column) => column,
            None => frame.only_beside([Some(&*id), None])?,
        };
        let py = self.py();
        let documents = frame.take("column", &column)?;
        let ids = if frame.has(&id)? {
            Some(Ids::from_column(py, &frame.take("id", &id)?)?)
        } else {
            None
        };
        if let Some(ids) = &ids {
            check_length(py, "id of against", ids.len(), documents.len())?;
        }
        Ok(Some(ReferenceDocuments { documents, ids }))
    }

    /// The signatures that others are compared with.
    pub(super) fn reference_signatures(&self) -> PyResult<Option<Bound<'py, PySignatures>>> {
        let Some(against) = self.value("against")? else {
            return Ok(None);
        };
        against.cast_into::<PySignatures>().map(Some).map_err(|_| {
            let message =
                "data are Signatures, but against are not; give the Signatures of its documents";
            parameter_error(self.py(), message)
        })
    }
}
