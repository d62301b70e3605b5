//! Latency at a constant rate is that of the schedule, through stalls.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::caller::{Called, Caller, number};

/// The reference server, ended when dropped.
struct Target(Child);

impl Target {
    fn start() -> (Self, String) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
            .args(["target", "--port", "0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        (Self(child), address.trim().to_owned())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn percentile(called: &Called, name: &str) -> f64 {
    number(called.words(name)[1])
}

#[test]
fn at_a_rate_the_stalls_of_a_server_are_in_the_tail_at_their_full_length() {
    let (target, address) = Target::start();
    let url = format!("http://{address}/stall?every=1s&for=500ms");
    // Of four connections all are held by a stall at once; what was due meanwhile must be charged all the same.
    let called = Caller::new().call("wrk", &["-t1", "-c4", "-d4s", "-R400", "-U", &url]);
    drop(target);
    assert_eq!(called.code, 0, "{called:?}");
    // Half of the requests fall due in a stall, at an instant as good as any: p75 is half of its length, p99 490 ms. If this
    // machine stalls as well, both are longer.
    let (p75, p99) = (percentile(&called, "75.000%"), percentile(&called, "99.000%"));
    assert!(p75 >= 200.0 && p99 >= 470.0, "{p75} {p99}");
    // Seen from the sending almost none was slow.
    let uncorrected = called.out.split_once("Uncorrected").unwrap().1;
    let line = uncorrected.lines().find(|line| line.trim_start().starts_with("75.000%")).unwrap();
    assert!(number(line.split_ascii_whitespace().nth(1).unwrap()) < p75, "{line}");
    // Those due in the last stall were answered after the load; the latencies hold them, the four seconds do not.
    let (_, count) = called.out.split_once("Total count    =").unwrap();
    let count = number(count.split_once(']').unwrap().0.trim()) as u64;
    assert!((called.requests()..=1600).contains(&count) && called.requests() > 0, "{called:?}");
    assert!(called.requests() < 1600, "{called:?}");
}
