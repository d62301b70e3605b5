//! `--markdown`, `--junit` and `--html`: where the documents of a run go.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;

use quick_xml::Reader;
use quick_xml::events::Event;

use crate::bench::{Bench, Called, Target};

/// The attributes of the only suite of a JUnit document, which is well formed.
pub(crate) fn suite(xml: &str) -> BTreeMap<String, String> {
    let (mut reader, mut suites) = (Reader::from_str(xml), Vec::new());
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) if start.name().as_ref() == b"testsuite" => {
                let attributes = start.attributes().map(|one| {
                    let one = one.unwrap();
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    (text(one.key.as_ref()), text(&one.value))
                });
                suites.push(attributes.collect());
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(suites.len(), 1, "{xml}");
    suites.swap_remove(0)
}

/// A short run with these flags, which ends with this code; a step of GitHub Actions has the summary of that name.
fn run(bench: &Bench, target: &Target, code: i32, flags: &[&str], summary: Option<&str>) -> Called {
    let url = target.url("/healthz");
    let mut command = bench.command(&[&["run", &url, "-n", "400", "-c", "2", "--no-probe"], flags].concat());
    command.env_remove("GITHUB_STEP_SUMMARY");
    command.envs(summary.map(|name| ("GITHUB_STEP_SUMMARY", bench.path(name))));
    let called = Called::from(command.output().unwrap());
    assert_eq!(called.code, code, "{flags:?}\n{}{}", called.out, called.err);
    called
}

fn read(bench: &Bench, name: &str) -> String {
    fs::read_to_string(bench.path(name)).unwrap()
}

#[test]
fn documents_are_written_where_their_flags_say_and_leave_text_and_code_as_they_are() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let flags =
        ["--p99", "30s", "--markdown", "out/run.md", "--junit", "out/run.xml", "--html", "out/run.html"];
    let called = run(&bench, &target, 0, &flags, None);
    assert!(called.out.contains("served "), "{}", called.out);
    assert!(called.err.contains("out/run.md") && called.err.contains("out/run.xml"), "{}", called.err);
    assert!(read(&bench, "out/run.md").contains("- ✅ met: p99 "));
    assert!(read(&bench, "out/run.html").ends_with("</html>\n"));
    let suite = suite(&read(&bench, "out/run.xml"));
    assert_eq!((&*suite["tests"], &*suite["failures"]), ("2", "0"));
    let broken = ["--p99", "1us", "--junit", "broken.xml", "--no-files"];
    run(&bench, &target, 3, &broken, None);
    assert_eq!(self::suite(&read(&bench, "broken.xml"))["failures"], "1");
}

#[test]
fn without_a_file_the_summary_is_that_of_the_step_and_elsewhere_next_to_the_run_file() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    fs::write(bench.path("step.md"), "before\n").unwrap();
    for _ in 0..2 {
        run(&bench, &target, 0, &["--markdown", "--no-files"], Some("step.md"));
    }
    let summary = read(&bench, "step.md");
    assert!(summary.starts_with("before\n## Plimsoll: ") && summary.matches("## Plimsoll").count() == 2);
    run(&bench, &target, 0, &["--markdown", "--html", "--name", "api"], None);
    assert!(read(&bench, "plimsoll-runs/api.md").starts_with("## Plimsoll: api\n"));
    assert!(bench.path("plimsoll-runs/api.html").exists());
    let nowhere = run(&bench, &target, 2, &["--markdown", "--no-files"], None);
    assert!(nowhere.err.contains("--markdown FILE"), "{}", nowhere.err);
}

#[test]
fn one_document_can_take_the_place_of_the_text() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    let markdown = run(&bench, &target, 0, &["--markdown", "-"], None).out;
    assert!(markdown.starts_with("## Plimsoll: ") && markdown.ends_with("</sub>\n"), "{markdown}");
    let xml = run(&bench, &target, 0, &["--junit", "-", "--no-files", "--markdown", "run.md"], None).out;
    assert_eq!(suite(&xml)["tests"], "1");
    assert!(bench.path("run.md").exists());
    assert_eq!(bench.expect(0, &["report", "last", "--markdown", "-"]).out, markdown);
    let both = "both write to standard output";
    for (flags, named) in [
        (["--markdown", "-", "--junit", "-"], both),
        (["--markdown", "-", "--json", "-q"], both),
        (["--junit", "-", "--full", "-q"], both),
        (["--html", "-", "-q", "--no-files"], "name a file: --html FILE"),
    ] {
        let refused = run(&bench, &target, 2, &flags, None);
        assert!(refused.err.contains(named), "{}", refused.err);
    }
}

#[test]
fn a_file_that_is_there_is_refused_before_the_load_and_a_url_is_no_file() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    fs::write(bench.path("run.xml"), "mine").unwrap();
    let refused = run(&bench, &target, 1, &["--junit", "run.xml"], None);
    assert!(refused.err.contains("--force") && read(&bench, "run.xml") == "mine", "{}", refused.err);
    assert!(!bench.path("plimsoll-runs").exists(), "no load was made");
    run(&bench, &target, 0, &["--junit", "run.xml", "--force"], None);
    assert_eq!(suite(&read(&bench, "run.xml"))["errors"], "0");
    let swapped = bench.expect(2, &["run", "--markdown", &target.url("/healthz")]);
    assert!(swapped.err.contains("write the URL before this flag"), "{}", swapped.err);
}

#[test]
fn a_recorded_run_and_a_comparison_have_the_same_documents() {
    let (bench, target) = (Bench::new(), Target::start(&Bench::new()));
    for name in ["first", "second"] {
        run(&bench, &target, 0, &["--name", name], None);
    }
    bench.expect(0, &["report", "last", "--markdown", "a.md", "--junit", "a.xml", "--html", "a.html"]);
    assert!(read(&bench, "a.md").starts_with("## Plimsoll: second\n"));
    assert_eq!(suite(&read(&bench, "a.xml"))["name"], "second");
    let refused = bench.expect(1, &["report", "last", "--markdown", "a.md"]);
    assert!(refused.err.contains("a.md exists"), "{}", refused.err);
    let compared = bench.expect(0, &["diff", "last~1", "last", "--no-files", "--markdown", "-"]).out;
    assert!(compared.starts_with("## Plimsoll: first and second\n\n**second: best QPS is "), "{compared}");
    let written = bench.expect(0, &["diff", "last~1", "last", "--no-files", "--markdown", "b.md"]).out;
    assert!(written.contains("old: first. new: second."), "{written}");
    assert_eq!(read(&bench, "b.md"), compared);
    let refused = bench.expect(2, &["diff", "last~1", "last", "--json", "--markdown", "-"]);
    assert!(refused.err.contains("--json"), "{}", refused.err);
}

#[test]
fn a_target_that_is_unreachable_is_an_error_in_the_documents() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let flags = ["--junit", "run.xml", "--markdown", "run.md", "--html", "run.html", "--p99", "1s"];
    let called = bench.expect(1, &[&["sweep", &url, "--no-files", "--no-probe"], &flags[..]].concat());
    assert!(called.err.contains("run.xml"), "{}", called.err);
    let suite = suite(&read(&bench, "run.xml"));
    assert_eq!((&*suite["tests"], &*suite["errors"], &*suite["failures"]), ("1", "1", "0"));
    assert!(read(&bench, "run.md").contains("**No result:**"));
    assert!(!bench.path("run.html").exists(), "there is no run to show");
    let xml = bench.expect(1, &["run", &url, "--no-files", "--junit", "-"]).out;
    assert_eq!(self::suite(&xml)["errors"], "1");
}
