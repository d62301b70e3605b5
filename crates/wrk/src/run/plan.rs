//! The plan of a command line of wrk.

use plimsoll_plan::{
    ArrivalProcess, HostPort, LoadSpec, Network, Plan, PlanSpec, RateProfile, TlsSpec, TransportSpec,
};

use super::outcome;
use super::traffic::Requests;
use crate::options::{Exit, Options};

/// Returns the plan: a closed loop, or wrk2's constant rate over at most the given number of connections.
///
/// The requests are supplied ready-made, so only host and port of the target matter; a script may have set both.
pub(super) fn freeze(options: &Options, requests: &Requests) -> Result<Plan, Exit> {
    let url = &options.url;
    let load = LoadSpec::Single {
        connections: Some(options.connections),
        // A rate counts requests, and a batch of them falls due at once.
        profile: options.rate.map(|rate| RateProfile::Constant(rate as f64 / f64::from(requests.batch))),
        arrivals: ArrivalProcess::Constant,
        duration: Some(options.duration),
        requests_max: None,
    };
    // TLS still asks for the name of the URL's host, as in wrk.
    let connect_to = requests.address(url).map(|at| HostPort { host: at.ip().to_string(), port: at.port() });
    // wrk accepts any certificate.
    let tls = TlsSpec { insecure: url.scheme == "https", ..TlsSpec::default() };
    let spec = PlanSpec {
        workers: Some(options.threads),
        timeout: options.timeout,
        connections_max: options.rate.map(|_| options.connections),
        depth: Some(requests.batch.into()),
        network: Network { connect_to, ..Network::default() },
        transport: TransportSpec { tls, ..TransportSpec::default() },
        seed: 0,
        ..PlanSpec::new(format!("{}://{}/", url.scheme, url.authority()), load)
    };
    let mut plan = spec.freeze().map_err(|error| outcome::failed(&error.to_string()))?;
    plan.target.path.clone_from(&url.path);
    Ok(plan)
}
