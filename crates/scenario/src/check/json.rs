//! A value at a place of a JSON document, found without building the document.
//!
//! A worker checks thousands of bodies a second. Values outside the path are skipped as text, which takes little memory
//! and a fraction of the time of building them. The document is still read to its end, so that half of one fails.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A value that is expected at a JSON pointer.
#[derive(Debug, Clone)]
pub(super) struct JsonMatch {
    /// The pointer's steps, unescaped.
    steps: Vec<String>,
    /// What was typed, for a string.
    text: String,
    /// What was typed, as JSON if it is JSON.
    value: Option<Value>,
}

impl JsonMatch {
    /// Takes a JSON pointer (RFC 6901) apart; none when it is no pointer.
    pub(super) fn parse(pointer: &str, text: &str) -> Option<Self> {
        let mut steps = pointer.split('/');
        // Nothing stands before the first slash, in the empty pointer neither.
        let before = steps.next()?;
        let steps = steps.map(unescaped).collect::<Option<_>>()?;
        let value = serde_json::from_str(text).ok();
        before.is_empty().then(|| Self { steps, text: text.to_owned(), value })
    }

    /// Whether the document is JSON and has the expected value at the pointer.
    ///
    /// What was typed is compared as JSON where it is JSON, and as a string: `=200` holds for `200`, `200.0`
    /// and `"200"`, `=bob` for `"bob"`.
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

/// The key that a step of a pointer stands for; `None` if it has a `~` without 0 or 1 after it (RFC 6901, section 3).
fn unescaped(step: &str) -> Option<String> {
    let is_escaped = step.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    // The order of the two matters: `~01` is `~1` and not a slash.
    is_escaped.then(|| step.replace("~1", "/").replace("~0", "~"))
}

/// Equality in which 200 and 200.0 are one number; numbers within lists and objects must be written alike.
fn same(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(found), Value::Number(expected)) => {
            found == expected || (found.is_f64() != expected.is_f64() && found.as_f64() == expected.as_f64())
        }
        _ => found == expected,
    }
}

/// The steps that remain from one value on. It yields whether the expected value is at their end.
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

/// One step into an object or a list; in any other value the expected one cannot be.
struct Within<'a> {
    step: &'a str,
    rest: Seek<'a>,
}

impl Within<'_> {
    /// The step as an index, which has neither sign nor leading zeros.
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
            // Of equal keys the last one counts, as in most parsers.
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
