//! `plimsoll runs` and `plimsoll trend`: filters, tags, changes, and the store of a team.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use plimsoll_record::{Event, EventKind, Run};
use plimsoll_store::{RunWriter, read};
use plimsoll_testkit::Postgres;
use serde_json::Value;

use crate::bench::{Bench, Called, Target, until};
use crate::full_disk::in_own_mounts;

/// A run of 40 requests on eight connections.
fn run(bench: &Bench, target: &Target, path: &str, more: &[&str]) -> Called {
    let url = target.url(path);
    bench.expect(0, &[&["run", &url, "-n", "40", "-c", "8", "--no-probe", "--quiet"], more].concat())
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

/// Runs of which each level repeats three measured ones in turn, a minute apart and none newer than now. On a busy machine runs in a
/// row differ, and a trend finds that change too: in turn they do not.
fn levels_in_turn(bench: &Bench, target: &Target, levels: &[(&str, &str, usize)]) {
    let folder = bench.path("plimsoll-runs");
    let mut measured = Vec::new();
    for (path, release, count) in levels {
        for _ in 0..3 {
            run(bench, target, path, &["--name", "api", "--tag", release, "--no-git"]);
        }
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "plimsoll"));
        let runs: Vec<Run> =
            files.map(|path| (read(&path).unwrap(), fs::remove_file(path).unwrap()).0).collect();
        measured.extend(runs.into_iter().cycle().take(*count));
    }
    let newest_ms = measured.last().unwrap().manifest.started_unix_ms;
    for (age, mut run) in measured.into_iter().rev().enumerate() {
        run.manifest.started_unix_ms = newest_ms - 60_000 * (age as u64 + 1);
        run.manifest.sealed = false;
        run.events.clear();
        write(&folder.join(format!("api-{age}.plimsoll")), &run);
    }
}

fn write(path: &Path, run: &Run) {
    let mut writer = RunWriter::create(path, &run.manifest, false).unwrap();
    for step in &run.steps {
        writer.step(step).unwrap();
        writer.step(step).unwrap();
    }
    run.frames.iter().for_each(|frame| writer.frame(frame).unwrap());
    run.events.iter().for_each(|event| writer.event(event).unwrap());
    writer.seal().unwrap();
}

#[test]
fn a_trend_finds_the_run_at_which_latency_rose() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let levels = [("/sleep?ms=20", "release=1", 9), ("/sleep?ms=100", "release=2", 7)];
    levels_in_turn(&bench, &target, &levels);
    let few = bench.expect(4, &["trend", "--metric", "p50"]);
    assert!(few.err.contains("there are 7") && few.err.contains("--any-plan"), "{}", few.err);
    let trend = ["trend", "--metric", "p50", "--any-plan", "--by-tag", "release"];
    let text = bench.expect(0, &trend).out;
    assert!(text.contains("p50 rose by") && text.contains("(release 2)"), "{text}");
    assert!(text.lines().count() <= 20 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(bench.path("plimsoll-runs/api.trend-p50.png").is_file());
    // Another copy of a file is no other run.
    fs::copy(bench.path("plimsoll-runs/api-0.plimsoll"), bench.path("plimsoll-runs/baseline.plimsoll"))
        .unwrap();
    let once = bench.expect(0, &[&trend[..], &["--no-files"]].concat()).out;
    assert!(once.replace('\n', " ").contains("p50 of 16 runs"), "{once}");
    // Nor does it bring back a tag that was taken away from the run.
    let tag = ["runs", "tag", "plimsoll-runs/api-0.plimsoll"];
    bench.expect(0, &[&tag[..], &["--untag", "release"]].concat());
    let tagged = bench.expect(0, &[&trend[..], &["--tag", "release", "--no-files"]].concat()).out;
    assert!(tagged.replace('\n', " ").contains("p50 of 15 runs"), "{tagged}");
    bench.expect(0, &[&tag[..], &["release=2"]].concat());
    // A newer run of something else takes no place away from those that are compared.
    run(&bench, &target, "/healthz", &["--name", "other", "--tag", "release=2"]);
    run(&bench, &target, "/sleep?ms=100", &["--name", "api", "--tag", "release=2", "--no-git"]);
    let cut = bench.expect(0, &[&trend[..], &["-n", "16", "--no-files"]].concat()).out.replace('\n', " ");
    assert!(cut.contains("p50 of 16 runs") && cut.contains("1 run older than these (-n)"), "{cut}");
    let document = bench.expect(3, &[&trend[..], &["--json", "--fail-on-regression=20%"]].concat()).json();
    satisfies(&document, "trend.schema.json");
    assert_eq!((&document["changes"][0]["at"], &document["regressed"]), (&9.into(), &true.into()));
    let within = ["trend", "--metric", "qps", "--any-plan", "--fail-on-regression=99%", "--no-files"];
    bench.expect(0, &within);
    // Of a newer run that measured nothing it is not known whether it is worse.
    let mut newest = read(&bench.path("plimsoll-runs/api-0.plimsoll")).unwrap();
    (newest.steps, newest.frames) = (Vec::new(), Vec::new());
    (newest.manifest.started_unix_ms, newest.manifest.sealed) = (u64::from(u32::MAX) * 1000, false);
    write(&bench.path("plimsoll-runs/api-newest.plimsoll"), &newest);
    let open = bench.expect(4, &within);
    assert!(open.err.contains("1 comparable run (too little was answered), newer"), "{}", open.err);
    let document = bench.expect(4, &[&within[..], &["--json"]].concat()).json();
    satisfies(&document, "trend.schema.json");
    assert_eq!(
        (&document["regressed"], &document["newer_without_value"]),
        (&Value::Null, &1.into()),
        "one document says both"
    );
    bench.expect(3, &[&trend[..], &["--no-files", "--fail-on-regression=20%"]].concat());
}

#[test]
fn a_gate_does_not_pass_on_runs_that_are_cut_short_or_cannot_be_read() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    levels_in_turn(&bench, &target, &[("/sleep?ms=20", "release=1", 12)]);
    let gate = ["trend", "--fail-on-regression=99%", "--no-files"];
    bench.expect(0, &gate);
    let broken = bench.path("plimsoll-runs/broken.plimsoll");
    fs::write(&broken, "no run").unwrap();
    let unread = bench.expect(4, &gate);
    assert!(unread.err.contains("1 run that cannot be read, newer than the last one"), "{}", unread.err);
    let document = bench.expect(4, &[&gate[..], &["--json"]].concat()).json();
    satisfies(&document, "trend.schema.json");
    let counts = (&document["left_out"]["unreadable"], &document["newer_without_value"]);
    assert_eq!(counts, (&1.into(), &1.into()));
    fs::remove_file(broken).unwrap();

    let away = with_store(&bench, "postgres://ann@127.0.0.1:1/perf", &[&gate[..], &["--json"]].concat());
    assert!(away.code == 4 && away.err.contains("only the runs of this machine are judged"), "{}", away.err);
    let document = away.json();
    assert_eq!((&document["store_read"], &document["regressed"]), (&false.into(), &Value::Null));

    let mut ended = read(&bench.path("plimsoll-runs/api-0.plimsoll")).unwrap();
    ended.events =
        vec![Event { at_ns: 1, kind: EventKind::Interrupted, failure: None, text: "interrupted".to_owned() }];
    (ended.manifest.sealed, ended.manifest.started_unix_ms) = (false, ended.manifest.started_unix_ms + 1);
    write(&bench.path("plimsoll-runs/ended.plimsoll"), &ended);
    let early = bench.expect(4, &gate);
    assert!(early.err.contains("1 comparable run that did not run to the end"), "{}", early.err);
    assert!(bench.expect(0, &["runs"]).out.contains("(ended early)"));
}

#[test]
fn a_run_that_begins_in_the_future_is_named() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    levels_in_turn(&bench, &target, &[("/sleep?ms=20", "release=1", 12)]);
    assert!(!bench.expect(0, &["runs"]).err.contains("future"));
    let mut run = read(&bench.path("plimsoll-runs/api-0.plimsoll")).unwrap();
    (run.manifest.sealed, run.manifest.started_unix_ms) = (false, u64::from(u32::MAX) * 1000);
    write(&bench.path("plimsoll-runs/future.plimsoll"), &run);
    for command in [&["runs"][..], &["trend", "--no-files"]] {
        let said = bench.expect(0, command);
        assert!(said.err.contains("1 run begins in the future: see the clock"), "{}", said.err);
    }
}

#[test]
fn a_trend_of_more_runs_than_can_be_tested_is_refused() {
    let bench = Bench::new();
    let many = bench.expect(2, &["trend", "-n", "1001"]);
    assert!(many.err.contains("grow with the square") && many.err.contains("1,000"), "{}", many.err);
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
    let again = with_store(&bench, &url, &["runs", "--deliver=all"]);
    assert!(again.code == 0 && again.err.contains("had 3 runs already"), "{}", again.err);
    assert_eq!(stored(&server), "3|3");

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
fn all_runs_of_a_folder_wait_for_a_store_that_is_away() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let mut server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres").replace(&format!(":{}@", Postgres::PASSWORD), "@");
    server.kill();
    // Made without a store, so that neither waits yet.
    run(&bench, &target, "/healthz", &["--name", "first"]);
    run(&bench, &target, "/healthz", &["--name", "second"]);
    let away = with_store(&bench, &url, &["runs", "--deliver=all"]);
    assert_eq!(away.code, 1, "{}", away.err);
    server.restart().unwrap();
    let later = with_store(&bench, &url, &["runs", "--deliver"]);
    assert_eq!((later.code, stored(&server).as_str()), (0, "2|{}"), "{}", later.err);
    run(&bench, &target, "/healthz", &["--name", "third"]);
    let rest = with_store(&bench, &url, &["runs", "--deliver=all"]);
    assert!(rest.err.contains("delivered 1 run to"), "{}", rest.err);
    assert!(rest.err.contains("; 2 were there already"), "{}", rest.err);
}

#[test]
fn only_runs_that_match_are_delivered() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let mut server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz", &["--name", "one", "--tag", "a", "--no-git"]);
    run(&bench, &target, "/healthz", &["--name", "two", "--no-git"]);
    let tagged = with_store(&bench, &url, &["runs", "--tag", "a", "--deliver=all"]);
    assert_eq!((tagged.code, stored(&server).as_str()), (0, r#"1|{"a": ""}"#), "{}", tagged.err);
    let files = fs::read_dir(bench.path("plimsoll-runs")).unwrap().map(|entry| entry.unwrap().file_name());
    let notes: Vec<_> = files.filter(|name| name.to_string_lossy().ends_with(".notes")).collect();
    assert!(notes.len() == 1 && notes[0].to_string_lossy().starts_with("one-"), "{notes:?}");
    server.kill();
    assert_eq!(with_store(&bench, &url, &["runs", "--deliver=all"]).code, 1, "both wait");
    server.restart().unwrap();
    let named = with_store(&bench, &url, &["runs", "--match", "two", "--deliver"]);
    assert!(named.code == 0 && named.err.contains("delivered 1 run"), "{}", named.err);
    let none = with_store(&bench, &url, &["runs", "--match", "three", "--deliver"]);
    assert!(none.code == 0 && none.err.contains("no run of plimsoll-runs that matches"), "{}", none.err);
    let rest = with_store(&bench, &url, &["runs", "--deliver"]);
    assert!(rest.code == 0 && rest.err.contains("had 1 run already"), "{}", rest.err);
    assert_eq!(with_store(&bench, &url, &["runs", "--deliver", "--json"]).code, 2);
}

#[test]
fn a_delivery_that_is_interrupted_has_the_code_of_that_and_the_rest_waits() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz", &["--store", &url]);
    run(&bench, &target, "/healthz", &["--name", "one"]);
    run(&bench, &target, "/healthz", &["--name", "two"]);
    let mut holder = server.psql("postgres").stdin(Stdio::piped()).spawn().unwrap();
    holder.stdin.as_mut().unwrap().write_all(b"BEGIN; LOCK TABLE plimsoll.run_file;\n").unwrap();
    let locks = |is_granted| {
        let sql = format!(
            "SELECT count(*) FROM pg_locks WHERE relation = 'plimsoll.run_file'::regclass AND granted = {is_granted}"
        );
        server.query("postgres", &sql).unwrap()
    };
    until("the table is locked", || locks(true) == "1");
    let mut delivering = bench.command(&["runs", "--deliver=all"]);
    let delivering = delivering.env("PLIMSOLL_STORE", &url).stderr(Stdio::piped()).spawn().unwrap();
    until("the delivery waits for the table", || locks(false) == "1");
    let id = delivering.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &id]).status().unwrap().success());
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let called = Called::from(delivering.wait_with_output().unwrap());
    assert_eq!(called.code, 130, "{}", called.err);
    assert!(called.err.contains("kept here, to be delivered later"), "{}", called.err);
}

#[test]
fn a_run_has_the_tags_of_the_store_here_and_as_a_copy() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz", &["--tag", "nightly", "--no-git", "--store", &url]);
    let file = bench.run_file("plimsoll-runs").file_name().unwrap().to_str().unwrap().to_owned();
    let theirs = format!("store:{file}");
    let changed = with_store(&bench, &url, &["runs", "tag", &theirs, "seen=bob", "--untag", "nightly"]);
    assert_eq!(changed.code, 0, "{}", changed.err);
    let tags = |listed: Called| {
        let document = listed.json();
        assert_eq!(document["runs"].as_array().unwrap().len(), 1, "{document}");
        document["runs"][0]["tags"].clone()
    };
    let bobs = serde_json::json!({ "seen": "bob" });
    assert_eq!(tags(with_store(&bench, &url, &["runs", "--tag", "seen", "--json"])), bobs);
    assert_eq!(with_store(&bench, &url, &["runs", "fetch", &file, "-o", "copies"]).code, 0);
    assert_eq!(tags(bench.expect(0, &["runs", "copies", "--tag", "seen", "--json"])), bobs);
    // What the store is to get counts before what it has.
    bench.expect(0, &["runs", "tag", "last", "mine"]);
    let ours = serde_json::json!({ "mine": "", "nightly": "" });
    assert_eq!(tags(with_store(&bench, &url, &["runs", "--json"])), ours);
    let delivered = with_store(&bench, &url, &["runs", "--deliver"]);
    assert!(
        delivered.err.contains("delivered 1 run"),
        "a tag given without the store waits: {}",
        delivered.err
    );
    let both = serde_json::json!({ "mine": "", "seen": "bob" });
    assert_eq!(tags(with_store(&bench, &url, &["runs", "--json"])), both);
}

#[test]
fn a_run_and_its_copy_from_the_store_are_of_the_same_requests() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz?user=ann", &["-b", "a body of its own", "--store", &url]);
    let own = bench.run_file("plimsoll-runs");
    let file = own.file_name().unwrap().to_str().unwrap();
    let fetched = with_store(&bench, &url, &["runs", "fetch", file, "-o", "copies"]);
    assert_eq!(fetched.code, 0, "{}", fetched.err);
    let copy = bench.run_file("copies");
    let sides = ["diff", own.to_str().unwrap(), copy.to_str().unwrap()];
    let document = bench.expect(0, &[&sides[..], &["--no-files", "--json"]].concat()).json();
    // What concerns one side is how the load went.
    let why = document["not_comparable"].as_array().unwrap();
    assert!(why.iter().all(|one| !one["side"].is_null()), "{document}");
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

#[test]
fn a_filter_that_no_run_passes_says_so_and_how_many_runs_there_are() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    run(&bench, &target, "/healthz", &[]);
    let only = bench.expect(0, &["runs", "--tag", "nope"]);
    assert!(only.out.is_empty() && only.err.contains("the only run does not match"), "{}", only.err);
    run(&bench, &target, "/healthz", &[]);
    let none = bench.expect(0, &["runs", "--command", "overload", "--json"]);
    assert!(none.err.contains("none of 2 runs matches"), "{}", none.err);
    assert_eq!(none.json()["runs"], serde_json::json!([]));
}

/// What of a run is in the store: how many runs, and the tags of the newest.
fn stored(server: &Postgres) -> String {
    server.query("postgres", "SELECT count(*), max(tags::text) FROM plimsoll.run").unwrap()
}

#[test]
fn a_tag_takes_no_run_to_a_store_that_it_is_not_meant_for() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz", &["--name", "private", "--no-git"]);
    let tagged = with_store(&bench, &url, &["runs", "tag", "last", "seen"]);
    assert_eq!(tagged.code, 0, "{}", tagged.err);
    let made =
        server.query("postgres", "SELECT count(*) FROM pg_namespace WHERE nspname = 'plimsoll'").unwrap();
    assert_eq!(made, "0", "the store was not even connected to");
    // A bare name is a file of the current folder.
    let file = bench.run_file("plimsoll-runs").file_name().unwrap().to_str().unwrap().to_owned();
    let mut asked = bench.command(&["runs", "tag", &file, "shared", "--store", &url]);
    let asked = Called::from(asked.current_dir(bench.path("plimsoll-runs")).output().unwrap());
    assert_eq!((asked.code, asked.err.as_str()), (0, ""));
    assert_eq!(stored(&server), r#"1|{"seen": "", "shared": ""}"#);
    // From then on the store has it.
    assert_eq!(with_store(&bench, &url, &["runs", "tag", "last", "--untag", "seen"]).code, 0);
    assert_eq!(stored(&server), r#"1|{"shared": ""}"#);
}

#[test]
fn a_damaged_run_that_waits_is_reported_once_and_its_file_stays() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    run(&bench, &target, "/healthz", &["--store", "postgres://ann@127.0.0.1:1/perf"]);
    let file = bench.path(bench.run_file("plimsoll-runs").to_str().unwrap());
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 100]).unwrap();
    let (_, place) = url.split_once('@').unwrap();
    let notes = format!("{{\"waiting_for\": [\"postgres://{place}\"]}}");
    fs::write(file.with_extension("plimsoll.notes"), notes).unwrap();
    let first = with_store(&bench, &url, &["runs", "--deliver"]);
    assert_eq!(first.code, 1, "{}", first.err);
    assert!(
        first.err.contains("stays here and is not delivered") && first.err.contains("cut short"),
        "{}",
        first.err
    );
    let second = with_store(&bench, &url, &["runs", "--deliver"]);
    assert!(second.code == 0 && second.err.starts_with("no run of plimsoll-runs waits"), "{}", second.err);
    assert!(file.is_file());
}

#[test]
fn a_name_server_that_is_away_holds_the_end_of_a_run_for_three_seconds() {
    // An address of its own on the loopback network, for a port that only one process has.
    let own = std::process::id();
    let silent = format!("127.53.{}.{}", own / 250 % 250 + 1, own % 250 + 1);
    let Ok(_socket) = std::net::UdpSocket::bind((silent.as_str(), 53)) else {
        eprintln!("skipped: this user may not listen on port 53");
        return;
    };
    let bench = Bench::new();
    let target = Target::start(&bench);
    fs::write(bench.path("resolv.conf"), format!("nameserver {silent}\noptions timeout:15 attempts:2\n"))
        .unwrap();
    let script = format!(
        "mount --bind resolv.conf /etc/resolv.conf && exec \"$PLIMSOLL\" run {} -n 5 --no-probe --store \
         postgres://ann@db.test/perf",
        target.url("/healthz")
    );
    let begun = std::time::Instant::now();
    let Some(called) = in_own_mounts(&bench, &script) else { return };
    let sec = begun.elapsed().as_secs();
    assert!(called.code == 0 && called.err.contains("did not answer within 3 s"), "{}", called.err);
    assert!(called.err.contains("1 run kept here"), "{}", called.err);
    assert!(sec < 12, "it took {sec} s, as long as the resolver");
}
