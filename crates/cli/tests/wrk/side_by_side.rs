//! Every example script under wrk itself and here: what a server gets, and what a user reads, is the same.

use std::process::Command;

use crate::caller::{Called, Caller, example, number};
use crate::recorder::Recorder;

/// How many requests of a connection are compared.
const REQUESTS: usize = 20;

/// What came of one program's run of a script.
struct Observed {
    /// The requests of each connection.
    requests: Vec<Vec<String>>,
    called: Called,
}

impl Observed {
    fn new(mut command: Command, recorder: &Recorder, script: &str, threads: &str, length: &str) -> Self {
        command.args(["-t", threads, "-c", threads, length, "-H", "X-Given: a: b", "-s"]);
        command.arg(example(script)).args([&recorder.url(), "--", "/argument"]);
        let called = Called::from(command.output().unwrap());
        assert_eq!(called.code, 0, "{called:?}");
        Self { requests: recorder.take(), called }
    }

    /// The beginning of what each connection sent.
    fn first_requests(&self) -> Vec<&[String]> {
        self.requests.iter().map(|requests| &requests[..requests.len().min(REQUESTS)]).collect()
    }

    /// The text without its numbers: a script's own lines among those of the program.
    fn shape(&self) -> Vec<String> {
        self.called.out.lines().map(shape).collect()
    }
}

fn shape(line: &str) -> String {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) || word.starts_with("-nan");
    let word = |word: &str| {
        let (name, value) = word.split_once(',').unwrap_or(("", word));
        let value = if is_number(value) || is_number(name) { "#" } else { value };
        format!("{}{value}", if is_number(name) { "" } else { name })
    };
    line.split_ascii_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Runs a script under wrk and here, for this long, against one server.
fn both(script: &str, threads: &str, length: &str) -> (Observed, Observed) {
    let (caller, recorder) = (Caller::new(), Recorder::start());
    let theirs = Observed::new(Command::new("wrk"), &recorder, script, threads, length);
    let ours = Observed::new(caller.command("wrk"), &recorder, script, threads, length);
    (ours, theirs)
}

#[test]
fn a_server_gets_the_same_requests_as_from_wrk_and_a_user_the_same_lines() {
    let names = ["addr", "auth", "counter", "delay", "pipeline", "post", "report"];
    for name in names {
        let (ours, theirs) = both(&format!("{name}.lua"), "1", "-d1s");
        assert!(ours.requests[0].len() > 5, "{name}: {:?}", ours.called);
        let least = ours.requests[0].len().min(theirs.requests[0].len()).min(REQUESTS);
        assert_eq!(ours.requests.len(), theirs.requests.len(), "{name}");
        assert_eq!(ours.first_requests()[0][..least], theirs.first_requests()[0][..least], "{name}");
        assert_eq!(ours.shape(), theirs.shape(), "{name}");
        assert!(ours.called.err.lines().all(|line| line.starts_with("plimsoll: ")), "{}", ours.called.err);
    }
}

#[test]
fn threads_have_variables_of_their_own_that_done_adds_up() {
    let (ours, theirs) = both("setup.lua", "3", "-d1s");
    assert_eq!(ours.shape(), theirs.shape());
    assert_eq!(ours.requests.len(), 3);
    let asked: u64 = ours.requests.iter().map(|requests| requests.len() as u64).sum();
    let shown = ours.called.out.lines().filter(|line| line.starts_with("thread "));
    let counts: Vec<[u64; 2]> =
        shown.map(|line| [3, 7].map(|index| number(line.split(' ').nth(index).unwrap()) as u64)).collect();
    // The first thread's request() is called once more than it sends, as under wrk.
    assert_eq!(counts.iter().map(|[made, _]| made).sum::<u64>(), asked + 1);
    assert_eq!(counts.iter().map(|[_, answered]| answered).sum::<u64>(), asked);
}

#[test]
fn a_thread_that_stops_itself_sends_no_more() {
    let (ours, theirs) = both("stop.lua", "2", "-d4s");
    let counts = |observed: &Observed| observed.requests.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!((counts(&ours), counts(&theirs)), (vec![100, 100], vec![100, 100]));
    assert_eq!(ours.first_requests(), theirs.first_requests());
    assert_eq!(ours.called.requests(), 200);
}

#[test]
fn a_pipelined_batch_is_sent_at_once_and_every_answer_counts() {
    let (ours, _) = both("pipeline.lua", "1", "-d1s");
    let sent = ours.requests[0].len() as u64;
    assert_eq!(sent % 3, 0);
    assert!(ours.called.requests() + 3 >= sent, "{sent} {:?}", ours.called);
}

#[test]
fn the_request_without_a_script_is_that_of_wrk() {
    let (caller, recorder) = (Caller::new(), Recorder::start());
    for headers in [&["-H", "X-B: c: d", "-H", "Accept: x", "-H", "X-B: last"][..], &["-H", "Host: virtual"]]
    {
        let [theirs, ours] = [Command::new("wrk"), caller.command("wrk")].map(|mut command| {
            let output =
                command.args(["-t1", "-c1", "-d1s"]).args(headers).arg(recorder.url()).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            recorder.take().swap_remove(0).swap_remove(0)
        });
        assert_eq!(ours, theirs);
    }
}
