//! A drawing with its name.

use maud::{Markup, html};

/// Width of every chart. A unit is a CSS pixel on the narrowest screen.
pub(super) const WIDTH: f64 = 360.0;

/// A drawing of full width with its title above and a description for screen readers.
pub(super) fn figure(title: &str, description: &str, height: f64, content: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (title) }
            svg viewBox={ "0 0 " (px(WIDTH)) " " (px(height)) } role="img" {
                title { (title) }
                desc { (description) }
                (content)
            }
        }
    }
}

/// A coordinate in tenths of a pixel.
pub(super) fn px(coordinate: f64) -> String {
    let text = format!("{coordinate:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
