//! The examples for pipelines: the commands of their YAML files are run here as a runner would, against the service that they
//! start.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use saphyr::{LoadableYamlNode as _, Yaml};

use crate::bench::{Bench, Called};
use crate::documents::suite;

/// The step that a test does not need: the binary is there.
const INSTALL: &str = "cargo install";
/// On a busy machine a result may be no evidence, which is not what these tests are about.
const STRICT: &str = " --strict";
/// Longer, until the conditions are decided: what is measured in them depends on the machine.
const BUDGETS: [&str; 3] = ["20s", "60s", "3m"];

/// A job: its environment, and its scripts with whether they run after a failure, too.
struct Job {
    environment: Vec<(String, String)>,
    scripts: Vec<(String, bool)>,
}

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci").join(name)).unwrap()
}

fn text(yaml: &Yaml<'_>) -> String {
    yaml.as_str().unwrap().to_owned()
}

fn pairs(yaml: &Yaml<'_>) -> Vec<(String, String)> {
    yaml.as_mapping().unwrap().iter().map(|(name, value)| (text(name), text(value))).collect()
}

impl Job {
    fn github() -> Self {
        let file = read("github-actions.yml");
        let document = Yaml::load_from_str(&file).unwrap().swap_remove(0);
        let job = &document["jobs"]["load"];
        let steps = job["steps"].as_sequence().unwrap().iter();
        let script = |step: &Yaml<'_>| {
            let run = text(step.as_mapping_get("run")?);
            Some((run, step.as_mapping_get("if").is_some_and(|when| text(when) == "always()")))
        };
        Self { environment: pairs(&job["env"]), scripts: steps.filter_map(script).collect() }
    }

    fn gitlab() -> Self {
        let file = read("gitlab-ci.yml");
        let document = Yaml::load_from_str(&file).unwrap().swap_remove(0);
        let job = &document["load"];
        let lines = |name: &str| job[name].as_sequence().unwrap().iter().map(text).collect::<Vec<_>>();
        let install = (lines("before_script").join("\n"), false);
        let scripts =
            vec![install, (lines("script").join("\n"), false), (lines("after_script").join("\n"), true)];
        Self { environment: pairs(&job["variables"]), scripts }
    }

    /// Runs the job in a folder that has the service, with a condition on p99; the first script that fails gives the code.
    fn run(&self, bench: &Bench, p99: &str, budget: &str) -> Called {
        std::fs::write(bench.path("service.py"), read("service.py")).unwrap();
        let mut ended = Called { code: 0, out: String::new(), err: String::new() };
        for (script, always) in self.scripts.iter().filter(|(script, _)| !script.contains(INSTALL)) {
            if ended.code != 0 && !always {
                continue;
            }
            let called = self.call(bench, &script.replace(STRICT, ""), &[("P99", p99), ("BUDGET", budget)]);
            if ended.code == 0 {
                ended = called;
            } else {
                assert_eq!(called.code, 0, "{script}: {}", called.err);
            }
        }
        ended
    }

    fn call(&self, bench: &Bench, script: &str, replaced: &[(&str, &str)]) -> Called {
        let binary = Path::new(env!("CARGO_BIN_EXE_plimsoll")).parent().unwrap().to_owned();
        let others = std::env::var("PATH").unwrap();
        let mut command = Command::new("sh");
        command.args(["-e", "-c", script]).current_dir(bench.folder()).stdin(Stdio::null());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.envs(replaced.iter().copied()).env("NO_COLOR", "1");
        command.env("PATH", format!("{}:{others}", binary.display()));
        command.env("GITHUB_STEP_SUMMARY", bench.path("summary.md"));
        Called::from(command.output().unwrap())
    }

    /// Runs the job on a free port, for longer and longer until its conditions are decided.
    fn decided(&mut self, p99: &str) -> (Bench, Called) {
        for budget in BUDGETS {
            let bench = Bench::new();
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = listener.local_addr().unwrap().port().to_string();
            drop(listener);
            let set = self.environment.iter_mut().filter(|(name, _)| name == "PORT");
            set.for_each(|(_, value)| value.clone_from(&port));
            let called = self.run(&bench, p99, budget);
            if called.code != 4 {
                return (bench, called);
            }
        }
        panic!("a minute of load decides whether p99 is within {p99}");
    }
}

/// The job passes with a condition that any service meets at some rate, and fails with one that none does; `summary` is its Markdown.
fn check(mut job: Job, summary: &str) {
    for (p99, code, sign) in [("2s", 0, "- ✅ met: p99 "), ("1us", 3, "- ❌ broken: p99 ")] {
        let (bench, called) = job.decided(p99);
        assert_eq!(called.code, code, "{p99}\n{}{}", called.out, called.err);
        let markdown = std::fs::read_to_string(bench.path(summary)).unwrap();
        assert!(markdown.contains(sign) && markdown.contains("| conns | QPS | "), "{markdown}");
        let suite = suite(&std::fs::read_to_string(bench.path("plimsoll.xml")).unwrap());
        assert_eq!((suite["errors"].as_str(), suite["failures"] == "0"), ("0", code == 0), "{suite:?}");
        let page = std::fs::read_to_string(bench.path("plimsoll.html")).unwrap();
        assert!(page.ends_with("</html>\n"));
        bench.run_file("plimsoll-runs");
    }
}

#[test]
fn the_job_of_github_actions_fails_if_a_condition_is_broken() {
    check(Job::github(), "summary.md");
}

#[test]
fn the_job_of_gitlab_fails_if_a_condition_is_broken() {
    check(Job::gitlab(), "plimsoll.md");
}

#[test]
fn a_test_runs_every_script_of_the_examples_but_the_installation() {
    for (job, scripts) in [(Job::github(), 4), (Job::gitlab(), 3)] {
        assert_eq!(job.scripts.len(), scripts);
        let named = |part: &str| job.scripts.iter().filter(|(script, _)| script.contains(part)).count();
        assert_eq!((named(INSTALL), named(STRICT), named("--junit plimsoll.xml")), (1, 1, 1));
        assert!(job.scripts.last().unwrap().1, "the service ends, whatever failed");
    }
}
