//! What other clients made of the cases, as `cargo run -p plimsoll-testkit --example peers` recorded it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{fs, io};

use super::case::{Case, Suite};
use super::case_file::folder;
use super::observed::Observed;

/// The file with what they made of them, in the folder of the cases.
pub const PEER_FILE: &str = "peers.txt";

/// Other clients, and what each of them made of each case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peers {
    /// The day of the last change, as `YYYY-MM-DD`.
    pub date: String,
    /// The versions by the names of the clients.
    pub versions: BTreeMap<String, String>,
    /// Observations by suite, case and client.
    results: BTreeMap<(String, String, String), String>,
}

impl Peers {
    /// Where they are recorded.
    pub fn path() -> PathBuf {
        folder().join(PEER_FILE)
    }

    /// Reads what was recorded; nothing if nothing was.
    pub fn load() -> Self {
        Self::parse(&fs::read_to_string(Self::path()).unwrap_or_default())
    }

    /// Reads lines as [`Peers::text`] writes them; others mean nothing.
    fn parse(text: &str) -> Self {
        let mut peers = Self::default();
        for line in text.lines() {
            match line.splitn(4, ' ').collect::<Vec<_>>()[..] {
                ["date", date] => date.clone_into(&mut peers.date),
                ["version", client, ..] => {
                    let version = line.splitn(3, ' ').nth(2).unwrap_or_default();
                    peers.versions.insert(client.to_owned(), version.to_owned());
                }
                [suite, case, client, observed] => {
                    let key = (suite.to_owned(), case.to_owned(), client.to_owned());
                    peers.results.insert(key, observed.to_owned());
                }
                _ => {}
            }
        }
        peers
    }

    /// Writes everything to the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> io::Result<()> {
        fs::write(Self::path(), self.text())
    }

    fn text(&self) -> String {
        let mut text = format!("date {}\n", self.date);
        for (client, version) in &self.versions {
            writeln!(text, "version {client} {version}").unwrap_or_default();
        }
        for ((suite, case, client), observed) in &self.results {
            writeln!(text, "{suite} {case} {client} {observed}").unwrap_or_default();
        }
        text
    }

    /// Takes down what a client made of a case.
    pub fn record(&mut self, suite: Suite, case: &Case, client: &str, observed: &str) {
        let key = (suite.name().to_owned(), case.name.clone(), client.to_owned());
        self.results.insert(key, observed.to_owned());
    }

    /// Removes what is known of cases that are not there any more.
    pub fn retain(&mut self, is_there: impl Fn(&str, &str) -> bool) {
        self.results.retain(|(suite, case, _), _| is_there(suite, case));
    }

    /// What a client made of a case; `None` if that is not known.
    pub fn observed(&self, suite: Suite, case: &Case, client: &str) -> Option<Observed> {
        let key = (suite.name().to_owned(), case.name.clone(), client.to_owned());
        self.results.get(&key).map(|text| Observed::parse(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let text = "date 2026-01-31\nversion wrk debian/4.1.0-3 [epoll]\nhttp1 plain curl 200 5 keep\n\
                    http2 push curl refused; goaway PROTOCOL_ERROR\n";
        let peers = Peers::parse(text);
        assert_eq!((&peers.date[..], &peers.versions["wrk"][..]), ("2026-01-31", "debian/4.1.0-3 [epoll]"));
        assert_eq!(peers.results.len(), 2);
        assert_eq!(peers.text(), text);
    }
}
