//! `--calibrate`: agents that measure what they can make before they join.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{ChildStderr, Stdio};

use serde_json::Value;

use super::{Ended, Fleet, interrupt, rest};
use crate::bench::{Bench, Target};

/// A command that calibrates, with this cache, and what it says on standard error.
fn calibrating(bench: &Bench, cache: &Path, args: &[&str]) -> (Ended, BufReader<ChildStderr>) {
    let mut command = bench.command(args);
    command.env("XDG_CACHE_HOME", cache).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let said = BufReader::new(child.0.stderr.take().unwrap());
    (child, said)
}

fn next_line(said: &mut BufReader<ChildStderr>) -> String {
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    line
}

#[test]
fn an_agent_that_cannot_store_its_calibration_reports_what_that_gave() {
    let bench = Bench::new();
    let target = Target::start(&bench);
    let fleet = Fleet::up(&bench, &["--local", "1"]);
    bench.expect(0, &["fleet", "keys", "plimsoll-fleet/keys", "--agents", "pod"]);
    let file = bench.path("file");
    fs::write(&file, "").unwrap();
    let join = ["agent", "--join", &fleet.address, "--name", "pod", "--allow", "127.0.0.1"];
    let more = ["--credentials", "plimsoll-fleet/keys/agents/pod.creds", "--calibrate", "2s"];
    // No folder can be made below a file.
    let (_agent, mut said) = calibrating(&bench, &file, &[&join[..], &more].concat());
    let begins = next_line(&mut said);
    assert!(begins.contains("calibrates for about 2 s"), "{begins}");
    let outcome = next_line(&mut said);
    let joins = next_line(&mut said);
    assert!(joins.contains("waits for runs"), "{outcome}{joins}");

    let run = fleet.run(&[&target.url("/"), "-c", "2", "-t", "1", "-n", "10", "--agents", "2"]);
    let generators = run["fleet"][0]["generators"].as_array().unwrap();
    let pod = generators.iter().find(|generator| generator["name"] == "pod").unwrap();
    // A busy machine gives no ceiling.
    let is_known = outcome.contains("one worker can make") && outcome.contains("kept in memory");
    assert!(is_known || outcome.contains("counts as the mean of the others"), "{outcome}");
    assert_eq!(pod["ceiling_per_sec"] != Value::Null, is_known, "{outcome}{pod}");
}

#[test]
fn a_calibration_that_is_interrupted_ends_the_command_before_anything_joins_or_starts() {
    let bench = Bench::new();
    let agent = ["agent", "--join", "nats://127.0.0.1:1", "--allow", "127.0.0.1", "--calibrate", "10m"];
    let up = ["fleet", "up", "--local", "1", "--calibrate", "10m"];
    for (args, code) in [(&agent[..], 0), (&up, 130)] {
        let (mut child, mut said) = calibrating(&bench, &bench.path("cache"), args);
        let begins = next_line(&mut said);
        assert!(begins.contains("calibrates for about 600 s"), "{begins}");
        interrupt(&child.0);
        let ends = rest(said);
        assert_eq!(child.0.wait().unwrap().code(), Some(code), "{ends}");
        assert!(ends.contains("the calibration was interrupted") && !ends.contains("waits"), "{ends}");
    }
    assert!(!bench.path("plimsoll-fleet").exists() && !bench.path("cache").exists());
}

#[test]
fn calibrations_that_would_show_nothing_are_refused() {
    let bench = Bench::new();
    let agent = ["agent", "--join", "nats://127.0.0.1:1", "--allow", "127.0.0.1", "--calibrate", "1s"];
    assert!(bench.expect(2, &agent).err.contains("2 s at least"));
    let containers = ["fleet", "up", "--compose", "2", "--image", "a", "--allow", "b", "--calibrate"];
    let refused = bench.expect(2, &containers).err;
    assert!(refused.contains("leave out --calibrate"), "{refused}");
    assert!(!bench.path("plimsoll-fleet-compose").exists());
    let one = bench.expect(0, &[&["fleet", "up", "--compose", "1", "--print"], &containers[4..]].concat());
    assert!(one.json()["services"]["agent-1"]["command"].to_string().ends_with(r#""--calibrate","5s"]"#));
}
