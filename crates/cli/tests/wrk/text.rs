//! The text, as scripts read it.

use std::io::Write;
use std::process::{Command, Stdio};

use plimsoll_testkit::Nginx;

use crate::caller::{Caller, number};

/// Takes out of wrk's text what load-test scripts take out of it: rate, mean latency, percentiles, share of success.
const AWK: &str = r#"
/^ +Latency +[0-9.]+/ { mean = $2 }
/^ +50%/ { p50 = $2 }
/^ +99%/ { p99 = $2 }
/requests in/ { requests = $1 }
/Socket errors/ { errors = $4 + $6 + $8 + $10 }
/^Requests\/sec/ { qps = $2 }
END { printf "%s %s %s %s %d %.2f\n", qps, mean, p50, p99, requests, (requests - errors) * 100 / requests }
"#;

fn awk(text: &str) -> Vec<String> {
    let mut child =
        Command::new("awk").arg(AWK).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8(output.stdout).unwrap().split_ascii_whitespace().map(str::to_owned).collect()
}

#[test]
fn awk_scripts_read_the_real_output_and_the_server_counted_the_same() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(0, &["-t2", "-c10", "-d2s", "-T30s", "--latency", &url]);
    let [qps, mean, p50, p99, requests, success] = &awk(&called.out)[..] else { panic!("{called:?}") };
    let (qps, requests) = (number(qps), number(requests));
    assert_eq!((requests / 2.0 * 100.0).round(), (qps * 100.0).round());
    assert!(number(mean) > 0.0 && number(p50) > 0.0 && number(p50) <= number(p99), "{called:?}");
    assert_eq!(success, "100.00");
    // What was under way at the end was answered, but not within the two seconds.
    let counted = nginx.requests().unwrap() as f64;
    assert!((requests..=requests + 10.0).contains(&counted), "{requests} {counted}");
}

#[test]
fn each_thread_gives_a_sample_of_its_rate_every_100_ms() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script(
        "function done(_, _, rates)
           local samples = 0
           for i = 1, #rates do local _, count = rates(i) samples = samples + count end
           print('samples ' .. samples)
         end",
    );
    let url = format!("http://{}/", nginx.address());
    let called = caller.expect(0, &["-t2", "-c4", "-d2s", "-s", &script, &url]);
    let samples: u64 = called.words("samples")[1].parse().unwrap();
    // 40, unless a thread had to wait for a CPU so long that an interval held nothing.
    assert!((10..=40).contains(&samples), "{called:?}");
}

#[test]
fn by_the_name_of_wrk2_it_speaks_as_wrk2() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let url = format!("http://{}/", nginx.address());
    let called = caller.call("wrk2", &["-t1", "-c4", "-d1s", "-R200", "--latency", &url]);
    assert_eq!(called.code, 0, "{called:?}");
    assert!(called.out.contains("Latency Distribution (HdrHistogram - Recorded Latency)"), "{called:?}");
    assert!((1..=200).contains(&called.requests()), "{called:?}");
    let refused = caller.call("wrk2", &[&url]);
    assert!(refused.err.contains("Throughput MUST be specified"), "{refused:?}");
}

#[test]
fn the_command_wrk_reads_its_arguments_as_wrk_does() {
    let (caller, nginx) = (Caller::new(), Nginx::start().unwrap());
    let script = caller.script("function init(args) print('given', #args, args[1], args[2]) end");
    let url = format!("http://{}/", nginx.address());
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["wrk", "-t1", "-c1", "--dur=1s", "-v", "-s", &script, &url, "--", "-a", "--help"])
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}");
    assert!(out.starts_with("wrk plimsoll/"), "{out}");
    assert!(out.contains("given\t2\t-a\t--help\n"), "{out}");
}
