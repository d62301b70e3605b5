//! The plan that a command line of wrk stands for.

use plimsoll_plan::{
    ArrivalProcess, HostPort, LoadSpec, Network, Plan, PlanSpec, RateProfile, TlsSpec, TransportSpec,
};

use super::outcome;
use super::traffic::Requests;
use crate::options::{Exit, Options};

/// The plan: a closed loop, or wrk2's constant rate over no more connections than were asked for.
///
/// The requests are brought along, so of the target only host and port count; a script may have settled both.
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
    // The URL's host stays the name that TLS asks for, as in wrk.
    let connect_to = requests.address(url).map(|at| HostPort { host: at.ip().to_string(), port: at.port() });
    // wrk takes any certificate.
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
