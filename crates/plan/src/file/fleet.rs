//! The part of a plan file about the fleet that makes its load.

use std::path::PathBuf;

use super::entry::Entry;
use super::error::Result;
use super::section::Section;

/// The actions when a run loses one of its agents.
const LOSSES: [&str; 3] = ["stop", "continue", "redistribute"];

/// The fleet that makes the load of a file; the fields match `--fleet` and its related flags. `None` takes the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetSpec {
    /// The broker, in the form that `--fleet` takes.
    pub at: String,
    pub agents: Option<u32>,
    pub on_loss: Option<String>,
    pub credentials: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub cacert: Option<PathBuf>,
    /// The conductor's certificate and its key.
    pub cert: Option<(PathBuf, PathBuf)>,
    pub name: Option<String>,
}

impl FleetSpec {
    /// All files that the fleet names.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let Self { credentials, key, cacert, cert, .. } = self;
        let own = cert.iter_mut().flat_map(|(cert, key)| [cert, key]);
        credentials.iter_mut().chain(key).chain(cacert).chain(own)
    }
}

/// Reads the fleet; `None` if the file has none.
pub(super) fn fleet(file: &Section<'_>) -> Result<Option<FleetSpec>> {
    let keys = ["at", "agents", "on-loss", "credentials", "key", "cacert", "cert", "cert-key", "name"];
    let Some(section) = file.section("fleet", &keys)? else { return Ok(None) };
    let path = |key| section.read(key, Entry::one_line).map(|text| text.map(PathBuf::from));
    let cert = match (path("cert")?, path("cert-key")?) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        (Some(_), None) => return Err(section.missing("cert-key", "a certificate needs its key")),
        (None, Some(_)) => return Err(section.missing("cert", "a key needs its certificate")),
    };
    let loss = |entry: &Entry<'_>| entry.one_of(&LOSSES, "what becomes of a run that loses an agent");
    let agents = |entry: &Entry<'_>| entry.count_up_to(u32::MAX.into(), "a number of agents such as 3");
    Ok(Some(FleetSpec {
        at: section.needed("at")?.one_line()?,
        agents: section.read("agents", agents)?,
        on_loss: section.read("on-loss", loss)?,
        credentials: path("credentials")?,
        key: path("key")?,
        cacert: path("cacert")?,
        cert,
        name: section.read("name", Entry::one_line)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanFile;

    fn parsed(fleet: &str) -> Result<Option<FleetSpec>, String> {
        let text = format!("[target]\nurl = \"http://a/\"\n[fleet]\n{fleet}");
        PlanFile::parse(&text).map(|file| file.fleet).map_err(|error| error.to_string())
    }

    #[test]
    fn a_fleet_is_what_its_flags_say() {
        let whole = "at = \"nats://a:1\"\nagents = 3\non-loss = \"stop\"\ncredentials = \"a.creds\"\nkey = \"a.nk\"\n\
                     cacert = \"ca.pem\"\ncert = \"c.pem\"\ncert-key = \"k.pem\"\nname = \"blue\"\n";
        let mut fleet = parsed(whole).unwrap().unwrap();
        let files: Vec<String> = fleet.files_mut().map(|path| path.display().to_string()).collect();
        assert_eq!(files, ["a.creds", "a.nk", "ca.pem", "c.pem", "k.pem"]);
        assert_eq!((fleet.at.as_str(), fleet.agents), ("nats://a:1", Some(3)));
        assert_eq!((fleet.on_loss.as_deref(), fleet.name.as_deref()), (Some("stop"), Some("blue")));
        let least = parsed("at = \"nats://a:1\"\n").unwrap().unwrap();
        assert_eq!((least.agents, least.on_loss, least.credentials), (None, None, None));
    }

    #[test]
    fn what_is_wrong_in_a_fleet_is_named_with_its_line() {
        for (text, expected) in [
            ("agents = 3\n", "line 3: `fleet.at` is missing"),
            ("at = \"\"\n", "line 4: `fleet.at` is empty"),
            ("at = \"nats://a:1\"\nagents = 0\n", "line 5: `fleet.agents` is 0"),
            ("at = \"nats://a:1\"\non-loss = \"wait\"\n", "line 5: `fleet.on-loss` is `wait`"),
            ("at = \"nats://a:1\"\nagent = 3\n", "did you mean `agents`?"),
            ("at = \"nats://a:1\"\ncert = \"c.pem\"\n", "`fleet.cert-key` is missing"),
            ("at = \"nats://a:1\"\ncert-key = \"c.pem\"\n", "`fleet.cert` is missing"),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn a_fleet_is_of_the_whole_file() {
        let error = parsed("at = \"nats://a:1\"\n[[variant]]\nname = \"v\"\nfleet.agents = 2\n").unwrap_err();
        assert!(error.contains("`fleet` is not a key of [variant]"), "{error}");
    }
}
