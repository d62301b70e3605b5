use super::*;
use crate::{LatencyLimit, Probe, RequestSpec, TransportError};

fn spec(load: LoadSpec) -> PlanSpec {
    PlanSpec { timeout: Duration::from_secs(1), ..PlanSpec::new("http://127.0.0.1:1/", load) }
}

fn ladder(steps: Option<Vec<u64>>) -> LoadSpec {
    LoadSpec::Ladder { steps, step_limit: None, budget: None }
}

#[test]
fn a_frozen_plan_survives_its_json() {
    let mut typed = spec(ladder(Some(vec![500, 200, 1000])));
    typed.body = Some(vec![0, 255]);
    typed.hosts = vec![PlanHost { probes: vec![Probe::Pid(7)], ..PlanHost::named("web") }];
    let plan = typed.freeze().unwrap();
    assert_eq!(plan.target.method, "POST");
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
    let Load::Ladder { steps, .. } = plan.load else { panic!("a ladder stays one") };
    assert_eq!(steps, LadderSteps::Fixed(vec![500, 200, 1000]), "the order is the user's");
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let refused = |typed: PlanSpec, what: &str| {
        let error = typed.freeze().unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(spec(ladder(Some(vec![0]))), "connections");
    refused(spec(ladder(Some(vec![]))), "ladder");
    refused(spec(ladder(Some(vec![5, 3, 3]))), "the ladder is 5,3,3");
    refused(spec(ladder(Some(vec![2_000_000]))), "connections");
    refused(PlanSpec { workers: Some(0), ..spec(ladder(None)) }, "workers");
    refused(PlanSpec { timeout: Duration::ZERO, ..spec(ladder(None)) }, "timeout");
    refused(PlanSpec { name: Some("../x".to_owned()), ..spec(ladder(None)) }, "name");
    refused(PlanSpec { headers: vec!["NoColon".to_owned()], ..spec(ladder(None)) }, "colon");
    let bad_slo = Slo { success_ratio: Some(99.95), ..Slo::default() };
    refused(PlanSpec { slo: bad_slo, ..spec(ladder(None)) }, "success");
}

#[test]
fn without_keep_alive_the_request_asks_to_close_and_may_say_nothing_else_of_the_connection() {
    let closing = |header: &str, depth| {
        let network = Network { keep_alive: false, ..Network::default() };
        let headers = vec![header.to_owned()];
        PlanSpec { network, headers, depth, ..spec(ladder(None)) }.freeze()
    };
    let sent =
        |header: &str| String::from_utf8(closing(header, None).unwrap().target.encode().unwrap()).unwrap();
    assert!(sent("A: b").contains("A: b\r\nConnection: close\r\n"), "{}", sent("A: b"));
    assert_eq!(sent("connection: close").matches("close").count(), 1);
    let refused = |header: &str, depth| match closing(header, depth).unwrap_err() {
        PlanError::Transport(error) => error,
        other => panic!("{other}"),
    };
    assert_eq!(refused("connection: x", None), TransportError::KeptOpen);
    assert_eq!(refused("A: b", Some(2)), TransportError::ClosedPipeline);
    let closed =
        PlanSpec { headers: vec!["Connection: close".to_owned()], depth: Some(2), ..spec(ladder(None)) };
    assert!(matches!(closed.freeze(), Err(PlanError::Transport(TransportError::ClosedPipeline))));
}

#[test]
fn the_parts_of_a_single_request_are_refused_where_there_are_several() {
    let several = || {
        let request = RequestSpec {
            name: "a".to_owned(),
            weight: 1,
            line: 1,
            method: "GET".to_owned(),
            url: "/a".to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        let scenario = ScenarioSpec { requests: vec![request], ..ScenarioSpec::default() };
        PlanSpec { scenario, ..spec(ladder(None)) }
    };
    several().freeze().unwrap();
    let refused = |typed: PlanSpec, named: &str| {
        assert!(matches!(typed.freeze(), Err(PlanError::Unsent { option }) if option == named));
    };
    refused(PlanSpec { method: Some("PUT".to_owned()), ..several() }, "-m");
    refused(PlanSpec { body: Some(b"1".to_vec()), ..several() }, "-b");
}

#[test]
fn a_step_above_the_most_connections_is_refused() {
    let most = |connections_max| PlanSpec { connections_max, ..spec(ladder(Some(vec![2, 8, 4]))) }.freeze();
    assert!(most(None).is_ok() && most(Some(8)).is_ok());
    let error = most(Some(7)).unwrap_err().to_string();
    assert!(error.contains("a step of the ladder is 8") && error.contains("at most 7"), "{error}");
}

#[test]
fn users_are_as_patient_as_the_limit_that_an_overload_is_judged_by() {
    let p99 = |limit_ms| Slo { latency: vec![LatencyLimit::p99(limit_ms)], ..Slo::default() };
    let mut overloading = PlanSpec { slo: p99(500.0), ..spec(ladder(None)) };
    overloading.overload_with(OverloadSpec { rate_per_sec: Some(100.0), ..OverloadSpec::default() });
    assert_eq!(overloading.timeout, Duration::from_secs(2));
    overloading.judge_by(p99(1000.0));
    assert_eq!(overloading.freeze().unwrap().generator.timeout, Duration::from_secs(4));
    let mut other = spec(ladder(None));
    other.judge_by(p99(500.0));
    assert_eq!(other.timeout, Duration::from_secs(1), "only an overload has users who lose patience");
    other.judge_by(p99(12_000.0));
    assert_eq!(other.timeout, Duration::from_secs(15), "a response within its limit is not given up");
    let mut searched = spec(ladder(None));
    searched.search_within(p99(20_000.0));
    assert_eq!(searched.timeout, Duration::from_secs(25));
}

#[test]
fn a_rate_that_is_searched_for_has_more_connections_than_the_ladder_before_it() {
    let most = |search: Option<RateSearchOrder>, connections_max| {
        let plan = PlanSpec { search, connections_max, ..spec(ladder(None)) }.freeze().unwrap();
        let Load::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } = plan.load else {
            panic!("{:?}", plan.load)
        };
        (connections_max, plan.generator.connections_max)
    };
    let search = Some(RateSearchOrder { tolerance: 0.05 });
    assert_eq!(most(search, None), (1024, 10_000));
    assert_eq!(most(search, Some(200)), (200, 200));
    assert_eq!(most(None, None), (16_384, 10_000));
}

#[test]
fn plans_of_one_load_have_one_hash_whatever_their_seeds() {
    let plan = |seed, workers| PlanSpec { seed, workers, ..spec(ladder(None)) }.freeze().unwrap();
    let (one, two) = (plan(1, None), plan(2, None));
    assert_eq!(one.hash(), two.hash());
    assert_ne!(one.to_json(), two.to_json(), "the seed is kept");
    assert_ne!(one.hash(), plan(1, Some(3)).hash());
    let warmed = PlanSpec { warm: Some(Duration::from_secs(60)), ..spec(ladder(None)) }.freeze().unwrap();
    assert_ne!(one.hash(), warmed.hash(), "what ran before it is part of a load");
    assert!(!one.to_json().contains("warm"), "plans without a warm-up stay what they were");
    let named = PlanSpec { group: Some("login".to_owned()), ..spec(ladder(None)) }.freeze().unwrap();
    assert_eq!(one.hash(), named.hash(), "what requests are called makes no other load");
}

#[test]
fn requests_are_the_same_by_their_group_or_by_what_is_sent() {
    let plan = |url: &str, group: Option<&str>| {
        let group = group.map(ToOwned::to_owned);
        PlanSpec { url: url.to_owned(), group, ..spec(ladder(None)) }.freeze().unwrap()
    };
    let same = |one: &Plan, other: &Plan| one.is_of_same_requests(other);
    let one = plan("http://a:8001/x?n=1", None);
    assert!(same(&one, &plan("http://b:8002/x?n=1", None)), "where it is sent does not count");
    assert!(!same(&one, &plan("http://a:8001/x?n=2", None)));
    let posted = PlanSpec { body: Some(b"1".to_vec()), ..PlanSpec::new("http://a:8001/x?n=1", ladder(None)) };
    assert!(!same(&one, &posted.freeze().unwrap()));
    let login = plan("http://a/x?n=1", Some("login"));
    assert!(same(&login, &plan("http://a/y", Some("login"))));
    assert!(!same(&login, &plan("http://a/x?n=1", Some("write"))) && !same(&login, &one));
    assert_eq!((one.requests_name(), login.requests_name()), ("GET /x".to_owned(), "login".to_owned()));
}

fn open_loop(connections: Option<u64>, connections_max: Option<u64>) -> PlanSpec {
    let load = LoadSpec::Single {
        connections,
        profile: Some(RateProfile::Constant(100.0)),
        arrivals: ArrivalProcess::Constant,
        duration: Some(Duration::from_secs(1)),
        requests_max: None,
    };
    PlanSpec { connections_max, ..spec(load) }
}

#[test]
fn an_open_loop_never_starts_above_its_most_connections() {
    let bounds = |connections, most| {
        let plan = open_loop(connections, most).freeze().unwrap();
        (first_connections(&plan.load), plan.generator.connections_max)
    };
    assert_eq!(bounds(None, None), (10, 10_000));
    assert_eq!(bounds(None, Some(3)), (3, 3));
    assert_eq!(bounds(Some(3), Some(3)), (3, 3));
    assert_eq!(bounds(Some(20_000), None), (20_000, 20_000), "a start that was asked for lifts the default");
    let error = open_loop(Some(4), Some(3)).freeze().unwrap_err().to_string();
    assert!(error.contains("is 4") && error.contains("at most 3"), "{error}");
}

fn single(rate: Option<&str>, duration: Option<Duration>, requests_max: Option<u64>) -> LoadSpec {
    let profile = rate.map(|text| text.parse().unwrap());
    LoadSpec::Single {
        connections: None,
        profile,
        arrivals: ArrivalProcess::Constant,
        duration,
        requests_max,
    }
}

#[test]
fn stages_say_how_long_the_load_is_held_and_a_duration_may_only_repeat_it() {
    let held = |rate, seconds: Option<u64>, requests_max| {
        let frozen = spec(single(rate, seconds.map(Duration::from_secs), requests_max)).freeze();
        frozen.map(|plan| match plan.load {
            Load::Single { duration, .. } => duration.as_secs(),
            Load::Ladder { .. } => panic!("a single level stays one"),
        })
    };
    let stages = Some("ramp(1,100,30s) const(100,1m)");
    assert_eq!(held(stages, None, None).unwrap(), 90);
    assert_eq!(held(stages, Some(90), None).unwrap(), 90);
    let error = held(stages, Some(10), None).unwrap_err().to_string();
    assert!(error.contains("10s") && error.contains("90s"), "{error}");
    assert_eq!(held(Some("5k"), None, None).unwrap(), 10);
    assert_eq!(held(None, Some(7), Some(100)).unwrap(), 7);
    assert!(held(None, None, Some(100)).unwrap() > 86_400, "a number of requests takes the time it takes");
}

#[test]
fn rates_depths_and_numbers_of_requests_have_bounds() {
    let refused = |typed: PlanSpec, what: &str| {
        let error = typed.freeze().unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    refused(spec(single(Some("200M"), None, None)), "the rate is 200000000");
    refused(spec(single(Some("const(0,5s)"), None, None)), "the rate is const(0,5s)");
    refused(spec(single(Some("const(5,5s) ramp(5,1G,1s)"), None, None)), "the rate");
    refused(spec(single(None, None, Some(0))), "the number of requests is 0");
    refused(PlanSpec { depth: Some(0), ..spec(ladder(None)) }, "requests on a connection is 0");
    let deep = PlanSpec { depth: Some(16), ..spec(single(None, None, None)) }.freeze().unwrap();
    assert_eq!(deep.level().unwrap().depth(), 16);
}

#[test]
fn a_budget_is_checked_before_it_is_parted_into_steps() {
    let within = |budget_ms| {
        let budget = Some(Duration::from_millis(budget_ms));
        spec(LoadSpec::Ladder { steps: None, step_limit: None, budget }).freeze()
    };
    let limit = |budget_ms| match within(budget_ms).unwrap().load {
        Load::Ladder { step_limit, .. } => step_limit,
        Load::Single { .. } => panic!("a ladder stays one"),
    };
    assert_eq!(limit(1_000), Duration::from_millis(MIN_STEP_LIMIT_MS));
    assert_eq!(limit(90_000), Duration::from_secs(6));
    let error = within(500).unwrap_err().to_string();
    assert!(error.contains("the budget is 500ms"), "{error}");
}

#[test]
fn an_ipv6_address_makes_a_readable_name() {
    let name = |url: &str| PlanSpec { url: url.to_owned(), ..spec(ladder(None)) }.freeze().unwrap().name;
    assert_eq!(name("http://[::1]/"), "ip6-1-80");
    assert_eq!(name("http://[2001:db8::a:1]:81/"), "ip6-2001-db8-a-1-81");
    assert_eq!(name("http://[::]/"), "ip6-0-80");
}
