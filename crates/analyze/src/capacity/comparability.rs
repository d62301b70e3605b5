//! Why the figures of two runs cannot be compared, or only with care.

use std::borrow::Cow;

use plimsoll_plan::{
    HIDDEN, HIDDEN_VALUE, Level, Load, MixedRequest, Network, Plan, is_credential, without_query_values,
};
use plimsoll_record::{Manifest, Run};

use super::compare::{compare, step_outcomes};
use crate::hosts::resource::ResourceKind;
use crate::{Findings, StepSummary};

/// A run is noisy if the half width of its throughput interval is above this: the usual margin of a comparison.
const MAX_HALF: f64 = 0.05;
/// The share of a host's processors that other processes may use.
const MAX_OTHERS: f64 = 0.1;

/// Which of two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunSide {
    Old,
    New,
}

impl RunSide {
    /// The word for it in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

/// A setting in which two runs can differ.
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
    /// The requests, and the share of each of several.
    Requests,
    /// The connections or the ladder of them, the rate, or the depth.
    Load,
    /// Whether connections stay open.
    KeepAlive,
    /// The server alone: same requests, other host or port.
    Server,
}

/// Why two runs cannot be compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Incomparable {
    /// The runs were made with different settings: the old value, then the new one. The two texts may be equal if the requests differ
    /// only in values that are not shown.
    Differs(Setting, String, String),
    /// The load generator was the limit of one of them.
    GeneratorLimited(RunSide),
    /// The ladder of one run ended before its plateau was known, and the best steps have different numbers of connections.
    Unfinished(RunSide),
    /// The throughput interval of one run is too wide: its half width over the throughput; `None` without an interval.
    Noisy(RunSide, Option<f64>),
    /// Processes other than the target used this share of the processors of its host.
    OtherProcesses(RunSide, f64),
}

impl Incomparable {
    /// False for a difference that a comparison allows: the server, and the kernel, which is patched often.
    pub fn is_grave(&self) -> bool {
        !matches!(self, Self::Differs(Setting::Server | Setting::Kernel, ..))
    }
}

/// Returns all reasons against comparing two runs.
pub fn incomparable(old: (&Run, &Findings), new: (&Run, &Findings)) -> Vec<Incomparable> {
    let mut found = settings((&old.0.manifest, &old.1.plan), (&new.0.manifest, &new.1.plan));
    found.extend(unfinished(old.1, new.1));
    for (side, (_, findings)) in [(RunSide::Old, old), (RunSide::New, new)] {
        found.extend(doubts(side, findings));
    }
    found
}

fn unfinished(old: &Findings, new: &Findings) -> Vec<Incomparable> {
    let best = compare(&step_outcomes(new), &step_outcomes(old)).best;
    let [new, old] = best.map_or([false; 2], |best| best.unfinished());
    let sides = [(old, RunSide::Old), (new, RunSide::New)].into_iter();
    sides
        .filter(|(is_unfinished, _)| *is_unfinished)
        .map(|(_, side)| Incomparable::Unfinished(side))
        .collect()
}

fn settings(old: (&Manifest, &Plan), new: (&Manifest, &Plan)) -> Vec<Incomparable> {
    let known = as_known_of_both([old.1, new.1]);
    let (old, new) = ((old.0, &*known[0]), (new.0, &*known[1]));
    let is_other = |setting| setting == Setting::Requests && are_other_requests(old.1, new.1);
    let named = Setting::ALL.into_iter().map(|setting| (setting, setting.of(old), setting.of(new)));
    let differ = named.filter(|(setting, old, new)| old != new || is_other(*setting));
    differ.map(|(setting, old, new)| Incomparable::Differs(setting, old, new)).collect()
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

    /// The word for it in JSON.
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

/// Describes the requests of a plan. Header values and bodies may be secret, so that only the number of headers and the length of the
/// body appear.
fn requests(plan: &Plan) -> String {
    let mixed = plan.mixed();
    let body = |body: &[u8]| match body == HIDDEN.as_bytes() {
        true => format!("body {HIDDEN}"),
        false => format!("body of {} bytes", body.len()),
    };
    let one = |request: &MixedRequest| {
        let MixedRequest { method, path, headers, .. } = request;
        format!("{method} {path}, {} headers, {}", headers.len(), body(&request.body))
    };
    match &*mixed {
        [only] => one(only),
        several => {
            format!("{} requests, the first {}", several.len(), several.first().map(one).unwrap_or_default())
        }
    }
}

/// Reduces two plans to the facts known of both. A copy from a team's store has no bodies and no query values; compared with a copy,
/// the other plan loses them too.
fn as_known_of_both(plans: [&Plan; 2]) -> [Cow<'_, Plan>; 2] {
    match plans.into_iter().any(is_copy) {
        true => plans.map(|plan| Cow::Owned(without_values(plan))),
        false => plans.map(Cow::Borrowed),
    }
}

fn is_copy(plan: &Plan) -> bool {
    let is_hidden =
        |request: &MixedRequest| request.body == HIDDEN.as_bytes() || request.path.contains(HIDDEN_VALUE);
    plan.mixed().iter().any(is_hidden)
}

fn without_values(plan: &Plan) -> Plan {
    let mut mix = plan.mixed().into_owned();
    for request in &mut mix {
        request.path = without_query_values(&request.path);
        if !request.body.is_empty() {
            request.body = HIDDEN.into();
        }
    }
    Plan { mix, ..plan.clone() }
}

/// True if two plans send different requests.
fn are_other_requests(old: &Plan, new: &Plan) -> bool {
    let redacted = [old.redact.as_slice(), &new.redact].concat();
    let (old, new) = (sent(old, &redacted), sent(new, &redacted));
    !old.is_of_same_requests(&new)
}

/// Returns the plan without parts that may differ between runs of the same requests: values of credentials, which are often new for each
/// run; the name of the requests; and the connection settings, which are compared one by one.
fn sent(plan: &Plan, redacted: &[String]) -> Plan {
    let mut mix = plan.mixed().into_owned();
    let headers = mix.iter_mut().flat_map(|request| &mut request.headers);
    headers.filter(|(name, _)| is_credential(name, redacted)).for_each(|(_, value)| value.clear());
    Plan { mix, group: None, http2: false, tls: None, network: Network::default(), ..plan.clone() }
}

/// Describes the load. The steps of a ladder are left out: ladders are compared by their best steps.
fn load(plan: &Plan) -> String {
    match &plan.load {
        Load::Single { level: Level::Open { profile, arrivals, .. }, .. } => {
            format!("{profile} requests/s, {arrivals:?} arrivals").to_lowercase()
        }
        Load::Single { level: Level::Closed { connections, depth }, .. } => {
            let plural = if *connections == 1 { "" } else { "s" };
            format!("{connections} connection{plural} with {depth} under way on each")
        }
        Load::Ladder { depth, .. } => format!("a ladder of connections with {depth} under way on each"),
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

    /// Whether the requests of two plans of one URL are others.
    fn are_others(
        old: impl FnOnce(&mut plimsoll_plan::PlanSpec),
        new: impl FnOnce(&mut plimsoll_plan::PlanSpec),
    ) -> bool {
        let one = manifest("6.1");
        let [old, new] = [plan("http://a:80/x", old), plan("http://a:80/x", new)];
        let found = differing((&one, &old), (&one, &new));
        assert!(found.iter().all(|setting| *setting == Setting::Requests), "{found:?}");
        !found.is_empty()
    }

    #[test]
    fn requests_of_equal_length_and_number_differ_in_what_is_sent() {
        type Spec = plimsoll_plan::PlanSpec;
        let body = |text: &'static [u8]| move |spec: &mut Spec| spec.body = Some(text.to_vec());
        assert!(are_others(body(b"{1}"), body(b"{9}")) && !are_others(body(b"{1}"), body(b"{1}")));
        let header = |line: &'static str| move |spec: &mut Spec| spec.headers = vec![line.to_owned()];
        assert!(are_others(header("Accept-Encoding: gzip"), header("Accept-Encoding: identity")));
        let mix = |weights: [u32; 2]| {
            let requests = [(weights[0], "/1", ""), (weights[1], "/2", "")];
            move |spec: &mut Spec| spec.scenario.requests = several(requests)
        };
        assert!(are_others(mix([9, 1]), mix([1, 9])) && !are_others(mix([9, 1]), mix([9, 1])));
    }

    /// Requests of a file: the weight, the path and the body of each.
    fn several(requests: [(u32, &str, &str); 2]) -> Vec<plimsoll_plan::RequestSpec> {
        let request = |((weight, path, body), line): ((u32, &str, &str), usize)| plimsoll_plan::RequestSpec {
            name: path.to_owned(),
            weight,
            line,
            method: "POST".to_owned(),
            url: path.to_owned(),
            headers: Vec::new(),
            body: body.into(),
        };
        requests.into_iter().zip(1..).map(request).collect()
    }

    #[test]
    fn a_new_token_and_another_name_make_no_other_requests() {
        type Spec = plimsoll_plan::PlanSpec;
        let token = |value: &'static str| {
            move |spec: &mut Spec| spec.headers = vec![format!("Authorization: {value}")]
        };
        assert!(!are_others(token("Bearer 1"), token("Bearer 2")));
        let tenant = |value: &'static str| {
            move |spec: &mut Spec| {
                spec.headers = vec![format!("X-Tenant: {value}")];
                spec.redact = vec!["x-tenant".to_owned()];
            }
        };
        assert!(!are_others(tenant("a"), tenant("b")));
        assert!(!are_others(|_| {}, |spec| spec.group = Some("login".to_owned())));
    }

    #[test]
    fn what_a_copy_of_a_run_does_not_have_is_no_difference() {
        let mixed = |path, body| {
            plan("http://a:80/x", |spec| spec.scenario.requests = several([(1, "/a", ""), (1, path, body)]))
        };
        let (one, run) = (manifest("6.1"), mixed("/b?k=1", "1"));
        let differs = |other: &Plan| !differing((&one, &run), (&one, other)).is_empty();
        assert!(differs(&mixed("/b?k=2", "1")) && differs(&mixed("/b?k=1", "2")));
        let mut copy = run.clone();
        (copy.mix[1].path, copy.mix[1].body) = ("/b?k=…".to_owned(), HIDDEN.into());
        assert!(!differs(&copy));
    }

    #[test]
    fn a_copy_of_a_single_request_is_as_its_run() {
        let single = |url: &str, body: &'static [u8]| plan(url, |spec| spec.body = Some(body.to_vec()));
        let (one, run) = (manifest("6.1"), single("http://a:80/x?k=1", b"a longer body"));
        let mut copy = run.clone();
        (copy.target.path, copy.target.body) = ("/x?k=…".to_owned(), HIDDEN.into());
        let differing_of_copy = |run: &Plan| {
            let [old, new] = [(&one, run), (&one, &copy)];
            assert_eq!(differing(old, new), differing(new, old), "whichever is the copy");
            differing(old, new)
        };
        assert_eq!(differing_of_copy(&run), []);
        assert_eq!(differing_of_copy(&single("http://a:80/y?k=1", b"a longer body")), [Setting::Requests]);
        assert_eq!(differing_of_copy(&single("http://a:80/x?l=1", b"a longer body")), [Setting::Requests]);
        let without_body = plan("http://a:80/x?k=1", |spec| spec.method = Some("POST".to_owned()));
        assert_eq!(differing_of_copy(&without_body), [Setting::Requests]);
    }

    #[test]
    fn what_a_copy_has_of_its_run_is_compared() {
        let mixed = |weights: [u32; 2], path: &str, header: &str| {
            plan("http://a:80/x", |spec| {
                spec.scenario.requests = several([(weights[0], "/a?k=1", ""), (weights[1], path, "")]);
                spec.headers = vec![header.to_owned()];
            })
        };
        let one = manifest("6.1");
        let differs = |run: &Plan| {
            let mut copy = mixed([9, 1], "/b", "Accept: a/b");
            copy.mix[0].path = "/a?k=…".to_owned();
            !differing((&one, run), (&one, &copy)).is_empty()
        };
        assert!(!differs(&mixed([9, 1], "/b", "Accept: a/b")));
        assert!(differs(&mixed([1, 9], "/b", "Accept: a/b")), "weights");
        assert!(differs(&mixed([9, 1], "/c", "Accept: a/b")), "a later path");
        assert!(differs(&mixed([9, 1], "/b", "Accept: b/a")), "a header that is no secret");
        let rows =
            plimsoll_plan::CsvFile::new("rows.csv".into(), b"a\n1\n", plimsoll_plan::RowOrder::default());
        let with_rows = Plan { csv: Some(rows), ..mixed([9, 1], "/b", "Accept: a/b") };
        assert!(differs(&with_rows), "rows of a CSV file");
    }

    #[test]
    fn single_numbers_of_connections_are_the_same_load_only_where_they_are_equal() {
        let closed = |connections: u64| {
            plan("http://a:80/x", |spec| {
                spec.load = plimsoll_plan::LoadSpec::Single {
                    connections: Some(connections),
                    profile: None,
                    arrivals: plimsoll_plan::ArrivalProcess::Constant,
                    duration: None,
                    requests_max: None,
                };
            })
        };
        let one = manifest("6.1");
        assert_eq!(differing((&one, &closed(4)), (&one, &closed(4))), []);
        assert_eq!(differing((&one, &closed(64)), (&one, &closed(4))), [Setting::Load]);
        assert_eq!(differing((&one, &closed(4)), (&one, &plan("http://a:80/x", |_| {}))), [Setting::Load]);
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
