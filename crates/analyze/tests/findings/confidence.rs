//! Over many made-up targets with several limits near each other and readings that scatter: what is said to be measured is true.

use plimsoll_analyze::{Confidence, Limit, Verdict};

use crate::synthetic::Level;
use crate::watch::{Watch, connections};

const SERVICE_SEC: f64 = 0.005;
const TARGETS: u64 = 30;

/// Numbers between 0 and 1 that are the same each time (a linear congruential generator by Knuth's constants).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// What stops the target, at which throughput.
struct Truth {
    limits: [(Limit, &'static str, f64); 4],
}

impl Truth {
    fn draw(draw: &mut Draw) -> Self {
        let mut at = || 1500.0 + 3000.0 * draw.next();
        let limits = [
            (Limit::Cpu, "web", at()),
            (Limit::Cpu, "api", at()),
            (Limit::Bandwidth, "web", at()),
            (Limit::Pool, "api", at()),
        ];
        Self { limits }
    }

    fn at(&self, index: usize) -> f64 {
        self.limits[index].2
    }

    fn first(&self) -> (Limit, &'static str, f64) {
        self.limits.into_iter().min_by(|a, b| a.2.total_cmp(&b.2)).unwrap()
    }
}

/// A target with these limits, whose reads are off by up to 2 % either way.
fn verdict(truth: &Truth, seed: u64) -> Verdict {
    let most = truth.first().2;
    let levels: Vec<Level> = (0..8)
        .map(|power| Level {
            intervals: 60,
            ..Level::at(1 << power, (f64::from(1 << power) / SERVICE_SEC).min(most))
        })
        .collect();
    let off = |step: usize, salt: u64| {
        let mut draw = Draw(seed.wrapping_mul(977).wrapping_add(salt * 131 + step as u64));
        draw.next();
        0.98 + 0.04 * draw.next()
    };
    let workers = truth.at(3) * SERVICE_SEC;
    let cpu = |watch: Watch, host: &'static str, process: &str, at: f64, salt: u64| {
        let group = (host, "cgroup", "");
        watch
            .gauge(group, "quota_us", |_, _| 10_000.0)
            .gauge(group, "period_us", |_, _| 10_000.0)
            .counter(group, "usage_us", move |step, x| (1e6 * x / at * off(step, salt)).min(1e6))
            .counter((host, "process", process), "cpu_us", move |step, x| {
                (0.98e6 * x / at * off(step, salt)).min(1e6)
            })
            .gauge((host, "process", process), "threads", |_, _| 8.0)
    };
    let link = 200e6;
    let watch =
        cpu(cpu(Watch::over(&levels), "web", "7 nginx", truth.at(0), 1), "api", "8 java", truth.at(1), 2)
            .gauge(("web", "declared", ""), "link_out_bits_per_sec", |_, _| link)
            .counter(("web", "interface", "eth0"), "sent_bytes", |step, x| {
                link / 8.0 * x / truth.at(2) * off(step, 3)
            })
            .listener("web", "0.0.0.0:8080", 7, |_, _| 0.0)
            .gauge(("web", "peers", "7 nginx"), "10.0.0.3:9000", |step, _| connections(step))
            .listener("api", "10.0.0.3:9000", 8, |step, _| (connections(step) - workers).max(0.0));
    watch.verdict()
}

#[test]
fn what_is_measured_is_true_and_most_limits_are_found() {
    let mut draw = Draw(7);
    let mut right = 0;
    for seed in 0..TARGETS {
        let truth = Truth::draw(&mut draw);
        let (limit, host, at) = truth.first();
        let verdict = verdict(&truth, seed);
        // What lies within 5 % of the first is as much the limit: reads are off by nearly that.
        let is_it = truth
            .limits
            .iter()
            .any(|(limit, host, by)| *by <= 1.05 * at && (verdict.limit, verdict.host()) == (*limit, *host));
        let named = is_it || verdict.also.iter().any(|also| (also.limit, also.host()) == (limit, host));
        let reported = format!("{:?} near {at}: {verdict:#?}", truth.limits);
        assert!(verdict.confidence != Confidence::Measured || is_it, "{reported}");
        assert!(verdict.limit != Limit::None && verdict.limit != Limit::Generator, "{reported}");
        right += usize::from(named);
    }
    assert!(right >= 28, "{right} of {TARGETS}");
}
