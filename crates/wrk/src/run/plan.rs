//! The plan that a command line of wrk stands for.

use std::net::SocketAddr;

use plimsoll_plan::{
    ArrivalProcess, HostPort, LoadSpec, Network, Plan, PlanSpec, RateProfile, ScenarioSpec, Slo, TlsSpec,
    TransportSpec,
};

use super::outcome::Failed;
use super::traffic::Requests;
use crate::options::Options;

/// The plan: a closed loop, or wrk2's constant rate over no more connections than were asked for.
///
/// The requests are brought along, so of the target only host and port count; a script may have settled both.
pub(super) fn freeze(options: &Options, requests: &Requests) -> Result<Plan, Failed> {
    let url = &options.url;
    let port = url.port.as_ref().map(|port| format!(":{port}")).unwrap_or_default();
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
    let spec = PlanSpec {
        name: None,
        url: format!("{}://{host}{port}/", url.scheme),
        method: None,
        headers: Vec::new(),
        body: None,
        scenario: ScenarioSpec::default(),
        load: LoadSpec::Single {
            connections: Some(options.connections),
            profile: arrivals_per_sec(options, requests.batch()).map(RateProfile::Constant),
            arrivals: ArrivalProcess::Constant,
            duration: Some(options.duration),
            requests_max: None,
        },
        warm: None,
        workers: Some(options.threads),
        timeout: options.timeout,
        connections_max: options.rate.map(|_| options.connections),
        depth: Some(requests.batch().into()),
        network: Network { connect_to: requests.address().map(host_port), ..Network::default() },
        transport: TransportSpec { tls: tls(options), ..TransportSpec::default() },
        seed: 0,
        driver: None,
        slo: Slo::default(),
        hosts: Vec::new(),
    };
    let mut plan = spec.freeze().map_err(|error| Failed::saying(&error.to_string()))?;
    plan.target.path.clone_from(&url.path);
    Ok(plan)
}

/// Where a script's threads connect to; the URL's host stays the name that TLS asks for, as in wrk.
fn host_port(address: SocketAddr) -> HostPort {
    HostPort { host: address.ip().to_string(), port: address.port() }
}

/// wrk takes any certificate.
fn tls(options: &Options) -> TlsSpec {
    TlsSpec { insecure: options.url.scheme == "https", ..TlsSpec::default() }
}

/// A rate counts requests, and a batch of them falls due at once.
fn arrivals_per_sec(options: &Options, batch: u16) -> Option<f64> {
    options.rate.map(|rate| rate as f64 / f64::from(batch))
}
