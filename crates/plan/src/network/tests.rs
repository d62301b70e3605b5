use super::*;

fn range(text: &str) -> IpRange {
    text.parse().unwrap()
}

fn ends(text: &str) -> (String, String, u64) {
    let range = range(text);
    (range.first().to_string(), range.last().to_string(), range.count())
}

#[test]
fn addresses_are_given_one_by_one_by_their_ends_or_as_a_network() {
    let of = |first: &str, last: &str, count| (first.to_owned(), last.to_owned(), count);
    assert_eq!(ends("10.0.0.1"), of("10.0.0.1", "10.0.0.1", 1));
    assert_eq!(ends("10.0.0.1-10.0.1.9"), of("10.0.0.1", "10.0.1.9", 265));
    assert_eq!(ends("127.0.0.5/24"), of("127.0.0.1", "127.0.0.254", 254));
    assert_eq!(ends("10.0.0.4/31"), of("10.0.0.4", "10.0.0.5", 2));
    assert_eq!(ends("10.0.0.4/32"), of("10.0.0.4", "10.0.0.4", 1));
    assert_eq!(ends("127.0.0.0/8"), of("127.0.0.1", "127.255.255.254", (1 << 24) - 2));
    assert_eq!(ends("::1"), of("::1", "::1", 1));
    assert_eq!(ends("fd00::/126"), of("fd00::", "fd00::3", 4));
    assert_eq!(ends("::/0").2, u64::MAX);
}

#[test]
fn every_address_of_a_range_has_an_index() {
    let range = range("10.0.0.254-10.0.1.1");
    let all: Vec<String> = (0..4).map(|index| range.nth(index).unwrap().to_string()).collect();
    assert_eq!(all, ["10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"]);
    assert_eq!(range.nth(4), None);
    assert_eq!(
        "::/0".parse::<IpRange>().unwrap().nth(u64::MAX).unwrap().to_string(),
        "::ffff:ffff:ffff:ffff"
    );
}

#[test]
fn what_is_no_range_is_refused_with_an_example() {
    for text in ["", "10.0.0", "10.0.0.1/33", "10.0.0.1/x", "a-b", "::1/129"] {
        let error = text.parse::<IpRange>().unwrap_err().to_string();
        assert!(error.contains("10.0.0.0/24"), "{text}: {error}");
    }
    for text in ["10.0.0.9-10.0.0.1", "10.0.0.1-::1"] {
        let error = text.parse::<IpRange>().unwrap_err().to_string();
        assert!(error.contains("lower address first"), "{text}: {error}");
    }
}

#[test]
fn a_host_with_a_port_may_be_an_ipv6_address_in_brackets() {
    let host = |text: &str| text.parse::<HostPort>();
    assert_eq!(host("api.test:80").unwrap(), HostPort { host: "api.test".to_owned(), port: 80 });
    assert_eq!(host("[::1]:8080").unwrap(), HostPort { host: "::1".to_owned(), port: 8080 });
    assert_eq!(host("[::1]:8080").unwrap().to_string(), "[::1]:8080");
    for text in ["api.test", ":80", "api.test:0", "api.test:99999", "::1:80", "[api]:80", "a b:80"] {
        assert!(host(text).is_err(), "{text}");
    }
}

#[test]
fn a_name_is_given_its_addresses_for_one_port() {
    let entry = |text: &str| text.parse::<ResolveEntry>();
    let api = entry("Api.test:80:10.0.0.1,[::1],::2").unwrap();
    assert_eq!(api.to_string(), "Api.test:80:10.0.0.1,::1,::2");
    assert!(api.covers("api.TEST", 80) && !api.covers("api.test", 81) && !api.covers("other.test", 80));
    assert!(entry("[::1]:80:127.0.0.1").unwrap().covers("::1", 80));
    for text in
        ["", "api.test", "api.test:80", "api.test:80:", "api.test:80:web", "api.test:x:10.0.0.1", "[::1"]
    {
        let error = entry(text).unwrap_err().to_string();
        assert!(error.contains("api.test:80:10.0.0.1"), "{text}: {error}");
    }
}

#[test]
fn a_unix_socket_takes_no_addresses() {
    let unix = Network { unix: Some("/run/api.sock".into()), ..Network::default() };
    assert_eq!(unix.check(), Ok(()));
    let error = Network { source_ips: vec![range("10.0.0.1")], ..unix }.check().unwrap_err();
    assert!(error.to_string().contains("--source-ip"), "{error}");
}

#[test]
fn a_network_is_stored_as_it_is_typed() {
    let network = Network {
        unix: None,
        source_ips: vec![range("10.0.0.1"), range("fd00::1-fd00::9")],
        connect_to: Some("[::1]:80".parse().unwrap()),
        resolve: vec!["api.test:80:10.0.0.1".parse().unwrap()],
        keep_alive: false,
    };
    let json = serde_json::to_string(&network).unwrap();
    assert!(json.contains("\"fd00::1-fd00::9\"") && json.contains("\"api.test:80:10.0.0.1\""), "{json}");
    assert_eq!(serde_json::from_str::<Network>(&json).unwrap(), network);
    assert_eq!(serde_json::from_str::<Network>("{}").unwrap(), Network::default());
}
