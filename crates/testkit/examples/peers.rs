//! Plays the conformance cases to curl, wrk and h2load, and records what they make of them.
//!
//! `cargo run -p plimsoll-testkit --example peers -- DAY [CLIENT…]`; without names, to all of them. Each case has a server
//! of its own on 127.0.0.1. A client gets a few requests or a second, and is ended after five.
#![expect(clippy::print_stderr, reason = "it is a program of the terminal")]

use std::error::Error;
use std::process::Command;
use std::{env, fs};

use plimsoll_testkit::conformance::{
    CONTROL_STATUS, Case, CaseServer, Peers, Pieces, Play, ServerView, Suite, suite,
};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How a client is run on a case, and how its output is read.
struct Client {
    name: &'static str,
    suites: &'static [Suite],
    command: fn(Suite, &Case, &str) -> Vec<String>,
    /// The response that it counted, without what became of the connection; `None` for none.
    read: fn(Suite, &str, &ServerView) -> Option<String>,
    version: &'static [&'static str],
}

const CLIENTS: [Client; 3] = [
    Client {
        name: "curl",
        suites: &[Suite::Http1, Suite::Http2],
        command: curl,
        read: read_curl,
        version: &["curl", "--version"],
    },
    Client { name: "wrk", suites: &[Suite::Http1], command: wrk, read: read_wrk, version: &["wrk", "-v"] },
    Client {
        name: "h2load",
        suites: &[Suite::Http1, Suite::Http2],
        command: h2load,
        read: read_h2load,
        version: &["h2load", "--version"],
    },
];

fn main() -> Outcome<()> {
    let mut arguments = env::args().skip(1);
    let day = arguments.next().ok_or("the day is missing: peers YYYY-MM-DD [CLIENT…]")?;
    let names: Vec<_> = arguments.collect();
    let mut peers = Peers::load();
    peers.date = day;
    for client in
        CLIENTS.iter().filter(|client| names.is_empty() || names.iter().any(|name| name == client.name))
    {
        peers.versions.insert(client.name.to_owned(), version(client)?);
        for of in client.suites {
            for case in suite(*of).iter().flat_map(|group| &group.cases) {
                let observed = observe(client, *of, case)?;
                eprintln!("{} {} {}: {observed}", of.name(), case.name, client.name);
                peers.record(*of, case, client.name, &observed);
            }
        }
    }
    let known = [Suite::Http1, Suite::Http2].map(|of| (of.name(), suite(of)));
    peers.retain(|of, name| {
        let mut groups = known.iter().filter(|(suite, _)| *suite == of).flat_map(|(_, groups)| groups);
        groups.any(|group| group.cases.iter().any(|case| case.name == name))
    });
    Ok(peers.save()?)
}

/// The second word of what a client says about its version, or the third for one that repeats its name.
fn version(client: &Client) -> Outcome<String> {
    let (program, arguments) = client.version.split_first().ok_or("no command")?;
    let output = Command::new(program).args(arguments).output().map_err(|error| {
        format!("{program} cannot be run ({error}); scripts/setup.sh conformance installs it")
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let word = text.split_whitespace().nth(1).ok_or("a version")?;
    let word = word.trim_start_matches("nghttp2/").trim_start_matches("debian/");
    Ok(word.to_owned())
}

fn observe(client: &Client, of: Suite, case: &Case) -> Outcome<String> {
    let play = if of == Suite::Http1 { Play::Always } else { Play::Once };
    let server = CaseServer::start(of, case, Pieces::Whole, play);
    let url = format!("http://{}/", server.address());
    let output = Command::new("timeout").arg("5").args((client.command)(of, case, &url)).output()?;
    let view = server.finish();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut observed = match (client.read)(of, &text, &view) {
        Some(answer) if of == Suite::Http1 => {
            let after = if view.reused { "keep" } else { "close" };
            answer
                .strip_suffix(" twice")
                .map_or_else(|| format!("{answer} {after}"), |answer| format!("{answer} {after} twice"))
        }
        Some(answer) => answer,
        None => "refused".to_owned(),
    };
    for sent in view.sent.iter().filter(|sent| *sent != "goaway NO_ERROR") {
        observed += &format!("; {sent}");
    }
    Ok(observed)
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Two requests of HTTP/1.1, the second over the first's connection if curl keeps it; one of HTTP/2.
fn curl(of: Suite, case: &Case, url: &str) -> Vec<String> {
    let method = match &case.method[..] {
        "GET" => String::new(),
        "HEAD" => "-I".to_owned(),
        other => format!("-X {other}"),
    };
    let (version, urls) = match of {
        Suite::Http1 => ("--http1.1", format!("-o /dev/null {url} -o /dev/null {url}")),
        Suite::Http2 => ("--http2-prior-knowledge", format!("-o /dev/null {url}")),
    };
    let mut words = words(&format!("curl -q -s -m 4 --noproxy * {version} {method} {urls} -w"));
    words.push("%{exitcode} %{http_code} %{size_download}\\n".to_owned());
    words
}

fn read_curl(_: Suite, text: &str, _: &ServerView) -> Option<String> {
    let first = text.lines().next()?.strip_prefix("0 ")?;
    (!first.starts_with(&CONTROL_STATUS.to_string())).then(|| first.to_owned())
}

/// A second over one connection.
fn wrk(_: Suite, case: &Case, url: &str) -> Vec<String> {
    let mut command = words("wrk -d 1s -c 1 -t 1");
    if case.method != "GET" {
        let script = env::temp_dir().join(format!("plimsoll-conformance-{}.lua", case.method));
        // If it cannot be written, wrk says so and counts nothing.
        fs::write(&script, format!("wrk.method = '{}'\n", case.method)).ok();
        command.extend(["-s".to_owned(), script.display().to_string()]);
    }
    command.push(url.to_owned());
    command
}

/// It shows how many responses it counted, which are at most as many as there were requests.
fn read_wrk(_: Suite, text: &str, view: &ServerView) -> Option<String> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    let counted: u64 = line.split_whitespace().next()?.parse().ok()?;
    let twice = if counted > view.requests { " twice" } else { "" };
    (counted > 0).then(|| format!("? ?{twice}"))
}

fn h2load(of: Suite, case: &Case, url: &str) -> Vec<String> {
    let version = if of == Suite::Http1 { "--h1 -n 2" } else { "-n 1" };
    let mut command = words(&format!("h2load {version} -c 1 -t 1 -N 2"));
    if case.method != "GET" {
        command.extend(["-H".to_owned(), format!(":method: {}", case.method)]);
    }
    command.push(url.to_owned());
    command
}

/// Of its requests those that did not err had a response. It counts the classes of statuses from heads alone. No case of
/// HTTP/2 has the class of the server's other responses.
fn read_h2load(of: Suite, text: &str, view: &ServerView) -> Option<String> {
    let counts = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        let pairs = line.split(", ").filter_map(|part| part.split_once(' '));
        pairs.filter_map(|(count, what)| Some((what, count.parse::<u64>().ok()?))).collect::<Vec<_>>()
    };
    let requests = counts("requests: ");
    let of_kind = |kind: &str| requests.iter().find(|(what, _)| *what == kind).map_or(0, |(_, count)| *count);
    let answered = (of_kind("succeeded") + of_kind("failed")).saturating_sub(of_kind("errored"));
    let class =
        counts("status codes: ").into_iter().find(|(_, count)| *count > 0).map_or("?", |(class, _)| class);
    let is_control = of == Suite::Http2 && class.starts_with(&(CONTROL_STATUS / 100).to_string());
    let twice = if answered > view.requests { " twice" } else { "" };
    (answered > 0 && !is_control).then(|| format!("{class} ?{twice}"))
}
