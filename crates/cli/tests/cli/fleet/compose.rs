//! `plimsoll fleet up --compose` where no Docker is needed; `make test-compose` has the real one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Stdio;

use super::{Ended, interrupt, rest, until};
use crate::bench::{Bench, Called};

const UP: [&str; 8] = ["fleet", "up", "--compose", "2", "--image", "plimsoll:1", "--allow", "api.test:80"];

/// A call with another program for Compose.
fn with_compose(bench: &Bench, program: &str, args: &[&str]) -> Called {
    Called::from(bench.command(args).env("PLIMSOLL_COMPOSE", program).output().unwrap())
}

#[test]
fn a_compose_file_is_printed_with_its_secrets_in_a_folder_of_its_own() {
    let bench = Bench::new();
    let printed = bench.expect(0, &[&UP[..], &["--print"]].concat());
    let file = printed.json();
    assert_eq!(file["services"].as_object().unwrap().len(), 3);
    assert!(
        printed.err.contains("docker compose -f ") && printed.err.contains("--fleet-key "),
        "{}",
        printed.err
    );
    let folder = bench.path("plimsoll-fleet-compose");
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for secret in file["secrets"].as_object().unwrap().values() {
        assert!(folder.join(secret["file"].as_str().unwrap()).is_file(), "{secret}");
    }
    let one = std::fs::read_to_string(folder.join("agent-1.creds")).unwrap();
    assert_ne!(one, std::fs::read_to_string(folder.join("agent-2.creds")).unwrap());
    let project = || {
        let record = std::fs::read(folder.join("fleet.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&record).unwrap()["project"].clone()
    };
    let before = project();
    bench.expect(0, &[&UP[..], &["--print"]].concat());
    assert_eq!(project(), before, "what the user has started of it is still found");
    assert_eq!(with_compose(&bench, "true", &["fleet", "down", "--compose"]).code, 0);
    assert!(!folder.exists());
}

/// A program for Compose that writes down what it is asked for, and does not end when it is asked for one of these (a pattern of sh).
fn endless(bench: &Bench, asked: &str) -> String {
    let program = bench.path("endless");
    let text = format!(
        "#!/bin/sh\nshift 4\necho \"$@\" >>asked\n\
         case \"$1\" in {asked}) echo $$ >part; mv part \"pid-$1\"; sleep 600;; esac\n"
    );
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

#[test]
fn a_compose_that_does_not_end_is_ended_with_its_time_or_the_command() {
    for (within, code) in [("1s", 1), ("10m", 130)] {
        let bench = Bench::new();
        let mut command = bench.command(&[&UP[..], &["--within", within]].concat());
        command.env("PLIMSOLL_COMPOSE", endless(&bench, "up")).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        until("Compose runs", || bench.path("pid-up").exists());
        if code == 130 {
            let refused = with_compose(&bench, "false", &UP).err;
            assert!(refused.contains("plimsoll fleet down --compose"), "{refused}");
            interrupt(&child);
        }
        let said = rest(child.stderr.take().unwrap());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        assert!(code == 130 || said.contains("up -d --remove-orphans took too long"), "{said}");
        assert!(!is_running(&bench, "pid-up"));
        let asked = std::fs::read_to_string(bench.path("asked")).unwrap();
        assert!(asked.lines().last().unwrap().ends_with("down --volumes"), "{asked}");
        assert!(!bench.path("plimsoll-fleet-compose").exists());
    }
}

/// Whether the process runs whose number is in this file.
fn is_running(bench: &Bench, file: &str) -> bool {
    let pid = std::fs::read_to_string(bench.path(file)).unwrap();
    Path::new(&format!("/proc/{}", pid.trim())).exists()
}

#[test]
fn a_second_interrupt_ends_the_removal_too_and_says_what_is_left() {
    let bench = Bench::new();
    let mut command = bench.command(&UP);
    command.env("PLIMSOLL_COMPOSE", endless(&bench, "up|down")).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    for asked in ["pid-up", "pid-down"] {
        until(asked, || bench.path(asked).exists());
        interrupt(&child.0);
    }
    let said = rest(child.0.stderr.take().unwrap());
    assert_eq!(child.0.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("plimsoll fleet down --compose"), "{said}");
    assert!(!is_running(&bench, "pid-up") && !is_running(&bench, "pid-down"));
    assert_eq!(with_compose(&bench, "true", &["fleet", "down", "--compose"]).code, 0);
    assert!(!bench.path("plimsoll-fleet-compose").exists());
}

#[test]
fn an_interrupt_ends_a_removal_and_the_fleet_is_left_for_another() {
    let bench = Bench::new();
    assert_eq!(with_compose(&bench, "true", &[&UP[..], &["--print"]].concat()).code, 0);
    let down = ["fleet", "down", "--compose"];
    let mut command = bench.command(&down);
    command.env("PLIMSOLL_COMPOSE", endless(&bench, "down")).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    until("Compose runs", || bench.path("pid-down").exists());
    interrupt(&child.0);
    let said = rest(child.0.stderr.take().unwrap());
    assert_eq!(child.0.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("plimsoll fleet down --compose") && !is_running(&bench, "pid-down"), "{said}");
    assert_eq!(with_compose(&bench, "true", &down).code, 0);
    assert!(!bench.path("plimsoll-fleet-compose").exists());
}

#[test]
fn a_folder_with_files_of_others_is_refused_and_keeps_them() {
    let bench = Bench::new();
    let folder = bench.path("mine");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("file"), "precious").unwrap();
    for up in [&UP[..], &["fleet", "up", "--local", "1"]] {
        let refused = bench.expect(1, &[up, &["--dir", "mine"]].concat()).err;
        assert!(refused.contains("other files") && refused.contains("--dir"), "{refused}");
        assert_eq!(std::fs::read_to_string(folder.join("file")).unwrap(), "precious");
    }
}

#[test]
fn a_compose_that_does_not_work_is_named_and_nothing_is_left() {
    let bench = Bench::new();
    for program in ["false", "no-such-compose"] {
        let failed = with_compose(&bench, program, &UP);
        assert_eq!(failed.code, 1, "{}", failed.err);
        assert!(failed.err.contains("PLIMSOLL_COMPOSE"), "{}", failed.err);
        assert!(!bench.path("plimsoll-fleet-compose").exists());
    }
    let none = bench.expect(2, &["fleet", "status", "--compose"]).err;
    assert!(none.contains("holds no compose file"), "{none}");
}

#[test]
fn flags_of_another_placement_are_refused() {
    let bench = Bench::new();
    let refused = |args: &[&str]| bench.expect(2, &[&["fleet", "up"], args].concat());
    refused(&[]);
    refused(&["--local", "1", "--compose", "1", "--image", "a", "--allow", "b"]);
    refused(&["--local", "1", "--keys", "keys"]);
    refused(&["--local", "1", "--print"]);
    let own = refused(&["--local", "1", "--fleet-name", "blue"]).err;
    assert!(own.contains("--fleet-name") && own.contains("start one of their own"), "{own}");
    refused(&["--compose", "1", "--image", "a", "--allow", "b", "--fleet-credentials", "c.creds"]);
    let cluster = ["--image", "a", "--allow", "b", "--fleet", "nats://127.0.0.1:1", "--dir", "c"];
    let ignored = refused(&[&["--kubernetes", "1"], &cluster[..]].concat()).err;
    assert!(ignored.contains("--dir"), "{ignored}");
    refused(&["--compose", "1", "--image", "a", "--allow", "b", "--join", "nats://a:1"]);
    refused(&["--ssh", "a", "--allow", "b"]);
    let login =
        ["--ssh", "a", "--allow", "b", "--fleet", "nats://127.0.0.1:1", "--join", "nats://me:hush@a:1"];
    let login = refused(&login).err;
    assert!(login.contains("--keys DIR") && !login.contains("hush"), "{login}");
    let closed =
        ["--ssh", "a", "--allow", "b", "--fleet", "nats://127.0.0.1:1", "--fleet-credentials", "c.creds"];
    let closed = refused(&closed).err;
    assert!(closed.contains("agents would have none"), "{closed}");
}
