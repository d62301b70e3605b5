//! `plimsoll runs`, `report` and `export`.

use plimsoll_testkit::{GoProgram, refused_address};
use serde_json::Value;

use crate::bench::{Bench, Called, Target};

fn with_sweep() -> (Bench, Called, String) {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/sleep?ms=2");
    let live = bench.expect(0, &["sweep", &url, "--ladder", "1,2,4", "--step", "1s", "--name", "api"]);
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    (bench, live, file)
}

#[test]
fn the_report_of_a_file_is_what_the_live_run_printed() {
    let (bench, live, file) = with_sweep();
    assert_eq!(bench.expect(0, &["report", &file]).out, live.out);
    assert_eq!(bench.expect(0, &["report", "last"]).out, live.out);
    let full = bench.expect(0, &["report", "last", "--full"]).out;
    assert!(full.contains("Load generator:") && full.contains("Before the load"), "{full}");
}

#[test]
fn last_and_the_runs_before_it_have_names() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let run = |name| {
        let line = ["run", &target.url("/healthz"), "-n", "20", "-c", "1", "--name", name, "--no-probe"];
        bench.expect(0, &line);
    };
    run("first");
    run("second");
    let name = |file| bench.expect(0, &["report", file, "--json"]).json()["run"]["name"].clone();
    assert_eq!(
        (name("last"), name("last~0"), name("last~1")),
        ("second".into(), "second".into(), "first".into())
    );
    let none = bench.expect(2, &["report", "last~2"]);
    assert!(none.err.contains("2 run file(s)"), "{}", none.err);
    let compared = bench.expect(0, &["diff", "last~1", "last", "--no-files"]).out;
    assert!(compared.contains("old: first. new: second."), "{compared}");
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let (bench, live, _) = with_sweep();
    assert!(!live.out.contains('\u{1b}'), "a pipe has none: {}", live.out);
    let asked = bench.expect(0, &["report", "last", "--color", "always"]).out;
    assert!(asked.contains("\u{1b}[1m"), "{asked}");
    assert_eq!(bench.expect(0, &["report", "last", "--color", "never"]).out, live.out);
}

#[test]
fn what_a_document_passes_on_holds_no_credential_and_no_value_unless_asked() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz?user=ann");
    let line = ["run", &url, "-n", "5", "-c", "1", "--no-probe", "--json", "-b", "body-text", "-m", "POST"];
    let headers = ["-H", "X-Csrf-Token: s3cret", "-H", "X-Internal: s3cret", "--redact", "x-internal"];
    let live = bench.expect(0, &[&line[..], &headers].concat());
    let shown = bench.expect(0, &["report", "last", "--json", "--show-values"]);
    for document in [&live.out, &shown.out] {
        assert!(!document.contains("s3cret") && document.contains("X-Csrf-Token"), "{document}");
    }
    assert!(!live.out.contains("user=ann") && live.out.contains("user=…"), "{}", live.out);
    assert!(shown.out.contains("user=ann"), "{}", shown.out);
    assert_eq!(live.json()["plan"]["target"]["body"], "(hidden)");
}

#[test]
fn pages_that_a_run_asks_are_passed_on_without_the_values_of_their_queries() {
    let (bench, program) = (Bench::new(), GoProgram::start().unwrap());
    let profile = format!("http://{}/debug/pprof/profile?token=s3cret", program.address());
    let nginx = format!("nginx+http://{}/status?token=s3cret", refused_address());
    let line = ["run", &program.url(), "-c", "2", "-d", "1s", "--html", "page.html"];
    let asked = ["--profile", &profile, "--profile-time", "1s", "--probe", &nginx];
    bench.expect(0, &[&line[..], &asked].concat());
    let document = bench.expect(0, &["report", "last", "--json"]);
    assert!(document.out.contains("gives no counters"), "{}", document.out);
    let table = bench.expect(0, &["profile", "last"]).out;
    assert!(table.contains("/debug/pprof/profile?…"), "{table}");
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("/debug/pprof/profile?…"));
    for passed_on in [&page, &document.out] {
        assert!(!passed_on.contains("s3cret"), "{passed_on}");
    }
    let file =
        rusqlite::Connection::open(bench.path(bench.run_file("plimsoll-runs").to_str().unwrap())).unwrap();
    let source: String = file.query_row("SELECT source FROM profile", [], |row| row.get(0)).unwrap();
    assert!(source.ends_with("/debug/pprof/profile?…"), "{source}");
    let failure = "SELECT failure FROM host_sample WHERE source = 'nginx'";
    let failure: String = file.query_row(failure, [], |row| row.get(0)).unwrap();
    assert!(failure.contains("nginx at 127.0.0.1") && !failure.contains("s3cret"), "{failure}");
}

#[test]
fn a_damaged_run_file_is_named_and_only_what_is_intact_is_reported() {
    let (bench, live, file) = with_sweep();
    let checked = bench.expect(0, &["check", "last"]).out;
    assert!(checked.contains("ended in order") && checked.contains("Every row matches"), "{checked}");
    let connection = rusqlite::Connection::open(bench.path(&file)).unwrap();
    let change = "UPDATE frame SET bytes_in = bytes_in + 1 WHERE id = (SELECT max(id) FROM frame)";
    assert_eq!(connection.execute(change, []).unwrap(), 1);
    drop(connection);
    let report = bench.expect(1, &["report", &file]);
    assert!(report.out.starts_with("damaged: row") && report.out.contains("left out"), "{}", report.out);
    assert_ne!(report.out, live.out);
    let document = bench.expect(1, &["report", &file, "--json"]).json();
    assert_eq!(document["damage"].as_array().unwrap().len(), 1, "{}", document["damage"]);
    for command in ["explain", "plan", "export"] {
        let options: &[&str] = match command {
            "plan" => &["--target", "10k"],
            "export" => &["--format", "dat"],
            _ => &[],
        };
        let called = bench.expect(1, &[&[command, &file], options].concat());
        assert!(called.err.contains("damaged in part") && called.out.is_empty(), "{command}: {}", called.err);
    }
}

#[test]
fn runs_are_listed_with_throughput_limit_and_age() {
    let (bench, ..) = with_sweep();
    let listed = bench.expect(0, &["runs"]).out;
    for expected in ["limit", "last  ", "sweep", "api-", "/sleep?ms=…"] {
        assert!(listed.contains(expected), "{expected}: {listed}");
    }
}

#[test]
fn the_json_report_of_a_file_is_what_the_live_run_printed() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let live = bench.expect(0, &["run", &target.url("/healthz"), "-c", "3", "-d", "300ms", "--json"]);
    let file = bench.run_file("plimsoll-runs");
    let report = bench.expect(0, &["report", file.to_str().unwrap(), "--json"]);
    assert_eq!(report.out, live.out);
}

#[test]
fn json_documents_keep_to_the_published_schema() {
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/run.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let (bench, _, file) = with_sweep();
    let document = bench.expect(0, &["report", &file, "--json"]).json();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let mut broken = document;
    broken["steps"] = Value::from("none");
    assert!(!validator.is_valid(&broken));
}

#[test]
fn figures_are_drawn_again_on_request() {
    let (bench, _, file) = with_sweep();
    let before = std::fs::read_dir(bench.path("plimsoll-runs")).unwrap().count();
    bench.expect(0, &["report", &file, "--out", "again"]);
    assert_eq!(std::fs::read_dir(bench.path("again")).unwrap().count(), 5);
    assert_eq!(std::fs::read_dir(bench.path("plimsoll-runs")).unwrap().count(), before);
    let refused = bench.expect(1, &["report", &file, "--out", "again"]);
    assert!(refused.err.contains("--force"), "{}", refused.err);
}

#[test]
fn a_run_is_exported_in_every_form() {
    let (bench, _, file) = with_sweep();
    let export = |format| bench.expect(0, &["export", &file, "--format", format]);
    let written = std::fs::read_to_string(bench.path("plimsoll-runs/api.dat")).unwrap();
    assert_eq!(export("dat").out, written);
    let csv = export("csv").out;
    assert_eq!(csv.lines().count(), 4, "{csv}");
    let columns = csv.lines().map(|line| line.split(',').count());
    assert!(columns.clone().all(|count| Some(count) == columns.clone().next()), "{csv}");
    assert_eq!(export("json").json()["schema"], "plimsoll/run/1");
}

#[test]
fn one_level_has_no_figures_and_a_rate_no_row_of_a_table() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    bench.expect(0, &["run", &target.url("/healthz"), "-R", "50", "-d", "300ms"]);
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    let drawn = bench.expect(1, &["report", &file, "--out", "again"]);
    assert!(drawn.err.contains("one level") && drawn.out.is_empty(), "{}", drawn.err);
    assert!(!bench.path("again").exists());
    let table = bench.expect(1, &["export", &file, "--format", "dat"]);
    assert!(table.err.contains("csv or json") && table.out.is_empty(), "{}", table.err);
    bench.expect(0, &["export", &file, "--format", "csv"]);
}

#[test]
fn the_command_line_is_recorded_and_holds_no_secret() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let url = target.url("/healthz");
    let args =
        ["run", &url, "-n9", "-c", "3", "-H", "Authorization: s3cret", "-b", "s3cret", "--html", "page.html"];
    bench.expect(0, &args);
    let file = bench.run_file("plimsoll-runs").to_str().unwrap().to_owned();
    let line = format!(
        "plimsoll run {url} --requests-count 9 --connections 3 --header 'Authorization: (hidden)' --body '(hidden)' \
         --html page.html"
    );
    let document = bench.expect(0, &["report", &file, "--json"]).json();
    assert_eq!(document["run"]["command_line"], line);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains(&line) && !page.contains("s3cret"));
}

#[test]
fn runs_are_listed_with_what_they_were() {
    let (bench, _, file) = with_sweep();
    let listed = bench.expect(0, &["runs"]).out;
    let name = std::path::Path::new(&file).file_name().unwrap().to_str().unwrap();
    assert!(listed.contains(name) && listed.contains("sweep"), "{listed}");
    std::fs::write(bench.path("plimsoll-runs/junk.plimsoll"), "not a database").unwrap();
    let listed = bench.expect(0, &["runs"]).out;
    assert!(listed.contains("junk.plimsoll") && listed.contains(name), "{listed}");
}

#[test]
fn before_the_first_run_the_list_says_how_to_make_one() {
    let bench = Bench::new();
    let called = bench.expect(0, &["runs"]);
    assert!(called.err.contains("plimsoll run"), "{}", called.err);
}

#[test]
fn what_is_no_run_file_is_refused_by_name() {
    let bench = Bench::new();
    std::fs::write(bench.path("x.plimsoll"), "hello").unwrap();
    let called = bench.expect(1, &["report", "x.plimsoll"]);
    assert!(called.err.contains("x.plimsoll"), "{}", called.err);
    bench.expect(1, &["report", "absent.plimsoll"]);
}
