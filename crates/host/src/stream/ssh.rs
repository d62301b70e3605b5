//! Another machine, sampled by a Plimsoll there, through the system's ssh.

use std::env;
use std::process::Command;

use plimsoll_units::Instant;

use super::{Remote, StreamError};

/// Options for every session: ssh never asks a question, notices a blocked route, and leaves no shared connection behind.
const OPTIONS: [&str; 5] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=no",
];

/// A machine that ssh reaches with the user's own keys and configuration. The environment's `PLIMSOLL_SSH` may name another
/// program or add options: `ssh -F FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The program to use instead of `ssh`, with its options.
    program: Vec<String>,
    user: Option<String>,
    host: String,
    port: Option<u16>,
    arguments: Vec<String>,
}

impl Ssh {
    /// A machine by its name for ssh, which also chooses user and port where they are not given.
    pub fn new(user: Option<&str>, host: &str, port: Option<u16>) -> Self {
        let ssh = Self {
            user: user.map(ToOwned::to_owned),
            host: host.to_owned(),
            port,
            program: Vec::new(),
            arguments: Vec::new(),
        };
        ssh.through(&env::var("PLIMSOLL_SSH").unwrap_or_default())
    }

    /// With this program and its options instead of `ssh`; an empty text changes nothing.
    #[must_use]
    pub fn through(self, program: &str) -> Self {
        let words: Vec<String> = program.split_whitespace().map(ToOwned::to_owned).collect();
        if words.is_empty() { self } else { Self { program: words, ..self } }
    }

    /// With these arguments for `plimsoll probe --stream` there, such as `--port` and `8080`.
    #[must_use]
    pub fn asking(self, arguments: &[String]) -> Self {
        Self { arguments: arguments.to_vec(), ..self }
    }

    /// Logs in and begins to sample. Times of samples count from `origin`. A failed login shows at the first sample.
    ///
    /// # Errors
    /// When there is no ssh here.
    pub fn start(&self, origin: Instant) -> Result<Remote, StreamError> {
        Remote::start(self.command(), &self.place(), origin)
    }

    fn place(&self) -> String {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{user}{}{port}", self.host)
    }

    fn command(&self) -> Command {
        let (program, options) = match self.program.split_first() {
            Some((program, options)) => (program.as_str(), options),
            None => ("ssh", [].as_slice()),
        };
        let mut command = Command::new(program);
        command.args(options).arg("-T");
        command.args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        if let Some(user) = &self.user {
            command.args(["-l", user]);
        }
        // After the dashes, a host is no option whatever it begins with.
        command.args(["--", &self.host, "plimsoll", "probe", "--stream"]);
        // ssh joins what follows the host, and a shell there reads it.
        command.args(self.arguments.iter().map(|argument| quoted(argument)));
        command
    }
}

/// An argument as a shell takes it literally.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@+%,".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(ssh: &Ssh) -> Vec<String> {
        let command = ssh.command();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn user_port_and_arguments_reach_ssh_and_the_host_is_no_option() {
        let ssh = Ssh::new(Some("ann"), "-oProxyCommand=x", Some(2222)).through("ssh -F /tmp/c");
        let line = line(&ssh.asking(&["--name".to_owned(), "a b'c".to_owned()])).join(" ");
        assert!(line.starts_with("ssh -F /tmp/c -T -o BatchMode=yes "), "{line}");
        let end = " -p 2222 -l ann -- -oProxyCommand=x plimsoll probe --stream --name 'a b'\\''c'";
        assert!(line.ends_with(end), "{line}");
    }

    #[test]
    fn a_missing_ssh_is_reported_at_once() {
        let error = Ssh::new(None, "web", None).through("no-such-ssh").start(Instant::default()).unwrap_err();
        assert!(error.to_string().contains("no-such-ssh"), "{error}");
    }
}
