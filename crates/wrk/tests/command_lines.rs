//! Command lines that the real wrk accepts or refuses: this crate does the same, with the same words.

#![expect(clippy::unwrap_used, reason = "a test that cannot start its parts has failed")]

use std::process::Command;

use plimsoll_testkit::refused_address;
use plimsoll_wrk::options::{Exit, parse};

/// What wrk does with these arguments. `URL` stands for an address where nothing listens.
fn wrk(args: &[String]) -> Exit {
    let output = Command::new("wrk").args(args).env("LC_ALL", "C").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap().try_into().unwrap();
    Exit { code, stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// What Plimsoll does: where it would run, it finds the target as wrk finds it.
fn plimsoll(args: &[String]) -> Exit {
    match parse("wrk", args) {
        Ok(options) => Exit::unreachable(&options.url, "Connection refused"),
        Err(exit) => exit,
    }
}

/// Arguments are separated by single spaces; `_` is an empty argument and `~` a space within one.
fn check(lines: &[&str]) {
    let url = format!("http://{}/", refused_address());
    for line in lines {
        let argument = |word: &str| match word {
            "_" => String::new(),
            "URL" => url.clone(),
            word => word.replace('~', " "),
        };
        let args: Vec<String> = line.split(' ').filter(|word| !word.is_empty()).map(argument).collect();
        assert_eq!(plimsoll(&args), wrk(&args), "{line}");
    }
}

#[test]
fn command_lines_that_wrk_accepts_are_accepted() {
    check(&[
        "URL",
        "-t1 -c1 -d1 URL",
        "-t 4 -c 1k -d 30s -T 5 -L URL",
        "-Lt4 -c400 URL",
        "--threads=4 --conn 400 --dur 2h --lat --time=3s URL",
        "-- URL",
        "URL -d1 -- a -b",
        "URL a -c12 b",
        "-t +2 -c ~20 URL",
        "-d 1S -c 2K URL",
        "-d 5~s~later URL",
        "-t 4 -t 1 -c 1 URL",
        "-H Host:~example.org -H X:y -H none URL",
    ]);
}

#[test]
fn command_lines_that_wrk_refuses_are_refused_in_its_words() {
    check(&[
        "",
        "--help",
        "--he",
        "-h",
        "-?",
        "-r URL",
        "-Z URL",
        "-LZ URL",
        "-U URL",
        "-B URL",
        "--u_latency URL",
        "--bogus URL",
        "--bogus=1 URL",
        "--t 1 URL",
        "--t=1 URL",
        "--=3",
        "---",
        "-t",
        "-Lt",
        "--threads",
        "--dur",
        "--latency=1 URL",
        "--lat=1 URL",
        "-t _ URL",
        "-t x URL",
        "-t 0 URL",
        "-t 1.5 URL",
        "-t 5kk URL",
        "-c 1h URL",
        "-c 1 URL",
        "-c 0 URL",
        "-t5 -c4 URL",
        "-d 0 URL",
        "-d 1.5s URL",
        "-d 500ms URL",
        "-T 1k URL",
        "-d 1s",
        "-d 30 s URL",
        "-t 0 nowhere",
        "-c 1 nowhere",
        "-",
        "-- -x",
    ]);
}

#[test]
fn urls_that_wrk_refuses_are_refused() {
    check(&[
        "nowhere",
        "127.0.0.1:1",
        "/path",
        "http://",
        "http:/x",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:abc/",
        "http://127.0.0.1:/",
        "http://user@/",
        "http://a_b:1/",
        "http://ho%st/",
        "http://::1/",
        "http://[::1",
        "http://[zz]:1/",
        "http://127.0.0.1#x",
        "http://127.0.0.1:1/a~b",
        "h2://127.0.0.1:1/",
    ]);
}
