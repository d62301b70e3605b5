//! Resources of production, and the findings about them, in words.

use plimsoll_analyze::{
    AmountUnit, BackgroundWork, FullAt, Instances, LimitUnknown, MAX_EXTRAPOLATION, ProductionDemand,
    ProductionFindings, ProductionKind, ProductionLaw, ProductionLimit, ResourceFinding, UseChange,
};
use plimsoll_units::{
    bytes_text, count_text, duration_text, escape_control, grouped, percent_text, share_text, significant,
};

use crate::amount::{bits, counted, if_known, list, range};

/// Waking up for a request takes some 30 µs (119 µs a request where the host sleeps in between and 88 µs at the limit,
/// see `bench/RESULTS.md`). From this CPU time per request on, that is less than 15 %, the error that
/// `bench/production.py` allows.
const MIN_CPU_SEC: f64 = 200e-6;
/// A note about a disk whose busy time is the answer.
const PARALLEL_DISK: &str =
    "A disk that serves several requests at once (NVMe, RAID) carries more than its busy time says.";
/// A resource that is known at a smaller share than this of the points with a rate has gaps of its own.
const MIN_KNOWN: f64 = 0.9;
/// A container that is throttled in a smaller share of its periods than this gets no remark.
const MIN_THROTTLED: f64 = 0.05;

/// Returns the answer: what is full first, at which rate, and how far that goes beyond what was observed.
pub(crate) fn production_limit(findings: &ProductionFindings) -> String {
    match &findings.limit {
        ProductionLimit::Known { first, tied } => known(findings, &findings.resources[*first], tied),
        ProductionLimit::Unknown(why) => unknown(findings, *why),
    }
}

/// Returns the answer as a title, without how far it goes beyond what was observed.
pub(crate) fn production_title(findings: &ProductionFindings) -> String {
    let ProductionLimit::Known { first, .. } = findings.limit else {
        return "What is full first is not known".to_owned();
    };
    let first = &findings.resources[first];
    let rate = if_known(first.full_at(), |rate| {
        format!(" at about {} requests/s{}", count_text(rate.value), range(rate.interval, count_text))
    });
    format!("{} is full first{rate}", production_resource(first, &findings.resources))
}

fn known(findings: &ProductionFindings, first: &ResourceFinding, tied: &[usize]) -> String {
    let Some(full_at) = first.full_at() else { return String::new() };
    let mut text = format!(
        "{} is full first, at about {} requests/s{}{}.",
        production_resource(first, &findings.resources),
        count_text(full_at.value),
        range(full_at.interval, count_text),
        extrapolation(findings, first, full_at.value),
    );
    if let Some(demand) = first.demand.filter(|_| first.law == ProductionLaw::Bent) {
        text += &format!(" {}", bent(demand));
    }
    text + &ties(findings, first, tied) + &disks(findings, first)
}

/// Names resources that may be full as early, and resources that are full at nearly the same rate although the intervals
/// do not overlap.
fn ties(findings: &ProductionFindings, first: &ResourceFinding, tied: &[usize]) -> String {
    let tied = tied.iter().map(|at| &findings.resources[*at]);
    let (as_early, near): (Vec<&ResourceFinding>, Vec<_>) = tied.partition(|one| one.may_fill_with(first));
    let names = |some: &[&ResourceFinding], separator: &str| {
        list(some.iter().map(|one| production_resource(one, &findings.resources)), separator)
    };
    let mut text = String::new();
    if !as_early.is_empty() {
        text += &format!(" It may as well be {}: their intervals overlap.", names(&as_early, ", or "));
    }
    if !near.is_empty() {
        let are = if near.len() == 1 { "is" } else { "are" };
        text += &format!(" {} {are} full at nearly the same rate.", names(&near, " and "));
    }
    text
}

/// Says what the busy time of a disk does not show, if a disk is the answer or may limit the service already.
fn disks(findings: &ProductionFindings, first: &ResourceFinding) -> String {
    let own = if first.kind == ProductionKind::Disk { format!(" {PARALLEL_DISK}") } else { String::new() };
    let full = findings.resources.iter().find(|one| one.may_hold_already());
    own + &if_known(full, |disk| {
        format!(
            " {} was full at {}: if it serves one request at a time, it may hold the service already.",
            production_resource(disk, &findings.resources),
            counted(disk.left_out.full as u64, "point")
        )
    })
}

fn extrapolation(findings: &ProductionFindings, first: &ResourceFinding, rate: f64) -> String {
    let of_all = findings.rate.map_or(0.0, |rate| rate.highest);
    let highest = findings.compared_with(first).unwrap_or(of_all);
    if let Some(count) = first.count().filter(|count| count.has_changed()) {
        return format!(
            ", with the {} there are now ({} to {} in this time; the highest rate was {})",
            count.now,
            count.least,
            count.most,
            count_text(of_all)
        );
    }
    match rate / highest {
        factor if factor <= 1.0 => format!(", which was reached (highest rate {})", count_text(highest)),
        factor => {
            let which = if highest < of_all { "of its line" } else { "in this time" };
            format!(", {} times the highest rate {which} ({})", significant(factor), count_text(highest))
        }
    }
}

fn bent(demand: ProductionDemand) -> String {
    if !demand.cost_changes() {
        return "Its use is below zero at no requests, which no use is: its cost follows no straight line."
            .to_owned();
    }
    let bend = demand.bend.value;
    let way = if bend > 0.0 { "more" } else { "less" };
    format!(
        "A request costs {} {way} at the high rates than at the low ones; the rate follows the cost at the high ones.",
        share_text(bend.abs())
    )
}

fn unknown(findings: &ProductionFindings, why: LimitUnknown) -> String {
    let rates = findings.rate.map_or_else(String::new, |rate| {
        format!(
            "between {} and {} requests/s for nine tenths of the time",
            count_text(rate.low),
            count_text(rate.high)
        )
    });
    let reason = match why {
        LimitUnknown::TooFewPoints => {
            "fewer than 20 points have a rate and a use; choose a longer time, or a shorter --step".to_owned()
        }
        LimitUnknown::TooLittleVariation if findings.rate.is_some_and(|rate| rate.varies()) => {
            "the rate hardly changed in the time in which the use of a resource is known, so that use by requests and other use \
             cannot be separated; choose a time with a quiet and a busy part"
                .to_owned()
        }
        LimitUnknown::TooLittleVariation => format!(
            "the rate hardly changed ({rates}), so that use by requests and other use cannot be separated; choose a time with a \
             quiet and a busy part, such as a whole day"
        ),
        LimitUnknown::NoResource => "no use of a resource is known".to_owned(),
        LimitUnknown::NoCapacity => {
            "no resource has a known capacity; give it with --capacity NAME=VALUE".to_owned()
        }
        LimitUnknown::NothingFollows => "no resource with a known capacity follows the rate".to_owned(),
        LimitUnknown::Full(at) => already_full(findings, &findings.resources[at]),
        LimitUnknown::Beyond => format!(
            "whatever is full first is so beyond {MAX_EXTRAPOLATION} times the highest rate ({}), further than these series show; \
             a load test goes there",
            if_known(production_beyond(findings), |most| count_text(most / MAX_EXTRAPOLATION))
        ),
    };
    let of_disk = match why {
        LimitUnknown::Full(at) if findings.resources[at].kind == ProductionKind::Disk => PARALLEL_DISK,
        _ => "",
    };
    format!("What is full first is not known: {reason}. {of_disk}").trim_end().to_owned()
}

/// Returns the lowest rate beyond which resources are full, of those for which nothing nearer can be stated.
pub(crate) fn production_beyond(findings: &ProductionFindings) -> Option<f64> {
    let beyond = |resource: &ResourceFinding| match resource.demand?.full_at {
        FullAt::Beyond(most) => Some(most),
        FullAt::At(_) | FullAt::NoCapacity => None,
    };
    let limits = findings.resources.iter().filter(|one| one.kind.limits());
    limits.filter_map(beyond).reduce(f64::min)
}

/// Says why a resource that was full hides what requests use of it.
fn already_full(findings: &ProductionFindings, full: &ResourceFinding) -> String {
    let name = match &full.instances {
        Instances::One(instance) if !is_alone(full, &findings.resources) => {
            format!("{}@{instance}", full.name())
        }
        Instances::One(_) | Instances::Unnamed | Instances::Sum(_) => full.name(),
    };
    format!(
        "{} was full (95 % or more) at {} of {}, so that what a request uses of it cannot be read, and it may hold the service \
         already; choose a time in which it has room, or leave it out if it holds nothing (--without '{}')",
        production_resource(full, &findings.resources),
        grouped(full.left_out.full as u64),
        counted(findings.with_rate as u64, "point"),
        escape_control(&name),
    )
}

/// What only a load test shows.
pub(crate) const PRODUCTION_TEST_ONLY: &str = "Only a load test shows what no series has: pools of workers or connections, locks, single threads, and dependencies \
     may stop the service at a lower rate.";

/// Names a resource: `CPU of shop/api`, `network out of eth0 on web1:9100`. The instance is left out where the name is
/// clear without it.
pub(crate) fn production_resource(resource: &ResourceFinding, all: &[ResourceFinding]) -> String {
    let kind = kind(resource.kind);
    let of = match (kind, resource.of.as_str()) {
        ("", of) => of.to_owned(),
        (kind, "") => kind.to_owned(),
        (kind, of) => format!("{kind} of {of}"),
    };
    let is_named_enough = !resource.of.is_empty() && is_alone(resource, all);
    escape_control(&match &resource.instances {
        Instances::Unnamed => of,
        Instances::One(_) if is_named_enough => of,
        Instances::One(instance) if resource.of.is_empty() => format!("{of} of {instance}"),
        Instances::One(instance) => format!("{of} on {instance}"),
        Instances::Sum(count) => format!("{of} on all {}", count.now),
    })
}

/// True if no other instance has the same resource.
fn is_alone(resource: &ResourceFinding, all: &[ResourceFinding]) -> bool {
    all.iter().filter(|other| other.is_same_resource(resource)).count() == 1
}

const fn kind(kind: ProductionKind) -> &'static str {
    match kind {
        ProductionKind::HostCpu | ProductionKind::ContainerCpu => "CPU",
        ProductionKind::ProcessCpu => "process CPU",
        ProductionKind::BusiestCore => "busiest core",
        ProductionKind::HostMemory | ProductionKind::ContainerMemory => "memory",
        ProductionKind::Disk => "disk time",
        ProductionKind::NetworkOut | ProductionKind::ContainerNetworkOut => "network out",
        ProductionKind::NetworkIn | ProductionKind::ContainerNetworkIn => "network in",
        ProductionKind::Conntrack => "conntrack entries",
        ProductionKind::OpenFiles => "open files",
        ProductionKind::ContainerThrottled => "throttling",
        ProductionKind::Descriptors => "descriptors",
        ProductionKind::Named => "",
    }
}

/// An amount with its unit.
pub(crate) fn production_amount(unit: AmountUnit, value: f64) -> String {
    match unit {
        AmountUnit::Cores => format!("{} cores", significant(value)),
        AmountUnit::BitsPerSec => bits(value),
        AmountUnit::Bytes => bytes_text(value),
        AmountUnit::Ratio => share_text(value),
        AmountUnit::Count => count_text(value),
    }
}

/// Formats what a request uses: time of cores or of a device, bytes on a link; for what is occupied, the amount times the
/// time.
pub(crate) fn production_cost(unit: AmountUnit, per_request: f64) -> String {
    match unit {
        AmountUnit::Cores | AmountUnit::Ratio => duration_text(per_request * 1e9),
        AmountUnit::BitsPerSec => bytes_text(per_request / 8.0),
        AmountUnit::Bytes => format!("{}·s", bytes_text(per_request)),
        AmountUnit::Count => format!("{}·s", significant(per_request)),
    }
}

/// Returns further remarks, the most important first: a release, what moves the rate, work without requests, what was
/// full, one busy core, throttling, the rest of the resources.
pub(crate) fn production_remarks(
    findings: &ProductionFindings,
    shown: &[&ResourceFinding],
    time: impl Fn(f64) -> String,
) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(changed(findings, shown, &time));
    remarks.extend(wake_ups(findings));
    remarks.extend(own_gaps(findings));
    remarks.extend(gaps(findings));
    let is_shown = |resource: &&ResourceFinding| shown.iter().any(|one| std::ptr::eq(*one, *resource));
    for resource in findings.resources.iter().filter(is_shown) {
        let name = production_resource(resource, &findings.resources);
        remarks.extend(resource.background_work.map(|work| background(&name, resource.unit, &work, &time)));
        remarks.extend(used_already(&name, resource, findings.safe_share));
    }
    remarks.extend(full(findings));
    remarks.extend(busiest_core(findings));
    remarks.extend(throttled(findings));
    remarks.extend(unclear(findings));
    remarks.extend(unrelated(findings));
    remarks
}

/// Says since when the first of the changed resources uses more or less at the same rate.
fn changed(
    findings: &ProductionFindings,
    shown: &[&ResourceFinding],
    time: impl Fn(f64) -> String,
) -> Option<String> {
    let (resource, change) = shown.iter().find_map(|one| Some((*one, one.change?)))?;
    let UseChange { since_sec, rate, is_judged_alone, .. } = change;
    let share = change.share();
    let consequence = if is_judged_alone {
        "Its figures are of the time since; choose that time to judge all resources by it (--from)."
    } else {
        "That is too short for figures of its own, so they are those of before; ask again later."
    };
    Some(format!(
        "{}: since {} UTC {} requests/s use {} {} than before, as after a release. {consequence}",
        production_resource(resource, &findings.resources),
        time(since_sec),
        count_text(rate),
        share_text(share.abs()),
        if share > 0.0 { "more" } else { "less" },
    ))
}

/// Returns a remark for each resource that was full at times, except the one that the answer is about.
fn full(findings: &ProductionFindings) -> Vec<String> {
    let answer = match findings.limit {
        ProductionLimit::Unknown(LimitUnknown::Full(at)) => Some(at),
        // The answer also names a disk that may be full already.
        ProductionLimit::Known { .. } => {
            findings.resources.iter().position(ResourceFinding::may_hold_already)
        }
        ProductionLimit::Unknown(_) => None,
    };
    let all = findings.resources.iter().enumerate();
    let was_full = all.filter(|(at, one)| one.kind.limits() && one.left_out.full > 0 && Some(*at) != answer);
    let remark = |(_, one): (usize, &ResourceFinding)| {
        let name = production_resource(one, &findings.resources);
        let line = if one.demand.is_some() { "the line is made of the others" } else { "it has no line" };
        format!("{name} was full at {}; {line}.", counted(one.left_out.full as u64, "point"))
    };
    was_full.map(remark).collect()
}

/// Returns a remark about a CPU that is full first, by requests that cost little more than a wake-up. A busy host does
/// not need a wake-up for each.
fn wake_ups(findings: &ProductionFindings) -> Option<String> {
    let ProductionLimit::Known { first, .. } = findings.limit else { return None };
    let first = findings.resources.get(first).filter(|first| first.unit == AmountUnit::Cores)?;
    // An instance has a part of each request's cost; the sum of all instances has the whole.
    let same = findings.resources.iter().filter(|one| one.is_same_resource(first));
    let costs = same.filter_map(|one| Some(one.demand?.per_request.value));
    let cost = costs.reduce(f64::max).filter(|cost| *cost < MIN_CPU_SEC)?;
    Some(format!(
        "A request costs {} of CPU, and waking up for each is part of it at low rates: at high ones it may cost less, and the limit be \
         higher than predicted.",
        duration_text(cost * 1e9)
    ))
}

fn used_already(name: &str, resource: &ResourceFinding, safe_share: f64) -> Option<String> {
    let is_used = resource.demand?.safe_at?.value <= 0.0;
    is_used.then(|| format!("{name}: {} of it or more is used without requests.", percent_text(safe_share)))
}

fn gaps(findings: &ProductionFindings) -> Option<String> {
    let missing = findings.instants - findings.with_rate;
    (missing > 0).then(|| {
        format!(
            "{} of {} have no rate and are left out, {} at a time at most.",
            grouped(missing as u64),
            counted(findings.instants as u64, "point"),
            hours(findings.longest_gap_sec)
        )
    })
}

/// Says which resources are known for only a part of the time, such as after a later installation of their exporter.
fn own_gaps(findings: &ProductionFindings) -> Option<String> {
    let known = |one: &ResourceFinding| findings.with_rate - one.left_out.missing;
    let has_gaps = |one: &&ResourceFinding| {
        let is_judged = one.kind.limits() && one.law != ProductionLaw::NotThroughout && known(one) > 0;
        is_judged && (known(one) as f64) < MIN_KNOWN * findings.with_rate as f64
    };
    let mut all = findings.resources.iter().filter(has_gaps);
    let first = all.next()?;
    let others = match all.count() {
        0 => String::new(),
        count => format!(", {} at a part of them too", counted(count as u64, "other resource")),
    };
    Some(format!(
        "{} is known at {} of {}{others}.",
        production_resource(first, &findings.resources),
        grouped(known(first) as u64),
        counted(findings.with_rate as u64, "point"),
    ))
}

/// Formats a time in the unit that reads best, from seconds to days.
pub(crate) fn hours(sec: f64) -> String {
    match sec {
        sec if sec < 120.0 => format!("{} s", significant(sec)),
        sec if sec < 7_200.0 => format!("{:.0} min", sec / 60.0),
        sec if sec < 172_800.0 => format!("{:.1} h", sec / 3_600.0),
        sec => format!("{:.1} days", sec / 86_400.0),
    }
}

fn background(name: &str, unit: AmountUnit, work: &BackgroundWork, time: impl Fn(f64) -> String) -> String {
    let when = match work.daily_at_sec {
        Some(of_day) => format!(
            "daily at about {:02.0}:{:02.0} UTC",
            (of_day / 3_600.0).floor(),
            (of_day % 3_600.0 / 60.0).floor()
        ),
        None => format!("first at {}", time(work.first_sec)),
    };
    format!(
        "{name}: {} more than the rate explains for {}, {} ({when}): work without requests, left out.",
        production_amount(unit, work.mean_extra),
        hours(work.total_sec),
        counted(work.episodes as u64, "time"),
    )
}

/// Returns a remark about the busiest core, if it is full before anything else.
fn busiest_core(findings: &ProductionFindings) -> Option<String> {
    let cores = || findings.resources.iter().filter(|one| one.kind == ProductionKind::BusiestCore);
    let (core, full_at) = cores().find_map(|core| Some((core, core.full_at()?)))?;
    let first = findings.resources.iter().find(|one| one.kind != ProductionKind::BusiestCore);
    let limit = first.and_then(ResourceFinding::full_at);
    limit.is_none_or(|limit| full_at.value < limit.value).then(|| {
        format!(
            "If one thread serves all requests, it is full at about {} requests/s: the {} rises with them.",
            count_text(full_at.value),
            production_resource(core, &findings.resources)
        )
    })
}

fn throttled(findings: &ProductionFindings) -> Option<String> {
    let all = findings.resources.iter().filter(|one| one.kind == ProductionKind::ContainerThrottled);
    let most = all.max_by(|a, b| a.highest.unwrap_or(0.0).total_cmp(&b.highest.unwrap_or(0.0)))?;
    let highest = most.highest.filter(|highest| *highest >= MIN_THROTTLED)?;
    Some(format!(
        "{} was out of quota in up to {} of its periods: bursts wait although the mean is below the quota.",
        escape_control(&most.of),
        share_text(highest)
    ))
}

fn unrelated(findings: &ProductionFindings) -> Option<String> {
    let (names, is_one) = of_law(findings, ProductionLaw::Unrelated)?;
    Some(format!("{names} {} not follow the rate.", if is_one { "does" } else { "do" }))
}

fn unclear(findings: &ProductionFindings) -> Option<String> {
    let (names, is_one) = of_law(findings, ProductionLaw::Unclear)?;
    let whose = if is_one { "its use varies" } else { "their uses vary" };
    Some(format!(
        "Whether {names} {} the rate is not known: {whose} too much.",
        if is_one { "follows" } else { "follow" }
    ))
}

/// Returns the resources of a law that have a capacity: the name of the first with the number of the others, and whether
/// it is the only one.
fn of_law(findings: &ProductionFindings, law: ProductionLaw) -> Option<(String, bool)> {
    let is_meant = |one: &&ResourceFinding| one.capacity.is_some() && one.kind.limits() && one.law == law;
    let all: Vec<&ResourceFinding> = findings.resources.iter().filter(is_meant).collect();
    let name = production_resource(all.first()?, &findings.resources);
    let others = if_known(all.len().checked_sub(1).filter(|count| *count > 0), |count| {
        format!(" and {}", counted(count as u64, "other resource"))
    });
    Some((name + &others, all.len() == 1))
}
