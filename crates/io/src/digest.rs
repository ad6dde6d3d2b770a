//! Digests in what a file states of itself, by which damage shows, and a description beside another file.

use std::fs::File;
use std::io::{self, Seek};

/// The first 128 bits of BLAKE3 of bytes.
#[derive(Clone, Default)]
#[doc(hidden)]
#[derive(Debug)]
pub struct Digest(Box<blake3::Hasher>);

impl Digest {
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest as hexadecimal digits.
    pub(crate) fn finish(&self) -> String {
        self.0.finalize().to_hex()[..HEX].to_owned()
    }

    /// The digest of all bytes of a file.
    #[doc(hidden)]
    pub fn hash_file(file: &File) -> io::Result<String> {
        let mut file = file.try_clone()?;
        file.rewind()?;
        let mut digest = Digest::default();
        digest.0.update_reader(&mut file)?;
        Ok(digest.finish())
    }
}

/// Hexadecimal digits of a digest.
const HEX: usize = 32;

/// The start of the last member of an object of JSON that states its digest.
const MEMBER: &str = ",\"digest\":\"";

/// What the digest of an object of JSON says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Seal {
    Intact,
    Broken,
    /// It states none.
    Missing,
}

impl Seal {
    /// Checks the digest of an object. White space between its parts does not count.
    #[doc(hidden)]
    pub fn from_json(json: &str) -> Self {
        let mut object = without_white_space(json);
        let member = object
            .len()
            .saturating_sub(MEMBER.len() + HEX + "\"}".len());
        match object.get(member..) {
            Some(stated) if stated.starts_with(MEMBER) && stated.ends_with("\"}") => {
                let stated = stated[MEMBER.len()..][..HEX].to_owned();
                object.truncate(member);
                object.push('}');
                if digest_of(&object) == stated {
                    Seal::Intact
                } else {
                    Seal::Broken
                }
            }
            _ => Seal::Missing,
        }
    }
}

/// An object of JSON, indented, with its digest as the last member.
#[doc(hidden)]
pub fn sealed(value: &impl serde::Serialize) -> io::Result<String> {
    let mut json = serde_json::to_string_pretty(value)?;
    let digest = digest_of(&without_white_space(&json));
    if json.ends_with("\n}") {
        json.truncate(json.len() - "\n}".len());
        json.push_str(&format!(",\n  \"digest\": \"{digest}\"\n}}"));
    }
    json.push('\n');
    Ok(json)
}

fn digest_of(object: &str) -> String {
    let mut digest = Digest::default();
    digest.update(object.as_bytes());
    digest.finish()
}

/// JSON without the white space between its parts.
fn without_white_space(json: &str) -> String {
    let (mut is_string, mut is_escaped) = (false, false);
    let keeps = |c: &char| {
        let is_kept = is_string || !c.is_ascii_whitespace();
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_string,
            '"' => is_string = !is_string,
            _ => {}
        }
        is_kept
    };
    json.chars().filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_seal_tells_any_change_but_white_space() {
        let value = json!({"a b": [1.50, "x \" y\\"], "c": {"d": null}, "digest": "of mine"});
        let sealed = sealed(&value).unwrap();
        assert_eq!(Seal::from_json(&sealed), Seal::Intact);
        let parsed: serde_json::Value = serde_json::from_str(&sealed).unwrap();
        assert_eq!(parsed["a b"], value["a b"]);
        let compact = sealed.replace("\n", "").replace("  ", "");
        assert_eq!(Seal::from_json(&compact), Seal::Intact);
        let unsealed = serde_json::to_string_pretty(&value).unwrap();
        assert_eq!(Seal::from_json(&unsealed), Seal::Missing);
        for at in 0..sealed.len() {
            for bit in 0..7 {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let text = String::from_utf8(bytes).unwrap();
                let is_white = |text: &str| text.as_bytes()[at].is_ascii_whitespace();
                let expected = is_white(&sealed) && is_white(&text);
                assert_eq!(Seal::from_json(&text) == Seal::Intact, expected, "{text}");
            }
        }
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_its_bytes() {
        use std::io::Write;

        let mut file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        file.write_all(&bytes).unwrap();
        let mut digest = Digest::default();
        bytes.chunks(777).for_each(|part| digest.update(part));
        assert_eq!(Digest::hash_file(&file).unwrap(), digest.finish());
    }
}
