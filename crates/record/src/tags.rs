//! Tags of a run, which the user chooses: such as `commit=4f2a91c` or `nightly`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The maximum length of a key, in bytes.
const MAX_KEY: usize = 64;
/// The maximum length of a value, in bytes.
const MAX_VALUE: usize = 256;

/// Keys with their values. The value of a plain word is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(BTreeMap<String, String>);

impl Tags {
    /// Sets a tag, replacing one with the same key.
    pub fn set(&mut self, Tag { key, value }: Tag) {
        self.0.insert(key, value);
    }

    /// Returns the value of a key; empty for a plain word, `None` if there is no such tag.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// True if there is no tag.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether this tag is set. A tag without a value matches any value of its key.
    pub fn has(&self, Tag { key, value }: &Tag) -> bool {
        self.get(key).is_some_and(|own| value.is_empty() || own == value)
    }
}

impl From<Tags> for BTreeMap<String, String> {
    fn from(tags: Tags) -> Self {
        tags.0
    }
}

impl FromIterator<Tag> for Tags {
    fn from_iter<I: IntoIterator<Item = Tag>>(tags: I) -> Self {
        let mut all = Self::default();
        tags.into_iter().for_each(|tag| all.set(tag));
        all
    }
}

/// Writes `commit=4f2a91c nightly`, sorted by key.
impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { " " };
            let equals = if value.is_empty() { "" } else { "=" };
            write!(f, "{gap}{key}{equals}{value}")?;
        }
        Ok(())
    }
}

/// One tag as the user types it: `key=value`, or a plain word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    pub key: String,
    /// The value; empty for a plain word.
    pub value: String,
}

/// Why a tag cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    #[error(
        "`{0}` cannot be the key of a tag; write 1 to {MAX_KEY} letters, digits and -_./: as in commit=4f2a91c"
    )]
    Key(String),
    #[error("the value of the tag `{0}` has control characters or more than {MAX_VALUE} bytes; shorten it")]
    Value(String),
}

impl FromStr for Tag {
    type Err = TagError;

    fn from_str(text: &str) -> Result<Self, TagError> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:".contains(c);
        if key.is_empty() || key.len() > MAX_KEY || !key.chars().all(is_plain) {
            return Err(TagError::Key(key.to_owned()));
        }
        if value.len() > MAX_VALUE || value.chars().any(char::is_control) {
            return Err(TagError::Value(key.to_owned()));
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }
}

/// The changes of a run's tags after the run ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TagChanges {
    pub set: Tags,
    /// Keys that were removed.
    pub unset: BTreeSet<String>,
}

impl TagChanges {
    /// Sets a tag. The latest change of a key counts.
    pub fn set(&mut self, tag: Tag) {
        self.unset.remove(&tag.key);
        self.set.set(tag);
    }

    /// Removes a key.
    pub fn unset(&mut self, key: &str) {
        self.set.0.remove(key);
        self.unset.insert(key.to_owned());
    }

    /// Returns the tags of a run after these changes.
    pub fn applied_to(&self, tags: &Tags) -> Tags {
        let mut all = tags.clone();
        all.0.retain(|key, _| !self.unset.contains(key));
        all.0.extend(self.set.0.clone());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> Tag {
        text.parse().unwrap()
    }

    #[test]
    fn a_tag_is_a_key_with_a_value_or_a_word() {
        let tags: Tags = ["nightly", "commit=4f2=a", "nightly", "commit=b"].map(tag).into_iter().collect();
        assert_eq!(tags.to_string(), "commit=b nightly");
        assert_eq!(tag("a=b=c").value, "b=c");
        assert!(tags.has(&tag("commit")) && tags.has(&tag("commit=b")) && tags.has(&tag("nightly")));
        assert!(!tags.has(&tag("commit=c")) && !tags.has(&tag("weekly")));
    }

    #[test]
    fn what_a_terminal_or_a_query_could_trip_over_is_no_tag() {
        for text in ["", "=x", "a b=c", "a\u{1b}[1m=x", &"k".repeat(65)] {
            assert!(matches!(text.parse::<Tag>(), Err(TagError::Key(_))), "{text}");
        }
        let long = format!("a={}", "v".repeat(257));
        for text in ["a=\u{1b}[1m", "a=b\nc", &long] {
            assert_eq!(text.parse::<Tag>(), Err(TagError::Value("a".to_owned())));
        }
    }

    #[test]
    fn the_latest_change_of_a_key_counts() {
        let recorded: Tags = ["a=1", "b=2"].map(tag).into_iter().collect();
        let mut changes = TagChanges::default();
        changes.unset("a");
        changes.set(tag("c=3"));
        assert_eq!(changes.applied_to(&recorded).to_string(), "b=2 c=3");
        changes.set(tag("a=4"));
        changes.unset("c");
        assert_eq!(changes.applied_to(&recorded).to_string(), "a=4 b=2");
    }
}
