//! Samples another machine through the system's ssh and a Plimsoll installed there.

use std::env;
use std::fmt;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use plimsoll_units::Instant;

use super::{Remote, StreamError};

/// Options for every session: ssh never prompts, notices a blocked route, and leaves no shared connection behind.
const OPTIONS: [&str; 5] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ControlMaster=no",
];

/// A machine that ssh reaches with the user's own keys and configuration. The environment variable `PLIMSOLL_SSH` may name
/// another program or add options: `ssh -F FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ssh {
    /// The ssh program and its options; empty for plain `ssh`.
    program: Vec<String>,
    user: Option<String>,
    host: String,
    port: Option<u16>,
    arguments: Vec<String>,
}

impl Ssh {
    /// Creates a machine by its ssh host name. ssh chooses user and port if they are not given.
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

    /// Sets a program and its options to use instead of `ssh`; an empty text changes nothing.
    #[must_use]
    pub fn through(self, program: &str) -> Self {
        let words: Vec<String> = program.split_whitespace().map(ToOwned::to_owned).collect();
        if words.is_empty() { self } else { Self { program: words, ..self } }
    }

    /// Sets the arguments of the remote `plimsoll probe --stream`, such as `--port` and `8080`.
    #[must_use]
    pub fn asking(self, arguments: &[String]) -> Self {
        Self { arguments: arguments.to_vec(), ..self }
    }

    /// Logs in and begins to sample. Times of samples count from `origin`. A failed login is reported at the first sample.
    ///
    /// # Errors
    /// When the local ssh program cannot be started.
    pub fn start(&self, origin: Instant) -> Result<Remote, StreamError> {
        let words = ["plimsoll", "probe", "--stream"].into_iter();
        let words: Vec<&str> = words.chain(self.arguments.iter().map(String::as_str)).collect();
        let mut command = self.command(&words);
        if self.asks_nothing() {
            // Ctrl-C on a terminal reaches the whole process group, but samples are needed until the last step has ended.
            command.process_group(0);
        }
        Remote::start(command, &self.to_string(), origin)
    }

    /// Whether the program never prompts: ssh itself, in batch mode. A program that prompts must stay in our process group to read
    /// from the terminal. The ssh of a jump host may still prompt; it is then stopped.
    fn asks_nothing(&self) -> bool {
        let Some((program, options)) = self.program.split_first() else { return true };
        let is_ssh = Path::new(program).file_name().is_some_and(|name| name == "ssh");
        // If an option is given twice, ssh uses the first.
        is_ssh && !options.iter().any(|option| option.to_ascii_lowercase().contains("batchmode"))
    }

    /// Returns an ssh command that runs `words` on that machine. The remote shell takes the words literally.
    pub fn command(&self, words: &[&str]) -> Command {
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
        // After `--`, the host is never taken for an option.
        command.args(["--", &self.host]);
        // ssh joins the words after the host, and a remote shell parses them.
        command.args(words.iter().map(|word| quoted(word)));
        command
    }
}

impl fmt::Display for Ssh {
    /// Writes `user@host:port`, without the parts that are not given.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|user| format!("{user}@")).unwrap_or_default();
        let port = self.port.map(|port| format!(":{port}")).unwrap_or_default();
        match self.host.contains(':') && !port.is_empty() {
            true => write!(f, "{user}[{}]{port}", self.host),
            false => write!(f, "{user}{}{port}", self.host),
        }
    }
}

/// Quotes an argument so that a shell takes it literally.
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

    fn line(ssh: &Ssh, words: &[&str]) -> Vec<String> {
        let command = ssh.command(words);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words.map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn user_port_and_arguments_reach_ssh_and_the_host_is_no_option() {
        let ssh = Ssh::new(Some("ann"), "-oProxyCommand=x", Some(2222)).through("ssh -F /tmp/c");
        let line = line(&ssh, &["plimsoll", "probe", "--name", "a b'c"]).join(" ");
        assert!(line.starts_with("ssh -F /tmp/c -T -o BatchMode=yes "), "{line}");
        let end = " -p 2222 -l ann -- -oProxyCommand=x plimsoll probe --name 'a b'\\''c'";
        assert!(line.ends_with(end), "{line}");
    }

    #[test]
    fn a_machine_is_called_as_it_is_typed() {
        assert_eq!(Ssh::new(Some("ann"), "web", Some(22)).to_string(), "ann@web:22");
        assert_eq!(Ssh::new(None, "fe80::1", Some(22)).to_string(), "[fe80::1]:22");
        assert_eq!(Ssh::new(None, "fe80::1", None).to_string(), "fe80::1");
    }

    #[test]
    fn a_missing_ssh_is_reported_at_once() {
        let error = Ssh::new(None, "web", None).through("no-such-ssh").start(Instant::default()).unwrap_err();
        assert!(error.to_string().contains("no-such-ssh"), "{error}");
    }
}
