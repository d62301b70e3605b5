//! Pages: a document within the built page.

use plimsoll_analyze::timeline;
use plimsoll_report::json::{PageDocument, PageRunDocument, schema_of};
use plimsoll_report::{Values, html};

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
