//! Splits the name of a column into words and a unit: `Avg Latency (ms)`, `RabbitMQ CPU, %`, `p99 (μs)`.

use super::unit::{self, Unit};

/// A parsed header.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    /// The words in lower case, without the unit.
    pub(super) words: Vec<String>,
    pub(super) unit: Option<Unit>,
}

impl Header {
    pub(super) fn parse(name: &str) -> Self {
        let (name, bracketed) = match (name.find(['(', '[']), name.rfind([')', ']'])) {
            (Some(open), Some(close)) if open < close => {
                (format!("{} {}", &name[..open], &name[close + 1..]), &name[open + 1..close])
            }
            _ => (name.to_owned(), ""),
        };
        let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '/' | '%' | 'µ');
        let words = name.split(|letter| !is_of_word(letter)).map(|word| word.trim_matches('/'));
        let mut words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let mut unit = unit::named(bracketed);
        // `req/s` is both the counted quantity and its unit.
        if let Some(last) = words.last().and_then(|last| unit::named(last)).filter(|_| unit.is_none()) {
            unit = Some(last);
            if last.dimension != unit::Dimension::Rate && words.len() > 1 {
                words.pop();
            }
        }
        Self { words: words.into_iter().map(str::to_lowercase).collect(), unit }
    }

    /// True if at least one of its words is in `words`.
    pub(super) fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// True if all its words are in `words`; false without words.
    pub(super) fn is_only(&self, words: &[&str]) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| words.contains(&word.as_str()))
    }

    /// Its words except `words`, joined by hyphens.
    pub(super) fn without(&self, words: &[&str]) -> String {
        let left = self.words.iter().filter(|word| !words.contains(&word.as_str()));
        left.map(String::as_str).collect::<Vec<_>>().join("-")
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::Dimension;
    use super::*;

    #[test]
    fn a_header_is_its_words_and_its_unit() {
        let header = Header::parse("Avg Latency (ms)");
        assert_eq!(
            (header.words, header.unit.unwrap().base),
            (vec!["avg".to_owned(), "latency".to_owned()], 1e-3)
        );
        let header = Header::parse("RabbitMQ CPU, %");
        assert_eq!(header.words, ["rabbitmq", "cpu"]);
        assert_eq!(header.unit.unwrap().dimension, Dimension::Share);
        assert_eq!(Header::parse("lat média (ms)").words, ["lat", "média"]);
        assert_eq!(Header::parse("NET (Mb/s)").unit.unwrap().base, 1e6);
        assert_eq!(Header::parse("NET MB/s").unit.unwrap().base, 8e6);
        assert_eq!(Header::parse("Requests/sec").words, ["requests/sec"]);
        assert_eq!(Header::parse("Workers (`-w`)"), Header { words: vec!["workers".to_owned()], unit: None });
    }
}
