use plimsoll_record::metric::{cpu, interface, nginx, process, thread};
use plimsoll_record::{CounterSet, Metric, Source};

use super::*;

/// A sample of a host that was read at this many milliseconds.
fn sample(at_ms: u64, source: Source, subject: &str, counters: &[(Metric, u64)]) -> HostSample {
    let counters: CounterSet = counters.iter().copied().collect();
    HostSample {
        host: "web".into(),
        source: source.into(),
        subject: subject.into(),
        began_ns: at_ms * 1_000_000,
        ended_ns: at_ms * 1_000_000,
        reading: Reading::Ok(counters.into()),
    }
}

fn text(before: &[HostSample], after: &[HostSample], ran: &[ProcessUse]) -> String {
    render(&Window::new(before, after), ran, true)
}

/// The line of a row, by a part of its text.
fn line<'a>(text: &'a str, part: &str) -> &'a str {
    text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in\n{text}"))
}

#[test]
fn counters_become_rates_over_the_time_between_their_reads() {
    let cpu = |idle, user, steal| {
        [
            (cpu::IDLE_MS, idle),
            (cpu::USER_MS, user),
            (cpu::STEAL_MS, steal),
            (cpu::TOTAL_MS, idle + user + steal),
            (cpu::CORES, 2),
        ]
    };
    let link = |bytes, packets| {
        [
            (interface::RECEIVED_BYTES, bytes),
            (interface::SENT_BYTES, 0),
            (interface::RECEIVED_PACKETS, packets),
        ]
    };
    let before =
        [sample(0, Source::Cpu, "", &cpu(100, 0, 0)), sample(0, Source::Interface, "eth0", &link(1_000, 10))];
    let after = [
        sample(2000, Source::Cpu, "", &cpu(1100, 2_900, 100)),
        sample(2000, Source::Interface, "eth0", &link(2_501_000, 2_010)),
    ];
    let text = text(&before, &after, &[]);
    assert!(text.starts_with("web, over 2.00 s\n"), "{text}");
    assert_eq!(
        line(&text, "busy"),
        "! cpu         75 % of 2 cores busy: user 72 %, stolen by the hypervisor 2 %"
    );
    assert!(line(&text, "eth0").contains("in 10.0 Mbit/s 1,000 packets/s, out 0 bit/s"), "{text}");
}

#[test]
fn only_what_is_notable_is_marked() {
    let thread = |us| [(thread::CPU_US, us)];
    let before =
        [sample(0, Source::Thread, "7/8 a", &thread(0)), sample(0, Source::Thread, "7/9 b", &thread(0))];
    let after = [
        sample(1000, Source::Thread, "7/8 a", &thread(200_000)),
        sample(1000, Source::Thread, "7/9 b", &thread(970_000)),
    ];
    let text = text(&before, &after, &[]);
    assert!(line(&text, "7/9 b").starts_with("! thread      7/9 b 97 % of a core"), "{text}");
    assert!(line(&text, "7/8 a").starts_with("              7/8 a 20 % of a core"), "{text}");
    assert!(text.ends_with("! notable\n"), "{text}");
}

#[test]
fn a_source_that_failed_is_shown_and_one_that_was_read_once_has_no_rate() {
    let mut failed = sample(0, Source::Redis, "a:1", &[]);
    failed.reading = Reading::Failed("no connection".to_owned());
    let nginx = sample(1000, Source::Nginx, "b:80", &[(nginx::REQUESTS, 5), (nginx::ACTIVE, 3)]);
    let text = text(&[], &[failed, nginx], &[]);
    assert_eq!(line(&text, "redis"), "! not read    redis: no connection");
    assert_eq!(line(&text, "b:80"), "  nginx       b:80 3 connections");
}

#[test]
fn a_name_cannot_move_the_terminals_cursor() {
    let mut page = sample(1, Source::Prometheus, "\u{1b}[2J", &[]);
    let mut counters = CounterSet::default();
    counters.put_made("a", 1);
    page.reading = Reading::Ok(counters.into());
    let after = [page];
    assert!(!text(&[], &after, &[]).contains('\u{1b}'));
}

#[test]
fn processes_that_were_busy_and_not_watched_are_named() {
    let of = |us| sample(us / 1000, Source::Process, "11 a", &[(process::CPU_US, us), (process::THREADS, 1)]);
    let ran = |pid, cpu_ms| ProcessUse { pid, name: "b".to_owned(), cpu_ms };
    let text = text(&[of(0)], &[of(1_000_000)], &[ran(11, 1000), ran(12, 300), ran(13, 10)]);
    assert!(line(&text, "11 a").ends_with("11 a 100 % of a core, 1 thread"), "{text}");
    assert_eq!(line(&text, "12 b"), "  others      12 b 30 % of a core");
    assert!(!text.contains("13 b") && !text.contains("11 b"), "{text}");
}

#[test]
fn of_many_processes_the_busiest_are_shown_and_idle_ones_only_if_they_were_named() {
    let of = |at_ms| -> Vec<HostSample> {
        let one =
            |pid: u64| sample(at_ms, Source::Process, &format!("{pid} a"), &[(process::CPU_US, at_ms * pid)]);
        (1..=30).map(one).collect()
    };
    let (before, after) = (of(0), of(1000));
    let window = Window::new(&before, &after);
    let (named, chosen) = (render(&window, &[], true), render(&window, &[], false));
    assert!(line(&named, " 30 a ").contains("3 % of a core") && !named.contains(" 20 a "), "{named}");
    assert!(line(&named, "more").contains("and 20 more, 21 % of a core together"), "{named}");
    assert!(line(&chosen, "more").contains("and 16 more"), "the idle ones are not counted: {chosen}");
}
