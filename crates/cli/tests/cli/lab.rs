//! `plimsoll lab`, and plan files. Where labs are not permitted the tests of them say so and show nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use plimsoll_plan::PlanFile;
use plimsoll_testkit::Nginx;
use serde_json::{Value, json};

use crate::bench::{Bench, happened, until};

/// A lab of one host with the built-in target.
const ONE: &str = r#"
[target]
url = "http://api:8080/healthz"
[load]
ladder = [1, 2]
step = "300ms"
[[host]]
name = "api"
cores = 0.5
link = "100Mbit"
run = ["exec plimsoll target --listen 0.0.0.0 --port 8080"]
ready = "/healthz:8080"
"#;

/// A folder with a lab file; `None` where labs are not permitted.
pub(crate) fn lab(text: &str) -> Option<Bench> {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:")).unwrap();
    if u64::from_str_radix(bits.trim(), 16).unwrap() & (1 << 21) == 0 {
        eprintln!("not shown: this test makes a lab, which needs CAP_SYS_ADMIN");
        return None;
    }
    let bench = Bench::new();
    fs::write(bench.path("one.toml"), text).unwrap();
    Some(bench)
}

/// A lab that is up, until it is ended.
pub(crate) struct Up {
    child: Child,
    lines: Vec<String>,
}

/// Starts `lab up`; folders of labs are then in that of the bench.
pub(crate) fn up(bench: &Bench, file: &str) -> Up {
    let mut command = bench.command(&["lab", "up", file, "--quiet"]);
    let mut child = command.env("TMPDIR", bench.folder()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut printed: Vec<String> = Vec::new();
    for line in lines {
        printed.push(line);
        if printed.last().unwrap().starts_with("CPU is capped by") {
            break;
        }
    }
    Up { child, lines: printed }
}

impl Up {
    /// The command that enters a host; what it is to run there follows.
    pub(crate) fn way_into(&self, host: &str) -> &str {
        let index = self.lines.iter().position(|line| line.split(' ').next() == Some(host)).unwrap();
        self.lines[index + 1].trim()
    }

    /// The first processes of the hosts.
    fn processes(&self) -> Vec<u32> {
        let number = |line: &String| {
            let (_, after) = line.split_once("--target ")?;
            after.split(' ').next()?.parse().ok()
        };
        self.lines.iter().filter_map(number).collect()
    }

    fn signal(&self, name: &str) {
        let mut kill = std::process::Command::new("kill");
        assert!(kill.args(["-s", name, &self.child.id().to_string()]).status().unwrap().success());
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Folders that labs of this bench have.
fn folders(bench: &Bench) -> Vec<PathBuf> {
    let entries = fs::read_dir(bench.folder()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("plimsoll-lab-")).collect()
}

fn is_there(pid: &u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_lab_that_is_up_says_how_to_enter_a_host_and_ctrl_c_leaves_nothing() {
    let Some(bench) = lab(ONE) else { return };
    let mut up = up(&bench, "one.toml");
    let index = up.lines.iter().position(|line| line.starts_with("api ")).unwrap();
    let api = &up.lines[index];
    assert!(api.contains("198.18.") && api.ends_with("0.5 cores, link 100 Mbit/s"), "{api}");
    let (_, way_in) = up.lines[index + 1].split_once("nsenter").unwrap();
    let inside = format!("nsenter{way_in} hostname");
    let said = std::process::Command::new("/bin/sh").args(["-c", &inside]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout).trim(), "api", "{inside}");
    let processes = up.processes();
    assert_eq!((processes.len(), folders(&bench).len()), (2, 1));
    up.signal("INT");
    assert_eq!(up.child.wait().unwrap().code(), Some(0));
    assert!(!processes.iter().any(is_there) && folders(&bench).is_empty());
}

#[test]
fn what_a_killed_lab_left_behind_is_gone_after_the_next_start() {
    let Some(bench) = lab(ONE) else { return };
    let killed = {
        let mut up = up(&bench, "one.toml");
        let processes = up.processes();
        up.child.kill().unwrap();
        up.child.wait().unwrap();
        processes
    };
    until("the kernel has ended the hosts", || !killed.iter().any(is_there));
    // Another test's lab may have cleaned up already; if not, the next one of this test does.
    let next = up(&bench, "one.toml");
    assert_eq!(folders(&bench).len(), 1, "that of the lab that is up");
    assert!(next.processes().iter().all(is_there));
}

#[test]
fn a_run_is_judged_by_what_it_expects() {
    let variant = "[expect]\nlimit = \"disk\"\nwhere = \"api\"\n[[variant]]\nname = \"slower\"\n[variant.load]\nladder = [1]\n";
    let Some(bench) = lab(&format!("{ONE}{variant}").replace("300ms", "1s")) else { return };
    let called = bench.expect(3, &["lab", "run", "one.toml", "--json", "--quiet"]);
    let runs = called.json();
    let runs = runs["runs"].as_array().unwrap();
    assert_eq!(
        runs.iter().map(|run| run["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["one", "one/slower"]
    );
    for run in runs {
        assert_eq!((&run["right"], &run["expected"]["limit"]), (&Value::Bool(false), &Value::from("disk")));
        assert!(run["throughput_per_sec"].as_f64().unwrap() > 0.0, "{run}");
    }
    let kept = runs[0]["file"].as_str().unwrap();
    let report = bench.expect(0, &["report", kept, "--json"]).json();
    assert_eq!(report["steps"].as_array().unwrap().len(), 2);
    assert_eq!(report["plan"]["hosts"][0]["capacity"]["link_out_bits_per_sec"], 100_000_000);
    assert!(report["preflight"]["addresses"][0].as_str().unwrap().starts_with("198.18."), "{report}");
}

#[test]
fn a_run_that_expects_nothing_ends_well_and_shows_its_report() {
    let Some(bench) = lab(&ONE.replace("300ms", "1s")) else { return };
    let called = bench.expect(0, &["lab", "run", "one.toml", "--quiet", "--out", "kept"]);
    assert!(called.out.contains("requests/s") && !called.out.contains("expected"), "{}", called.out);
    assert!(called.err.is_empty(), "{}", called.err);
    bench.run_file("kept");
}

/// Ends a lab by Ctrl-C once its load has begun: it prints a line for which `is_end` holds, and leaves no folder.
fn ended_by_ctrl_c(bench: &Bench, is_end: fn(&str) -> bool) {
    let mut command = bench.command(&["lab", "run", "one.toml"]);
    command.env("TMPDIR", bench.folder()).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut up = Up { child: command.spawn().unwrap(), lines: Vec::new() };
    let mut lines = BufReader::new(up.child.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.starts_with("target 198.18.")), "the load begins");
    up.signal("INT");
    assert!(lines.any(|line| is_end(&line)), "the result is printed");
    assert_eq!(up.child.wait().unwrap().code(), Some(130));
    assert!(folders(bench).is_empty());
}

#[test]
fn ctrl_c_ends_a_run_keeps_it_and_leaves_nothing() {
    let Some(bench) = lab(&ONE.replace("300ms", "60s")) else { return };
    ended_by_ctrl_c(&bench, |line| line.starts_with("wrote "));
}

/// The addresses that nginx logged, one for each request.
fn logged(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().lines().map(ToOwned::to_owned).collect()
}

/// Writes the configuration of an nginx that logs addresses; gives the log.
fn logging(bench: &Bench) -> PathBuf {
    let log = bench.path("access.log");
    let conf = format!(
        "daemon off; user root; pid nginx.pid; error_log stderr; events {{ }} http {{ access_log off; \
         log_format from '$remote_addr'; server {{ listen 80; \
         location / {{ access_log {} from; return 200 ok; }} }} }}",
        log.display()
    );
    fs::write(bench.path("nginx.conf"), conf).unwrap();
    log
}

#[test]
fn several_generators_warm_a_target_up_together_and_count_nothing_of_it() {
    let text = r#"
[target]
url = "http://web/"
[load]
ladder = [4]
step = "400ms"
warm = "1s"
[generator]
count = 2
[[host]]
name = "web"
run = ["nginx -p ${tmp} -c ${dir}/nginx.conf"]
ready = "tcp:80"
"#;
    let Some(bench) = lab(text) else { return };
    let log = logging(&bench);
    // On a busy machine one may begin a step too late, which is reported and does not matter here.
    let called = bench.call(&["lab", "run", "one.toml", "--json", "--quiet"]);
    let file = called.json()["runs"][0]["file"].as_str().unwrap().to_owned();
    let report = bench.expect(0, &["report", &file, "--json"]).json();
    assert!(happened(&report, "not_warm"), "a second is too short to tell: {}", report["events"]);
    let completed = report["steps"][0]["completed"].as_u64().unwrap() as usize;
    let logged = logged(&log);
    let warming: BTreeSet<&String> = logged[..logged.len() - completed].iter().collect();
    assert_eq!((warming.len(), report["steps"].as_array().unwrap().len()), (2, 1));
}

#[test]
fn ctrl_c_during_the_warm_up_in_a_lab_leaves_nothing() {
    let Some(bench) = lab(&ONE.replace("300ms\"", "300ms\"\nwarm = \"300s\"")) else { return };
    ended_by_ctrl_c(&bench, |line| line.contains("of warm-up: no step was measured"));
    assert_eq!(fs::read_dir(bench.path("plimsoll-runs")).unwrap().count(), 0);
}

#[test]
fn several_generators_make_one_load_and_every_request_is_counted_once() {
    let text = r#"
[target]
url = "http://web/"
[load]
ladder = [1, 7]
step = "600ms"
[generator]
count = 3
[[host]]
name = "web"
run = ["nginx -p ${tmp} -c ${dir}/nginx.conf"]
ready = "tcp:80"
[[variant]]
name = "again"
load.ladder = [7]
"#;
    let Some(bench) = lab(text) else { return };
    let log = logging(&bench);
    let called = bench.call(&["lab", "run", "one.toml", "--json", "--quiet"]);
    // On a busy machine one of them may begin late, which is reported; the others' requests are counted all the same.
    let late = called.err.contains("after the others");
    assert_eq!(called.code, i32::from(late), "{}", called.err);
    let runs = called.json();
    let report = |run: usize| {
        let file = runs["runs"][run]["file"].as_str().unwrap();
        bench.expect(0, &["report", file, "--json"]).json()
    };
    let completed =
        |report: &Value, step: usize| report["steps"][step]["completed"].as_u64().unwrap() as usize;
    let (report, again) = (report(0), report(1));
    // They meet once more in the same lab.
    let mut logged = logged(&log);
    let later = logged.split_off(logged.len() - completed(&again, 0));
    assert_eq!(later.iter().collect::<BTreeSet<_>>().len(), 3);
    let completed = |step: usize| completed(&report, step);
    assert_eq!(logged.len(), completed(0) + completed(1), "{}", report["steps"]);
    let alone: BTreeSet<&String> = logged[..completed(0)].iter().collect();
    assert_eq!(alone.len(), 1, "one connection is that of the first");
    let together: BTreeSet<&String> = logged[completed(0)..].iter().collect();
    assert_eq!(together.len(), 3);
    assert!(late || !happened(&report, "step_failed"), "none is gone: {}", report["events"]);
}

#[test]
fn scenarios_that_fail_do_not_end_the_others() {
    let Some(bench) = lab(ONE) else { return };
    let folder = bench.path("scenarios");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("a-bad.toml"), "[target]\nurk = 1\n").unwrap();
    let dying = ONE.replace("exec plimsoll", "echo no such luck; exit 3; ");
    fs::write(folder.join("b-dying.toml"), dying).unwrap();
    fs::write(folder.join("c-good.toml"), ONE).unwrap();
    let called = bench.expect(3, &["lab", "diagnose", "scenarios", "--json", "--quick"]);
    let scenarios = called.json();
    let by_index = |index: usize| &scenarios["scenarios"][index];
    assert!(by_index(0)["text"].as_str().unwrap().contains("did you mean `url`?"), "{scenarios}");
    assert!(by_index(1)["text"].as_str().unwrap().contains("no such luck"), "{scenarios}");
    assert_eq!((&by_index(1)["right"], &by_index(1)["found"]), (&Value::Bool(false), &Value::Null));
    assert_eq!((&by_index(2)["right"], &by_index(2)["name"]), (&Value::Null, &Value::from("c-good")));
    assert!(by_index(2)["found"]["limit"].is_string(), "{scenarios}");
    let twice =
        bench.expect(0, &["lab", "diagnose", "scenarios", "--only", "good", "--repeat", "2", "--quiet"]);
    assert_eq!(twice.out.matches("c-good").count(), 2, "{}", twice.out);
}

#[test]
fn a_lab_file_whose_target_is_elsewhere_is_refused() {
    let Some(bench) = lab(&ONE.replace("http://api:8080", "http://example.test")) else { return };
    let called = bench.expect(2, &["lab", "run", "one.toml", "--quiet"]);
    assert!(called.err.contains("`example.test`") && called.err.contains("hosts are api"), "{}", called.err);
}

#[test]
fn the_list_tells_what_experiments_are_about_and_what_scenarios_expect() {
    let bench = Bench::new();
    for folder in ["lab/experiments", "lab/scenarios"] {
        fs::create_dir_all(bench.path(folder)).unwrap();
    }
    let asks = "about = \"what do two of it carry?\"\n";
    let variants = "[[variant]]\nname = \"v\"\n[[variant]]\nname = \"w\"\nquick = false\n";
    fs::write(bench.path("lab/experiments/two.toml"), format!("{asks}{ONE}{variants}")).unwrap();
    let expects = "[expect]\neither = [\"cpu@api\", \"packets@api\"]\n";
    fs::write(bench.path("lab/scenarios/one.toml"), format!("{ONE}{expects}")).unwrap();
    let listed = bench.expect(0, &["lab", "list"]).out;
    let lines: Vec<&str> = listed.lines().collect();
    let [experiments, two, about, "", scenarios, header, one] = lines.as_slice() else { panic!("{listed}") };
    assert!(experiments.starts_with("Experiments (plimsoll lab run NAME"), "{listed}");
    assert_eq!(
        [*two, *about],
        ["  two: 1 host, 3 runs, 2 of them with --quick", "    what do two of it carry?"]
    );
    assert!(scenarios.starts_with("Scenarios (plimsoll lab run NAME"), "{listed}");
    assert_eq!([*header, *one], ["  name  expects", "  one   cpu@api and packets@api"]);
    fs::write(bench.path("lab/bad.toml"), "[target]\nurk = 1\n").unwrap();
    let called = bench.expect(0, &["lab", "list"]);
    assert!(called.err.contains("bad.toml") && called.out == listed, "{}", called.err);
}

#[test]
fn a_plan_file_makes_a_run_and_a_sweep() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let address = nginx.address();
    fs::write(bench.path("body"), "eight by").unwrap();
    let plan = format!(
        "[target]\nurl = \"http://{address}/\"\nbody = \"@body\"\n[load]\nladder = [1, 2]\nstep = \"200ms\"\n\
         [slo]\nsuccess = 0.5\n[[host]]\nname = \"web\"\nprobe = \"none\"\ntier = \"nginx\"\n"
    );
    fs::write(bench.path("small.toml"), plan).unwrap();
    let sweep = bench.call(&["sweep", "-f", "small.toml", "--json"]).json();
    assert_eq!(
        (&sweep["plan"]["name"], &sweep["plan"]["target"]["method"]),
        (&"small".into(), &"POST".into())
    );
    assert_eq!(sweep["steps"].as_array().unwrap().len(), 2);
    assert_eq!(sweep["plan"]["hosts"][0]["tier"], "nginx");
    let run = bench.call(&["run", "--file", "small.toml", "--json", "--no-files", "--name", "other"]).json();
    assert_eq!(run["plan"]["name"], "other");
}

#[test]
fn flags_count_before_what_a_plan_file_says() {
    let (bench, nginx) = (Bench::new(), Nginx::start().unwrap());
    let address = nginx.address();
    let plan = format!(
        "[target]\nurl = \"http://{address}/\"\nheaders = {{ a = \"1\", b = \"2\" }}\n[load]\nladder = [1, 2]\nstep = \"200ms\"\n\
         [slo]\nsuccess = 0.5\np99 = \"9s\"\n[[host]]\nname = \"web\"\nprobe = \"none\"\n"
    );
    fs::write(bench.path("small.toml"), plan).unwrap();
    let more = ["-f", "small.toml", "--json", "--no-files"];
    // Steps this short may leave a condition open; only the plan counts here.
    let call = |line: &[&str]| bench.call(&[line, &more].concat()).json();
    let sweep = call(&["sweep", "--ladder", "3", "-H", "A: 9", "--success", "60%"]);
    assert_eq!(sweep["steps"][0]["connections"], 3);
    let plan = &sweep["plan"];
    assert_eq!(plan["target"]["headers"], json!([["b", "2"], ["A", "9"]]));
    assert_eq!((&plan["slo"]["success_ratio"], &plan["slo"]["p99_ms"]), (&json!(0.6), &json!(9000.0)));
    let run = call(&[
        "run",
        "-c",
        "2",
        "-n",
        "400",
        &format!("http://{address}/other"),
        "--expect",
        "status=200,404",
    ]);
    assert_eq!((&run["plan"]["target"]["path"], &run["steps"][0]["ok"]), (&json!("/other"), &json!(400)));
}

#[test]
fn plan_files_that_cannot_be_taken_are_errors_of_usage() {
    let bench = Bench::new();
    fs::write(bench.path("bad.toml"), "[target]\nurl = \"http://a/\"\n[laod]\nladder = [1]\n").unwrap();
    let bad = bench.expect(2, &["run", "-f", "bad.toml"]);
    assert!(
        bad.err.contains("bad.toml: line 3: `laod` is not a key of a plan file; did you mean `load`?"),
        "{}",
        bad.err
    );
    fs::write(bench.path("lab.toml"), ONE).unwrap();
    let made = bench.expect(2, &["sweep", "-f", "lab.toml"]);
    assert!(made.err.contains("`plimsoll lab run lab.toml`"), "{}", made.err);
    bench.expect(1, &["lab", "run", "no-such-lab"]);
}

#[test]
fn without_root_a_lab_is_made_in_a_user_namespace_or_the_missing_permission_is_named() {
    let Some(bench) = lab(ONE) else { return };
    const UNPRIVILEGED: u32 = 65_534;
    chown(bench.folder(), Some(UNPRIVILEGED), Some(UNPRIVILEGED)).unwrap();
    // The program may lie in a folder that others cannot enter.
    let program = bench.path("plimsoll");
    fs::copy(env!("CARGO_BIN_EXE_plimsoll"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command
        .args(["lab", "run", "one.toml", "--quiet"])
        .current_dir(bench.folder())
        .uid(UNPRIVILEGED)
        .gid(UNPRIVILEGED);
    command.env("TMPDIR", bench.folder()).env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
    let called = command.output().unwrap();
    let said = String::from_utf8_lossy(&called.stderr);
    match called.status.code() {
        Some(0) => assert!(String::from_utf8_lossy(&called.stdout).contains("requests/s"), "{said}"),
        code => assert!(code == Some(1) && said.contains("CAP_SYS_ADMIN"), "{code:?}: {said}"),
    }
    assert!(fs::read_dir(bench.path("plimsoll-lab-of-65534")).map_or(0, Iterator::count) == 0);
}

/// Where a cap cannot be raised, that is said in place of what came of it.
#[test]
fn a_verdict_is_tested_and_the_run_file_says_the_result() {
    let Some(bench) = lab(ONE) else { return };
    let file = format!("{FILES}/scenarios/cpu-single.toml");
    let called = bench.call(&["lab", "run", &file, "--prove", "--quick", "--json", "--out", "kept"]);
    let run = called.json()["runs"][0].clone();
    let kept = bench.run_file("kept");
    let report = bench.call(&["report", kept.to_str().unwrap(), "--json"]).json();
    let (verdict, proof) = (&report["verdict"], &report["verdict"]["proof"]);
    assert_eq!(run["confidence"], verdict["confidence"]);
    if verdict["limit"] == "generator" {
        // On a busy machine the generator is the limit: it is not tested, and the answer is how to get rid of it.
        assert!(proof.is_null() && verdict["text"] == "" && run["text"] != "", "{run}");
        return;
    }
    assert_eq!(run["text"], verdict["text"]);
    assert_eq!(report["steps"].as_array().unwrap().len(), 5, "the second load is no step of the ladder");
    let text = verdict["text"].as_str().unwrap();
    if proof.is_null() {
        let shown = called.err.contains("the verdict was not tested:");
        assert!(shown && verdict["confidence"] != "proven", "{text}\n{}", called.err);
        return;
    }
    assert_eq!(
        (&proof["host"], &proof["cap"], &proof["unit"]),
        (&"api".into(), &"cores".into(), &"cores_milli".into())
    );
    assert_eq!((&proof["before"], &proof["after"]), (&400.into(), &600.into()));
    assert!(proof["after_per_sec"].as_f64().unwrap() > 0.0, "{proof}");
    assert!(text.contains("Tried: with 0.6 cores instead of 0.4 for api"), "{text}");
    assert_eq!(proof["outcome"] == "proven", verdict["confidence"] == "proven", "{text}");
    assert!(called.err.contains("0.6 cores instead of 0.4 for api; the same load again"), "{}", called.err);
}

#[test]
fn a_run_that_shows_no_limit_leaves_nothing_to_try_and_says_so() {
    let Some(bench) = lab(&ONE.replace("ladder = [1, 2]", "rate = 5")) else { return };
    let called = bench.call(&["lab", "run", "one.toml", "--prove", "--quiet", "--json"]);
    // On a busy machine it may be the generator that could not keep up with its rate; nothing is to try then either.
    assert!(called.err.contains("the verdict was not tested: "), "{}", called.err);
    assert_ne!(called.json()["runs"][0]["confidence"], "proven");
}

/// The folder of this repository's lab files.
const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab");

#[test]
fn every_lab_file_of_this_repository_can_be_read() {
    let listed = Bench::new().expect(0, &["lab", "list", FILES]);
    assert!(listed.out.contains("  proxy-cpu ") && listed.err.is_empty(), "{}{}", listed.out, listed.err);
}

#[test]
fn every_experiment_is_listed_with_what_it_is_about_and_has_a_page() {
    let listed = Bench::new().expect(0, &["lab", "list", FILES]).out;
    let files = fs::read_dir(format!("{FILES}/experiments")).unwrap().map(|entry| entry.unwrap().path());
    let plans: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    assert!(!plans.is_empty());
    for path in plans {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let about = PlanFile::parse(&fs::read_to_string(&path).unwrap()).unwrap().about;
        let about = about.unwrap_or_else(|| panic!("{name} does not say what it is about"));
        assert!(listed.contains(&format!("\n  {name}: ")) && listed.contains(&about), "{name}: {listed}");
        let page = fs::read_to_string(format!("{FILES}/../docs/experiments/{name}.md")).unwrap_or_default();
        assert!(page.contains(&format!("plimsoll lab run {name}")), "no page tells how to run {name}");
    }
}

/// The scenario of this name, diagnosed until the load generator was not what limited, a few times at most: on a machine that
/// does other things meanwhile, that is the truth, and no test of the scenario.
fn diagnosed(bench: &Bench, name: &str) -> Value {
    let folder = format!("{FILES}/scenarios");
    let once = || {
        let called = bench.call(&["lab", "diagnose", &folder, "--json", "--only", name]);
        let found = called.json();
        let [only] = found["scenarios"].as_array().unwrap().as_slice() else { panic!("{found}") };
        only.clone()
    };
    let limited_itself = |found: &Value| found["found"]["limit"] == "generator";
    (0..4).map(|_| once()).find(|found| !limited_itself(found)).unwrap_or_else(once)
}

/// The scenarios whose limits are caps and clocks: the speed of this machine does not matter. The size of a pool does
/// depend on it, because X·S₀ includes the time that a request waits for a busy CPU.
#[test]
fn scenarios_with_known_limits_are_diagnosed() {
    let Some(bench) = lab(ONE) else { return };
    for name in ["pool-target", "link-out", "early-end"] {
        let scenario = diagnosed(&bench, name);
        let (found, expected) = (&scenario["found"], &scenario["expected"]);
        assert_eq!(found["limit"], expected["limit"], "{scenario}");
        assert!(expected["where"].is_null() || found["where"] == expected["where"], "{scenario}");
    }
}

/// MariaDB as one host of a lab, asked as a user that has a password.
#[test]
fn the_password_of_a_probe_logs_in_and_stands_nowhere() {
    let install = "mariadb-install-db --no-defaults --datadir=${tmp}/data --user=root --skip-test-db \
                   --auth-root-authentication-method=normal >/dev/null 2>&1 && \
                   echo \"CREATE USER 'ann'@'%' IDENTIFIED BY 'open-sesame';\" > ${tmp}/users.sql && \
                   exec mariadbd --no-defaults --user=root --datadir=${tmp}/data --socket=${tmp}/s --pid-file=${tmp}/pid \
                   --bind-address=0.0.0.0 --skip-name-resolve --init-file=${tmp}/users.sql";
    let db = format!(
        "[[host]]\nname = \"db\"\nprobe = \"mariadb://ann:open-sesame@db:3306\"\nrun = [\"\"\"{install}\"\"\"]\nready = \"tcp:3306\"\n"
    );
    // Long enough for several looks at the server in each step.
    let longer = ONE.replace("300ms", "2s");
    let Some(bench) = lab(&format!("{longer}{db}")) else { return };
    let called = bench.call(&["lab", "run", "one.toml", "--json", "--out", "kept"]);
    let kept = bench.run_file("kept");
    let report = bench.call(&["report", kept.to_str().unwrap(), "--full"]).out;
    assert!(report.contains("mariadb") && report.contains("questions"), "{report}\n{}", called.err);
    let bytes = fs::read(&kept).unwrap();
    let holds = |text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    assert!(
        holds("mariadb://ann@db") && !holds("open-sesame"),
        "the run file keeps the probe without its password"
    );
    for said in [&called.out, &called.err, &report] {
        assert!(!said.contains("open-sesame"), "{said}");
    }
}

#[test]
fn a_proxy_that_is_listed_before_what_it_needs_becomes_ready() {
    let Some(bench) = lab(ONE) else { return };
    let mut up = up(&bench, &format!("{FILES}/scenarios/proxy-cpu.toml"));
    assert_eq!(up.processes().len(), 3, "{:?}", up.lines);
    up.signal("INT");
    assert_eq!(up.child.wait().unwrap().code(), Some(0));
}

#[test]
fn rows_of_a_file_are_shown_together_and_drawn() {
    let rows = "[row]\nfront = \"api\"\n[[variant]]\nname = \"large\"\ntarget.url = \"http://api:8080/payload?number=50\"\n\
                host = [{ name = \"api\", cores = 0.6 }]\n[[variant]]\nname = \"larger\"\n\
                target.url = \"http://api:8080/payload?number=50\"\n[[variant]]\nname = \"alone\"\nrow = { case = \"large\", alone = \"api\" }\n\
                host = [{ name = \"api\", cores = 0.6 }]\n";
    let Some(bench) = lab(&format!("{ONE}{rows}").replace("300ms", "1s")) else { return };
    let shown = bench.expect(0, &["lab", "run", "one.toml", "--json", "--quiet", "--out", "kept"]).json();
    assert_eq!(shown["runs"].as_array().unwrap().len(), 4);
    let rows = shown["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|row| row["label"].as_str().unwrap()).collect::<Vec<_>>(),
        ["one", "large", "larger"]
    );
    assert_eq!((&rows[0]["cores"], &rows[1]["cores"]), (&0.5.into(), &0.6.into()), "of the target's host");
    let bytes = |row: usize| rows[row]["response_bytes"].as_f64().unwrap();
    assert!(bytes(1) > 10.0 * bytes(0), "{rows:?}");
    assert!(rows[1]["throughput_per_sec"].as_f64().unwrap() > 0.0 && shown["conclusions"].is_array());
    let kept = fs::read_dir(bench.path("kept")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(kept.iter().any(|name| name.starts_with("one-") && name.ends_with("_sizes.svg")), "{kept:?}");
}
