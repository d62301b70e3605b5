//! The variables of a lab file: `${dir}`, `${services}`, `${host:NAME}`, `${tmp}` and `${protection}`.
//!
//! A shell runs the commands, and its own variables have the same form; all other variables are left to it.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::LabError;

/// The variable for the path of protective settings.
const PROTECTION: &str = "protection";

/// The settings of a host without protection: an empty file.
const NO_SETTINGS: &str = "/dev/null";

/// The quoting at a position in a shell command, which determines how a value must be escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Single,
    Double,
}

impl Quoting {
    /// The quoting after `text`, which follows this position.
    fn after(self, text: &str) -> Self {
        let mut quoting = self;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            quoting = match (quoting, character) {
                (Self::None, '\'') => Self::Single,
                (Self::None, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::None,
                (Self::None | Self::Double, '\\') => {
                    characters.next();
                    quoting
                }
                _ => quoting,
            };
        }
        quoting
    }

    /// Escapes a value for this position.
    fn quoted(self, value: &str) -> String {
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || "/._-+:@%,=".contains(character);
        match self {
            Self::None if value.chars().all(is_plain) => value.to_owned(),
            Self::None => format!("'{}'", Self::Single.quoted(value)),
            Self::Single => value.replace('\'', r"'\''"),
            Self::Double => {
                let escaped = |character| match character {
                    '"' | '\\' | '$' | '`' => ['\\', character].into_iter().collect(),
                    _ => String::from(character),
                };
                value.chars().map(escaped).collect()
            }
        }
    }
}

/// The values of the variables on one host.
#[derive(Debug, Clone, Copy)]
pub struct Variables<'a> {
    pub hosts: &'a [(String, Ipv4Addr)],
    /// The folder of the lab file.
    pub folder: &'a Path,
    /// The folder of built services, if there is one.
    pub services: Option<&'a PathBuf>,
    /// The host's own folder.
    pub own: &'a Path,
}

impl Variables<'_> {
    /// Replaces the variables in a shell command, quoting values that the shell would interpret. Fails for a host or a folder of
    /// services that does not exist.
    pub fn substitute(&self, text: &str) -> Result<String, LabError> {
        replace(text, |name, quoting| {
            let path = |path: &Path| Ok(Some(quoting.quoted(&path.display().to_string())));
            match name {
                "dir" => path(self.folder),
                "tmp" => path(self.own),
                // For a protected run, `substitute_settings` has already replaced this variable.
                PROTECTION => path(Path::new(NO_SETTINGS)),
                "services" => self.services.ok_or_else(no_services).and_then(|folder| path(folder)),
                name => host(name, self.hosts),
            }
        })
    }
}

/// Replaces each `${host:NAME}` in a URL by the host's address; fails for a host that does not exist.
pub fn substitute_hosts(text: &str, hosts: &[(String, Ipv4Addr)]) -> Result<String, LabError> {
    replace(text, |name, _| host(name, hosts))
}

/// Replaces `${protection}` in a shell command by the path of the settings; other variables stay.
pub fn substitute_settings(text: &str, settings: &Path) -> String {
    let value = |name: &str, quoting: Quoting| {
        (name == PROTECTION).then(|| quoting.quoted(&settings.display().to_string()))
    };
    let Ok(command) = replace(text, |name, quoting| Ok::<_, Infallible>(value(name, quoting)));
    command
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

/// Replaces each `${name}` that has a value; the shell interprets the others, and `$${`.
fn replace<E>(
    text: &str,
    value_of: impl Fn(&str, Quoting) -> Result<Option<String>, E>,
) -> Result<String, E> {
    let mut replaced = String::with_capacity(text.len());
    let (mut rest, mut quoting) = (text, Quoting::None);
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        replaced += before;
        quoting = quoting.after(before);
        let value = match after.find('}') {
            Some(end) if !before.ends_with('$') => {
                value_of(&after[2..end], quoting)?.map(|value| (value, end + 1))
            }
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

    /// What a shell makes of a command in which `${dir}` is a path that it would split, expand and end.
    #[test]
    fn a_path_is_one_word_for_the_shell_however_the_command_quotes_it() {
        let folder = Path::new("/My \"$HOME\" `x`\\ it's (1)");
        let text = r#"printf '%s|' ${dir}/a "${dir}/b" 'in '${dir}' c' '${dir}' A="x" \" ${dir} "\"${dir}""#;
        let own = Path::new("/own");
        let command = Variables { hosts: &[], folder, services: None, own }.substitute(text).unwrap();
        let output = std::process::Command::new("/bin/sh").args(["-c", &command]).output().unwrap();
        let dir = folder.display();
        let expected = format!("{dir}/a|{dir}/b|in {dir} c|{dir}|A=x|\"|{dir}|\"{dir}|");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{command}");
    }

    #[test]
    fn settings_take_the_place_of_their_variable_alone() {
        let command = substitute_settings("nginx -c ${protection} ${dir} $${x}", Path::new("/a b"));
        assert_eq!(command, "nginx -c '/a b' ${dir} $${x}");
    }

    #[test]
    fn an_unknown_variable_suggests_the_nearest() {
        assert!(substituted("${host:wbe}").unwrap_err().contains("did you mean `web`?"));
        assert!(substituted("${services}/x").unwrap_err().contains("PLIMSOLL_SERVICES"));
    }
}
