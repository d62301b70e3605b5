//! Hosts are sampled during a load: found, followed, reported, and left alone.

use std::net::SocketAddr;

use plimsoll_testkit::{Nginx, refused_address};
use serde_json::Value;

use crate::bench::{Bench, Target};

fn address(target: &Target) -> SocketAddr {
    target.url("").trim_start_matches("http://").parse().unwrap()
}

/// Rows of one resource of one host.
fn rows<'a>(document: &'a Value, host: &str, resource: &str) -> Vec<&'a Value> {
    let hosts = document["hosts"].as_array().unwrap();
    let usage =
        hosts.iter().find(|known| known["name"] == host).map(|host| host["usage"].as_array().unwrap());
    usage.into_iter().flatten().filter(|row| row["resource"] == resource).collect()
}

#[test]
fn a_proxy_on_this_machine_is_followed_to_the_server_behind_it() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let nginx = Nginx::before(address(&target)).unwrap();
    let url = format!("http://{}/proxied/sleep?ms=2", nginx.address());
    // The proxy keeps the connections that this makes. Those that appear under load are followed some seconds later.
    bench.expect(0, &["run", &url, "-c", "8", "-n", "100", "--no-files", "--no-probe"]);
    let called = bench.expect(0, &["run", &url, "-c", "8", "-d", "3s", "--json"]);
    let document = called.json();
    let tiers = document["tiers"].as_array().unwrap();
    let process = |tier: &Value| (tier["process"].clone(), tier["port"].clone());
    let seen: Vec<(Value, Value)> = tiers.iter().map(process).collect();
    let ports = [nginx.address().port(), address(&target).port()];
    let expected = [("nginx".into(), ports[0].into()), ("plimsoll".into(), ports[1].into())];
    assert_eq!(seen, expected, "{}", document["tiers"]);
    assert_eq!(tiers[0]["downstream"][0]["to"], 1, "{}", document["tiers"]);
    assert!(!rows(&document, "local", "cpu").is_empty(), "{}", document["hosts"]);
    let cost = document["hosts"][0]["probe_cores"].as_f64().unwrap();
    assert!(cost > 0.0 && cost < 0.5, "looking costs something, and little: {cost}");
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    assert_eq!(bench.expect(0, &["report", &file, "--json"]).out, called.out, "the samples are in the file");
    let text = bench.expect(0, &["report", &file, "--full"]).out;
    let drawing = format!("Tiers: generator → nginx:{} → plimsoll:{}", ports[0], ports[1]);
    assert!(text.contains(&drawing) && text.contains("Hosts at "), "{text}");
}

#[test]
fn no_host_is_sampled_with_no_probe() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let document = bench.expect(0, &["run", &url, "-c", "1", "-n", "300", "--no-probe", "--json"]).json();
    assert_eq!(
        (document["hosts"].as_array().unwrap().len(), document["tiers"].as_array().unwrap().len()),
        (0, 0)
    );
    let refused = bench.expect(2, &["run", &url, "--no-probe", "--probe", "local"]);
    assert!(refused.err.contains("--no-probe"), "{}", refused.err);
}

#[test]
fn a_component_tells_of_itself_under_the_name_of_its_host() {
    let bench = Bench::new();
    let nginx = Nginx::start().unwrap();
    let url = format!("http://{}/", nginx.address());
    let probe = format!("web=nginx+http://{}/stub", nginx.address());
    let called = bench.expect(0, &["run", &url, "-c", "2", "-d", "3s", "--probe", &probe, "--json"]);
    let document = called.json();
    let web = document["hosts"].as_array().unwrap().iter().find(|host| host["name"] == "web").unwrap();
    let figures = web["components"][0]["figures"].as_array().unwrap();
    let requests = figures.iter().find(|figure| figure["what"] == "requests").unwrap();
    let throughput = document["steps"][0]["throughput_per_sec"].as_f64().unwrap();
    let ratio = requests["value"].as_f64().unwrap() / throughput;
    // They cover times that are not quite the same, and a machine that stalls in between changes one of them.
    assert!((0.3..3.0).contains(&ratio), "its count is ours: {requests} against {throughput}");
}

#[test]
fn a_component_that_does_not_answer_is_named_and_ends_nothing() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let probe = format!("cache=redis://{}", refused_address());
    let args = ["run", &target.url("/healthz"), "-c", "1", "-d", "2s", "--probe", &probe, "--json"];
    let called = bench.expect(0, &args);
    let shown = called.err.lines().filter(|line| line.contains("redis") && line.contains("cache")).count();
    assert_eq!(shown, 1, "once: {}", called.err);
    let document = called.json();
    let cache = document["hosts"].as_array().unwrap().iter().find(|host| host["name"] == "cache").unwrap();
    assert_eq!(
        (&cache["unread"][0]["source"], &cache["unread"][0]["read"]),
        (&Value::from("redis"), &Value::from(0))
    );
    assert!(document["events"].as_array().unwrap().iter().any(|event| event["kind"] == "probe_failed"));
}

#[test]
fn a_probe_that_is_none_is_an_error_of_usage_that_says_what_would_be_one() {
    let bench = Bench::new();
    let called = bench.expect(2, &["http://127.0.0.1:1/", "--probe", "telnet://web"]);
    assert!(called.err.contains("telnet") && called.err.contains("ssh://user@host"), "{}", called.err);
}
