//! The variables of a lab file: `${dir}`, `${services}`, `${host:NAME}`, `${tmp}` and `${protection}`.
//!
//! A shell runs the commands, and its own variables have the same form. All others are left to it.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::LabError;

/// The settings that protect a host which is not to be protected: an empty file.
const NO_SETTINGS: &str = "/dev/null";

/// The values of the variables on one host.
#[derive(Debug, Clone, Copy)]
pub struct Variables<'a> {
    pub hosts: &'a [(String, Ipv4Addr)],
    /// The folder of the lab file.
    pub folder: &'a Path,
    /// The folder of services, if there is one.
    pub services: Option<&'a PathBuf>,
    /// The host's own folder.
    pub own: &'a Path,
}

impl Variables<'_> {
    /// The text with values in place of its variables; fails if one names a host or a folder of services that is not there.
    pub fn substitute(&self, text: &str) -> Result<String, LabError> {
        replace(text, |name| match name {
            "dir" => Ok(Some(self.folder.display().to_string())),
            "tmp" => Ok(Some(self.own.display().to_string())),
            // An experiment puts the path of settings in its place where a run is to be protected.
            "protection" => Ok(Some(NO_SETTINGS.to_owned())),
            "services" => {
                self.services.map(|folder| Some(folder.display().to_string())).ok_or_else(no_services)
            }
            name => host(name, self.hosts),
        })
    }
}

/// A URL with addresses in place of its `${host:NAME}`; fails if one names a host that is not there.
pub fn substitute_hosts(text: &str, hosts: &[(String, Ipv4Addr)]) -> Result<String, LabError> {
    replace(text, |name| host(name, hosts))
}

fn no_services() -> LabError {
    LabError::Variable {
        variable: "services".to_owned(),
        problem: "stands for the built services, a folder `services/bin` next to the file's folder or in it, and there \
                  is none; run `make services`, or set PLIMSOLL_SERVICES to another folder"
            .to_owned(),
    }
}

fn host(name: &str, hosts: &[(String, Ipv4Addr)]) -> Result<Option<String>, LabError> {
    let Some(host) = name.strip_prefix("host:") else { return Ok(None) };
    let found = hosts.iter().find(|(known, _)| known == host);
    found.map(|(_, address)| Some(address.to_string())).ok_or_else(|| {
        let near = plimsoll_units::most_alike(host, hosts.iter().map(|(known, _)| known.as_str()));
        let instead = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        LabError::Variable {
            variable: name.to_owned(),
            problem: format!("names no host of the lab{instead}"),
        }
    })
}

/// Replaces each `${name}` that has a value; the others, and `$${`, are the shell's.
fn replace(
    text: &str,
    value_of: impl Fn(&str) -> Result<Option<String>, LabError>,
) -> Result<String, LabError> {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        replaced += before;
        let value = match after.find('}') {
            Some(end) if !before.ends_with('$') => value_of(&after[2..end])?.map(|value| (value, end + 1)),
            _ => None,
        };
        let (value, length) = value.unwrap_or_else(|| ("${".to_owned(), 2));
        replaced += &value;
        rest = &after[length..];
    }
    Ok(replaced + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn substituted(text: &str) -> Result<String, String> {
        let hosts = [
            ("web".to_owned(), Ipv4Addr::new(198, 18, 0, 2)),
            ("api".to_owned(), Ipv4Addr::new(198, 18, 0, 3)),
        ];
        let (folder, own) = (Path::new("/files"), Path::new("/own"));
        Variables { hosts: &hosts, folder, services: None, own }
            .substitute(text)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn variables_of_the_lab_are_replaced_and_those_of_the_shell_are_left() {
        let filled = substituted(
            "nginx -c ${dir}/a -p ${tmp} ${HOME} $X $${dir} http://${host:api}:80 ${protection} ${",
        )
        .unwrap();
        assert_eq!(filled, "nginx -c /files/a -p /own ${HOME} $X $${dir} http://198.18.0.3:80 /dev/null ${");
    }

    #[test]
    fn an_unknown_variable_suggests_the_nearest() {
        assert!(substituted("${host:wbe}").unwrap_err().contains("did you mean `web`?"));
        assert!(substituted("${services}/x").unwrap_err().contains("PLIMSOLL_SERVICES"));
    }
}
