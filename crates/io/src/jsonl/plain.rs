//! Parses records of the usual form without an intermediate value.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};

use crate::json::json_string;

/// Parses the common case in one pass: a text at the top level, and perhaps an id that is a string or an
/// integer. Appends the text to `text`. Returns `None` for any other record; [`parse_any`](super::parse_any) parses those and
/// reports errors.
pub(super) fn parse_plain(
    record: &str,
    content: &str,
    id: &str,
    text: &mut String,
) -> Option<Option<String>> {
    struct Plain<'a> {
        content: &'a str,
        id: &'a str,
        text: &'a mut String,
    }
    impl<'de> Visitor<'de> for Plain<'_> {
        /// Whether the record has a text, and its id.
        type Value = (bool, Option<String>);

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let Plain { content, id, text } = self;
            if content == id {
                return Err(A::Error::custom("text and id are the same field"));
            }
            let start = text.len();
            let (mut has_text, mut found_id) = (false, None);
            while let Some(key) = map.next_key_seed(Key { content, id })? {
                match key {
                    Named::Content => {
                        text.truncate(start);
                        map.next_value_seed(Append(text))?;
                        has_text = true;
                    }
                    Named::Id => found_id = Some(map.next_value_seed(PlainId)?),
                    Named::Other => {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
            }
            Ok((has_text, found_id))
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(record);
    let plain = deserializer.deserialize_map(Plain { content, id, text });
    deserializer.end().ok()?;
    let (has_text, id) = plain.ok()?;
    has_text.then_some(id)
}

/// The field that a key names.
enum Named {
    Content,
    Id,
    Other,
}

struct Key<'a> {
    content: &'a str,
    id: &'a str,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Named;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Named, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Named, E> {
        Ok(if key == self.content {
            Named::Content
        } else if key == self.id {
            Named::Id
        } else {
            Named::Other
        })
    }
}

/// Appends a JSON string to the text.
struct Append<'a>(pub(super) &'a mut String);

impl<'de> DeserializeSeed<'de> for Append<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Append<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push_str(text);
        Ok(())
    }
}

/// Reads an id, a string or an integer, as JSON.
struct PlainId;

impl<'de> DeserializeSeed<'de> for PlainId {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for PlainId {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an integer")
    }

    fn visit_str<E>(self, id: &str) -> Result<String, E> {
        Ok(json_string(id))
    }

    fn visit_u64<E>(self, id: u64) -> Result<String, E> {
        Ok(id.to_string())
    }

    fn visit_i64<E>(self, id: i64) -> Result<String, E> {
        Ok(id.to_string())
    }
}
