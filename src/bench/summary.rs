//! A folder as text: summary.md.
