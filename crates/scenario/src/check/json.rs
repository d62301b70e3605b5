//! Compares a value at a given place of a JSON document, without building the document.
//!
//! A worker checks thousands of bodies per second. Values outside the path are skipped as text, which takes little memory and a
//! fraction of the time of building them. The document is still read to its end, so that a truncated one fails.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// The value expected at a JSON pointer.
#[derive(Debug, Clone)]
pub(super) struct JsonMatch {
    /// The pointer's steps, unescaped.
    steps: Vec<String>,
    /// The typed text, to compare with strings.
    text: String,
    /// The typed text parsed as JSON; `None` if it is not JSON.
    value: Option<Value>,
}

impl JsonMatch {
    /// Parses a JSON pointer (RFC 6901) and the expected text; `None` if the pointer is invalid.
    pub(super) fn parse(pointer: &str, text: &str) -> Option<Self> {
        let mut steps = pointer.split('/');
        // A pointer has no text before its first slash, and the empty pointer has no text at all.
        let before = steps.next()?;
        let steps = steps.map(unescaped).collect::<Option<_>>()?;
        let value = serde_json::from_str(text).ok();
        before.is_empty().then(|| Self { steps, text: text.to_owned(), value })
    }

    /// Whether the document is JSON and has the expected value at the pointer.
    ///
    /// The typed text is compared as JSON if it is JSON, and also as a string: `=200` matches `200`, `200.0` and `"200"`, and `=bob`
    /// matches `"bob"`.
    pub(super) fn holds(&self, document: &[u8]) -> bool {
        let mut reader = serde_json::Deserializer::from_slice(document);
        let held = Seek { steps: &self.steps, expected: self }.deserialize(&mut reader);
        held.unwrap_or(false) && reader.end().is_ok()
    }

    fn is(&self, found: &Value) -> bool {
        found.as_str() == Some(self.text.as_str())
            || self.value.as_ref().is_some_and(|expected| same(found, expected))
    }
}

/// Unescapes a step of a pointer to a key; `None` if it has a `~` without 0 or 1 after it (RFC 6901, section 3).
fn unescaped(step: &str) -> Option<String> {
    let is_escaped = step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    // The order of the two replacements matters: `~01` means `~1`, not a slash.
    is_escaped.then(|| step.replace("~1", "/").replace("~0", "~"))
}

/// Compares values such that 200 and 200.0 are equal. Numbers within lists and objects must be written in the same way.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => {
            found == expected || (found.is_f64() != expected.is_f64() && found.as_f64() == expected.as_f64())
        }
        _ => found == expected,
    }
}

/// The remaining steps of a pointer, from one value on. Deserializes to whether the expected value is at their end.
#[derive(Clone, Copy)]
struct Seek<'a> {
    steps: &'a [String],
    expected: &'a JsonMatch,
}

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        match self.steps.split_first() {
            None => Value::deserialize(reader).map(|found| self.expected.is(&found)),
            Some((step, steps)) => reader.deserialize_any(Within { step, rest: Seek { steps, ..self } }),
        }
    }
}

/// One step into an object or a list. Any other value cannot contain the expected one.
struct Within<'a> {
    step: &'a str,
    rest: Seek<'a>,
}

impl Within<'_> {
    /// Returns the step as an index, which must have neither sign nor leading zeros.
    fn index(&self) -> Option<usize> {
        let plain = self.step.bytes().all(|byte| byte.is_ascii_digit());
        let padded = self.step.len() > 1 && self.step.starts_with('0');
        if plain && !padded { self.step.parse().ok() } else { None }
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut held = false;
        while let Some(found) = map.next_key_seed(KeyIs(self.step))? {
            // If a key is repeated, the last one counts, as in most parsers.
            if found {
                held = map.next_value_seed(self.rest)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(held)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let Some(index) = self.index() else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(false);
        };
        for _ in 0..index {
            if list.next_element::<IgnoredAny>()?.is_none() {
                return Ok(false);
            }
        }
        let held = list.next_element_seed(self.rest)?;
        if held.is_some() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(held.unwrap_or(false))
    }

    fn visit_str<E>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_bool<E>(self, _: bool) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_u64<E>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_i64<E>(self, _: i64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_f64<E>(self, _: f64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }
}

/// Reads a key only to compare it.
struct KeyIs<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for KeyIs<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyIs<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(key == self.0)
    }
}
