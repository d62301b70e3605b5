//! The text compared with that of the real wrk, and with C's printf of the same numbers.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use plimsoll_record::latency_histogram;
use plimsoll_testkit::{BadServer, Nginx, Script};

use super::*;
use crate::options;
use crate::stats::SocketErrors;

/// What people take out of wrk's text: by the first word, by the column, by a word within the line.
const AWK: &str = r#"
function ms(text) {
    if (text ~ /us$/) return text / 1000
    if (text ~ /ms$/) return text + 0
    if (text ~ /s$/) return text * 1000
    if (text ~ /m$/) return text * 60000
    return "no time: " text
}
$1 == "Latency" && NF == 5 { print "mean_ms", ms($2); print "max_ms", ms($4) }
$1 == "Req/Sec" { print "thread_rate", $2 + 0 }
/^ +(50|75|90|99)%/ { print "p" ($1 + 0), ms($2) }
/requests in/ { print "requests", $1 }
/Socket errors/ { gsub(",", ""); print "errors", $4 + $6 + $8 + $10 }
/Non-2xx or 3xx/ { print "bad_statuses", $NF }
/^Requests\/sec/ { print "qps", $2 + 0 }
/^Transfer\/sec/ { print "transfer", $2 + 0 }
"#;

/// The same formats in C, for a line `KIND NUMBER` each.
const C: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
static void unit(char *out, long double n, double factor, const char *base, const char **larger, int decimals) {
    double limit = factor * 0.85;
    for (; *larger && n >= limit; larger++) { n /= factor; base = *larger; }
    sprintf(out, "%.*Lf%s", decimals, n, base);
}
static void cell(const char *text, int width) {
    size_t end = strlen(text);
    int spaces = !isalpha(text[end - 1]) + !isalpha(text[end - 2]);
    width -= spaces;
    printf("%*.*s%.*s|", width, width, text, spaces, "  ");
}
int main(void) {
    const char *ms[] = {"ms", 0}, *m[] = {"m", 0};
    const char *metric[] = {"k", "M", "G", "T", 0}, *binary[] = {"K", "M", "G", "T", 0};
    char kind[16], text[128];
    long double n;
    while (scanf("%15s %Lf", kind, &n) == 2) {
        if (!strcmp(kind, "time") && n >= 1e6L) unit(text, n / 1e6L, 60, "s", m, 2);
        else if (!strcmp(kind, "time")) unit(text, n, 1000, "us", ms, 2);
        else if (!strcmp(kind, "count")) unit(text, n, 1000, "", metric, 2);
        else unit(text, n, 1024, "", binary, 2);
        cell(text, 8), cell(text, 9), cell(text, 10);
        printf("%8.2Lf%%|%9.2Lf|%10sB\n", n, n, text);
    }
}
"#;

fn wrk(url: &str, more: &[&str]) -> String {
    let mut command = Command::new("wrk");
    command.args(["-t1", "-c2", "-d1s"]).args(more).arg(url);
    let output = command.output().expect("wrk runs; `make setup` installs it");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Feeds a program its input and returns what it prints.
fn filter(command: &mut Command, input: &str) -> String {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_owned());
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

fn awk(text: &str) -> BTreeMap<String, f64> {
    let read = filter(Command::new("awk").arg(AWK).env("LC_ALL", "C"), text);
    let pair = |line: &str| {
        let (key, value) = line.split_once(' ').unwrap();
        (key.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line:?} in:\n{text}")))
    };
    read.lines().map(pair).collect()
}

/// A number with its unit, as the smallest unit.
fn number(text: &str) -> f64 {
    let digits = text.find(|c: char| !"-.0123456789".contains(c) && text != "-nan").unwrap_or(text.len());
    let factor = match text[digits..].trim_end_matches('%') {
        "" | "us" => 1.0,
        "ms" | "k" => 1e3,
        "s" | "M" => 1e6,
        "m" => 60e6,
        "KB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "B" => 1.0,
        other => panic!("unknown unit {other:?} of {text:?}"),
    };
    let digits = text[..digits].trim_end_matches('%');
    if digits == "-nan" { f64::NAN } else { digits.parse::<f64>().unwrap() * factor }
}

/// The line again, from nothing but the numbers in it.
fn rebuilt(line: &str) -> String {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let count = |index: usize| words[index].trim_end_matches(',').parse::<u64>().unwrap();
    match words.as_slice() {
        ["Running", ..] | [_, "threads", ..] => heading_line(line),
        ["Thread", "Stats", ..] => statistics_header(),
        ["Latency", "Distribution"] => "  Latency Distribution\n".to_owned(),
        [name @ ("Latency" | "Req/Sec"), mean, stdev, max, within] => {
            let [mean, stdev, max, percent_within] = [mean, stdev, max, within].map(|text| number(text));
            let unit = if *name == "Latency" { cell::time_us } else { cell::count };
            Row { mean, stdev, max, percent_within }.line(name, unit)
        }
        [percent, value] if percent.ends_with('%') => percentile_line(number(percent), number(value)),
        [requests, "requests", "in", runtime, bytes, "read"] => {
            let runtime = number(runtime.trim_end_matches(','));
            requests_line(requests.parse().unwrap(), runtime.round() as u64, number(bytes).round() as u64)
        }
        ["Socket", "errors:", ..] => {
            let errors =
                SocketErrors { connect: count(3), read: count(5), write: count(7), timeout: count(9) };
            error_lines(&Measured { errors, ..nothing() })
        }
        ["Non-2xx", ..] => error_lines(&Measured { bad_statuses: count(4), ..nothing() }),
        ["Requests/sec:", rate] => totals(number(rate), 0.0).lines().next().unwrap().to_owned() + "\n",
        ["Transfer/sec:", rate] => totals(0.0, number(rate)).lines().nth(1).unwrap().to_owned() + "\n",
        _ => panic!("a line that wrk did not print before: {line:?}"),
    }
}

/// Lines of the heading, whose numbers are those of the command line.
fn heading_line(line: &str) -> String {
    let url = line.split("@ ").nth(1).unwrap_or("http://h/");
    let args = ["-t1", "-c2", "-d1s", url].map(str::to_owned);
    let heading = heading(&options::parse("wrk", &args).unwrap());
    let index = usize::from(!line.starts_with("Running"));
    heading.lines().nth(index).unwrap().to_owned() + "\n"
}

fn nothing() -> Measured {
    Measured {
        runtime_us: 1_000_000,
        requests: 0,
        bytes: 0,
        errors: SocketErrors::default(),
        bad_statuses: 0,
        latency: latency_histogram(),
        service_time: latency_histogram(),
        rates: Vec::new(),
    }
}

fn assert_rebuilds(text: &str) {
    let again: String = text.lines().map(rebuilt).collect();
    assert_eq!(again, text);
}

#[test]
fn the_text_is_that_of_wrk_for_the_same_numbers() {
    let nginx = Nginx::start().unwrap();
    let text = wrk(&format!("http://{}/", nginx.address()), &["--latency"]);
    assert_eq!(text.lines().count(), 13, "{text}");
    assert_rebuilds(&text);
}

#[test]
fn errors_and_empty_statistics_read_as_in_wrk() {
    let closing = BadServer::start(Script::CloseBetweenRequests { after: 2 });
    let text = wrk(&format!("http://{}/", closing.address()), &[]);
    assert!(text.contains("Socket errors"), "{text}");
    assert_rebuilds(&text);
    let refusing = BadServer::start(Script::Statuses(vec![200, 503]));
    let text = wrk(&format!("http://{}/", refusing.address()), &[]);
    assert!(text.contains("Non-2xx"), "{text}");
    assert_rebuilds(&text);
}

#[test]
fn a_run_without_answers_ends_as_that_of_wrk() {
    let silent = BadServer::start(Script::NeverAnswer);
    let url = format!("http://{}/", silent.address());
    let theirs = wrk(&url, &["--latency"]);
    let args = ["-t1", "-c2", "-d1s", "--latency", &url].map(str::to_owned);
    let options = options::parse("wrk", &args).unwrap();
    let runtime = theirs.lines().find_map(|line| line.split_once("requests in ")).unwrap().1;
    let runtime_us = number(runtime.split_once(',').unwrap().0).round() as u64;
    let ours = heading(&options) + &summary(&options, &Measured { runtime_us, ..nothing() });
    assert_eq!(ours, theirs);
}

/// A run with some of everything, and with numbers of the size they had in the run of wrk.
fn measured() -> Measured {
    let mut measured = nothing();
    measured.latency.saturating_record_n(412_345, 900);
    measured.latency.saturating_record_n(3_200_000, 99);
    measured.latency.saturating_record_n(2_500_000_000, 1);
    measured.rates = vec![9000, 11_000];
    Measured {
        requests: 1000,
        bytes: 1_234_567,
        errors: SocketErrors { connect: 1, read: 2, write: 3, timeout: 4 },
        bad_statuses: 5,
        ..measured
    }
}

#[test]
fn an_awk_script_for_wrk_reads_both() {
    let closing = BadServer::start(Script::CloseBetweenRequests { after: 2 });
    let url = format!("http://{}/", closing.address());
    let mut theirs = awk(&wrk(&url, &["--latency"]));
    let args = ["--latency".to_owned(), url];
    let text = summary(&options::parse("wrk", &args).unwrap(), &measured());
    let mut ours = awk(&text);
    assert_eq!(ours.remove("bad_statuses"), Some(5.0));
    assert_eq!([ours["requests"], ours["errors"], ours["qps"]], [1000.0, 10.0, 1000.0]);
    assert_eq!([ours["p50"], ours["p90"], ours["p99"]], [0.412, 3.2, 3.2]);
    assert_eq!([ours["max_ms"], ours["mean_ms"], ours["thread_rate"]], [2500.0, 3.19, 10.0]);
    theirs.remove("bad_statuses");
    assert!(ours.keys().eq(theirs.keys()), "{ours:?} {theirs:?}");
}

#[test]
fn the_text_of_a_whole_run() {
    let args = ["-t12", "-c400", "-d2m", "-L", "http://10.0.0.1/"].map(str::to_owned);
    let options = options::parse("wrk", &args).unwrap();
    let expected = "Running 2m test @ http://10.0.0.1/
  12 threads and 400 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.19ms   79.07ms   2.50s    99.90%
    Req/Sec    10.00k     1.41k   11.00k   100.00%
  Latency Distribution
     50%  412.00us
     75%  412.00us
     90%    3.20ms
     99%    3.20ms
  1000 requests in 1.00s, 1.18MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec:   1000.00
Transfer/sec:      1.18MB
";
    assert_eq!(heading(&options) + &summary(&options, &measured()), expected);
}

#[test]
fn the_text_of_a_run_at_a_rate() {
    let mut measured = measured();
    measured.service_time.saturating_record(1_000_500);
    let args = ["-R1k", "-U", "http://10.0.0.1/"].map(str::to_owned);
    let text = summary(&options::parse("wrk", &args).unwrap(), &measured);
    let beginning = "  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     3.19ms   79.03ms   2.50s    99.90%
    Req/Sec    10.00k     1.00k   11.00k   100.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%  412.00us
";
    assert!(text.starts_with(beginning), "{text}");
    let sections: Vec<&str> = text.split(&("-".repeat(58) + "\n")).collect();
    assert_eq!(sections.len(), 3, "{text}");
    let uncorrected = "
  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%    1.00ms
";
    assert!(sections[1].starts_with(uncorrected), "{text}");
    assert!(sections[2].starts_with("  1000 requests in 1.00s, 1.18MB read\n"), "{text}");
}

#[test]
fn a_run_at_a_rate_without_answers_says_so_as_wrk2_does() {
    let args = ["-R1", "http://10.0.0.1/"].map(str::to_owned);
    let text = summary(&options::parse("wrk", &args).unwrap(), &nothing());
    let rows = "    Latency     -nanus    -nanus   0.00us    0.00%\n    Req/Sec       -nan      -nan   0.00      0.00%\n";
    assert!(text.contains(rows), "{text}");
}

#[test]
fn calibration_lines_tell_the_mean_and_twice_the_ninetieth_percentile() {
    let mut latency = latency_histogram();
    assert_eq!(calibration(&latency), None);
    latency.saturating_record_n(1_000_500, 10);
    let line = "  Thread calibration: mean lat.: 1.000ms, rate sampling interval: 10ms\n";
    assert_eq!(calibration(&latency).as_deref(), Some(line));
    latency.saturating_record_n(20_000_000, 10);
    assert!(calibration(&latency).unwrap().ends_with("rate sampling interval: 40ms\n"));
}

/// Numbers around every change of unit, none of them half-way between two that can be printed: there C, which
/// counts with longer numbers, may choose the other neighbour.
fn edges(factor: f64, larger_units: i32) -> impl Iterator<Item = f64> {
    let around =
        [0.0, 0.9996, 1.0, 9.994, 99.996, 0.84 * factor, 0.8499 * factor, 0.85 * factor, 0.8501 * factor];
    let around = around.into_iter().chain([0.99987 * factor, factor, 1.0001 * factor]);
    around.flat_map(move |number| (0..=larger_units).map(move |power| number * factor.powi(power)))
}

#[test]
fn cells_are_what_printf_makes_of_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("cells.c"), folder.path().join("cells"));
    std::fs::write(&source, C).unwrap();
    assert!(Command::new("cc").arg("-o").arg(&program).arg(&source).status().unwrap().success());
    let times = edges(1000.0, 2).chain(edges(60.0, 2).map(|seconds| seconds * 1e6));
    let numbers: Vec<(&str, f64)> = times
        .map(|number| ("time", number))
        .chain(edges(1000.0, 5).map(|number| ("count", number)))
        .chain(edges(1024.0, 5).map(|number| ("bytes", number)))
        .collect();
    let input: String = numbers.iter().map(|(kind, number)| format!("{kind} {number:.40}\n")).collect();
    let theirs = filter(&mut Command::new(&program), &input);
    assert_eq!(theirs.lines().count(), numbers.len());
    for ((kind, number), theirs) in numbers.iter().zip(theirs.lines()) {
        let text = match *kind {
            "time" => cell::time_us(*number),
            "count" => cell::count(*number),
            _ => cell::bytes(*number),
        };
        let cells = [8, 9, 10].map(|width| cell::cell(&text, width) + "|").concat();
        let number = cell::fixed(*number, 2);
        assert_eq!(format!("{cells}{number:>8}%|{number:>9}|{text:>10}B"), theirs, "{kind} {number}");
    }
}
