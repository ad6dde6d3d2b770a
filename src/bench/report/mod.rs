//! A folder as a page: report.html, with charts that need no script.
