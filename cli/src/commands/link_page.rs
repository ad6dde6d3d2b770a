//! The page of `simgpu link`: what was linked, why, and how sure that is.

use maud::{DOCTYPE, Markup, html};
use simgpu::jobs::LinkReport;

use crate::terminal::grouped;

/// Contents of report.html: one file without scripts or external resources.
pub(crate) fn page(report: &LinkReport) -> String {
    let body: Markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "simgpu link" }
            }
            body {
                h1 { "simgpu link" }
                p { (grouped(report.counts.links)) " links" }
            }
        }
    };
    body.into_string()
}
