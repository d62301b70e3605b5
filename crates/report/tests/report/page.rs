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
