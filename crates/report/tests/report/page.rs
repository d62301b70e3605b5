//! Pages: a document within the built page.

use plimsoll_analyze::{At, Evidence, Observation, Place, timeline};
use plimsoll_record::{RunCommand, Step, StepEnd};
use plimsoll_report::json::{PageDocument, PageRunDocument, schema_of};
use plimsoll_report::{Values, html};

use super::hosts::{each_second, watched};
use super::sample::{self, Sample};

fn page(samples: &[Sample]) -> (serde_json::Value, String) {
    let of = |sample: &Sample| {
        let timeline = timeline(&sample.run).unwrap();
        PageRunDocument::new(&sample.run, &sample.findings, &timeline, Values::Hidden)
    };
    let document = PageDocument::new(samples.iter().map(of).collect::<Vec<_>>(), None);
    (serde_json::to_value(&document).unwrap(), html(&document).unwrap())
}

/// The document in a page, as a browser finds it.
fn read_back(page: &str) -> serde_json::Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"plimsoll\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn a_page_contains_its_document_whatever_that_says() {
    let mut hostile = sample::healthy(plimsoll_record::RunCommand::Answer);
    hostile.findings.plan.name = "</script><img src=x onerror=alert(1)><!--".to_owned();
    let (document, page) = page(&[hostile, sample::dead(), sample::few()]);
    assert_eq!(read_back(&page), document);
    assert!(!page.contains("<img") && page.ends_with("</html>\n"), "{}", &page[page.len() - 40..]);
}

#[test]
fn pages_satisfy_the_published_schema() {
    let validator = jsonschema::validator_for(&schema_of::<PageDocument>()).unwrap();
    let (document, _) = page(&[sample::healthy(plimsoll_record::RunCommand::Answer), sample::dead()]);
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn values_of_queries_are_in_no_page() {
    let mut secret = sample::healthy(plimsoll_record::RunCommand::Answer);
    secret.findings.plan.target.url.push_str("?token=hunter2");
    let (_, page) = page(&[secret]);
    assert!(!page.contains("hunter2"));
}

/// A page of one run.
fn run_of(sample: &Sample) -> serde_json::Value {
    page(std::slice::from_ref(sample)).0["runs"][0].clone()
}

#[test]
fn the_figure_of_a_page_is_bounded_as_the_text_is() {
    let answer = plimsoll_record::RunCommand::Answer;
    let cases = [
        (sample::healthy(answer), "exact", "held"),
        (sample::lower_bound(), "generator_limited", "held"),
        (sample::unsettled(), "unfinished", "answered"),
        (sample::few(), "exact", "served"),
        (sample::behind(), "exact", "served"),
        (sample::lost(), "exact", "served"),
    ];
    for (sample, bound, what) in cases {
        let run = run_of(&sample);
        let headline = &run["headline"];
        assert_eq!((&headline["bound"], &headline["what"]), (&bound.into(), &what.into()), "{run:#}");
        let text = run["text"].as_str().unwrap().split("\n\n").next().unwrap().replace('\n', " ");
        let figure = plimsoll_units::count_text(headline["per_sec"].as_f64().unwrap());
        let figure = match bound {
            "generator_limited" => format!("≥ {figure} requests/s"),
            "unfinished" => format!("at least {figure} requests/s"),
            _ => format!("{figure} requests/s"),
        };
        assert!(text.contains(&figure), "{figure}: {text}");
        assert_eq!(text.contains("≥ "), bound == "generator_limited", "{text}");
    }
}

#[test]
fn a_page_of_a_target_that_serves_nothing_has_no_figure() {
    assert_eq!(run_of(&sample::dead())["headline"]["per_sec"], serde_json::Value::Null);
}

/// A step of ten seconds, in which hosts are sampled.
fn ten_seconds() -> Step {
    Step {
        index: 5,
        connections: 32,
        depth: 1,
        rate_per_sec: None,
        stages: Vec::new(),
        began_ns: 0,
        ended_ns: 10_000_000_000,
        drained_ns: 10_000_000_000,
        end: StepEnd::Steady,
        generators: Vec::new(),
    }
}

#[test]
fn what_the_evidence_is_about_is_in_the_timeline_of_the_page() {
    let mut sample = watched(RunCommand::Answer);
    sample.run.steps.push(ten_seconds());
    let (host, java) = (|| "api1".to_owned(), Place::process("api1", "java"));
    sample.run.hosts.extend(
        [
            each_second(
                ("api1", "jvm", "7 java"),
                &[("gc_time_ms", 250)],
                &[("heap_used_bytes", 9), ("heap_max_bytes", 10)],
            ),
            each_second(("api1", "pressure", ""), &[("memory_some_us", 400_000), ("io_some_us", 9_000)], &[]),
            each_second(("api1", "waiting", "7 java"), &[("looks", 10), ("futex", 42), ("disk", 7)], &[]),
            each_second(("api1", "process", "7 java"), &[("cpu_us", 700_000), ("run_wait_us", 200_000)], &[]),
            each_second(("api1", "tcp", ""), &[("listen_overflows", 3)], &[]),
        ]
        .concat(),
    );
    let observed = [
        Observation::Collecting(java.clone()),
        Observation::Heap(java.clone()),
        Observation::LockWaits(java.clone()),
        Observation::DiskWaits(java.clone()),
        Observation::CoresOfProcess(java.clone()),
        Observation::CoresNeeded(java),
        Observation::MemoryStall { host: host() },
        Observation::DiskStall { host: host() },
        Observation::TargetWait { host: host() },
        Observation::Overflown { host: host() },
        Observation::Throttled(Place::host("web")),
    ];
    sample.findings.verdict.evidence =
        observed.map(|observed| Evidence { observed, value: 0.3, of: None, at: At::Connections(32) }).into();
    let run = run_of(&sample);
    let curves = run["timeline"]["curves"].as_array().unwrap();
    let windows = run["timeline"]["hosts_at_sec"].as_array().unwrap().len();
    for row in run["document"]["verdict"]["evidence"].as_array().unwrap() {
        let is_shown = |series: &serde_json::Value| {
            let is_it = |curve: &&serde_json::Value| {
                let is_part = series["of"].is_null() || series["of"] == curve["of"];
                series["host"] == curve["host"] && series["kind"] == curve["kind"] && is_part
            };
            curves.iter().any(|curve| is_it(&curve) && curve["values"].as_array().unwrap().len() == windows)
        };
        assert_eq!(row["shown_in"], "curves", "{row}");
        assert!(row["series"].as_array().unwrap().iter().any(is_shown), "{row:#}: {curves:#?}");
    }
}
