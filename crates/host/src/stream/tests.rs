use std::process::Command;

use plimsoll_record::Source;
use plimsoll_record::metric::process;

use super::*;

fn sample_of(reading: Reading) -> HostSample {
    HostSample {
        host: "web".into(),
        source: Source::Process.into(),
        subject: "12 a \"b\"\n".into(),
        began_ns: 5_000,
        ended_ns: 6_000,
        reading,
    }
}

fn begin(text: &str, clock: StreamClock, origin: Instant) -> Result<SampleStream<&[u8]>, StreamError> {
    SampleStream::begin(text.as_bytes(), "web", clock, origin)
}

#[test]
fn samples_are_read_as_they_were_written() {
    let counters = Counters::from([(process::CPU_US, u64::MAX), (process::THREADS, 0)]);
    let all = [
        Reading::Ok(counters),
        Reading::Ok(Counters::default()),
        Reading::Absent,
        Reading::Failed("no".into()),
    ];
    let samples = all.map(sample_of);
    let text =
        opening_line().unwrap() + &samples.each_ref().map(|sample| sample_line(sample).unwrap()).concat();
    assert_eq!(text.lines().count(), 1 + samples.len(), "one line each, whatever is in it");
    let mut stream = begin(&text, StreamClock::Ours, Instant::default()).unwrap();
    for sample in samples {
        assert_eq!(stream.next_sample().unwrap(), Some(sample));
    }
    assert_eq!(stream.next_sample().unwrap(), None);
}

#[test]
fn times_count_from_the_runs_begin() {
    let text = opening_line().unwrap() + &sample_line(&sample_of(Reading::Absent)).unwrap();
    let mut stream = begin(&text, StreamClock::Ours, Instant::from_nanos(5_500)).unwrap();
    let sample = stream.next_sample().unwrap().unwrap();
    assert_eq!((sample.began_ns, sample.ended_ns), (0, 500));
}

#[test]
fn another_machines_clock_is_set_by_its_fastest_line() {
    let origin = RealClock.now();
    let opening = opening_line().unwrap();
    let mut stream = begin(&opening, StreamClock::Theirs, origin).unwrap();
    let at = |ns| Instant::from_nanos(origin.as_nanos() + ns);
    // Their clock is 1,000 s ahead; lines take 700 ns, 100 ns and 400 ns.
    let theirs = |ns| origin.as_nanos() + 1_000_000_000_000 + ns;
    let ends: Vec<u64> = [(10_000, 700), (20_000, 100), (30_000, 400)]
        .map(|(sent, transit)| {
            let (began_ns, ended_ns) = (theirs(sent - 50), theirs(sent));
            let sample = HostSample { began_ns, ended_ns, ..sample_of(Reading::Absent) };
            let placed = stream.placed(sample, at(sent + transit));
            assert_eq!(placed.ended_ns - placed.began_ns, 50);
            placed.ended_ns
        })
        .into();
    assert_eq!(ends, [10_700, 20_100, 30_100]);
}

#[test]
fn a_clock_that_stood_still_is_followed() {
    let origin = RealClock.now();
    let opening = opening_line().unwrap();
    let mut stream = begin(&opening, StreamClock::Theirs, origin).unwrap();
    let second = |sec: u64| sec * 1_000_000_000;
    // Their clock is 1,000 s ahead of ours until their machine is paused for 5 s, and 995 s after that.
    let mut placed = |sent: u64, delay: u64| {
        let ended_ns = origin.as_nanos() + second(1_000) + sent;
        let sample = HostSample { began_ns: ended_ns, ended_ns, ..sample_of(Reading::Absent) };
        stream.placed(sample, Instant::from_nanos(origin.as_nanos() + sent + delay)).ended_ns - sent
    };
    assert_eq!(placed(second(1), 700), 700);
    assert_eq!(placed(second(2), 100), 100);
    assert_eq!(placed(second(30), second(5) + 100), 100, "as if it were late");
    for sec in 31..200 {
        let late = placed(second(sec), second(5) + 100);
        assert!(sec < 150 || late == second(5) + 100, "second {sec}: {late}");
    }
    assert_eq!(placed(second(200), second(5) + 700), second(5) + 100);
}

#[test]
fn text_that_a_login_prints_first_is_skipped() {
    let text = format!("Welcome!\n{{}}\n{}", opening_line().unwrap());
    assert_eq!(begin(&text, StreamClock::Ours, Instant::default()).unwrap().next_sample().unwrap(), None);
    let error = begin("Welcome!\n", StreamClock::Ours, Instant::default()).unwrap_err();
    assert!(matches!(&error, StreamError::Foreign { line, .. } if line == "Welcome!"), "{error}");
    let endless = "noise\n".repeat(10_000);
    assert!(begin(&endless, StreamClock::Ours, Instant::default()).is_err());
}

#[test]
fn another_version_is_named_and_a_line_that_is_no_sample_is_shown() {
    let newer = "{\"plimsoll_probe\":2,\"clock_ns\":1}\n";
    let error = begin(newer, StreamClock::Ours, Instant::default()).unwrap_err();
    assert!(
        error.to_string().contains("version 2") && error.to_string().contains("same plimsoll"),
        "{error}"
    );
    let both = r#"{"host":"a","source":"b","began_ns":1,"ended_ns":2,"ok":{},"absent":true}"#;
    for line in ["x", "{}", both, "{\"host\":\"a\"}"] {
        let text = format!("{}{line}\n", opening_line().unwrap());
        let mut stream = begin(&text, StreamClock::Ours, Instant::default()).unwrap();
        assert!(matches!(stream.next_sample(), Err(StreamError::Foreign { .. })), "{line}");
    }
}

#[test]
fn another_machine_speaks_only_of_itself() {
    for source in [Source::Intervention, Source::Declared, Source::Ports, Source::Descriptors] {
        let sample = HostSample { source: source.into(), ..sample_of(Reading::Absent) };
        let text = opening_line().unwrap() + &sample_line(&sample).unwrap();
        let mut ours = begin(&text, StreamClock::Ours, Instant::default()).unwrap();
        assert!(ours.next_sample().unwrap().is_some(), "a lab says so to the generator in it");
        let mut theirs = begin(&text, StreamClock::Theirs, Instant::default()).unwrap();
        assert!(matches!(theirs.next_sample(), Err(StreamError::Foreign { .. })), "{source}");
    }
    let backwards = HostSample { began_ns: 6_001, ..sample_of(Reading::Absent) };
    let text = opening_line().unwrap() + &sample_line(&backwards).unwrap();
    let mut stream = begin(&text, StreamClock::Theirs, Instant::default()).unwrap();
    assert!(matches!(stream.next_sample(), Err(StreamError::Foreign { .. })));
}

#[test]
fn another_machine_that_sends_without_end_is_not_listened_to() {
    let sample = HostSample { subject: "x".repeat(60_000).as_str().into(), ..sample_of(Reading::Absent) };
    let line = sample_line(&sample).unwrap();
    let text = opening_line().unwrap() + &line.repeat(2_000);
    let read = |clock| {
        let mut stream = begin(&text, clock, Instant::default()).unwrap();
        std::iter::from_fn(|| stream.next_sample().transpose()).collect::<Result<Vec<_>, _>>()
    };
    assert!(matches!(read(StreamClock::Theirs), Err(StreamError::Flood { .. })));
    assert_eq!(read(StreamClock::Ours).unwrap().len(), 2_000);
    // What a host sends once a second may come late and together.
    let mut allowance = Allowance { bytes: 0, at: Instant::from_nanos(0) };
    let second = |sec: u64| Instant::from_nanos(sec * 1_000_000_000);
    assert!(allowance.take(MAX_BYTES_PER_SEC, second(1)));
    assert!(!allowance.take(1, second(1)));
    assert!(allowance.take(MAX_BURST_BYTES, second(60)));
    assert!(!allowance.take(1, second(60)));
}

fn shell(script: &str) -> Remote {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    Remote::start(command, "web", Instant::default()).unwrap()
}

#[test]
fn the_error_of_a_child_that_ends_has_its_standard_error_and_status() {
    let written = opening_line().unwrap() + &sample_line(&sample_of(Reading::Absent)).unwrap();
    let mut child = shell(&format!("cat <<'X'\n{written}X\necho out of memory >&2; exit 3"));
    assert_eq!(child.next_sample().unwrap().host, "web");
    let error = child.next_sample().unwrap_err().to_string();
    assert!(error.contains("out of memory") && error.contains('3'), "{error}");
}

#[test]
fn a_session_that_breaks_once_samples_came_is_no_failed_login() {
    let written = opening_line().unwrap() + &sample_line(&sample_of(Reading::Absent)).unwrap();
    let end = "echo closed by peer >&2; exit 255";
    for more in ["", "printf '{\"host\":\"we'; "] {
        let mut child = shell(&format!("cat <<'X'\n{written}X\n{more}{end}"));
        child.next_sample().unwrap();
        let error = child.next_sample().unwrap_err();
        assert!(
            matches!(&error, StreamError::Ended { reason, .. } if reason.contains("closed by peer")),
            "{error}"
        );
    }
    let error = shell(end).next_sample().unwrap_err();
    assert!(matches!(error, StreamError::Login { .. }), "{error}");
}

#[test]
fn ssh_that_asks_nothing_is_in_a_group_of_its_own_and_spared_by_ctrl_c() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::os::unix::fs::symlink("/bin/sh", path("ssh")).unwrap();
    // It says which process it is, and which group it is in.
    let sample = "{\"host\":\"%s\",\"source\":\"cpu\",\"subject\":\"%s\",\"began_ns\":1,\"ended_ns\":2,\"absent\":true}\\n";
    let script = format!(
        "read -r pid _ _ _ group _ < /proc/$$/stat\necho '{}'\nprintf '{sample}' \"$pid\" \"$group\"\n",
        opening_line().unwrap().trim()
    );
    std::fs::write(path("script"), script).unwrap();
    let leads = |program: &str| {
        let mut ssh = Ssh::new(None, "web", None).through(program).start(Instant::default()).unwrap();
        let sample = ssh.next_sample().unwrap();
        sample.host == sample.subject
    };
    assert!(leads(&format!("{} {}", path("ssh"), path("script"))));
    assert!(!leads(&format!("{} {} -o batchmode=no", path("ssh"), path("script"))), "it may ask");
    assert!(!leads(&format!("sh {}", path("script"))), "another program may ask");
}

#[test]
fn a_child_is_killed_from_another_thread_while_its_samples_are_waited_for() {
    let mut child = shell(&format!("printf '%s' '{}'; exec sleep 1000", opening_line().unwrap()));
    let handle = child.handle.clone();
    let waiting = std::thread::spawn(move || child.next_sample());
    handle.kill();
    assert!(matches!(waiting.join().unwrap(), Err(StreamError::Ended { .. })));
}
