//! The command lines of wrk and wrk2.

mod getopt;
mod quantity;
mod url;
mod usage;

use std::time::Duration;

use getopt::Parsed;

pub use getopt::Dialect;
pub use url::Url;

/// The options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    pub dialect: Dialect,
    /// The number of threads, at least 1.
    pub threads: u64,
    /// Connections to keep open over all threads; no fewer than there are threads.
    pub connections: u64,
    /// How long the load lasts; whole seconds, at least one.
    pub duration: Duration,
    /// How long a response may take; whole seconds, at least one.
    pub timeout: Duration,
    /// Requests per second over all connections; `Some` exactly for wrk2.
    pub rate: Option<u64>,
    /// The Lua script's file.
    pub script: Option<String>,
    /// Names and values in the order typed. Of several headers of one name only the last is kept, as in wrk.
    pub headers: Vec<(String, String)>,
    /// Whether the latency distribution is printed.
    pub latency: bool,
    /// wrk2 only: whether the distribution of service times is printed too.
    pub service_time: bool,
    /// wrk2 only: whether a batch of pipelined requests should have one latency. It has no effect: each request has its own.
    pub batch_latency: bool,
    /// The URL as it was typed.
    pub url_text: String,
    pub url: Url,
    /// The arguments after the URL or `--`, for the script's `init`.
    pub args: Vec<String>,
    /// The text for standard output before anything else: the version, if it was asked for.
    pub greeting: String,
    /// Messages for standard error: one for each header that wrk would drop silently.
    pub warnings: Vec<String>,
}

/// An exit without results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    pub code: u8,
    /// The text for standard output; complete lines.
    pub stdout: String,
    /// The text for standard error; complete lines.
    pub stderr: String,
}

impl Exit {
    /// An exit with code 1 and this message.
    pub(crate) fn failed(stderr: String) -> Self {
        Self { code: 1, stdout: String::new(), stderr }
    }

    /// The exit of a run whose host has no address: `unable to resolve HOST:SERVICE REASON`, code 1.
    pub fn unresolved(url: &Url, reason: &str) -> Self {
        Self::failed(format!("unable to resolve {}:{} {reason}\n", url.host, url.service()))
    }

    /// The exit of a run whose target accepts no connection: `unable to connect to HOST:SERVICE REASON`, code 1.
    pub fn unreachable(url: &Url, reason: &str) -> Self {
        Self::failed(format!("unable to connect to {}:{} {reason}\n", url.host, url.service()))
    }
}

impl Dialect {
    /// Returns wrk2 if the program has that name or gets a rate, otherwise wrk.
    fn from_command(program: &str, args: &[String]) -> Self {
        let name = program.rsplit('/').next().unwrap_or(program);
        let rate_given = || getopt::parse(Self::Wrk2, args).options.iter().any(|(letter, _)| *letter == 'R');
        if name == "wrk2" || rate_given() { Self::Wrk2 } else { Self::Wrk }
    }
}

/// Parses an argument vector; `program` is the name by which the program was called.
///
/// # Errors
/// What wrk says and how it ends where it would not run: usage and exit code 1.
pub fn parse(program: &str, args: &[String]) -> Result<Options, Exit> {
    let dialect = Dialect::from_command(program, args);
    let mut options = Options::new(dialect);
    match options.read(program, getopt::parse(dialect, args)) {
        Ok(()) => Ok(options),
        Err(stderr) => Err(Exit { code: 1, stdout: options.greeting + usage::text(dialect), stderr }),
    }
}

/// Errors are the text for standard error before the usage; it is empty if wrk prints only its usage.
impl Options {
    fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            threads: 2,
            connections: 10,
            duration: Duration::from_secs(10),
            timeout: Duration::from_secs(2),
            rate: None,
            script: None,
            headers: Vec::new(),
            latency: false,
            service_time: false,
            batch_latency: false,
            url_text: String::new(),
            url: Url::default(),
            args: Vec::new(),
            greeting: String::new(),
            warnings: Vec::new(),
        }
    }

    fn read(&mut self, program: &str, parsed: Parsed) -> Result<(), String> {
        for (letter, value) in &parsed.options {
            self.apply(*letter, value).ok_or_else(String::new)?;
        }
        match parsed.complaint {
            Some(complaint) => Err(format!("{program}: {complaint}\n")),
            None => self.finish(parsed.operands),
        }
    }

    /// Applies an option; `None` if wrk would show its usage.
    fn apply(&mut self, letter: char, value: &str) -> Option<()> {
        match letter {
            't' => self.threads = quantity::parse_count(value)?,
            'c' => self.connections = quantity::parse_count(value)?,
            'd' => self.duration = Duration::from_secs(quantity::parse_seconds(value)?),
            'T' => self.timeout = Duration::from_secs(quantity::parse_seconds(value)?),
            'R' => self.rate = Some(quantity::parse_count(value)?),
            's' => self.script = Some(value.to_owned()),
            'H' => self.add_header(value),
            'L' => self.latency = true,
            'U' => (self.latency, self.service_time) = (true, true),
            'B' => self.batch_latency = true,
            'v' => self.greeting.push_str(usage::VERSION),
            _ => return None,
        }
        Some(())
    }

    /// Adds a header. wrk accepts one only if a space follows its first colon.
    fn add_header(&mut self, text: &str) {
        match text.split_once(':').map(|(name, rest)| (name, rest.strip_prefix(' '))) {
            Some((name, Some(value))) => {
                self.headers.retain(|(known, _)| known != name);
                self.headers.push((name.to_owned(), value.to_owned()));
            }
            _ => self.warnings.push(format!(
                "the header {text:?} is not sent, as wrk does not send it either; write it as \"Name: value\""
            )),
        }
    }

    /// Takes the URL and the arguments, and makes wrk's final checks in wrk's order.
    fn finish(&mut self, operands: Vec<String>) -> Result<(), String> {
        let mut operands = operands.into_iter();
        self.url_text = operands.next().ok_or_else(String::new)?;
        if self.threads == 0 || self.duration.is_zero() || self.timeout.is_zero() {
            return Err(String::new());
        }
        self.url = Url::parse(&self.url_text).ok_or_else(|| format!("invalid URL: {}\n", self.url_text))?;
        if self.connections < self.threads {
            return Err("number of connections must be >= threads\n".to_owned());
        }
        if self.dialect == Dialect::Wrk2 && self.rate.is_none_or(|rate| rate == 0) {
            return Err("Throughput MUST be specified with the --rate or -R option\n".to_owned());
        }
        self.args = operands.collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(program: &str, line: &str) -> Result<Options, Exit> {
        let args: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
        parse(program, &args)
    }

    fn complaint(program: &str, line: &str) -> String {
        let exit = read(program, line).unwrap_err();
        assert_eq!(exit.code, 1);
        assert!(exit.stdout.contains("Usage: wrk <options> <url>"), "{}", exit.stdout);
        exit.stderr
    }

    #[test]
    fn a_url_alone_runs_with_the_defaults_of_wrk() {
        let options = read("wrk", "http://127.0.0.1:8080/a").unwrap();
        assert_eq!((options.threads, options.connections, options.rate), (2, 10, None));
        assert_eq!((options.duration.as_secs(), options.timeout.as_secs()), (10, 2));
        assert!(!options.latency && options.headers.is_empty() && options.args.is_empty());
        assert_eq!((options.url_text.as_str(), options.dialect), ("http://127.0.0.1:8080/a", Dialect::Wrk));
    }

    #[test]
    fn every_spelling_that_getopt_long_allows_is_understood() {
        for line in [
            "-t4 -c400 -d30s -T5 -L -sx.lua http://h/ a -- -b",
            "-t 4 -c 400 -d 30 -T 5s --latency -s x.lua http://h/ -- a -b",
            "--threads=4 --connections 400 --dur=30s --timeout 5 --lat --script=x.lua -- http://h/ a -b",
            "http://h/ -Lt4 -c400 -d30s a --time=5 --s x.lua -- -b",
        ] {
            let options = read("wrk", line).unwrap();
            assert_eq!((options.threads, options.connections, options.latency), (4, 400, true), "{line}");
            assert_eq!((options.duration.as_secs(), options.timeout.as_secs()), (30, 5), "{line}");
            assert_eq!(options.script.as_deref(), Some("x.lua"), "{line}");
            assert_eq!(options.args, ["a", "-b"], "{line}");
        }
    }

    #[test]
    fn a_header_that_wrk_drops_in_silence_is_named() {
        let args = ["-H", "A: 1", "-H", "B:2", "-H", "none", "-H", "A: 3: 4", "-H", "C: ", "http://h/"];
        let options = parse("wrk", &args.map(str::to_owned)).unwrap();
        let headers = [("A", "3: 4"), ("C", "")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(options.headers, headers);
        assert_eq!(options.warnings.len(), 2);
        assert!(options.warnings[0].contains("\"B:2\""), "{}", options.warnings[0]);
    }

    #[test]
    fn a_rate_or_the_name_makes_it_wrk2() {
        let options = read("wrk", "-R 2k -U -B http://h/").unwrap();
        assert_eq!((options.dialect, options.rate), (Dialect::Wrk2, Some(2000)));
        assert!(options.latency && options.service_time && options.batch_latency);
        assert_eq!(read("/opt/wrk2", "--u_lat --ra=5 http://h/").unwrap().rate, Some(5));
        let missing = "Throughput MUST be specified with the --rate or -R option\n";
        assert_eq!(complaint("wrk2", "http://h/"), missing);
        assert_eq!(complaint("wrk", "-R0 http://h/"), missing);
    }

    #[test]
    fn the_options_of_wrk2_are_none_of_wrk() {
        assert_eq!(complaint("wrk", "-U http://h/"), "wrk: invalid option -- 'U'\n");
        assert_eq!(
            complaint("wrk", "--batch_latency http://h/"),
            "wrk: unrecognized option '--batch_latency'\n"
        );
    }

    #[test]
    fn the_version_is_printed_and_the_run_goes_on() {
        let options = read("wrk", "-v http://h/").unwrap();
        assert!(options.greeting.starts_with("wrk plimsoll/"), "{}", options.greeting);
        let exit = read("wrk", "-v -Z").unwrap_err();
        assert!(exit.stdout.starts_with("wrk plimsoll/"), "{}", exit.stdout);
    }

    #[test]
    fn an_unreachable_target_is_reported_in_the_words_of_wrk() {
        let url = read("wrk", "http://nosuch.invalid/").unwrap().url;
        let exit = Exit::unresolved(&url, "Name or service not known");
        assert_eq!(exit.stderr, "unable to resolve nosuch.invalid:http Name or service not known\n");
        let url = read("wrk", "http://[::1]:81/").unwrap().url;
        assert_eq!(
            Exit::unreachable(&url, "Connection refused").stderr,
            "unable to connect to ::1:81 Connection refused\n"
        );
    }
}
