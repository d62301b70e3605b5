use serde_json::json;

use super::*;

fn found(verdict: Value) -> Found {
    Found::of(&verdict)
}

fn expect(limits: &[(&str, Option<&str>)], size: Option<u64>) -> Expect {
    let one = |(limit, host): &(&str, Option<&str>)| Expected {
        limit: (*limit).to_owned(),
        host: host.map(ToOwned::to_owned),
    };
    Expect { limits: limits.iter().map(one).collect(), size }
}

#[test]
fn a_place_within_a_host_is_on_that_host() {
    let found = found(json!({ "limit": "thread", "where": "web: nginx 12/12", "confidence": "measured" }));
    assert!(found.is(&expect(&[("thread", Some("web"))], None)));
    assert!(found.is(&expect(&[("thread", None)], None)), "where it is does not matter");
    assert!(!found.is(&expect(&[("thread", Some("api"))], None)));
    assert!(!found.is(&expect(&[("cpu", Some("web"))], None)));
}

#[test]
fn of_a_tie_all_must_be_named_whichever_comes_first() {
    let tie = expect(&[("cpu", Some("web")), ("bandwidth", Some("web"))], None);
    let with_also = |also: Value| found(json!({ "limit": "bandwidth", "where": "web: eth0", "also": also }));
    assert!(with_also(json!([{ "limit": "cpu", "where": "web" }])).is(&tie));
    assert!(!with_also(json!([])).is(&tie));
    assert!(!with_also(json!([{ "limit": "cpu", "where": "api" }])).is(&tie));
    let only = expect(&[("cpu", Some("web"))], None);
    assert!(!with_also(json!([{ "limit": "cpu", "where": "web" }])).is(&only), "named beside is not named");
}

#[test]
fn the_size_of_a_pool_may_be_a_tenth_off() {
    let of_size = |size: Value| found(json!({ "limit": "pool", "where": "api", "size": size }));
    let pool = expect(&[("pool", Some("api"))], Some(32));
    assert!(of_size(json!(31.0)).is(&pool) && of_size(json!(35)).is(&pool));
    assert!(!of_size(json!(36.0)).is(&pool) && !of_size(Value::Null).is(&pool));
}

#[test]
fn json_of_a_tie_holds_all_of_it() {
    let tie = expect(&[("cpu", Some("web")), ("bandwidth", Some("web"))], None);
    let tie = serde_json::to_value(expected_document(&tie)).unwrap();
    assert_eq!((&tie["limit"], &tie["where"]), (&json!("cpu"), &json!("web")));
    assert_eq!(tie["either"][1]["limit"], "bandwidth");
}
