//! Why the figures of two runs cannot be compared, or only with care.

use plimsoll_plan::{Level, Load, Plan};
use plimsoll_record::{Manifest, Run};

use crate::hosts::resource::ResourceKind;
use crate::{Findings, StepSummary};

/// A half width of the interval of throughput beyond which a run is noisy: the usual margin of a comparison.
const MAX_HALF: f64 = 0.05;
/// The part of a host's processors that others may use.
const MAX_OTHERS: f64 = 0.1;

/// Which of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunSide {
    Old,
    New,
}

impl RunSide {
    /// Its word in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

/// What differs between how two runs were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// The name or the architecture of the machine that made the load.
    Machine,
    /// Cores that the load generator could use.
    Cores,
    Kernel,
    ToolVersion,
    Driver,
    Protocol,
    /// Version and cipher of TLS.
    Tls,
    /// Method, path, body or headers of what is requested.
    Requests,
    /// Connections, rate, or what is under way on each connection.
    Load,
    /// Whether connections stay open.
    KeepAlive,
    /// The server alone: the same requests to another host or port.
    Server,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Incomparable {
    /// They were made in different ways; the old value, and the new one.
    Differs(Setting, String, String),
    /// The load generator was the limit of one of them.
    GeneratorLimited(RunSide),
    /// The throughput of one of them is known too badly: half of its interval over its value, or nothing at all.
    Noisy(RunSide, Option<f64>),
    /// Others than the target used this part of the processors of its host.
    OtherProcesses(RunSide, f64),
}

impl Incomparable {
    /// False for what two runs that are to be compared may differ in: the server, and the kernel, whose patches come often.
    pub fn is_grave(&self) -> bool {
        !matches!(self, Self::Differs(Setting::Server | Setting::Kernel, ..))
    }
}

/// Everything that speaks against comparing two runs.
pub fn incomparable(old: (&Run, &Findings), new: (&Run, &Findings)) -> Vec<Incomparable> {
    let mut found = settings((&old.0.manifest, &old.1.plan), (&new.0.manifest, &new.1.plan));
    for (side, (_, findings)) in [(RunSide::Old, old), (RunSide::New, new)] {
        found.extend(doubts(side, findings));
    }
    found
}

fn settings(old: (&Manifest, &Plan), new: (&Manifest, &Plan)) -> Vec<Incomparable> {
    let named = Setting::ALL.into_iter().map(|setting| (setting, setting.of(old), setting.of(new)));
    let differ: Vec<_> = named.filter(|(_, old, new)| old != new).collect();
    differ.into_iter().map(|(setting, old, new)| Incomparable::Differs(setting, old, new)).collect()
}

impl Setting {
    const ALL: [Self; 11] = [
        Self::Machine,
        Self::Cores,
        Self::Kernel,
        Self::ToolVersion,
        Self::Driver,
        Self::Protocol,
        Self::Tls,
        Self::Requests,
        Self::Load,
        Self::KeepAlive,
        Self::Server,
    ];

    /// Its word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Machine => "machine",
            Self::Cores => "cores",
            Self::Kernel => "kernel",
            Self::ToolVersion => "tool_version",
            Self::Driver => "driver",
            Self::Protocol => "protocol",
            Self::Tls => "tls",
            Self::Requests => "requests",
            Self::Load => "load",
            Self::KeepAlive => "keep_alive",
            Self::Server => "server",
        }
    }

    fn of(self, (manifest, plan): (&Manifest, &Plan)) -> String {
        let machine = &manifest.machine;
        match self {
            Self::Machine => format!("{} ({})", machine.hostname, machine.architecture),
            Self::Cores => machine.limits.cores.to_string(),
            Self::Kernel => machine.kernel.clone(),
            Self::ToolVersion => manifest.tool_version.clone(),
            Self::Driver => manifest.driver.clone(),
            Self::Protocol => manifest.protocol.clone(),
            Self::Tls => manifest
                .tls
                .as_ref()
                .map_or_else(String::new, |tls| format!("{} {}", tls.version, tls.cipher)),
            Self::Requests => requests(plan),
            Self::Load => load(plan),
            Self::KeepAlive => {
                if plan.network.keep_alive { "kept open" } else { "closed after each request" }.to_owned()
            }
            Self::Server => format!("{}:{}", plan.target.host, plan.target.port),
        }
    }
}

/// What is requested, without values of headers and bodies, which may be secret: of headers it has the number, of bodies the length.
fn requests(plan: &Plan) -> String {
    let mixed = plan.mixed();
    let one = |request: &plimsoll_plan::MixedRequest| {
        format!(
            "{} {}, {} headers, body of {} bytes",
            request.method,
            request.path,
            request.headers.len(),
            request.body.len()
        )
    };
    match &*mixed {
        [only] => one(only),
        several => {
            format!("{} requests, the first {}", several.len(), several.first().map(one).unwrap_or_default())
        }
    }
}

/// Ladders and single numbers of connections are compared where they have the same.
fn load(plan: &Plan) -> String {
    match &plan.load {
        Load::Single { level: Level::Open { profile, arrivals, .. }, .. } => {
            format!("{profile} requests/s, {arrivals:?} arrivals").to_lowercase()
        }
        Load::Single { level: Level::Closed { depth, .. }, .. } | Load::Ladder { depth, .. } => {
            format!("connections with {depth} under way on each")
        }
    }
}

fn doubts(side: RunSide, findings: &Findings) -> Vec<Incomparable> {
    let Some((position, step)) = findings.best_answered_step() else { return Vec::new() };
    let limited = findings.lower_bound.then_some(Incomparable::GeneratorLimited(side));
    let others = findings
        .resources
        .iter()
        .filter(|resource| resource.kind == ResourceKind::Cpu)
        .filter_map(|resource| resource.used_by_others(position))
        .reduce(f64::max)
        .filter(|share| *share > MAX_OTHERS)
        .map(|share| Incomparable::OtherProcesses(side, share));
    limited.into_iter().chain(noise(side, step)).chain(others).collect()
}

fn noise(side: RunSide, step: &StepSummary) -> Option<Incomparable> {
    let half = step.throughput.relative_half();
    half.is_none_or(|half| half > MAX_HALF).then_some(Incomparable::Noisy(side, half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(url: &str, change: impl FnOnce(&mut plimsoll_plan::PlanSpec)) -> Plan {
        let load = plimsoll_plan::LoadSpec::Ladder { steps: Some(vec![4]), step_limit: None, budget: None };
        let mut spec = plimsoll_plan::PlanSpec::new(url, load);
        change(&mut spec);
        spec.freeze().unwrap()
    }

    fn manifest(kernel: &str) -> Manifest {
        use plimsoll_record::{FormatVersion, Limits, Machine, Preflight, RunCommand};
        let limits = Limits { descriptors: 1024, ports: 28_000, cores: 2 };
        Manifest {
            format: FormatVersion::CURRENT,
            name: "a".to_owned(),
            command: RunCommand::Sweep,
            command_line: None,
            plan: String::new(),
            plan_hash: String::new(),
            tool_version: "0.1.0".to_owned(),
            machine: Machine {
                hostname: "load".to_owned(),
                kernel: kernel.to_owned(),
                architecture: "x86_64".to_owned(),
                limits,
                lowered_to: None,
                calibration: None,
            },
            preflight: Preflight {
                addresses: Vec::new(),
                address: String::new(),
                local: true,
                resolve_ns: 0,
                connect_ns: 0,
                first: None,
                streams_max: None,
            },
            driver: "epoll".to_owned(),
            protocol: "HTTP/1.1".to_owned(),
            tls: None,
            started_unix_ms: 0,
            tags: plimsoll_record::Tags::default(),
            sealed: true,
        }
    }

    fn differing(old: (&Manifest, &Plan), new: (&Manifest, &Plan)) -> Vec<Setting> {
        let found = settings(old, new).into_iter();
        found
            .filter_map(|one| match one {
                Incomparable::Differs(setting, ..) => Some(setting),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn runs_made_alike_differ_in_nothing_and_others_in_what_was_changed() {
        let same = plan("http://a:80/x", |_| {});
        let (six, seven) = (manifest("6.1"), manifest("6.7"));
        assert_eq!(differing((&six, &same), (&six, &same)), []);
        assert_eq!(differing((&six, &same), (&seven, &same)), [Setting::Kernel]);
        let other_server = plan("http://a:81/x", |_| {});
        assert_eq!(differing((&six, &same), (&six, &other_server)), [Setting::Server]);
        let other_path = plan("http://a:80/y", |_| {});
        assert_eq!(differing((&six, &same), (&six, &other_path)), [Setting::Requests]);
        let post = plan("http://a:80/x", |spec| spec.body = Some(b"x".to_vec()));
        assert!(differing((&six, &same), (&six, &post)).contains(&Setting::Requests));
        let closing = plan("http://a:80/x", |spec| spec.network.keep_alive = false);
        assert!(differing((&six, &same), (&six, &closing)).contains(&Setting::KeepAlive));
    }

    #[test]
    fn a_rate_and_connections_are_different_loads_and_two_ladders_are_not() {
        let ladder = plan("http://a:80/x", |_| {});
        let rate = |per_sec: f64| {
            plan("http://a:80/x", |spec| {
                spec.load = plimsoll_plan::LoadSpec::Single {
                    connections: None,
                    profile: Some(plimsoll_plan::RateProfile::Constant(per_sec)),
                    arrivals: plimsoll_plan::ArrivalProcess::Constant,
                    duration: None,
                    requests_max: None,
                };
            })
        };
        let longer = plan("http://a:80/x", |spec| {
            spec.load =
                plimsoll_plan::LoadSpec::Ladder { steps: Some(vec![4, 8]), step_limit: None, budget: None };
        });
        let one = manifest("6.1");
        assert_eq!(differing((&one, &ladder), (&one, &longer)), []);
        assert_eq!(differing((&one, &ladder), (&one, &rate(10.0))), [Setting::Load]);
        assert_eq!(differing((&one, &rate(10.0)), (&one, &rate(11.0))), [Setting::Load]);
    }

    #[test]
    fn another_server_is_what_a_comparison_is_about_and_another_kernel_is_a_note() {
        let server = Incomparable::Differs(Setting::Server, String::new(), "a".to_owned());
        assert!(!server.is_grave() && Incomparable::GeneratorLimited(RunSide::Old).is_grave());
        let kernel = Incomparable::Differs(Setting::Kernel, "6.1.0".to_owned(), "6.1.1".to_owned());
        assert!(!kernel.is_grave());
    }
}
