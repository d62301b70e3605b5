//! Figures of ledgers and of scaling, and the text of tables of tiers.

use plimsoll_analyze::{
    Confidence, Currency, DayCost, DayPlan, DemandUnit, Doubt, Efficiency, Estimate, FleetCapacity,
    FleetDoubt, Goal, Growth, GrowthStart, HourPlan, Limit, MachinePlan, Machines, Observed, PlanCost,
    RequestKind, TierCount, TierHours, TierPlan, TierResource, TierRow, TierScaling, TierUse, plan_machines,
};
use plimsoll_report::figure::{self, Bar, Caption};
use plimsoll_report::{PlanView, json, text};

fn bar(name: &str, value: f64, interval: Option<(f64, f64)>) -> Bar {
    Bar { name: name.to_owned(), value, interval, label: format!("{value} µs") }
}

#[test]
fn a_ledger_is_drawn_with_costs_and_savings_to_both_sides() {
    let caption = Caption { title: "What each switch costs".to_owned(), detail: "64 connections".to_owned() };
    let bars = [bar("log", 2833.0, Some((2700.0, 2960.0))), bar("cache", -1567.0, None)];
    let drawn = figure::ledger(&caption, "µs", &bars).unwrap();
    for text in ["What each switch costs", "log", "cache", "2833 µs", "-1,000"] {
        assert!(drawn.svg.contains(text), "{text}: {}", drawn.svg);
    }
    assert!(drawn.png.starts_with(b"\x89PNG"));
    figure::ledger(&caption, "µs", &[]).unwrap();
}

#[test]
fn the_label_of_a_switch_that_costs_nothing_is_to_the_right_of_the_names() {
    let caption = Caption { title: String::new(), detail: String::new() };
    let svg = figure::ledger(&caption, "µs", &[bar("none", 0.0, None)]).unwrap().svg;
    let lines: Vec<&str> = svg.lines().collect();
    let label = lines.iter().position(|line| line.trim() == "0 µs").unwrap();
    let x = lines[label - 1].split('"').nth(1).and_then(|x| x.parse::<f64>().ok());
    assert!(x.is_some_and(|x| x >= 250.0), "{svg}");
}

#[test]
fn both_sides_of_a_ledger_have_the_same_distance_of_ticks() {
    let caption = Caption { title: String::new(), detail: String::new() };
    let drawn =
        figure::ledger(&caption, "µs", &[bar("cache", -1567.0, None), bar("log", 30.0, None)]).unwrap();
    let ticks = |text: &str| drawn.svg.lines().filter(|line| line.trim() == text).count();
    assert_eq!((ticks("500"), ticks("-500"), ticks("10")), (1, 1, 0), "{}", drawn.svg);
}

fn estimate(value: f64) -> Estimate {
    Estimate { value, interval: Some((0.99 * value, 1.01 * value)) }
}

#[test]
fn scaling_is_drawn_with_the_line_of_linear_growth() {
    let points =
        vec![(1, estimate(1000.0), false), (2, estimate(1900.0), false), (4, estimate(3200.0), true)];
    let others = vec![TierCount { tier: "nginx".to_owned(), machines: 1 }];
    let scaling = TierScaling { tier: "tomcat".to_owned(), kind: 0, others, points };
    let drawn = figure::tier_scaling("shop", &scaling).unwrap();
    for text in [
        "Scaling of tomcat: shop",
        "with 1 nginx",
        "machines",
        "1,900 (95 %)",
        "linear from the fewest machines",
        "3,200 (≥ 80 %)",
    ] {
        assert!(drawn.svg.contains(text), "{text}");
    }
    let points = vec![(1, estimate(1000.0), true), (2, estimate(1900.0), true), (4, estimate(3200.0), false)];
    let drawn = figure::tier_scaling("shop", &TierScaling { points, ..scaling }).unwrap();
    for text in ["1,900 (?)", "3,200 (≤ 80 %)"] {
        assert!(drawn.svg.contains(text), "{text}");
    }
}

#[test]
fn a_row_shows_tiers_their_limit_and_their_scaling() {
    let nginx = TierUse {
        tier: "nginx".to_owned(),
        machines: 1,
        size: None,
        cpu_ratio: Some(0.4),
        in_bits_per_sec: Some(684e6),
        out_bits_per_sec: Some(702e6),
        link_ratio: Some(0.92),
        link_bits_per_sec: None,
    };
    let tomcat =
        TierUse { tier: "tomcat".to_owned(), machines: 6, cpu_ratio: Some(0.85), ..TierUse::default() };
    let ratio = Some(Estimate { value: 0.93, interval: Some((0.91, 0.95)) });
    let row = TierRow {
        name: "six".to_owned(),
        kind: 0,
        tiers: vec![nginx, tomcat],
        throughput: estimate(50_000.0),
        connections: 700,
        mean_latency_ns: 14e6,
        limit: Limit::Cpu,
        limiting_tier: "tomcat".to_owned(),
        confidence: Confidence::Measured,
        lower_bound: true,
        efficiencies: vec![Efficiency { tier: "tomcat".to_owned(), from: 1, from_lower_bound: false, ratio }],
    };
    let scales = |lower_bound: bool, from_lower_bound: bool| {
        let own = row.efficiencies.iter().cloned();
        let ratio = ratio.filter(|_| !(lower_bound && from_lower_bound));
        let efficiencies = own.map(|own| Efficiency { from_lower_bound, ratio, ..own }).collect();
        text::tier_rows(&[TierRow { lower_bound, efficiencies, ..row.clone() }], &[])
    };
    assert!(scales(true, false).contains("≥ 93 ± 2 %"));
    assert!(scales(false, true).contains("≤ 93 ± 2 %"), "the machines of the base may carry more");
    let exact = scales(false, false);
    assert!(exact.contains(" 93 ± 2 %") && !exact.contains("≥ 93") && !exact.contains("≤ 93"), "{exact}");
    let both = scales(true, true);
    assert!(!both.contains("93") && both.contains("?: not known"), "{both}");
    let of_nginx = Efficiency { tier: "nginx".to_owned(), from: 1, from_lower_bound: false, ratio };
    let both = [row.efficiencies.clone(), vec![of_nginx]].concat();
    let of_two = text::tier_rows(&[TierRow { lower_bound: false, efficiencies: both, ..row.clone() }], &[]);
    assert!(of_two.contains("tomcat 93 ± 2 %, nginx 93 ± 2 %"), "{of_two}");
    let kinds =
        [RequestKind { name: "GET /".to_owned(), runs: vec!["six".to_owned(), "refused".to_owned()] }];
    assert!(text::tier_rows(std::slice::from_ref(&row), &kinds).contains("succeed: refused."));
    let of_two_folders =
        [RequestKind { name: "GET /".to_owned(), runs: vec!["six".to_owned(), "six".to_owned()] }];
    assert!(text::tier_rows(std::slice::from_ref(&row), &of_two_folders).contains("succeed: six."));
    let text = text::tier_rows(&[row], &[]);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    // The last column wraps between words.
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["≥ 50,000", "14.0 ms", "93 ± 2 %", "cpu@tomcat measured", "1 nginx: 40 % 684/702 (92 % of link)"]
    {
        assert!(flowing.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_resource_that_is_full_next_is_not_what_a_lock_stopped_growth_by() {
    let text = |limit: Limit| {
        let from = GrowthStart {
            per_sec: Estimate::exact(232.0),
            at: "two".to_owned(),
            kind: 0,
            limit,
            also: Vec::new(),
            machines: Vec::new(),
        };
        let stop = plimsoll_analyze::Stop {
            tier: "api".to_owned(),
            resource: TierResource::Cpu,
            place: None,
            machines: 2.0,
            unit: DemandUnit::Cores,
            used: 0.1,
            capacity: 0.2,
            per_request: Estimate::exact(4e-4),
            used_there: 0.5,
            seen: true,
            scaled: None,
        };
        let observed = Observed { growth: Some(Growth { from, stops: vec![stop] }), ..Observed::default() };
        let plan = plan_machines(&observed, Goal { target_per_sec: 100.0, utilisation: 0.7 });
        text::machines(&PlanView::new(&plan))
    };
    assert!(text(Limit::Cpu).contains("growth stops first at api"), "{}", text(Limit::Cpu));
    let locked = text(Limit::Lock);
    assert!(
        !locked.contains("stops first") && locked.contains("`lock` stopped at 232 requests/s"),
        "{locked}"
    );
}

#[test]
fn hours_with_as_many_machines_at_another_cost_have_lines_of_their_own() {
    let machines = Some(Machines { count: 2, range: None, at_least: false });
    let hour = |hour: i64, cost: f64| HourPlan {
        hour,
        label: format!("{hour:02}:00"),
        peak_per_sec: 100.0,
        machines: vec![machines],
        sizes: vec![Vec::new()],
        cost: Some(cost),
    };
    let currency = Currency::default();
    let cost = DayCost { currency, by_hour: 5.2, constant: 6.0, without: Vec::new(), at_least: false };
    let day = DayPlan {
        peak: plan_machines(&Observed::default(), Goal { target_per_sec: 100.0, utilisation: 0.7 }),
        peak_cost: None,
        hours: vec![hour(0, 1.6), hour(1, 1.6), hour(2, 2.0)],
        missing: Vec::new(),
        merges_days: false,
        tiers: vec![TierHours { tier: "api".to_owned(), by_hour: Some(6), constant: Some(6) }],
        cost: Some(cost),
    };
    let text = text::machines(&PlanView { day: Some(&day), ..PlanView::new(&day.peak) });
    for line in ["1.60  00:00 to 01:00, 2 hours", "2.00  02:00"] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_cost_that_is_not_known_is_not_zero() {
    let plan = plan_machines(&Observed::default(), Goal { target_per_sec: 100.0, utilisation: 0.7 });
    let cost = PlanCost {
        currency: Currency::default(),
        tiers: Vec::new(),
        without: vec!["api".to_owned()],
        per_hour: None,
        per_million: None,
    };
    let view = PlanView { cost: Some(&cost), ..PlanView::new(&plan) };
    let text = text::machines(&view);
    assert!(text.contains("Without a price or a number: api.") && !text.contains("0.00"), "{text}");
    let document = serde_json::to_value(json::PlanDocument::new(&view)).unwrap();
    assert_eq!(document["cost"]["per_hour"], serde_json::Value::Null);
    assert_eq!(
        (&document["cost"]["per_million"], &document["cost"]["at_least"]),
        (&serde_json::Value::Null, &true.into())
    );
}

#[test]
fn what_a_change_makes_doubtful_is_said_with_the_change() {
    let plan = |doubts: Vec<Doubt>| {
        let tier = TierPlan {
            tier: "api".to_owned(),
            machines: Some(Machines { count: 2, range: None, at_least: true }),
            needs: Vec::new(),
            sizes: Vec::new(),
            carried: None,
            scaling: None,
            doubts,
        };
        let goal = Goal { target_per_sec: 100.0, utilisation: 0.7 };
        MachinePlan { goal, tiers: vec![tier], growth: None, remarks: Vec::new() }
    };
    let grew = Doubt::MoreThanLinear { few: 1.0, most: 2.0 };
    let (base, changed) = (plan(vec![Doubt::NothingObserved]), plan(vec![Doubt::NothingObserved, grew]));
    let text =
        text::machines(&PlanView { what_if: Some(("api.cores=2x", &changed)), ..PlanView::new(&base) });
    let (with_change, as_it_is) = text.split_once("As it is").unwrap();
    assert!(with_change.contains("grew more than linearly"), "{text}");
    assert!(!with_change.contains("nothing was observed"), "the plan as it is says so: {text}");
    assert!(as_it_is.contains("nothing was observed"), "{text}");
}

#[test]
fn a_changed_fleet_and_the_one_before_have_their_doubts() {
    let fleet = |tiers: &[&str]| FleetCapacity {
        utilisation: 0.7,
        machines: Vec::new(),
        held: None,
        limits: Vec::new(),
        at_most: true,
        from: (100.0, "base".to_owned()),
        doubts: tiers.iter().map(|tier| FleetDoubt::NoFigures((*tier).to_owned())).collect(),
    };
    let (before, changed) = (fleet(&["web", "db"]), fleet(&["web", "api"]));
    let text = text::fleet(&before, Some(("db=drop", &changed)));
    let sections: Vec<&str> = text.split("To be known").skip(1).collect();
    let names = |section: &str| ["web", "db", "api"].map(|tier| section.contains(&format!("uses of {tier}")));
    let named: Vec<[bool; 3]> = sections.iter().map(|section| names(section)).collect();
    assert_eq!(named, [[true, false, false], [false, true, false], [false, false, true]], "{text}");
    assert!(sections[2].starts_with(" with db=drop"), "{text}");
}
