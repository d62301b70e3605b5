use super::*;
use plimsoll_plan::{ArrivalProcess, LadderSteps, Level, Load, LoadSpec, Network, PlanSpec, RateProfile};

use plimsoll_record::ConnectionResource;

use crate::limit::{Effect, Limit, LimitedResource};

const DESCRIPTORS: LimitedResource = LimitedResource::OfConnections(ConnectionResource::Descriptors);
const PORTS: LimitedResource = LimitedResource::OfConnections(ConnectionResource::Ports);
const LIMITS: Limits = Limits { descriptors: 1000, ports: 28_232, cores: 2 };

fn plan(load: LoadSpec) -> Plan {
    let spec = PlanSpec { timeout: Duration::from_secs(1), ..PlanSpec::new("http://192.0.2.1/", load) };
    spec.freeze().unwrap()
}

fn ladder(steps: Option<Vec<u64>>) -> Plan {
    plan(LoadSpec::Ladder { steps, step_limit: None, budget: None })
}

fn peers(addresses: &[&str]) -> Vec<Destination> {
    addresses.iter().map(|address| Destination::Tcp(address.parse().unwrap())).collect()
}

/// What becomes of a plan against targets elsewhere: the plan as it is run, and the limits it meets.
fn limited(plan: Plan, limits: &Limits, addresses: &[&str]) -> Result<(Plan, Vec<Limit>), Vec<Limit>> {
    let peers = peers(addresses);
    Bounds { limits, peers: &peers, local: false }.fit(plan).map_err(|error| match error {
        PrepareError::Limits(limits) => limits,
        other => panic!("{other}"),
    })
}

fn refused(plan: Plan, limits: &Limits, addresses: &[&str]) -> Limit {
    let mut met = limited(plan, limits, addresses).unwrap_err();
    assert_eq!((met.len(), met[0].effect), (1, Effect::Refused));
    met.remove(0)
}

#[test]
fn more_connections_than_descriptors_are_refused_with_the_command_that_lifts_it() {
    let limit = refused(ladder(Some(vec![5000, 9000])), &LIMITS, &["192.0.2.1:80"]);
    assert_eq!((limit.resource, limit.needed, limit.available), (DESCRIPTORS, 5000, 936));
    let text = limit.to_string();
    assert!(text.contains("5000") && text.contains("936") && text.contains("ulimit -n 5320"), "{text}");
}

#[test]
fn of_a_ladder_the_steps_within_the_limit_are_run() {
    let (plan, limits) = limited(ladder(Some(vec![10, 5000])), &LIMITS, &["192.0.2.1:80"]).unwrap();
    let Load::Ladder { steps, .. } = plan.load else { panic!("a ladder") };
    assert_eq!(steps, LadderSteps::Fixed(vec![10, 5000]), "the plan keeps what was asked for");
    assert_eq!((limits[0].needed, limits[0].available, limits[0].effect), (5000, 936, Effect::Lowered));
}

#[test]
fn more_connections_than_ports_are_refused_with_the_command_that_lifts_it() {
    let limits = Limits { descriptors: 1_000_000, ..LIMITS };
    let limit = refused(ladder(Some(vec![50_000])), &limits, &["192.0.2.1:80"]);
    assert_eq!((limit.resource, limit.available), (PORTS, 28_232));
    let text = limit.to_string();
    assert!(text.contains("ip_local_port_range") && text.contains("--source-ip"), "{text}");
}

#[test]
fn all_limits_that_refuse_a_plan_are_named_in_one_message() {
    let met = limited(ladder(Some(vec![50_000])), &LIMITS, &["192.0.2.1:80"]).unwrap_err();
    let text = PrepareError::Limits(met).to_string();
    for part in ["ulimit -n 50320", "ip_local_port_range", "936", "28232"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn ports_that_closed_connections_still_hold_are_none_to_be_had() {
    // An address of this process alone: servers of other tests leave ports of 127.0.0.1 in TIME-WAIT.
    let [.., high, low] = std::process::id().to_be_bytes();
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::new(127, 83, high, low), 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let client = std::net::TcpStream::connect(address).unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(std::io::Read::read(&mut accepted, &mut [0]).unwrap(), 0);
    drop(accepted);
    assert_eq!(std::io::Read::read(&mut &client, &mut [0]).unwrap(), 0);
    drop(client);
    let limits = Limits { descriptors: 1_000_000, ..LIMITS };
    let mut plan = ladder(Some(vec![28_232]));
    plan.network.source_ips = vec!["127.0.0.1".parse().unwrap()];
    let limit = refused(plan, &limits, &[&address.to_string()]);
    assert_eq!((limit.resource, limit.available), (PORTS, 28_231));
    assert!(limit.to_string().contains("the ports in TIME-WAIT (1)"), "{limit}");
}

#[test]
fn every_source_and_every_destination_has_the_ports_anew_and_the_loopback_has_enough() {
    let limits = Limits { descriptors: 1_000_000, ..LIMITS };
    let fits = |connections, sources: &[&str], addresses: &[&str]| {
        let mut plan = ladder(Some(vec![connections]));
        plan.network.source_ips = sources.iter().map(|source| source.parse().unwrap()).collect();
        limited(plan, &limits, addresses).is_ok()
    };
    assert!(!fits(28_233, &[], &["192.0.2.1:80"]));
    assert!(fits(56_464, &[], &["192.0.2.1:80", "192.0.2.2:80"]));
    assert!(!fits(56_465, &[], &["192.0.2.1:80", "192.0.2.2:80"]));
    assert!(fits(84_000, &["192.0.2.7-192.0.2.9"], &["192.0.2.1:80"]));
    assert!(!fits(84_000, &["2001:db8::7-2001:db8::9"], &["192.0.2.1:80"]));
    assert!(fits(900_000, &[], &["127.0.0.1:1"]));
    assert!(!fits(30_000, &["127.0.0.1"], &["127.0.0.1:1"]));
    assert!(!fits(30_000, &[], &["[::1]:1"]));
}

#[test]
fn an_open_ended_ladder_is_brought_within_the_limit_and_that_is_reported() {
    let (plan, limits) = limited(ladder(None), &LIMITS, &["192.0.2.1:80"]).unwrap();
    let Load::Ladder { steps: LadderSteps::Doubling { connections_max }, .. } = plan.load else {
        panic!("a ladder")
    };
    assert_eq!(connections_max, 936);
    assert_eq!(limits[0].effect, Effect::Lowered);
    assert!(limits[0].to_string().contains("936"));
}

#[test]
fn an_open_loop_grows_no_further_than_the_limit() {
    let load = LoadSpec::Single {
        connections: None,
        profile: Some(RateProfile::Constant(10.0)),
        arrivals: ArrivalProcess::Constant,
        duration: Some(Duration::from_secs(1)),
        requests_max: None,
    };
    let (plan, limits) = limited(plan(load), &LIMITS, &["192.0.2.1:80"]).unwrap();
    assert_eq!(plan.generator.connections_max, 936);
    assert_eq!((limits.len(), limits[0].resource), (1, DESCRIPTORS));
    let Load::Single { level: Level::Open { .. }, .. } = plan.load else { panic!("an open loop") };
}

#[test]
fn what_fits_is_left_alone() {
    let (plan, limits) = limited(ladder(Some(vec![1, 900])), &LIMITS, &["192.0.2.1:80"]).unwrap();
    assert_eq!(plan, ladder(Some(vec![1, 900])));
    assert_eq!(limits, []);
}

#[test]
fn a_target_that_lets_fewer_wait_than_the_plan_opens_at_once_is_reported_before_the_run() {
    let socket = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let socket = socket.unwrap();
    rustix::net::bind(&socket, &"127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap()).unwrap();
    rustix::net::listen(&socket, 50).unwrap();
    let listener = std::net::TcpListener::from(socket);
    let address = listener.local_addr().unwrap().to_string();
    let backlog = |connections, keep_alive| {
        let mut plan = ladder(Some(vec![connections]));
        plan.network.keep_alive = keep_alive;
        let (_, limits) = limited(plan, &LIMITS, &[&address]).unwrap();
        limits.into_iter().find(|limit| limit.resource == LimitedResource::Backlog)
    };
    assert_eq!(backlog(50, true), None);
    let limit = backlog(900, true).unwrap();
    assert_eq!(
        (limit.needed, limit.available, limit.effect),
        (200, 50, Effect::Risked),
        "100 of each worker"
    );
    assert!(limit.to_string().contains("backlog=200"), "{limit}");
    assert_eq!(backlog(900, false).unwrap().needed, 900, "all are replaced at once");
}

#[test]
fn more_busy_threads_than_cores_are_reported() {
    let cores = |workers, local| {
        let mut plan = ladder(Some(vec![10]));
        plan.generator.workers = workers;
        let bounds = Bounds { limits: &LIMITS, peers: &peers(&["192.0.2.1:80"]), local };
        let (_, limits) = bounds.fit(plan).unwrap();
        limits.into_iter().find(|limit| limit.resource == LimitedResource::Cores)
    };
    assert_eq!(cores(None, true), None);
    assert_eq!(cores(Some(2), false), None);
    let limit = cores(Some(2), true).unwrap();
    assert_eq!((limit.needed, limit.available), (3, 2));
    assert!(limit.to_string().contains("-t 1"), "{limit}");
}

#[test]
fn a_host_may_be_given_its_addresses_and_another_host_may_take_its_place() {
    let of = |change: &dyn Fn(&mut Network)| {
        let mut plan = ladder(None);
        plan.target.host = "api.test".to_owned();
        plan.network.resolve = vec!["api.test:80:192.0.2.1,2001:db8::1,192.0.2.1".parse().unwrap()];
        change(&mut plan.network);
        names::destinations(&plan).map(|peers| peers.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    assert_eq!(of(&|_| {}).unwrap(), ["192.0.2.1:80", "[2001:db8::1]:80"]);
    let from4 = |network: &mut Network| network.source_ips = vec!["192.0.2.9".parse().unwrap()];
    assert_eq!(of(&from4).unwrap(), ["192.0.2.1:80"]);
    let elsewhere = |network: &mut Network| network.connect_to = Some("192.0.2.5:81".parse().unwrap());
    assert_eq!(of(&elsewhere).unwrap(), ["192.0.2.5:81"]);
    let unix = |network: &mut Network| network.unix = Some("/run/api.sock".into());
    assert_eq!(of(&unix).unwrap(), ["unix:/run/api.sock"]);
    let neither = |network: &mut Network| {
        from4(network);
        network.connect_to = Some("[2001:db8::1]:80".parse().unwrap());
    };
    assert!(of(&neither).unwrap_err().to_string().contains("no IPv4 address"));
}

#[test]
fn a_source_that_is_not_this_machines_is_refused() {
    names::check_sources(&["127.0.0.1-127.0.0.9".parse().unwrap()]).unwrap();
    let error = names::check_sources(&["127.0.0.1".parse().unwrap(), "192.0.2.1".parse().unwrap()]);
    assert!(error.unwrap_err().to_string().contains("192.0.2.1"));
}
