//! `plimsoll runs` and `plimsoll trend`: filters, tags, changes, and the store of a team.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use plimsoll_testkit::Postgres;
use serde_json::Value;

use crate::bench::{Bench, Called, Target};

/// A run of 40 requests on one connection.
fn run(bench: &Bench, target: &Target, path: &str, more: &[&str]) -> Called {
    let url = target.url(path);
    bench.expect(0, &[&["run", &url, "-n", "40", "-c", "1", "--no-probe", "--quiet"], more].concat())
}

fn listed(bench: &Bench, args: &[&str]) -> Vec<String> {
    let document = bench.expect(0, &[&["runs", "--json"], args].concat()).json();
    let runs = document["runs"].as_array().unwrap().clone();
    runs.iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect()
}

fn satisfies(document: &Value, schema: &str) {
    let path = format!("{}/../../docs/{schema}", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn runs_are_found_by_tag_name_command_and_number() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    run(&bench, &target, "/healthz", &["--name", "first", "--tag", "release=1.3", "--tag", "nightly"]);
    run(&bench, &target, "/healthz?user=ann", &["--name", "second", "--tag", "release=1.4"]);
    assert_eq!(listed(&bench, &[]), ["second", "first"]);
    assert_eq!(listed(&bench, &["--tag", "release=1.3"]), ["first"]);
    assert_eq!(listed(&bench, &["--tag", "release"]), ["second", "first"]);
    assert_eq!(listed(&bench, &["--match", "sec"]), ["second"]);
    assert_eq!(listed(&bench, &["--sort", "name", "-n", "1"]), ["first"]);
    assert_eq!(listed(&bench, &["--since", "1h", "--command", "run"]), ["second", "first"]);
    assert!(
        listed(&bench, &["--until", "1h"]).is_empty() && listed(&bench, &["--command", "sweep"]).is_empty()
    );
    let document = bench.expect(0, &["runs", "--json"]).json();
    satisfies(&document, "runs.schema.json");
    assert!(document["runs"][0]["target"].as_str().unwrap().ends_with("/healthz?user=…"));
    let wrong = bench.expect(2, &["runs", "--since", "yesterday"]);
    assert!(wrong.err.contains("7d"), "{}", wrong.err);
}

#[test]
fn tags_given_later_leave_the_run_file_as_it_was() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    run(&bench, &target, "/healthz", &["--tag", "release=1.3"]);
    let file = bench.path(bench.run_file("plimsoll-runs").to_str().unwrap());
    let before = fs::read(&file).unwrap();
    bench.expect(0, &["runs", "tag", "last", "baseline", "release=1.4"]);
    let tags = || bench.expect(0, &["runs", "--json"]).json()["runs"][0]["tags"].clone();
    assert_eq!(tags(), serde_json::json!({ "release": "1.4", "baseline": "" }));
    bench.expect(0, &["runs", "tag", "last", "--untag", "release"]);
    assert_eq!(tags(), serde_json::json!({ "baseline": "" }));
    assert_eq!(fs::read(&file).unwrap(), before);
    let wrong = bench.expect(2, &["runs", "tag", "last", "two words=x"]);
    assert!(wrong.err.contains("key of a tag"), "{}", wrong.err);
}

#[test]
fn the_list_is_the_same_without_its_index_and_with_a_damaged_one() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    run(&bench, &target, "/healthz", &["--name", "one"]);
    run(&bench, &target, "/healthz", &["--name", "two"]);
    let document = || bench.expect(0, &["runs", "--json"]);
    let first = document();
    let index = bench.path("plimsoll-runs/index.sqlite");
    assert!(index.is_file() && document().out == first.out);
    fs::remove_file(&index).unwrap();
    assert_eq!(document().out, first.out);
    fs::write(&index, "no index at all, and longer than a header of SQLite would be").unwrap();
    let again = document();
    assert!(again.out == first.out && again.err.contains("made again"), "{}", again.err);
    let newest = fs::read_dir(bench.path("plimsoll-runs")).unwrap().map(|entry| entry.unwrap().path());
    let newest: PathBuf = newest.filter(|path| path.to_string_lossy().contains("two-")).collect();
    fs::remove_file(newest).unwrap();
    assert_eq!(listed(&bench, &[]), ["one"]);
}

#[test]
fn the_commit_of_a_checkout_is_a_tag_of_its_runs() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=test", "-c", "user.email=test@example.test"]).args(args);
        assert!(git.current_dir(bench.folder()).output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    fs::write(bench.path("service.txt"), "1").unwrap();
    git(&["add", "service.txt"]);
    git(&["commit", "-q", "-m", "first"]);
    let tags = |more: &[&str]| {
        run(&bench, &target, "/healthz", more);
        bench.expect(0, &["runs", "--json"]).json()["runs"][0]["tags"].clone()
    };
    let clean = tags(&[]);
    assert!(
        clean["commit"].as_str().is_some_and(|commit| commit.len() == 12) && clean.get("dirty").is_none()
    );
    fs::write(bench.path("service.txt"), "2").unwrap();
    assert_eq!(tags(&[])["dirty"], "");
    assert_eq!(tags(&["--no-git"]), serde_json::json!({}));
    assert_eq!(tags(&["--tag", "commit=mine"])["commit"], "mine");
}

#[test]
fn a_trend_finds_the_run_at_which_latency_rose() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    for number in 0..16 {
        let (path, release) =
            if number < 9 { ("/sleep?ms=4", "release=1") } else { ("/sleep?ms=7", "release=2") };
        run(&bench, &target, path, &["--name", "api", "--tag", release, "--no-git"]);
    }
    let few = bench.expect(4, &["trend", "--metric", "p50"]);
    assert!(few.err.contains("there are 7") && few.err.contains("--any-plan"), "{}", few.err);
    let trend = ["trend", "--metric", "p50", "--any-plan", "--by-tag", "release"];
    let text = bench.expect(0, &trend).out;
    assert!(text.contains("p50 rose by") && text.contains("(release 2)"), "{text}");
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(bench.path("plimsoll-runs/api.trend-p50.png").is_file());
    let document = bench.expect(3, &[&trend[..], &["--json", "--fail-on-regression=20%"]].concat()).json();
    satisfies(&document, "trend.schema.json");
    assert_eq!((&document["changes"][0]["at"], &document["regressed"]), (&9.into(), &true.into()));
    bench.expect(0, &[&trend[..], &["--fail-on-regression=99%", "--no-files"]].concat());
}

/// The same call with a store and its password in the environment.
fn with_store(bench: &Bench, url: &str, args: &[&str]) -> Called {
    let mut command = bench.command(args);
    Called::from(command.env("PLIMSOLL_STORE", url).env("PGPASSWORD", Postgres::PASSWORD).output().unwrap())
}

#[test]
fn a_store_that_is_away_changes_neither_the_answer_nor_the_exit_code() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let mut server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres").replace(&format!(":{}@", Postgres::PASSWORD), "@");
    let line =
        |name| ["run".to_owned(), target.url("/healthz"), "-n".into(), "20".into(), "--name".into(), name];
    let call = |name: &str| {
        let line = line(name.to_owned());
        with_store(&bench, &url, &line.iter().map(String::as_str).chain(["--no-probe"]).collect::<Vec<_>>())
    };
    let stored = |server: &Postgres| {
        server.query("postgres", "SELECT count(*), count(DISTINCT id) FROM plimsoll.run").unwrap()
    };
    let first = call("first");
    assert!(
        first.code == 0 && first.err.contains("delivered 1 run to postgres://127.0.0.1:"),
        "{}",
        first.err
    );
    server.kill();
    let second = call("second");
    assert!(second.code == 0 && second.out.contains("served"), "{}", second.err);
    assert!(
        second.err.contains("1 run kept here, to be delivered later: postgres://127.0.0.1:"),
        "{}",
        second.err
    );
    assert!(!second.err.contains(Postgres::PASSWORD));
    let local = with_store(&bench, &url, &["runs"]);
    assert!(
        local.code == 0
            && local.out.contains("last~1")
            && local.err.contains("only the runs of this machine")
    );
    let held = with_store(&bench, &url, &["runs", "--deliver"]);
    assert_eq!(held.code, 1, "{}", held.err);

    server.restart().unwrap();
    let third = call("third");
    assert!(third.err.contains("delivered 2 runs"), "what waited goes along: {}", third.err);
    assert_eq!(stored(&server), "3|3");
    assert!(with_store(&bench, &url, &["runs", "--deliver=all"]).code == 0 && stored(&server) == "3|3");

    let colleague = Bench::new();
    let listed = with_store(&colleague, &url, &["runs", "--json"]).json();
    let file = listed["runs"][2]["file"].as_str().unwrap().to_owned();
    assert!(file.starts_with("first-"));
    let fetched = with_store(&colleague, &url, &["runs", "fetch", &file]);
    assert_eq!(fetched.code, 0, "{}", fetched.err);
    let checked = colleague.expect(0, &["check", "last"]).out;
    assert!(checked.contains("Every row matches"), "{checked}");
    assert_eq!(colleague.expect(0, &["report", "last"]).out, first.out);
    assert_eq!(with_store(&colleague, &url, &["runs", "--json"]).json()["runs"].as_array().unwrap().len(), 3);
}

#[test]
fn a_store_that_cannot_be_meant_is_refused_before_the_load() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let wrong = bench.expect(2, &["run", &url, "-n", "5", "--store", "mysql://ann:s3cret@db/perf"]);
    assert!(
        wrong.err.contains("postgres://user@host/database") && !wrong.err.contains("s3cret"),
        "{}",
        wrong.err
    );
    let nothing =
        bench.expect(2, &["run", &url, "-n", "5", "--no-files", "--store", "postgres://ann@127.0.0.1:1/p"]);
    assert!(nothing.err.contains("--no-files"), "{}", nothing.err);
    assert!(!bench.path("plimsoll-runs").exists());
}
