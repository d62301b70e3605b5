//! Flags of a fleet over ssh.

use plimsoll_fleet::SshHost;

/// Hosts as typed: separated by commas, or the lines of a file.
#[derive(Debug, Clone)]
pub(crate) struct SshHosts(pub(crate) Vec<SshHost>);

/// A fleet to start over ssh.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Over ssh")]
pub(crate) struct SshArgs {
    /// Start an agent on each of these hosts: USER@HOST:PORT, with commas; @FILE has one a line. The broker must run already
    ///
    /// ssh must log in without a question, and find plimsoll of this version there. PLIMSOLL_SSH names another program, with options.
    #[arg(long = "ssh", id = "ssh", value_name = "HOST,...|@FILE", requires_all = ["address", "allow"], value_parser = hosts)]
    pub(crate) hosts: Option<SshHosts>,
    /// Copy this program to hosts that have none of this version; `plimsoll fleet down --ssh` removes it
    #[arg(long, requires = "ssh")]
    pub(crate) copy: bool,
}

fn hosts(text: &str) -> Result<SshHosts, String> {
    let listed = match text.strip_prefix('@') {
        Some(file) => {
            let text =
                std::fs::read_to_string(file).map_err(|error| format!("could not read {file}: {error}"))?;
            let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_owned());
            lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
        }
        None => text.split(',').map(|host| host.trim().to_owned()).collect(),
    };
    match listed.is_empty() {
        true => Err("it names no host".to_owned()),
        false => listed.iter().map(|host| host.parse()).collect::<Result<_, _>>().map(SshHosts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_a_list_or_the_lines_of_a_file() {
        let names =
            |text: &str| hosts(text).map(|hosts| hosts.0.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(names("ann@web:22, db").unwrap(), ["ann@web:22", "db"]);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "web # the first\n\n# none\ndb\n").unwrap();
        assert_eq!(names(&format!("@{}", file.path().display())).unwrap(), ["web", "db"]);
        for wrong in ["", "web,,db", "@/no/such/file", "-oProxyCommand=x"] {
            assert!(names(wrong).is_err(), "{wrong}");
        }
    }
}
