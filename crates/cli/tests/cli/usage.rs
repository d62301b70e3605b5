//! Wrong and helpful command lines.

use crate::bench::Bench;

#[test]
fn help_shows_examples_first() {
    let bench = Bench::new();
    for command in [
        &["--help"][..],
        &["run", "--help"],
        &["sweep", "--help"],
        &["diff", "--help"],
        &["calibrate", "--help"],
        &["probe", "--help"],
    ] {
        let called = bench.expect(0, command);
        assert!(called.out.starts_with("Examples:"), "{command:?}: {}", called.out);
    }
}

#[test]
fn the_help_of_an_overload_says_when_its_users_give_up() {
    let timeout = |command: &[&str]| {
        let help = Bench::new().expect(0, command).out;
        let (_, after) = help.split_once("--timeout <TIME>").unwrap();
        let lines = after.split_whitespace().take(30).collect::<Vec<_>>().join(" ");
        lines.split_once(']').unwrap().0.to_owned()
    };
    let patience = timeout(&["overload", "--help"]);
    assert!(
        patience.ends_with("4 times the limit of p99, 1 s to 10 s, and never before 1.25 times the limit"),
        "{patience}"
    );
    assert!(timeout(&["run", "--help"]).ends_with("[default: 10s, or 1.25 times the longest latency limit"));
}

#[test]
fn a_length_that_is_not_the_bodys_is_reported_before_the_load() {
    let bench = Bench::new();
    let target = crate::bench::Target::start(&bench);
    let url = target.url("/healthz");
    let line =
        |length: &'static str| ["run", &url, "-b", "hello", "-H", length, "-n", "1", "--timeout", "300ms"];
    let said = bench.call(&line("Content-Length: 9")).err;
    assert!(said.contains("Content-Length says 9 bytes and the body has 5"), "{said}");
    assert!(!bench.call(&line("Content-Length: 5")).err.contains("Content-Length"));
    let varied = ["run", &url, "-b", "${uuid}", "-H", "Content-Length: 9", "-n", "1", "--timeout", "300ms"];
    assert!(!bench.call(&varied).err.contains("Content-Length"), "its length is known only when it is sent");
}

#[test]
fn a_wrong_line_ends_with_code_2_and_says_what_would_be_right() {
    let bench = Bench::new();
    let refused = |args: &[&str], expected: &str| {
        let called = bench.expect(2, args);
        assert!(called.err.contains(expected), "{args:?}: {}", called.err);
        assert_eq!(called.out, "");
    };
    refused(&["run"], "URL");
    refused(&["run", "http://127.0.0.1/", "-d", "soon"], "500ms");
    refused(&["run", "http://127.0.0.1/", "-c", "0"], "connections");
    refused(&["run", "http://127.0.0.1/", "-c", "many"], "200");
    refused(&["run", "http://127.0.0.1/", "-R", "0"], "rate");
    refused(&["run", "http://127.0.0.1/", "-R", "9", "-c", "4", "--max-connections", "3"], "at most 3");
    refused(&["run", "http://127.0.0.1/", "--arrivals", "poisson"], "--rate");
    refused(&["run", "wss://127.0.0.1/"], "https://");
    refused(&["run", "http://127.0.0.1/", "-H", "NoColon"], "colon");
    refused(&["run", "http://127.0.0.1/", "-m", "GE T"], "method");
    refused(&["run", "http://127.0.0.1/", "--name", "../up"], "name");
    refused(&["sweep", "http://127.0.0.1/", "--ladder", "1,x"], "x");
    refused(&["sweep", "http://127.0.0.1/", "--ladder", "5,3,3"], "comes twice");
    refused(&["http://127.0.0.1/", "--budget", "500ms"], "the budget is 500ms");
    refused(&["http://127.0.0.1/", "--success", "99.95"], "99.95%");
    refused(&["run", "http://127.0.0.1/", "--ladder", "1,2"], "plimsoll sweep URL --ladder");
    refused(&["http://127.0.0.1/", "--ladder", "1,2"], "plimsoll sweep URL --ladder");
    refused(&["sweep", "http://127.0.0.1/", "-R", "2k"], "plimsoll run URL -R");
    refused(&["sweep", "http://127.0.0.1/", "-d", "5s"], "--step TIME");
    refused(&["sweep", "http://127.0.0.1/", "-c", "5"], "plimsoll run URL");
    refused(&["run", "-V"], "plimsoll --version");
    refused(&["export", "x.plimsoll"], "--format");
    refused(&["calibrate", "--budget", "1s"], "2 s at least");
    refused(&["calibrate", "--driver", "sail"], "epoll");
    refused(&["--budget", "10s"], "no URL is given");
    refused(&["trend", "-n", "5"], "a change needs 10 runs");
    refused(&["overload", "http://127.0.0.1/", "--rate", "last"], "no run file in plimsoll-runs yet");
    refused(&["overload", "http://127.0.0.1/", "--rate", "1000G"], "the rate that is overloaded");
    refused(&["run", "http://127.0.0.1/", "--profile", "perf", "--profile-time", "10m"], "5 minutes");
    refused(&["explain", "--csv", "x.csv", "--capacity", "pool=40"], "--csv");
    refused(&["explain", "x.plimsoll", "--figure", "use"], "--figure");
    let document = bench.expect(2, &["--json"]).json();
    assert_eq!(document["error"]["exit_code"], 2);
}

#[test]
fn a_load_of_flags_takes_the_place_of_all_that_a_file_would_load() {
    let bench = Bench::new();
    let target = crate::bench::Target::start(&bench);
    let file = |load: &str| {
        let url = target.url("/healthz");
        format!("[target]\nurl = \"{url}\"\n[load]\n{load}\n[slo]\nconditions = [\"p50<10s\"]\n")
    };
    std::fs::write(bench.path("search.toml"), file("search = true\nbudget = \"5m\"")).unwrap();
    std::fs::write(bench.path("rate.toml"), file("rate = 500")).unwrap();
    let steps = |args: &[&str]| {
        let line = [&["run", "-f"], args, &["--json", "--no-files"]].concat();
        bench.expect(0, &line).json()["steps"].as_array().unwrap().len()
    };
    std::fs::write(bench.path("overload.toml"), format!("{}[overload]\nrate = 500\n", file("warm = 0")))
        .unwrap();
    let sweep =
        ["sweep", "-f", "overload.toml", "--ladder", "1,2,4", "--step", "200ms", "--json", "--no-files"];
    let climbed = bench.call(&sweep).json();
    let connections: Vec<_> =
        climbed["steps"].as_array().unwrap().iter().map(|s| &s["connections"]).collect();
    assert_eq!(connections, [1, 2, 4]);
    assert!(climbed["overload"].is_null() && climbed["plan"]["overload"].is_null(), "{}", climbed["plan"]);
    for part in [["-d", "60s"], ["-n", "50"], ["--arrivals", "poisson"]] {
        let refused = bench.expect(2, &["run", "-f", "search.toml", part[0], part[1]]);
        assert!(refused.err.contains("alone does not say how much load"), "{}", refused.err);
    }
    assert_eq!(steps(&["search.toml", "-R", "100", "-n", "50"]), 1, "what held is known without a search");
    assert_eq!(steps(&["search.toml", "-c", "1", "-n", "50"]), 1);
    assert_eq!(
        steps(&["rate.toml", "-R", "const(100,300ms) const(50,300ms)"]),
        1,
        "stages have their own time"
    );
}

#[test]
fn a_body_of_the_line_is_refused_over_several_requests_of_a_file_and_they_replace_that_of_a_file() {
    let bench = Bench::new();
    let load = "[load]\nrate = 5\n";
    let several = format!("[target]\nurl = \"http://127.0.0.1:1/\"\n{load}[[request]]\nurl = \"/a\"\n");
    std::fs::write(bench.path("several.toml"), several).unwrap();
    for part in [["-b", "{}"], ["-m", "PUT"]] {
        let refused = bench.expect(2, &["run", "-f", "several.toml", part[0], part[1]]);
        assert!(refused.err.contains(&format!("{} is about a single request", part[0])), "{}", refused.err);
    }
    let target = crate::bench::Target::start(&bench);
    let single = format!("[target]\nurl = \"{}\"\nmethod = \"PUT\"\nbody = \"x\"\n{load}", target.url("/"));
    std::fs::write(bench.path("single.toml"), single).unwrap();
    std::fs::write(bench.path("mix.txt"), "/healthz\n").unwrap();
    let run = ["run", "-f", "single.toml", "--requests", "mix.txt", "-n", "3", "--json", "--no-files"];
    assert_eq!(bench.expect(0, &run).json()["plan"]["target"]["method"], "GET");
}

#[test]
fn conditions_that_are_not_known_to_hold_do_not_end_with_0() {
    let bench = Bench::new();
    let target = crate::bench::Target::start(&bench);
    let url = target.url("/healthz");
    let few = ["run", &url, "-n", "20", "-c", "1", "--no-files"];
    bench.expect(0, &few);
    // 20 requests say nothing of p99 within a minute, and everything of one within a nanosecond.
    bench.expect(4, &[&few[..], &["--p99", "1m"]].concat());
    bench.expect(3, &[&few[..], &["--p99", "1ns"]].concat());
    let failing = target.url("/status/503");
    bench.expect(1, &["run", &failing, "-n", "20", "-c", "1", "--no-files"]);
    let answer = bench.expect(3, &[&failing, "--budget", "2s", "--no-files"]);
    assert!(answer.out.contains("answers every request with status 503"), "{}", answer.out);
    bench.expect(3, &["run", &failing, "-n", "20", "-c", "1", "--no-files", "--success", "99%"]);
}

#[test]
fn what_the_first_answer_means_is_said_before_the_load_and_first_of_all() {
    let bench = Bench::new();
    let target = crate::bench::Target::start(&bench);
    let moved = bench.call(&[&target.url("/status/302"), "--budget", "2s", "--no-files"]);
    assert!(moved.err.contains("first answer 302") && moved.err.contains("a redirect"), "{}", moved.err);
    assert!(moved.out.starts_with("Every answer is a redirect (status 302)"), "{}", moved.out);
    let secure = plimsoll_testkit::Nginx::start().unwrap();
    let port = secure.tls_address();
    let plain = bench.expect(1, &[&format!("http://{port}/"), "--budget", "2s", "--no-files"]);
    assert!(plain.err.contains(&format!("speaks TLS; write https://{port}/")), "{}", plain.err);
}

#[test]
fn the_newest_run_is_called_last() {
    let bench = Bench::new();
    let target = crate::bench::Target::start(&bench);
    let none = bench.expect(2, &["report", "last"]);
    assert!(none.err.contains("there is no run file in plimsoll-runs yet"), "{}", none.err);
    for number in ["11", "12"] {
        bench.expect(0, &["run", &target.url("/healthz"), "-c", "1", "-n", number]);
    }
    let last = bench.expect(0, &["export", "last", "--format", "json"]).json();
    assert_eq!(last["steps"][0]["completed"], 12);
}

#[test]
fn a_target_that_is_not_there_is_named_before_any_load() {
    let bench = Bench::new();
    let refused = plimsoll_testkit::refused_address();
    let called = bench.expect(1, &["run", &format!("http://{refused}/"), "-d", "60s"]);
    assert!(
        called.err.contains("connect_refused") && called.err.contains(&refused.to_string()),
        "{}",
        called.err
    );
    assert_eq!(called.err.matches("os error 111").count(), 1, "the cause is printed once: {}", called.err);
    assert!(called.err.contains("); is the server up and listening on this port?"), "{}", called.err);
    // The top-level domain `.invalid` never resolves (RFC 2606).
    let called = bench.expect(1, &["http://nowhere.invalid/"]);
    assert!(called.err.contains("dns") && called.err.contains("nowhere.invalid"), "{}", called.err);
    assert_eq!(std::fs::read_dir(bench.folder()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_body_file_that_is_not_there_is_named() {
    let bench = Bench::new();
    let called = bench.expect(1, &["run", "http://127.0.0.1/", "-b", "@absent.json"]);
    assert!(called.err.contains("absent.json") && called.err.contains("name a file"), "{}", called.err);
}
