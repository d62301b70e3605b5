use super::*;
use crate::HostPort;

fn probe(text: &str) -> Probe {
    text.parse().unwrap()
}

#[test]
fn a_probe_reads_as_it_is_printed() {
    let typed = [
        "none",
        "local",
        "local:8080",
        "pid:12",
        "jvm:12",
        "ssh://web",
        "ssh://ann@web:2222",
        "ssh://[fe80::1]:22",
        "http://10.0.0.1:9100/metrics",
        "https://a.test/metrics?x=1",
        "nginx+http://a.test/stub_status",
        "expvar+http://a.test:6060/debug/vars",
        "redis://10.0.0.1:6380",
        "memcached://[::1]:11211",
        "mariadb://root@db:3306",
        "k8s://shop/deployment/api",
        "k8s://shop/service/api",
    ];
    for text in typed {
        assert_eq!(probe(text).to_string(), text);
    }
}

#[test]
fn a_workload_is_named_by_namespace_kind_and_name() {
    assert_eq!(probe("k8s://shop/deployment/api").host_name(), "api");
    for text in ["k8s://shop/api", "k8s://shop/pod/api", "k8s:///deployment/api", "k8s://shop/deployment/a/b"]
    {
        assert!(text.parse::<Probe>().is_err(), "{text}");
    }
}

#[test]
fn components_have_their_usual_ports() {
    let address = HostPort { host: "a".to_owned(), port: 6379 };
    assert_eq!(probe("redis://a"), Probe::Redis { password: None, address });
    assert_eq!(probe("memcached://[::1]/").to_string(), "memcached://[::1]:11211");
    assert_eq!(probe("mysql://root@a"), probe("mariadb://root@a:3306"));
}

#[test]
fn a_password_is_used_and_neither_printed_nor_stored() {
    let typed = probe("mariadb://ann:p@ss:w/rd@db:3307");
    let Probe::Mariadb { user, password, address } = &typed else { panic!("{typed:?}") };
    assert_eq!((user.as_str(), password.as_deref(), address.port), ("ann", Some("p@ss:w/rd"), 3307));
    assert_eq!(serde_json::to_string(&typed).unwrap(), "\"mariadb://ann@db:3307\"");
    let typed = probe("redis://:w@rd@db");
    assert!(
        matches!(&typed, Probe::Redis { password, .. } if password.as_deref() == Some("w@rd")),
        "{typed:?}"
    );
    assert_eq!(typed.to_string(), "redis://db:6379");
}

#[test]
fn a_name_in_a_probe_becomes_an_address_and_its_password_stays() {
    let settled = |text: &str| {
        let known = |name: &str| match name {
            "web" => Some("198.18.0.2".parse().unwrap()),
            "six" => Some("2001:db8::1".parse().unwrap()),
            _ => None,
        };
        probe(text).settled(known)
    };
    assert_eq!(settled("mariadb://ann:w@rd@web"), probe("mariadb://ann:w@rd@198.18.0.2:3306"));
    assert_eq!(settled("redis://:word@web:1"), probe("redis://:word@198.18.0.2:1"));
    assert_eq!(settled("memcached://six"), probe("memcached://[2001:db8::1]:11211"));
    assert_eq!(settled("nginx+http://web/web"), probe("nginx+http://198.18.0.2/web"));
    assert_eq!(settled("http://six:9100/metrics"), probe("http://[2001:db8::1]:9100/metrics"));
    for other in ["expvar+http://webs/web", "redis://db:6379", "local:80", "ssh://web"] {
        assert_eq!(settled(other), probe(other));
    }
}

#[test]
fn an_error_about_a_probe_does_not_tell_its_password() {
    for text in [
        "mariadb://ann:secret@db:port",
        "http://ann:secret@web/",
        "oracle://ann:secret@db",
        "mariadb//ann:secret@db",
    ] {
        let error = text.parse::<Probe>().unwrap_err().to_string();
        assert!(error.contains("ann:…@") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn what_is_no_probe_is_refused_with_the_reason() {
    let refused = |text: &str, part: &str| {
        let error = text.parse::<Probe>().unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("ssh://user@host"), "{error}");
    };
    refused("", "no known beginning");
    refused("telnet://a", "telnet");
    refused("local:http", "`http` is not a port");
    refused("pid:0", "not the number of a process");
    refused("ssh://-oProxyCommand=x", "is not a host");
    refused("ssh://-l@web", "is not a user");
    refused("ssh://ann:word@web", "no password");
    refused("http://ann:word@web/metrics", "user name");
    refused("nginx+http:///stub", "URL");
    refused("mariadb://db", "no user");
    refused("redis://ann@db", "after a colon");
    refused("redis://a:b:c", "not a host with a port");
}

#[test]
fn a_probe_without_a_name_belongs_to_the_host_of_its_address() {
    let host = |text: &str| text.parse::<NamedProbe>().unwrap().host;
    assert_eq!(host("ssh://ann@web.test:22"), "web.test");
    assert_eq!(host("redis://127.0.0.1:6379"), "local");
    assert_eq!(host("http://[::1]:9100/metrics"), "local");
    assert_eq!(host("http://LocalHost/metrics"), "local");
    assert_eq!(host("memcached://[2001:db8::1]:11211"), "ip6-2001-db8-1");
    assert_eq!(host("pid:1"), "local");
    assert_eq!(host("http://a.test/metrics?only=cpu"), "a.test");
    assert_eq!(host("db=ssh://10.0.0.9"), "db");
}

#[test]
fn probes_of_one_host_are_gathered_in_their_order() {
    let typed = ["web=ssh://w", "db=redis://d", "web=nginx+http://w/stub"];
    let hosts = PlanHost::gathered(typed.map(|text| text.parse().unwrap()));
    let names: Vec<(&str, usize)> =
        hosts.iter().map(|host| (host.name.as_str(), host.probes.len())).collect();
    assert_eq!(names, [("web", 2), ("db", 1)]);
    assert!("generator=local".parse::<NamedProbe>().is_err(), "that is the machine that makes the load");
    assert!("=local".parse::<NamedProbe>().is_err());
}

#[test]
fn hosts_have_different_names_and_valid_capacities() {
    let refused = |hosts: Vec<PlanHost>, part: &str| {
        let error = check(&hosts).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let capped = |capacity| vec![PlanHost { capacity, ..PlanHost::named("a") }];
    refused(vec![PlanHost::named("a"), PlanHost::named("A")], "two hosts are called `A`");
    refused(vec![PlanHost::named("generator")], "makes the load");
    refused(vec![PlanHost::named("a: b")], "`a: b`");
    refused(capped(Capacity { cores: Some(0.0), ..Capacity::default() }), "number of cores of host `a` is 0");
    refused(capped(Capacity { cores: Some(f64::NAN), ..Capacity::default() }), "NaN");
    refused(capped(Capacity { link_in_bits_per_sec: Some(0), ..Capacity::default() }), "link in");
    let both = PlanHost { probes: vec![Probe::None, probe("local")], ..PlanHost::named("a") };
    refused(vec![both], "`none` and another");
    assert!(check(&capped(Capacity { cores: Some(0.25), ..Capacity::default() })).is_ok());
}

#[test]
fn a_host_survives_its_json() {
    let host = PlanHost {
        tier: Some("api".to_owned()),
        address: Some("198.18.0.3".parse().unwrap()),
        probes: vec![probe("local:9000"), probe("redis://198.18.0.3")],
        capacity: Capacity {
            cores: Some(0.5),
            packets_per_sec: Some(2000),
            link_out_bits_per_sec: Some(200_000_000),
            ..Capacity::default()
        },
        ..PlanHost::named("api1")
    };
    let json = serde_json::to_string(&host).unwrap();
    assert_eq!(serde_json::from_str::<PlanHost>(&json).unwrap(), host);
    assert!(!json.contains("memory"), "what is not known is left out: {json}");
}

#[test]
fn each_cap_is_found_by_its_name_and_in_a_capacity_that_is_only_it() {
    for cap in Cap::ALL {
        assert_eq!(Cap::named(cap.name()), Some(cap));
        let has: Vec<Cap> =
            Cap::ALL.into_iter().filter(|other| other.of(&cap.alone(1500)) == Some(1500)).collect();
        assert_eq!(has, [cap]);
    }
    assert_eq!(Cap::named("threads"), None);
}
