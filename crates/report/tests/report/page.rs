//! Pages: a document within the built page.

use plimsoll_analyze::{At, Evidence, Held, Observation, Place, timeline};
use plimsoll_record::{RunCommand, Step, StepEnd};
use plimsoll_report::json::{
    ComparisonDocument, FoundTogether, PageDocument, PageRunDocument, TogetherDocument, schema_of,
};
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

#[test]
fn the_step_of_a_page_is_that_of_its_sentences() {
    let mut sample = sample::healthy(plimsoll_record::RunCommand::Sweep);
    assert_eq!(run_of(&sample)["headline"]["step"], 5);
    // Without conditions it is that of the highest throughput, wherever the plateau was measured.
    sample.findings.slo = None;
    sample.findings.knee.as_mut().unwrap().plateau_connections = 64;
    assert_eq!(run_of(&sample)["headline"]["step"], 5);
    assert_eq!(run_of(&sample::dead())["headline"]["step"], serde_json::Value::Null);
}

#[test]
fn conditions_are_those_of_the_load_that_the_sentences_speak_of() {
    let mut sample = sample::healthy(plimsoll_record::RunCommand::Answer);
    for (step, mean_ms) in
        sample.findings.steps.iter_mut().zip([600.0, 700.0, 800.0, 900.0, 1000.0, 1100.0, 1200.0, 1300.0])
    {
        step.latency = sample::times(step.counts.completed, mean_ms);
        step.limited = vec![step.latency.p99];
    }
    let check = sample.findings.slo.as_mut().unwrap();
    (check.best_step, check.throughput_within, check.latency) = (None, None, vec![Held::No]);
    let run = run_of(&sample);
    let text = run["text"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let conditions = run["document"]["answer"]["slo"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 2, "{conditions:#?}");
    for condition in conditions {
        assert!(text.contains(condition["text"].as_str().unwrap()), "{condition}: {text}");
    }
}

#[test]
fn a_page_of_several_runs_has_its_answer_without_scripts() {
    let found = FoundTogether::Runs(Box::new(ComparisonDocument::new("old", false, Vec::new())));
    let (name, text) = ("2 runs compared".to_owned(), "new <b>best</b> & fast".to_owned());
    let together = TogetherDocument { name, text, runs_left_out: 0, found };
    let sample = sample::healthy(plimsoll_record::RunCommand::Answer);
    let run =
        PageRunDocument::new(&sample.run, &sample.findings, &timeline(&sample.run).unwrap(), Values::Hidden);
    let page = html(&PageDocument::new(vec![run], Some(together))).unwrap();
    let (_, rest) = page.split_once("<noscript><pre>").unwrap();
    let (shown, _) = rest.split_once("</pre></noscript>").unwrap();
    assert!(shown.starts_with("new &lt;b&gt;best&lt;/b&gt; &amp; fast\n\n"), "{shown}");
    assert!(shown.contains("http://127.0.0.1:8080/healthz"), "{shown}");
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
