//! Targets behind TLS.

use std::net::SocketAddr;

use plimsoll_testkit::Nginx;
use serde_json::{Value, json};

use crate::bench::{Bench, Called};

fn url(address: SocketAddr) -> String {
    format!("https://{address}/")
}

/// A short run with two connections of one worker that keeps no file.
fn short_run(bench: &Bench, code: i32, url: &str, more: &[&str]) -> Called {
    bench.expect(code, &[&["run", url, "-c", "2", "-t", "1", "-n", "200", "--no-files"], more].concat())
}

fn assert_all_served(step: &Value) {
    assert_eq!(step["failed"], json!({}));
    assert_eq!(step["ok"], step["completed"]);
    assert!(step["completed"].as_u64().unwrap() > 0, "{step}");
}

/// A report in one line, for its lines break where their width ends.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The errors of a document by the published schema.
pub(crate) fn schema_errors(document: &Value) -> Vec<String> {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(document).map(|error| error.to_string()).collect()
}

#[test]
fn a_server_is_verified_by_its_authority_and_every_request_counted() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let certificate = nginx.certificate();
    let before = nginx.requests().unwrap();
    let trusted = ["--cacert", certificate.to_str().unwrap(), "--json"];
    let called = short_run(&bench, 0, &url(nginx.tls_address()), &trusted);
    let document = called.json();
    let step = &document["steps"][0];
    assert_all_served(step);
    assert_eq!(
        step["completed"],
        nginx.requests().unwrap() - before,
        "the handshake before the load is no request"
    );
    assert_eq!((step["connects"].as_u64(), step["handshakes"].as_u64()), (Some(2), Some(2)));
    assert_eq!(step["resumed"], 0, "nothing is resumed from the connection before the load");
    let tls = &document["run"]["tls"];
    assert_eq!((&tls["verified"], &tls["resumption"]), (&json!(true), &json!(true)));
    assert_eq!((&tls["peer"], &document["run"]["protocol"]), (&json!("127.0.0.1"), &json!("HTTP/1.1")));
    let (version, cipher) = (tls["version"].as_str().unwrap(), tls["cipher"].as_str().unwrap());
    let shown = format!("HTTP/1.1 over {version} ({cipher})");
    assert!(called.err.contains(&shown), "shown before the load: {}", called.err);
    assert_eq!(schema_errors(&document), [""; 0]);
}

#[test]
fn version_and_cipher_are_named_as_the_server_names_them() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let called = short_run(&bench, 0, &url(nginx.tls_http1_address()), &["--insecure", "--json"]);
    let run = &called.json()["run"];
    let (version, cipher) = (&run["tls"]["version"], &run["tls"]["cipher"]);
    assert_eq!((version, cipher), (&json!("TLSv1.3"), &json!("TLS_AES_256_GCM_SHA384")));
}

#[test]
fn a_server_that_cannot_be_verified_gets_no_load_and_the_error_says_what_to_do() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let before = nginx.requests().unwrap();
    let address = nginx.tls_address();
    let called = short_run(&bench, 1, &url(address), &["--json"]);
    for part in ["tls_certificate", &address.to_string(), "--cacert", "--insecure"] {
        assert!(called.err.contains(part), "{part}: {}", called.err);
    }
    assert_eq!(called.json()["error"]["exit_code"], 1);
    let elsewhere = ["--cacert", nginx.certificate().to_str().unwrap(), "--connect-to", &address.to_string()]
        .map(str::to_owned);
    let elsewhere: Vec<&str> = elsewhere.iter().map(String::as_str).collect();
    let called = short_run(&bench, 1, "https://other.test/", &elsewhere);
    for part in ["tls_certificate", "localhost", "not for other.test"] {
        assert!(called.err.contains(part), "{part}: {}", called.err);
    }
    assert_eq!(nginx.requests().unwrap(), before);
}

#[test]
fn a_name_of_the_certificate_holds_wherever_the_connection_goes() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let (certificate, to) = (nginx.certificate(), nginx.tls_address().to_string());
    let more = ["--cacert", certificate.to_str().unwrap(), "--connect-to", &to, "--json"];
    let document = short_run(&bench, 0, "https://localhost/", &more).json();
    assert_all_served(&document["steps"][0]);
    assert_eq!(document["run"]["tls"]["peer"], "localhost");
}

#[test]
fn an_insecure_run_says_that_nothing_was_verified() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = url(nginx.tls_address());
    let document = short_run(&bench, 0, &url, &["--insecure", "--json"]).json();
    let tls = &document["run"]["tls"];
    assert_eq!((&tls["verified"], &tls["peer"]), (&json!(false), &Value::Null));
    assert_eq!(schema_errors(&document), [""; 0]);
}

#[test]
fn a_client_certificate_is_shown_to_a_server_that_demands_one() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = url(nginx.demanding_tls_address());
    let (certificate, key) = (nginx.certificate(), nginx.key());
    let certificate = certificate.to_str().unwrap();
    let without = short_run(&bench, 1, &url, &["--cacert", certificate, "--json"]).json();
    assert_eq!(without["steps"][0]["ok"], 0);
    assert_eq!(without["steps"][0]["status"]["400"], without["steps"][0]["completed"]);
    let pair = ["--cacert", certificate, "--cert", certificate, "--key", key.to_str().unwrap(), "--json"];
    let document = short_run(&bench, 0, &url, &pair).json();
    assert_all_served(&document["steps"][0]);
    assert!(!document.to_string().contains("PRIVATE KEY"), "a document holds paths, not keys");
    let both = [std::fs::read(certificate).unwrap(), std::fs::read(key).unwrap()].concat();
    std::fs::write(bench.path("both.pem"), both).unwrap();
    let one_file = ["--cacert", certificate, "--cert", "both.pem", "--json"];
    assert_all_served(&short_run(&bench, 0, &url, &one_file).json()["steps"][0]);
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let url = url(nginx.tls_address());
    let refused = |more: &[&str], parts: &[&str]| {
        let called = short_run(&bench, 1, &url, more);
        for part in parts {
            assert!(called.err.contains(part), "{more:?}, {part}: {}", called.err);
        }
    };
    std::fs::write(bench.path("empty.pem"), "nothing").unwrap();
    refused(&["--cacert", "absent.pem"], &["absent.pem", "--cacert", "No such file"]);
    refused(&["--cacert", "empty.pem"], &["empty.pem", "BEGIN CERTIFICATE"]);
    let certificate = nginx.certificate();
    let certificate = certificate.to_str().unwrap();
    refused(&["--cert", certificate], &["given with --cert", certificate, "no private key", "with --key"]);
    refused(&["--cert", certificate, "--key", "absent.key"], &["absent.key", "--key"]);
}

#[test]
fn a_port_without_tls_is_distinguished_from_one_with_it() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let called = short_run(&bench, 1, &url(nginx.address()), &[]);
    assert!(called.err.contains("tls_handshake") && called.err.contains("https"), "{}", called.err);
    let plain = format!("http://{}/", nginx.tls_address());
    let document = short_run(&bench, 1, &plain, &["--json"]).json();
    assert_eq!(document["steps"][0]["ok"], 0, "nginx answers plain HTTP on a TLS port with status 400");
}

#[test]
fn without_keep_alive_opening_and_handshake_are_timed_apart_from_the_request() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let certificate = nginx.certificate();
    let trusted = ["--cacert", certificate.to_str().unwrap(), "--no-keepalive"];
    let full = [&trusted[..], &["--no-resumption", "--json"]].concat();
    let document = short_run(&bench, 0, &url(nginx.tls_address()), &full).json();
    let step = &document["steps"][0];
    assert_all_served(step);
    let count = |name: &str| step[name].as_u64().unwrap();
    assert!(count("handshakes") >= count("completed") && count("connects") >= count("completed"), "{step}");
    assert_eq!(count("resumed"), 0);
    let mean = |name: &str| step[name]["mean"].as_f64().unwrap();
    assert!(mean("handshake_ms") > 0.0 && mean("handshake_ms") <= mean("connect_ms"), "{step}");
    assert!(mean("service_ms") + mean("handshake_ms") <= mean("latency_ms") * 1.1, "{step}");
    assert_eq!(document["run"]["tls"]["resumption"], false);
    let called = short_run(&bench, 0, &url(nginx.tls_address()), &[&trusted[..], &["--full"]].concat());
    let text = unwrapped(&called.out);
    for part in ["connections opened while measured: mean", "; TLS handshake mean", "resumed"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn without_tls_opening_alone_is_timed_apart() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let plain = format!("http://{}/", nginx.address());
    let step = &short_run(&bench, 0, &plain, &["--no-keepalive", "--json"]).json()["steps"][0];
    assert!(step["connect_ms"]["mean"].as_f64().unwrap() > 0.0);
    assert_eq!((&step["handshakes"], &step["handshake_ms"]["mean"]), (&json!(0), &Value::Null));
}

#[test]
fn the_whole_answers_first_request_goes_over_tls_and_its_file_tells_the_same() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let (url, certificate) = (url(nginx.tls_address()), nginx.certificate());
    // A budget this short may break a condition, or leave it open; only that it was answered counts here.
    let called = bench.call(&[&url, "--cacert", certificate.to_str().unwrap(), "--budget", "2s"]);
    assert!([0, 3, 4].contains(&called.code), "{}", called.err);
    let file = bench.run_file("plimsoll-runs");
    let again = bench.expect(0, &["report", file.to_str().unwrap()]);
    assert_eq!(again.out, called.out);
    let document = bench.expect(0, &["report", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(document["preflight"]["first_answer"]["status"], 200);
    let run = &document["run"];
    assert_eq!((&run["protocol"], &run["tls"]["verified"]), (&json!("HTTP/1.1"), &json!(true)));
}

#[test]
fn options_of_tls_without_https_are_refused() {
    let bench = Bench::new();
    for option in [&["--cacert", "ca.pem"][..], &["--insecure"], &["--no-resumption"]] {
        let called = short_run(&bench, 2, "http://127.0.0.1/", option);
        assert!(called.err.contains(option[0]) && called.err.contains("https://"), "{}", called.err);
    }
    let called = short_run(&bench, 2, "https://127.0.0.1/", &["--key", "me.key"]);
    assert!(called.err.contains("--cert"), "{}", called.err);
}

#[test]
fn a_plan_file_asks_for_http2_several_requests_and_an_authority_next_to_it() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    std::fs::copy(nginx.certificate(), bench.path("ca.pem")).unwrap();
    std::fs::write(bench.path("body"), "a=1").unwrap();
    std::fs::write(bench.path("mix.http"), "GET /?from=file\n").unwrap();
    let target = |more: &str| format!("[target]\nurl = \"{}\"\n{more}\n", url(nginx.tls_address()));
    let load = "[load]\nladder = [2]\nstep = \"1s\"\n";
    let tables = "[[request]]\nurl = \"/?a\"\nweight = 3\n[[request]]\nname = \"post\"\nurl = \"/\"\nbody = \"@body\"\n";
    let plan = format!("{}{load}{tables}", target("http2 = true\ncacert = \"ca.pem\""));
    // The plan lies elsewhere than the command is called, and what it names is next to it.
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    std::fs::write(bench.path("plan.toml"), plan).unwrap();
    let mut command = bench.command(&["run", "-f", "../plan.toml", "--no-files", "--json"]);
    let called = Called::from(command.current_dir(bench.path("elsewhere")).output().unwrap());
    assert_eq!(called.code, 0, "{}", called.err);
    let document = called.json();
    assert_all_served(&document["steps"][0]);
    assert_eq!(document["run"]["protocol"], "HTTP/2");
    assert_eq!(
        (&document["run"]["tls"]["verified"], &document["run"]["tls"]["peer"]),
        (&json!(true), &json!("127.0.0.1"))
    );
    let requests = &document["steps"][0]["requests"];
    assert_eq!((&requests[0]["name"], &requests[1]["name"]), (&json!("GET /"), &json!("post")));
    let of = |index: usize| requests[index]["ok"].as_f64().unwrap();
    let (looks, posts) = (of(0), of(1));
    assert!((looks - 3.0 * posts).abs() <= 8.0, "three to one: {looks} and {posts}");
    assert_eq!(schema_errors(&document), [""; 0]);
    let plan = format!("{}{load}", target("requests = \"mix.http\"\ninsecure = true"));
    std::fs::write(bench.path("plan.toml"), plan).unwrap();
    let document = bench.expect(0, &["run", "-f", "plan.toml", "--no-files", "--json"]).json();
    assert_all_served(&document["steps"][0]);
    assert_eq!(document["run"]["tls"]["verified"], false);
    std::fs::write(bench.path("plan.toml"), target("insecure = true\ncacert = \"ca.pem\"")).unwrap();
    let refused = bench.expect(2, &["run", "-f", "plan.toml"]);
    assert!(
        refused.err.contains("plan.toml: line 4: `target.insecure` and `target.cacert`"),
        "{}",
        refused.err
    );
}
