//! What is read from a scripted server: the awkward sides of the API.
#![expect(clippy::unwrap_used, reason = "in tests, a failed step is the failure")]

#[path = "read/scripted.rs"]
mod scripted;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use plimsoll_analyze::{AmountUnit, ProductionKind};
use plimsoll_prometheus::{
    Client, OwnResource, QueryError, Question, ReadError, Reading, ReadingNote, Span, read,
};
use plimsoll_testkit::{Nginx, PageServer, Reply};

use scripted::{Asked, STEP, ValueAt, decoded, error, page, success, vector, wave};

const RATE: &str = "sum(rate(http_requests_total[1m]))";

fn question() -> Question {
    Question {
        rate: RATE.to_owned(),
        selector: String::new(),
        own: Vec::new(),
        defaults: true,
        from_sec: 600_000.0,
        to_sec: 606_000.0,
        step_sec: None,
    }
}

fn client(server: &PageServer) -> Client {
    Client::new(&server.url(), &[], None, Duration::from_secs(20)).unwrap()
}

fn read_from(server: &PageServer, question: &Question) -> Result<Reading, ReadError> {
    read(&client(server), question, &mut |_| {})
}

/// A server without default metrics.
fn bare(reply: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> PageServer {
    PageServer::start(move |target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => success("[]"),
            "metadata" | "status/buildinfo" => success("{}"),
            _ => reply(&asked),
        }
    })
}

#[test]
fn hosts_and_containers_are_found_with_their_capacities() {
    let server = PageServer::start(|target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => {
                success(r#"["node_cpu_seconds_total","container_cpu_usage_seconds_total"]"#)
            }
            // At the end there is no capacity of what has ended.
            "query" if !asked.is_of("last_over_time((") => vector(""),
            "query" if asked.is_of("count by (instance)") => {
                vector(r#"{"metric":{"instance":"web"},"value":[1,"4"]}"#)
            }
            "query" => vector(
                r#"{"metric":{"namespace":"shop","pod":"a-1","container":"api"},"value":[1,"0.5"]},
                   {"metric":{"namespace":"shop","pod":"a-2","container":"api"},"value":[1,"-1"]}"#,
            ),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ if asked.is_of("sum without (mode)") => asked.matrix(&[]),
            _ if asked.is_of("node_cpu") => asked.matrix(&[(r#""instance":"web""#, &wave)]),
            _ if asked.is_of(r#"name!="""#) => asked.matrix(&[]),
            _ => asked.matrix(&[
                (r#""namespace":"shop","pod":"a-1","container":"api""#, &wave),
                (r#""namespace":"shop","pod":"a-2","container":"api""#, &wave),
            ]),
        }
    });
    let asked = Question { selector: r#"{cluster="eu"}"#.to_owned(), ..question() };
    let reading = read_from(&server, &asked).unwrap();
    let [host, one, two] = &reading.series.resources[..] else { panic!("{:?}", reading.series.resources) };
    assert_eq!(
        (host.kind, host.instance.as_deref(), host.capacity),
        (ProductionKind::HostCpu, Some("web"), Some(4.0))
    );
    assert_eq!((one.name().as_str(), one.unit), ("container_cpu:shop/api", AmountUnit::Cores));
    assert_eq!((one.instance.as_deref(), one.capacity), (Some("a-1"), Some(0.5)));
    assert_eq!(two.capacity, None, "a quota below zero is none");
    assert_eq!(reading.series.rate_per_sec.len(), 101);
    assert_eq!(host.usage[1], Some(101.0));
    // The kind that gave nothing is named, and all default queries carry the matchers.
    let no_core = |note: &ReadingNote| matches!(note, ReadingNote::NoValues { metric, .. } if metric.starts_with("node_cpu"));
    assert!(reading.notes.iter().any(no_core), "{:?}", reading.notes);
    let queries: Vec<String> =
        server.heads().iter().map(|head| decoded(head.split(' ').nth(1).unwrap())).collect();
    assert!(
        queries
            .iter()
            .filter(|query| !query.contains("http_requests"))
            .all(|query| query.contains(r#"cluster="eu""#))
    );
    assert_eq!(queries.len(), reading.queries);
}

/// A Prometheus of a cluster: rows of node_exporter and of kube-state-metrics have the namespace and the job of these programs,
/// unless they state another.
fn of_cluster() -> PageServer {
    PageServer::start(|target| {
        let asked = Asked::new(target);
        let meets = |text: &str, row: [&str; 2]| {
            [r#"namespace=""#, r#"job=""#]
                .iter()
                .zip(row)
                .all(|(label, value)| !text.contains(label) || text.contains(&format!(r#"{label}{value}""#)))
        };
        let host = |text: &str| meets(text, ["monitoring", "node-exporter"]);
        let container = |text: &str| meets(text, ["shop", "kubelet"]);
        let pod = r#""namespace":"shop","pod":"a-1","container":"api""#;
        let query = asked.get("query");
        match asked.path.as_str() {
            "label/__name__/values" => {
                let matches = asked.parameters.iter().filter(|(name, _)| name == "match[]");
                let is_met = |text: &str| if text.contains("node_") { host(text) } else { container(text) };
                let met: String =
                    matches.filter(|(_, text)| is_met(text)).map(|(_, text)| text.as_str()).collect();
                let all = ["node_filefd_allocated", "container_memory_working_set_bytes"];
                let there = all.into_iter().filter(|metric| met.contains(metric));
                let there: Vec<String> = there.map(|metric| format!("{metric:?}")).collect();
                success(&format!("[{}]", there.join(",")))
            }
            "query" if query.contains("kube_pod_container_resource_limits") => {
                let (_, limits) = query.split_once("kube_pod_container_resource_limits").unwrap();
                let row = format!(r#"{{"metric":{{{pod}}},"value":[1,"1000"]}}"#);
                vector(if meets(limits, ["shop", "kube-state-metrics"]) { &row } else { "" })
            }
            "query" if host(query) => vector(r#"{"metric":{"instance":"web"},"value":[1,"1000"]}"#),
            "query" => vector(""),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ if asked.is_of("node_filefd_allocated") && host(query) => {
                asked.matrix(&[(r#""instance":"web""#, &wave)])
            }
            _ if asked.is_of(r#"container!="""#) && container(query) => asked.matrix(&[(pod, &wave)]),
            _ => asked.matrix(&[]),
        }
    })
}

#[test]
fn each_exporter_is_asked_with_the_matchers_that_its_rows_can_meet() {
    let server = of_cluster();
    let read_with = |selector: &str| {
        let reading = read_from(&server, &Question { selector: selector.to_owned(), ..question() }).unwrap();
        let kinds = reading.series.resources.iter().map(|one| (one.kind, one.capacity));
        (kinds.collect::<Vec<_>>(), reading.notes)
    };
    let memory = (ProductionKind::ContainerMemory, Some(1000.0));
    let (found, notes) = read_with(r#"namespace="shop""#);
    assert_eq!(found, [(ProductionKind::OpenFiles, Some(1000.0)), memory], "{notes:?}");
    let matchers = r#"namespace="shop""#.to_owned();
    assert!(notes.contains(&ReadingNote::HostsWithout { matchers }), "{notes:?}");
    let (found, notes) = read_with(r#"job="kubelet""#);
    assert_eq!(found, [memory], "{notes:?}");
    assert!(notes.contains(&ReadingNote::NoHosts { matchers: r#"job="kubelet""#.to_owned() }), "{notes:?}");
    let (found, notes) = read_with("");
    assert_eq!(found.len(), 2);
    let is_of_hosts =
        |note: &ReadingNote| matches!(note, ReadingNote::HostsWithout { .. } | ReadingNote::NoHosts { .. });
    assert!(!notes.iter().any(is_of_hosts), "{notes:?}");
}

#[test]
fn a_speed_that_an_interface_exceeded_is_none() {
    let server = PageServer::start(|target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => success(r#"["node_network_transmit_bytes_total"]"#),
            "query" => vector(
                r#"{"metric":{"instance":"web","device":"eth0"},"value":[1,"130"]},
                   {"metric":{"instance":"web","device":"bond0"},"value":[1,"100"]}"#,
            ),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ => asked.matrix(&[
                (r#""instance":"web","device":"bond0""#, &wave),
                (r#""instance":"web","device":"eth0""#, &wave),
            ]),
        }
    });
    let reading = read_from(&server, &question()).unwrap();
    let mut speeds: Vec<_> =
        reading.series.resources.iter().map(|one| (one.of.as_str(), one.capacity)).collect();
    speeds.sort_by_key(|(device, _)| *device);
    // Up to 149 was carried.
    assert_eq!(speeds, [("bond0", None), ("eth0", Some(130.0))]);
}

#[test]
fn gaps_and_values_that_are_no_numbers_are_missing() {
    let server = bare(|asked| {
        asked.matrix(&[("", &|at| match at / STEP % 10 {
            0 => None,
            1 => Some("NaN".to_owned()),
            2 => Some("+Inf".to_owned()),
            at => Some(at.to_string()),
        })])
    });
    let reading = read_from(&server, &question()).unwrap();
    let known = reading.series.rate_per_sec.iter().flatten().count();
    assert_eq!(
        known,
        reading.series.rate_per_sec.iter().filter(|rate| rate.is_some_and(|rate| rate > 0.0)).count()
    );
    assert!((65..=75).contains(&known), "{known}");
    assert!(matches!(&reading.notes[..], [ReadingNote::NoDefaults { .. }]), "{:?}", reading.notes);
}

#[test]
fn a_kind_of_which_no_capacity_is_recorded_is_noted_with_what_to_write() {
    let server = PageServer::start(|target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => success(r#"["container_memory_working_set_bytes"]"#),
            "query" => vector(
                r#"{"metric":{"namespace":"shop","pod":"a-1","container":"api"},"value":[1,"9223372036854771712"]}"#,
            ),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ if asked.is_of(r#"name!="""#) => asked.matrix(&[]),
            _ => asked.matrix(&[(r#""namespace":"shop","pod":"a-1","container":"api""#, &wave)]),
        }
    });
    let reading = read_from(&server, &question()).unwrap();
    let note = ReadingNote::NoCapacity {
        what: "container_memory".to_owned(),
        name: "container_memory:shop/api".to_owned(),
    };
    assert!(reading.notes.contains(&note), "{:?}", reading.notes);
}

#[test]
fn each_of_many_series_is_put_together_from_its_parts() {
    let server = bare(|asked| {
        let labels: Vec<String> = (0..20).map(|pod| format!(r#""pod":"{pod}""#)).collect();
        let pods: Vec<(&str, ValueAt<'_>)> =
            labels.iter().map(|pod| (pod.as_str(), &wave as ValueAt<'_>)).collect();
        if asked.is_of("http_requests_total") { asked.matrix(&[("", &wave)]) } else { asked.matrix(&pods) }
    });
    let own = OwnResource { name: "pool".to_owned(), query: "sum by (pod) (used)".to_owned() };
    let reading = read_from(&server, &Question { own: vec![own], ..long() }).unwrap();
    assert_eq!(reading.series.resources.len(), 20);
    assert!(reading.series.resources.iter().all(|pod| pod.usage.iter().all(Option::is_some)));
}

/// More instants than one query may ask for: three parts.
fn long() -> Question {
    Question { to_sec: 600_000.0 + 12_000.0 * 60.0, step_sec: Some(60.0), defaults: false, ..question() }
}

#[test]
fn a_part_without_an_answer_is_a_gap_and_the_others_are_kept() {
    let asked_before = AtomicUsize::new(0);
    let server = bare(move |asked| match asked_before.fetch_add(1, Ordering::SeqCst) {
        1 => Reply::Silence,
        _ => asked.matrix(&[("", &wave)]),
    });
    let client = Client::new(&server.url(), &[], None, Duration::from_secs(3)).unwrap();
    let reading = read(&client, &long(), &mut |_| {}).unwrap();
    let rates = &reading.series.rate_per_sec;
    let missing = rates.iter().filter(|rate| rate.is_none()).count();
    assert_eq!((rates.len(), missing), (12_001, Span::MAX_POINTS));
    assert!(rates[Span::MAX_POINTS].is_none() && rates[2 * Span::MAX_POINTS].is_some());
    let [ReadingNote::Parts { parts: 1, all: 3, why: QueryError::Late { .. }, hours, .. }] =
        &reading.notes[..]
    else {
        panic!("{:?}", reading.notes)
    };
    assert!((hours - 83.3).abs() < 0.1, "{hours}");
}

#[test]
fn after_two_parts_that_fail_the_rest_is_not_asked_for() {
    let asked_before = AtomicUsize::new(0);
    let server = bare(move |asked| match asked_before.fetch_add(1, Ordering::SeqCst) {
        0 => asked.matrix(&[("", &wave)]),
        _ => error(503, "timeout", "query timed out in expression evaluation"),
    });
    let longer = Question { to_sec: 600_000.0 + 24_000.0 * 60.0, ..long() };
    let reading = read_from(&server, &longer).unwrap();
    assert_eq!(reading.queries, 3);
    assert!(matches!(
        reading.notes[..],
        [ReadingNote::Parts { parts: 4, all: 5, why: QueryError::TooMuch { .. }, .. }]
    ));
}

#[test]
fn a_resource_that_cannot_be_read_leaves_the_others() {
    let server = bare(|asked| {
        if asked.is_of("broken") {
            error(
                422,
                "execution",
                "query processing would load too many samples into memory in query execution",
            )
        } else if asked.is_of("away") {
            page(500, "<html>Internal Server Error</html>")
        } else if asked.is_of("nothing") {
            asked.matrix(&[])
        } else {
            asked.matrix(&[(r#""pool":"a""#, &wave)])
        }
    });
    let own = ["broken", "away", "nothing", "used"]
        .map(|name| OwnResource { name: name.to_owned(), query: format!("sum({name})") });
    let reading = read_from(&server, &Question { own: own.into(), defaults: false, ..question() }).unwrap();
    let [used] = &reading.series.resources[..] else { panic!("{:?}", reading.series.resources) };
    assert_eq!((used.name().as_str(), used.instance.as_deref()), ("used", Some("a")));
    let [first, second, third] = &reading.notes[..] else { panic!("{:?}", reading.notes) };
    assert!(matches!(first, ReadingNote::Unread { why: QueryError::TooMuch { .. }, .. }));
    assert!(matches!(second, ReadingNote::Unread { why: QueryError::Unavailable { .. }, .. }));
    assert!(matches!(third, ReadingNote::NoOwn { .. }));
}

#[test]
fn a_query_of_a_resource_that_is_wrong_is_refused() {
    let histograms = r#"{"resultType":"matrix","result":[{"metric":{},"histograms":[[1,{"count":"3"}]]}]}"#;
    let server = bare(move |asked| match asked.get("query") {
        RATE => asked.matrix(&[("", &wave)]),
        "sum(" => error(400, "bad_data", "parse error: unclosed left parenthesis"),
        _ => success(histograms),
    });
    let refused = |query: &str| read_from(&server, &with_resource(query)).unwrap_err();
    let parse = refused("sum(");
    assert!(matches!(parse, ReadError::Query(QueryError::Query { .. })) && parse.is_mistake(), "{parse}");
    let type_of = refused("latency");
    assert!(matches!(type_of, ReadError::Query(QueryError::Histograms { .. })), "{type_of}");
}

#[test]
fn kinds_that_are_not_asked_for_after_a_final_failure_are_named_as_that() {
    let server = PageServer::start(|target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => success(
                r#"["node_memory_MemAvailable_bytes","node_disk_io_time_seconds_total","node_filefd_allocated",
                   "process_open_fds","kube_deployment_spec_replicas"]"#,
            ),
            "query" => vector(r#"{"metric":{"instance":"web"},"value":[1,"1000"]}"#),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ if asked.is_of("node_disk") => page(403, "who?"),
            _ => asked.matrix(&[(r#""instance":"web""#, &wave)]),
        }
    });
    let reading = read_from(&server, &question()).unwrap();
    assert_eq!(reading.series.resources.len(), 1, "{:?}", reading.series.resources);
    let [unread, not_asked] = &reading.notes[..] else { panic!("{:?}", reading.notes) };
    assert!(matches!(unread, ReadingNote::Unread { what, why: QueryError::Login { .. } } if what == "disk"));
    assert_eq!(*not_asked, ReadingNote::NotAsked { kinds: "open_files, descriptors".to_owned() });
    let lacking = reading.lacking_kinds();
    let is_lacking = |kind| lacking.contains(&kind);
    assert!(is_lacking(ProductionKind::Disk) && !is_lacking(ProductionKind::HostMemory), "{lacking:?}");
}

#[test]
fn a_rate_that_is_none_is_refused_with_what_to_write() {
    let refused = |server: &PageServer, rate: &str| {
        read_from(server, &Question { rate: rate.to_owned(), ..question() }).unwrap_err()
    };
    let two = bare(|asked| asked.matrix(&[(r#""code":"200""#, &wave), (r#""code":"500""#, &wave)]));
    assert!(matches!(refused(&two, RATE), ReadError::Several { count: 2, .. }));
    let none = bare(|asked| asked.matrix(&[]));
    let empty = refused(&none, RATE);
    assert!(matches!(empty, ReadError::Empty { .. }) && !empty.is_mistake());
    let counter = bare(|asked| asked.matrix(&[("", &rising)]));
    let by_name = refused(&counter, "sum(http_requests_total)");
    assert!(matches!(&by_name, ReadError::RawCounter { metric, .. } if metric == "http_requests_total"));
    assert!(matches!(refused(&counter, "job:requests:sum"), ReadError::Counter { .. }));
    let momentary = refused(&two, "sum(irate(http_requests_total[5m]))");
    assert!(matches!(momentary, ReadError::Momentary { function: "irate", .. }) && momentary.is_mistake());
    let wrong = bare(|_| error(400, "bad_data", "parse error: unexpected end of input"));
    let mistake = refused(&wrong, "sum(");
    assert!(matches!(mistake, ReadError::Query(QueryError::Query { .. })) && mistake.is_mistake());
    let down = bare(|_| page(503, "<html>Service Unavailable</html>"));
    assert!(matches!(refused(&down, RATE), ReadError::Query(QueryError::Unavailable { .. })));
}

/// A value that only rises, and begins anew in the middle.
fn rising(at: usize) -> Option<String> {
    Some(((at - 599_000) % 5_000).to_string())
}

/// A server that knows the types of these metrics, and gives each query but that of the rate a value that only rises.
fn typed(types: &'static str) -> PageServer {
    PageServer::start(move |target| {
        let asked = Asked::new(target);
        let is_listed = types.contains(&format!(r#""{}":"#, asked.get("metric")));
        match asked.path.as_str() {
            "metadata" => success(if is_listed { types } else { "{}" }),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ => asked.matrix(&[("", &rising)]),
        }
    })
}

fn with_resource(query: &str) -> Question {
    let own = OwnResource { name: "pool".to_owned(), query: query.to_owned() };
    Question { own: vec![own], defaults: false, ..question() }
}

#[test]
fn a_resource_that_is_a_raw_counter_is_refused_with_what_to_write() {
    let refused = |types, query: &str| {
        let error = read_from(&typed(types), &with_resource(query)).unwrap_err();
        assert!(error.is_mistake(), "{error}");
        error.to_string()
    };
    let error = refused(r#"{"busy_seconds":[{"type":"counter","help":"","unit":""}]}"#, "sum(busy_seconds)");
    assert!(error.contains("pool") && error.contains("rate(busy_seconds[1m])"), "{error}");
    refused(r#"{"wait_seconds":[{"type":"summary"}]}"#, "sum by (pod) (wait_seconds_sum)");
    // Without metadata the name decides.
    refused("{}", "sum(busy_seconds_total)");
}

#[test]
fn a_gauge_or_a_rate_that_rises_is_read() {
    let gauge = r#"{"backends_count":[{"type":"gauge"}]}"#;
    for (types, query) in [
        (gauge, "sum(backends_count)"),
        ("{}", "sum(memory_bytes)"),
        ("{}", "sum(rate(busy_seconds_total[1m]))"),
        ("{}", "count(busy_seconds_total)"),
    ] {
        let reading = read_from(&typed(types), &with_resource(query)).unwrap();
        assert_eq!(reading.series.resources.len(), 1, "{query}: {:?}", reading.notes);
    }
}

#[test]
fn a_server_that_dies_is_not_waited_for_query_after_query() {
    let server = PageServer::start(|target| {
        let asked = Asked::new(target);
        match asked.path.as_str() {
            "label/__name__/values" => success(
                r#"["node_cpu_seconds_total","node_disk_io_time_seconds_total","node_filefd_allocated"]"#,
            ),
            _ if asked.is_of("http_requests_total") => asked.matrix(&[("", &wave)]),
            _ => Reply::Silence,
        }
    });
    let client = Client::new(&server.url(), &[], None, Duration::from_secs(3)).unwrap();
    let error = read(&client, &question(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ReadError::Query(QueryError::Unreachable { .. })), "{error}");
    // The rate, the list, one query that waits, and whether the server is there.
    assert_eq!(server.heads().len(), 4);
    let silent = PageServer::start(|_| Reply::Silence);
    let client = Client::new(&silent.url(), &[], None, Duration::from_millis(300)).unwrap();
    let error = read(&client, &long(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ReadError::Query(QueryError::Late { .. })), "{error}");
    assert_eq!(silent.heads().len(), 1);
}

#[test]
fn the_time_that_a_query_may_take_is_a_number_of_seconds() {
    let server = bare(|asked| {
        assert_eq!(asked.get("timeout"), "10.5");
        asked.matrix(&[("", &wave)])
    });
    let client = Client::new(&server.url(), &[], None, Duration::from_millis(10_500)).unwrap();
    read(&client, &question(), &mut |_| {}).unwrap();
}

#[test]
fn a_server_behind_a_private_authority_is_read_with_its_certificate() {
    let server = bare(|asked| asked.matrix(&[("", &wave)]));
    let nginx = Nginx::before(server.url().trim_start_matches("http://").parse().unwrap()).unwrap();
    let url = format!("https://{}/proxied", nginx.tls_address());
    let read_with = |cacert: Option<&Path>| {
        let client = Client::new(&url, &[], cacert, Duration::from_secs(20)).unwrap();
        read(&client, &question(), &mut |_| {})
    };
    assert_eq!(read_with(Some(&nginx.certificate())).unwrap().series.rate_per_sec.len(), 101);
    let error = read_with(None).unwrap_err();
    assert!(matches!(&error, ReadError::Query(QueryError::Certificate { .. })), "{error}");
    assert!(error.to_string().contains("--cacert"), "{error}");
    let no_certificate = nginx.key();
    for (path, part) in [(Path::new("absent.pem"), "absent.pem"), (&no_certificate, "BEGIN CERTIFICATE")] {
        let error = Client::new(&url, &[], Some(path), Duration::from_secs(20)).unwrap_err();
        assert!(error.to_string().contains(part) && !error.is_mistake(), "{error}");
    }
}

#[test]
fn a_server_that_is_not_there_or_is_another_is_named() {
    let nothing = Client::new(
        &format!("http://{}", plimsoll_testkit::refused_address()),
        &[],
        None,
        Duration::from_secs(5),
    );
    let error = read(&nothing.unwrap(), &question(), &mut |_| {}).unwrap_err();
    assert!(matches!(error, ReadError::Query(QueryError::Unreachable { .. })), "{error}");
    let other = PageServer::start(|_| page(200, "<html>Welcome</html>"));
    let error = read_from(&other, &question()).unwrap_err();
    assert!(matches!(error, ReadError::Query(QueryError::NoApi { .. })), "{error}");
}

#[test]
fn logins_are_sent_and_a_refusal_says_how_to_give_one() {
    let server = bare(|asked| asked.matrix(&[("", &wave)]));
    let url = server.url().replace("http://", "http://ann:word@");
    let headers = ["X-Scope-OrgID: shop".to_owned()];
    let client = Client::new(&url, &headers, None, Duration::from_secs(20)).unwrap();
    read(&client, &question(), &mut |_| {}).unwrap();
    let head = server.heads().remove(0).to_lowercase();
    // "ann:word" in base64.
    assert!(head.contains("authorization: basic yw5uondvcmq="), "{head}");
    assert!(head.contains("x-scope-orgid: shop"), "{head}");
    let closed = bare(|_| page(401, "who?"));
    let error = read_from(&closed, &question()).unwrap_err();
    assert!(matches!(&error, ReadError::Query(QueryError::Login { .. })));
    assert!(error.to_string().contains("--header"), "{error}");
}

#[test]
fn warnings_are_passed_on_once_and_scaled_deployments_are_named() {
    let notes = of_scaled(3);
    let warnings = notes.iter().filter(|note| matches!(note, ReadingNote::Warning(_))).count();
    assert_eq!(warnings, 1, "{notes:?}");
    assert!(notes.contains(&ReadingNote::Replicas("shop/api had 3 to 5".to_owned())), "{notes:?}");
    let notes = of_scaled(0);
    assert!(notes.contains(&ReadingNote::Replicas("shop/api had 0 to 5".to_owned())), "{notes:?}");
}

/// What is noted of a deployment that had so many replicas, and 5, from a server that warns.
fn of_scaled(least: u32) -> Vec<ReadingNote> {
    let server = PageServer::start(move |target| {
        let asked = Asked::new(target);
        let replicas = |count: u32| {
            vector(&format!(
                r#"{{"metric":{{"namespace":"shop","deployment":"api"}},"value":[1,"{count}"]}}"#
            ))
        };
        match asked.path.as_str() {
            "label/__name__/values" => page(
                200,
                r#"{"status":"success","warnings":["a store is away"],"data":["kube_deployment_spec_replicas"]}"#,
            ),
            "query" => replicas(if asked.is_of("min_over_time") { least } else { 5 }),
            _ => match asked.matrix(&[("", &wave)]) {
                Reply::Page { body, .. } => {
                    page(200, &body.replacen('{', r#"{"warnings":["a store is away"],"#, 1))
                }
                silent => silent,
            },
        }
    });
    read_from(&server, &question()).unwrap().notes
}
