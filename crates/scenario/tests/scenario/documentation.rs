//! The examples of `docs/scenario.md` are read as the program reads them.

use std::sync::Arc;

use plimsoll_scenario::{
    Check, CheckedResponse, Feeder, Mix, RequestText, Template, TemplateScope, parse_requests,
};

const PAGE: &str = include_str!("../../../../docs/scenario.md");

/// The fenced examples of one kind.
fn examples(kind: &str) -> Vec<&'static str> {
    let opening = format!("```{kind}\n");
    let found = PAGE.split(opening.as_str()).skip(1);
    found.map(|rest| rest.split_once("```").expect("the fence is closed").0).collect()
}

fn requests() -> Vec<Vec<RequestText>> {
    examples("requests").into_iter().map(|text| parse_requests(text).unwrap()).collect()
}

#[test]
fn each_format_reads_as_the_page_says() {
    let requests = requests();
    assert_eq!(requests.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2, 2]);
    assert_eq!(requests[0][1].name, "GET /search");
    assert_eq!(requests[1][1].name, "POST /orders");
    assert_eq!((requests[2][1].name.as_str(), requests[2][1].weight), ("order", 3));
    assert_eq!((requests[3][1].name.as_str(), requests[3][1].weight), ("add to cart", 2));
}

#[test]
fn the_cycle_of_the_weights_is_as_long_as_the_page_says() {
    let weights: Vec<u32> = requests()[3].iter().map(|request| request.weight).collect();
    assert_eq!(Mix::new(&weights).unwrap().cycle_len(), 5);
    assert!(Mix::new(&[1_048_575, 1]).is_ok() && Mix::new(&[1_048_576, 1]).is_err());
}

#[test]
fn the_templates_of_the_page_go_with_its_csv_file() {
    let [csv] = examples("csv")[..] else { panic!("one CSV file") };
    let feeder = Arc::new(Feeder::from_csv(csv.as_bytes()).unwrap());
    assert_eq!(feeder.cell(1, 2), b"Arlington, Virginia");
    let scope = TemplateScope { feeder: Some(&feeder), env: &|_| None };
    let templates = examples("template");
    assert!(!templates.is_empty());
    for text in templates {
        assert_eq!(Template::parse(text.as_bytes(), &scope).unwrap().constant(), None);
    }
    for request in requests().concat() {
        Template::parse(request.url.as_bytes(), &scope).unwrap();
    }
}

#[test]
fn every_variable_of_the_table_is_one() {
    let feeder = Arc::new(Feeder::from_csv(b"column\n1\n").unwrap());
    let scope = TemplateScope { feeder: Some(&feeder), env: &|name| (name == "NAME").then(String::new) };
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `$")?.split_once('`'));
    let variables: Vec<String> = rows.map(|(name, _)| format!("${name}")).collect();
    assert_eq!(variables.len(), 7);
    for variable in variables {
        let parsed = Template::parse(variable.as_bytes(), &scope);
        assert!(parsed.is_ok(), "{variable}: {parsed:?}");
    }
}

#[test]
fn every_check_of_the_page_parses_and_its_examples_hold_for_one_answer() {
    let table = PAGE.split_once("## Checks").unwrap().1;
    let rows: Vec<_> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).collect();
    assert_eq!(rows.len(), 8);
    for (text, _) in rows {
        Check::parse(text).unwrap();
    }
    let body = br#"{"code": 200, "ok": true, "items": [{"name": "bolt"}]}"#;
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let answer = CheckedResponse { status: 200, body_bytes: body.len() as u64, head, body };
    for text in examples("checks").concat().lines() {
        assert!(Check::parse(text).unwrap().holds(&answer), "{text}");
    }
}
