//! Tags of HTML in texts, which are no words.

/// A tag at the beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    /// Bytes.
    pub(super) len: usize,
    /// Whether a new line begins where it stands.
    is_block: bool,
}

impl Tag {
    /// What stands in its place.
    pub(super) fn value(self) -> &'static str {
        if self.is_block { "\n" } else { " " }
    }
}

/// The most bytes of a tag or comment.
const LONGEST: usize = 2_000;

/// Spaces in an attribute of a tag with an unknown name, at most. A longer value is a text, as in XML with a record per tag.
const PROSE: usize = 7;

/// Names of tags that are known without attributes, in order. Other names, such as that in `#include <map>`, are words.
#[rustfmt::skip] // As many as fit on a line.
const NAMES: &[&[u8]] = &[
    b"a", b"abbr", b"address", b"article", b"aside", b"audio", b"b", b"bdi", b"bdo", b"big", b"blockquote", b"body", b"br", b"button",
    b"caption", b"center", b"cite", b"code", b"col", b"colgroup", b"dd", b"del", b"details", b"dfn", b"div", b"dl", b"dt", b"em",
    b"fieldset", b"figcaption", b"figure", b"font", b"footer", b"form", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"head", b"header", b"hr",
    b"html", b"i", b"iframe", b"img", b"input", b"ins", b"kbd", b"label", b"legend", b"li", b"main", b"mark", b"math", b"mfrac", b"mi",
    b"mn", b"mo", b"mrow", b"msub", b"msup", b"nav", b"nobr", b"noscript", b"ol", b"optgroup", b"option", b"p", b"picture", b"pre", b"q",
    b"rp", b"rt", b"ruby", b"s", b"samp", b"script", b"section", b"select", b"small", b"span", b"strike", b"strong", b"style", b"sub",
    b"summary", b"sup", b"svg", b"table", b"tbody", b"td", b"textarea", b"tfoot", b"th", b"thead", b"tr", b"tt", b"u", b"ul", b"var",
    b"video", b"wbr",
];

/// Those of them that begin a new line, in order.
#[rustfmt::skip]
const BLOCKS: &[&[u8]] = &[
    b"address", b"article", b"aside", b"blockquote", b"body", b"br", b"caption", b"center", b"dd", b"div", b"dl", b"dt", b"fieldset",
    b"figcaption", b"figure", b"footer", b"form", b"h1", b"h2", b"h3", b"h4", b"h5", b"h6", b"header", b"hr", b"li", b"main", b"nav", b"ol",
    b"option", b"p", b"pre", b"section", b"table", b"tbody", b"td", b"tfoot", b"th", b"thead", b"tr", b"ul",
];

/// Tags whose attributes are what a text is about, in order: shapes of SVG.
const SHAPES: &[&[u8]] = &[
    b"circle",
    b"ellipse",
    b"line",
    b"path",
    b"polygon",
    b"polyline",
    b"rect",
];

/// Attributes that need no value, in order.
#[rustfmt::skip]
const WITHOUT_VALUE: &[&[u8]] = &[
    b"allowfullscreen", b"async", b"autofocus", b"autoplay", b"checked", b"compact", b"contenteditable", b"controls", b"defer", b"disabled",
    b"download", b"draggable", b"hidden", b"inert", b"ismap", b"itemscope", b"loop", b"multiple", b"muted", b"nomodule", b"noshade",
    b"novalidate", b"nowrap", b"open", b"playsinline", b"readonly", b"required", b"reversed", b"selected",
];

fn is_listed(names: &[&[u8]], name: &[u8]) -> bool {
    let lower = || name.iter().map(u8::to_ascii_lowercase);
    let found = names.binary_search_by(|known| known.iter().copied().cmp(lower()));
    found.is_ok()
}

/// The tag or comment at the beginning, in letters of any case. Attributes have a name, an equals sign and a value, or a name
/// that needs none: so `a <b and b> c` has no tag. A tag of an unknown name has a colon or hyphen in it, or an attribute in
/// quotation marks.
pub(super) fn tag(bytes: &[u8]) -> Option<Tag> {
    let bytes = &bytes[..bytes.len().min(LONGEST)];
    if bytes.starts_with(b"<!--") {
        let end = memchr::memmem::find(&bytes[4..], b"-->")?;
        return Some(Tag {
            len: 4 + end + 3,
            is_block: false,
        });
    }
    let mut at = 1 + usize::from(bytes.get(1) == Some(&b'/'));
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b":-".contains(byte);
    let rest = bytes.get(at..)?;
    let name = &rest[..rest.iter().take_while(is_part).count()];
    if !name.first()?.is_ascii_alphabetic() || is_listed(SHAPES, name) {
        return None;
    }
    let is_usual = is_listed(NAMES, name);
    let mut is_known = is_usual || name.iter().any(|byte| b":-".contains(byte));
    at += name.len();
    loop {
        let next = blanks(bytes, at);
        let end = next + usize::from(bytes.get(next) == Some(&b'/'));
        if bytes.get(end) == Some(&b'>') {
            return is_known.then_some(Tag {
                len: end + 1,
                is_block: is_listed(BLOCKS, name),
            });
        }
        if next == at {
            return None;
        }
        let attribute = attribute(&bytes[next..])?;
        if !is_usual && attribute.spaces > PROSE {
            return None;
        }
        is_known |= attribute.is_quoted;
        at = next + attribute.len;
    }
}

/// Where blanks that begin at a byte end.
fn blanks(bytes: &[u8], at: usize) -> usize {
    let rest = bytes[at..].iter();
    at + rest.take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// An attribute of a tag.
struct Attribute {
    /// Bytes.
    len: usize,
    /// Whether its value stands in quotation marks.
    is_quoted: bool,
    /// Spaces in the value.
    spaces: usize,
}

/// The attribute of a tag at the beginning.
fn attribute(bytes: &[u8]) -> Option<Attribute> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:@.#()[]*".contains(byte);
    let name = bytes.iter().take_while(is_part).count();
    let equals = blanks(bytes, name);
    if bytes.get(equals) != Some(&b'=') {
        return is_listed(WITHOUT_VALUE, &bytes[..name]).then_some(Attribute {
            len: name,
            is_quoted: false,
            spaces: 0,
        });
    }
    let start = blanks(bytes, equals + 1);
    let value = &bytes[start..];
    match value.first()? {
        _ if name == 0 => None,
        quote @ (b'"' | b'\'') => {
            let len = memchr::memchr(*quote, &value[1..])? + 2;
            let spaces = value[..len]
                .iter()
                .filter(|byte| byte.is_ascii_whitespace());
            Some(Attribute {
                len: start + len,
                is_quoted: true,
                spaces: spaces.count(),
            })
        }
        // Blanks around the sign of equality: `a <b = c> d`.
        _ if start > name + 1 => None,
        _ => {
            let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !b"<>".contains(byte);
            Some(Attribute {
                len: start + value.iter().take_while(is_part).count(),
                is_quoted: false,
                spaces: 0,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        for names in [NAMES, BLOCKS, SHAPES, WITHOUT_VALUE] {
            assert!(names.is_sorted());
        }
    }

    #[test]
    fn tags_have_known_names_or_attributes() {
        for (text, expected) in [
            ("<p>", Some("\n")),
            ("</SPAN >", Some(" ")),
            ("<td colspan=2>", Some("\n")),
            (
                "<p class=\"q7\" style='color:#333' data-v=\"7\">",
                Some("\n"),
            ),
            ("<input type=\"radio\" disabled checked/>", Some(" ")),
            ("<o:p>", Some(" ")),
            ("<my-question>", Some(" ")),
            ("<card v-if=\"a > b\" @click = 'go'>", Some(" ")),
            ("<!-- 7 > 3 -->", Some(" ")),
            (
                "<row Body=\"How many goats does each of the farmers have?\"/>",
                None,
            ),
            ("<path d=\"M 31.00,73.00\"/>", None),
            ("<map>", None),
            ("<x>", None),
            ("<b and b>", None),
            ("<b = c>", None),
            ("<3 >", None),
            ("<", None),
            ("</", None),
            ("<!--", None),
            ("<!-- never closed", None),
        ] {
            let found = tag(text.as_bytes());
            assert_eq!(found.map(Tag::value), expected, "{text}");
            assert!(found.is_none_or(|tag| tag.len == text.len()), "{text}");
        }
    }
}
