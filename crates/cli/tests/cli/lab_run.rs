//! What `plimsoll lab run` tells of all runs of a file together. Where labs are not permitted the tests of them say so and
//! show nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use plimsoll_testkit::{GoProgram, Postgres};
use serde_json::Value;

use crate::bench::Bench;
use crate::lab::lab;

/// A host that notes each of its starts, and burns CPU for each request.
const SHOP: &str = r#"
name = "shop"
[target]
url = "http://api:8080/cpu?us=100"
[load]
ladder = [1, 4]
step = "600ms"
[[host]]
name = "api"
tier = "api"
cores = 0.4
run = ["echo up >> ${dir}/starts; exec plimsoll target --listen 0.0.0.0 --port 8080"]
ready = "/healthz:8080"
"#;

/// Two variants on the same host, and one with another host.
const VARIANTS: &str = r#"
[[variant]]
name = "dear"
target.url = "http://api:8080/cpu?us=1000"
[[variant]]
name = "same"
[[variant]]
name = "two"
[[variant.host]]
name = "api2"
tier = "api"
cores = 0.4
run = ["exec plimsoll target --listen 0.0.0.0 --port 8080"]
ready = "/healthz:8080"
"#;

fn starts(bench: &Bench) -> usize {
    fs::read_to_string(bench.path("starts")).unwrap().lines().count()
}

fn satisfies_its_schema(found: &Value) {
    let schema = serde_json::from_str(include_str!("../../../../docs/lab-run.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(found).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[test]
fn runs_of_a_file_are_compared_and_a_lab_stays_up_while_its_hosts_are_the_same() {
    let more = "[compare]\nagainst = \"same\"\n[machines]\ntarget = \"10k\"\nutilisation = 0.6\n";
    let text = format!("{SHOP}{more}{VARIANTS}").replace("600ms", "1s");
    let Some(bench) = lab(&text) else { return };
    let called = bench.expect(0, &["lab", "run", "one.toml", "--json"]);
    assert_eq!(starts(&bench), 2, "one lab for three runs, and one for the last\n{}", called.err);
    assert_eq!(called.err.matches("in the lab of the run before").count(), 2, "{}", called.err);
    let found = called.json();
    satisfies_its_schema(&found);
    assert_eq!(names(&found["runs"]), ["shop", "shop/dear", "shop/same", "shop/two"]);
    let compared = &found["comparisons"][0];
    assert_eq!(
        (&compared["against"], names(&compared["runs"])),
        (&"same".into(), vec!["shop", "dear", "two"])
    );
    let dear = &compared["runs"][1];
    assert!(dear["best"]["throughput_ratio"].as_f64().unwrap() < 0.8, "{dear}");
    assert_eq!((dear["rows"].as_array().unwrap().len(), &dear["cpu"]), (2, &Value::Null));
    // Runs of the same requests stand together.
    assert_eq!(names(&found["tiers"]["rows"]), ["shop", "same", "two", "dear"]);
    let machines = |row: usize| &found["tiers"]["rows"][row]["tiers"][0]["machines"];
    assert_eq!((machines(0), machines(2)), (&1.into(), &2.into()));
    assert_eq!(
        (&found["machines"]["target_per_sec"], &found["machines"]["tiers"][0]["tier"]),
        (&10_000.0.into(), &"api".into())
    );
    let files: Vec<&str> =
        found["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    let ending = |ending: &str| files.iter().filter(|file| file.ends_with(ending)).count();
    assert_eq!((ending("_same.diff.svg"), ending("_scaling_api.png")), (3, 1), "{files:?}");
    assert!(files.iter().all(|file| bench.path(file).is_file()), "{files:?}");
}

#[test]
fn each_run_of_a_lab_has_the_tags_of_the_command_line_and_goes_to_the_store() {
    let more = "[[variant]]\nname = \"again\"\n";
    let Some(bench) = lab(&format!("{SHOP}{more}").replace("[1, 4]", "[1]")) else { return };
    let server = Postgres::start(&[]).unwrap();
    let url = server.url("postgres");
    let called = bench.expect(0, &["lab", "run", "one.toml", "--tag", "exp=7", "--no-git", "--store", &url]);
    assert!(called.err.contains("delivered 2 runs to postgres://"), "{}", called.err);
    let stored = "SELECT command, name, tags FROM plimsoll.run ORDER BY name";
    let expected = "lab|shop|{\"exp\": \"7\"}\nlab|shop-again|{\"exp\": \"7\"}";
    assert_eq!(server.query("postgres", stored).unwrap(), expected);
    let listed = bench.expect(0, &["runs", "--tag", "exp=7", "--command", "lab", "--json"]).json();
    assert_eq!(listed["runs"].as_array().unwrap().len(), 2);
    let document = bench.expect(0, &["report", "last", "--json"]).json();
    let line = document["run"]["command_line"].as_str().unwrap();
    assert!(
        line.starts_with("plimsoll lab run one.toml --tag exp=7 --no-git --store 'postgres://…@"),
        "{line}"
    );
    let wrong = bench.expect(2, &["lab", "run", "one.toml", "--store", "mysql://db/perf"]);
    assert!(wrong.err.contains("postgres://user@host/database"), "{}", wrong.err);
    assert_eq!(starts(&bench), 1, "a store that cannot be meant is refused before the lab is made");
}

#[test]
fn a_variant_that_cannot_be_run_is_reported_and_costs_only_itself() {
    let more = "[compare]\nagainst = \"shop\"\n[[variant]]\nname = \"dead\"\n[[variant.host]]\nname = \"api\"\n\
                run = [\"echo no such luck; exit 3\"]\n[[variant]]\nname = \"last\"\n";
    let Some(bench) = lab(&format!("{SHOP}{more}").replace("ladder = [1, 4]", "ladder = [1]")) else {
        return;
    };
    let called = bench.expect(1, &["lab", "run", "one.toml", "--quiet"]);
    assert!(called.err.contains("no such luck") && called.err.contains("shop/dead"), "{}", called.err);
    let lines = |begin: &str| called.out.lines().filter(|line| line.starts_with(begin)).count();
    assert_eq!((lines("shop/dead"), lines("shop/last"), lines("Comparison")), (1, 1, 1), "{}", called.out);
    assert!(called.out.contains("last: best QPS is") && !called.out.contains("dead: best"), "{}", called.out);
    assert!(!called.out.contains(" right") && lines("Tiers") == 0, "{}", called.out);
    let elsewhere = "[[variant]]\nname = \"away\"\ntarget.url = \"http://example.test/\"\n";
    fs::write(bench.path("two.toml"), format!("{SHOP}{elsewhere}").replace("[1, 4]", "[1]")).unwrap();
    let called = bench.expect(2, &["lab", "run", "two.toml", "--quiet", "--json"]);
    let found = called.json();
    satisfies_its_schema(&found);
    assert_eq!((&found["runs"][1]["found"], &found["runs"][1]["right"]), (&Value::Null, &false.into()));
    assert!(called.err.contains("`example.test`"), "{}", called.err);
}

#[test]
fn switches_of_a_file_have_their_ledger_after_its_runs() {
    let switch = "[[switch]]\nname = \"log\"\nheader = \"X-Log: on\"\n";
    let text = format!("{SHOP}{switch}");
    let Some(bench) = lab(&text) else { return };
    let called = bench.expect(0, &["lab", "run", "one.toml", "--quick", "--json", "--quiet"]);
    let found = called.json();
    satisfies_its_schema(&found);
    assert_eq!(names(&found["runs"]), ["shop"]);
    let ledger = &found["switches"]["ledgers"][0];
    assert_eq!(
        (&ledger["costs"][0]["switch"], &found["switches"]["connections"]),
        (&"log".into(), &4.0.into())
    );
    assert_eq!(ledger["cells"].as_array().unwrap().len(), 2, "with it and without it: {ledger}");
    let files = found["files"].to_string();
    assert!(files.contains(".ablation.csv") && files.contains(".ablation.svg"), "{files}");
    fs::write(bench.path("one.toml"), text.replace("ladder = [1, 4]", "rate = 5")).unwrap();
    let refused = bench.expect(2, &["lab", "run", "one.toml"]);
    assert!(refused.err.contains("one number of connections"), "{}", refused.err);
    assert!(refused.out.is_empty() && !refused.err.contains("target 198.18."), "{}", refused.err);
}

#[test]
fn profiles_of_a_lab_become_tables_differences_and_flame_graphs() {
    let text = r#"
[target]
url = "http://api:8080/debug/vars"
[load]
ladder = [4]
step = "600ms"
[profile]
source = "http://${host:api}:8080/debug/pprof/profile"
time = "2s"
[compare]
against = "one"
[[host]]
name = "api"
run = ["exec ${dir}/pages 0.0.0.0:8080"]
ready = "tcp:8080"
[[variant]]
name = "other"
target.url = "http://api:8080/debug/vars?other"
"#;
    let Some(bench) = lab(text) else { return };
    GoProgram::compile(bench.folder()).unwrap();
    let called = bench.expect(0, &["lab", "run", "one.toml", "--json", "--quiet"]);
    let found = called.json();
    satisfies_its_schema(&found);
    assert_eq!(names(&found["profiles"]), ["one", "other"]);
    let serve = |profile: &Value| {
        let functions = profile["functions"].as_array().unwrap();
        functions.iter().any(|function| function["function"] == "net/http.(*conn).serve")
    };
    assert!(found["profiles"].as_array().unwrap().iter().all(serve), "{}", found["profiles"]);
    assert!(found["comparisons"][0]["runs"][0]["cpu"]["us"].as_f64().unwrap() > 0.0);
    let flames = found["files"].to_string().matches("_flame.svg").count();
    assert_eq!(flames, 2, "{}", found["files"]);
    fs::write(
        bench.path("one.toml"),
        text.replace("http://${host:api}:8080/debug/pprof/profile", "perf::8080"),
    )
    .unwrap();
    let refused = bench.expect(2, &["lab", "run", "one.toml", "--quiet"]);
    assert!(refused.err.contains("cannot be the source of a profile in a lab"), "{}", refused.err);
}

#[test]
fn a_run_that_ctrl_c_cut_short_is_shown_and_is_no_evidence_with_others() {
    let more = "[row]\nfront = \"api\"\n[compare]\nagainst = \"shop\"\n[[variant]]\nname = \"long\"\n\
                load.ladder = [1, 2, 3, 4, 5, 6, 7, 8]\n";
    let Some(bench) = lab(&format!("{SHOP}{more}").replace("[1, 4]", "[1]")) else { return };
    let mut command = bench.command(&["lab", "run", "one.toml", "--json"]);
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("(2 of 2)")), "the second run begins");
    assert!(lines.any(|line| line.contains("requests/s")), "a step of it has ended");
    let mut kill = Command::new("kill");
    assert!(kill.args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let shown: Vec<String> = lines.collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{shown:?}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    satisfies_its_schema(&found);
    assert_eq!(names(&found["runs"]), ["shop", "shop/long"]);
    assert_eq!(found["comparisons"][0]["runs"].as_array().unwrap().len(), 0, "{}", found["comparisons"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 1, "{}", found["rows"]);
}

#[test]
fn a_variant_that_is_not_there_is_a_usage_error_that_names_those_that_are() {
    let Some(bench) = lab(&format!("{SHOP}{VARIANTS}")) else { return };
    let refused = bench.expect(2, &["lab", "up", "one.toml", "--variant", "deer"]);
    assert!(refused.err.contains("dear, same, two"), "{}", refused.err);
    assert!(bench.expect(2, &["lab", "diagnose", "--repeat", "0"]).err.contains("--repeat"));
}

/// The shop with a switch of which both positions call this command on this machine.
fn switched(command: &str) -> String {
    let switch =
        format!("[[switch]]\nname = \"a\"\ncommand = {{ on = \"{command}\", off = \"{command}; true\" }}\n");
    format!("{SHOP}{switch}").replace("[1, 4]", "[1]")
}

#[test]
fn runs_of_an_ablation_go_on_in_a_new_lab_after_a_service_ended_and_use_none_of_that_run() {
    let dies = "run = [\"until [ -e ${dir}/end ]; do sleep 0.05; done; rm ${dir}/end; exit 1\", \"";
    let text = switched("touch end").replace("run = [\"", dies).replace("600ms", "2s");
    let Some(bench) = lab(&text) else { return };
    let called = bench.expect(1, &["ablate", "-f", "one.toml", "--rounds", "2"]);
    assert_eq!(called.err.matches("a service ended during the run").count(), 3, "{}", called.err);
    assert!(called.err.contains("no run of shop can be used"), "{}", called.err);
    assert_eq!(starts(&bench), 3, "a lab for each run, until three in a row failed: {}", called.err);
}

#[test]
fn a_run_in_which_a_service_ended_is_shown_and_is_no_evidence() {
    // The second service ends once the load has come.
    let dying = r#"8080", '''until [ "$(awk '/eth0/ {print $3}' /proc/net/dev)" -gt 500 ]; do sleep 0.02; done; exit 3''']"#;
    let Some(bench) = lab(&SHOP.replace("8080\"]", dying)) else { return };
    let called = bench.expect(1, &["lab", "run", "one.toml", "--quiet"]);
    let why = "a service ended during the run";
    assert!(called.out.contains("requests/s") && called.out.contains(why), "{}", called.out);
    assert!(called.err.contains(why) && called.err.contains("exit status: 3"), "{}", called.err);
    let whole = bench.expect(3, &["lab", "diagnose", ".", "--only", "shop", "--json", "--quiet"]).json();
    let outcome = &whole["scenarios"][0];
    assert_eq!((&outcome["right"], &outcome["found"]), (&Value::Bool(false), &Value::Null), "{outcome}");
    assert!(outcome["text"].as_str().unwrap().contains(why), "{outcome}");
}

#[test]
fn an_ablation_is_given_up_after_three_labs_in_a_row_that_do_not_start() {
    let Some(bench) = lab(&switched("true").replace("exec plimsoll", "exit 3; plimsoll")) else { return };
    let called = bench.expect(1, &["ablate", "-f", "one.toml", "--rounds", "5"]);
    assert_eq!(called.err.matches("could not be started").count(), 3, "{}", called.err);
    assert_eq!(starts(&bench), 3, "{}", called.err);
}

#[test]
fn a_host_that_starts_free_is_warmed_free_and_measured_with_its_cap() {
    let free = "cores = 0.2\nstart = \"free\"";
    let text = SHOP.replace("cores = 0.4", free).replace("[1, 4]", "[4]").replace("us=100", "us=1000");
    let Some(bench) = lab(&text.replace("600ms\"", "1s\"\nwarm = \"2s\"")) else { return };
    let found = bench.expect(0, &["lab", "run", "one.toml", "--json", "--quiet"]).json();
    let report = bench.expect(0, &["report", found["runs"][0]["file"].as_str().unwrap(), "--json"]).json();
    if report["plan"]["hosts"][0]["capacity"]["cores"] != 0.2 {
        return eprintln!("not shown: without control groups no host can be free first and capped later");
    }
    let mut shown = report["events"].as_array().unwrap().iter().map(|event| event["text"].as_str().unwrap());
    assert!(shown.any(|text| text.contains(", the first ") && text.contains("without caps")), "{report:#}");
    // A request takes a millisecond of a core, so that 0.2 of one make 200 a second; two whole ones would make ten
    // times as many.
    let qps = found["runs"][0]["throughput_per_sec"].as_f64().unwrap();
    assert!(qps < 260.0, "{qps}");
}

#[test]
fn each_page_of_a_lab_is_warmed_up_once() {
    let more = "[[variant]]\nname = \"same\"\ntarget.body = \"other\"\n[[variant]]\nname = \"other\"\n\
                target.url = \"http://api:8080/payload?number=2\"\n";
    let text = format!("{SHOP}{more}").replace("[1, 4]", "[1]").replace("600ms\"", "600ms\"\nwarm = \"1s\"");
    let Some(bench) = lab(&text) else { return };
    let found = bench.expect(0, &["lab", "run", "one.toml", "--json", "--quiet"]).json();
    let warmed: Vec<bool> = found["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| {
            let report = bench.expect(0, &["report", run["file"].as_str().unwrap(), "--json"]).json();
            let mut events = report["events"].as_array().unwrap().iter();
            events.any(|event| event["kind"] == "not_warm" || event["kind"] == "warmed_up")
        })
        .collect();
    assert_eq!(warmed, [true, false, true], "a second is too short to tell, and they share one lab");
    assert_eq!(starts(&bench), 1);
}
