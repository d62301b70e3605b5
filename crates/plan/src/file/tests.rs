use std::time::Duration;

use super::*;
use crate::{ArrivalProcess, LatencyLimit, Level, Limit, LoadSpec, Probe, RateProfile, Slo};

const WHOLE: &str = r#"
name  = "two-apis-behind-nginx"
[target]
url    = "http://web/test/testNginx"
method = "POST"
headers = { "Content-Type" = "application/json" }
body   = '{"sleep": 70}'
[load]
ladder = [50, 100, 200, 400]
step   = "10s"
[slo]
p99 = "500ms"
success = 0.9995
[generator]
cores = 1.0
[[host]]
name  = "web"
tier  = "nginx"
cores = 0.5
link  = "200Mbit"
run   = ["nginx -c ${dir}/nginx.conf -g 'daemon off;'"]
ready = "tcp:80"
[[host]]
name  = "api1"
tier  = "api"
link  = { out = "1Gbit", in = "10Mbit" }
packets = 2000
memory = "256MB"
disk = "4MB"
probe = "none"
run   = ["java -jar ${services}/spring-api.jar --server.port=9000"]
ready = "/test/healthz:9000"
[expect]
limit = "cpu"
where = "web"
"#;

fn whole() -> PlanFile {
    PlanFile::parse(WHOLE).unwrap()
}

fn with(more: &str) -> PlanFile {
    PlanFile::parse(&format!("{WHOLE}{more}")).unwrap()
}

fn refused(text: &str) -> String {
    PlanFile::parse(text).unwrap_err().to_string()
}

#[test]
fn a_whole_file_becomes_a_plan_hosts_and_an_expectation() {
    let file = whole();
    let plan = file.spec.clone().freeze().unwrap();
    assert_eq!((plan.name.as_str(), plan.target.method.as_str()), ("two-apis-behind-nginx", "POST"));
    assert_eq!(plan.target.body, br#"{"sleep": 70}"#);
    assert!(plan.network.keep_alive);
    assert_eq!(plan.slo.limit_ms(99.0), Some(500.0));
    assert!(
        matches!(&file.spec.load, LoadSpec::Ladder { steps: Some(steps), .. } if steps == &[50, 100, 200, 400])
    );
    assert_eq!(file.generator.capacity.cores, Some(1.0));
    assert_eq!(file.lab_hosts.len(), 2);
    let [web, api] = [&file.lab_hosts[0], &file.lab_hosts[1]];
    assert_eq!(web.ready, Some(Ready::Tcp(80)));
    assert_eq!(web.capacity.link_out_bits_per_sec, web.capacity.link_in_bits_per_sec);
    assert_eq!(api.ready, Some(Ready::Page { port: 9000, path: "/test/healthz".to_owned() }));
    assert_eq!(api.capacity.link_out_bits_per_sec, Some(1_000_000_000));
    assert_eq!(api.capacity.link_in_bits_per_sec, Some(10_000_000));
    assert_eq!((api.capacity.packets_per_sec, api.capacity.memory_bytes), (Some(2000), Some(256_000_000)));
    assert_eq!(api.capacity.disk_bytes_per_sec, Some(4_000_000));
    assert_eq!(plan.hosts[0].tier.as_deref(), Some("nginx"));
    assert_eq!(plan.hosts[1].probes, [Probe::None]);
    let cpu = Expected { limit: Limit::Cpu, host: Some("web".to_owned()) };
    assert_eq!(file.expect, Some(Expect { limits: vec![cpu], size: None, overload: Vec::new(), ramp: None }));
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest_known_one() {
    assert_eq!(
        refused("[target]\nurl = \"http://a/\"\nmetod = \"GET\"\n"),
        "line 3: `metod` is not a key of [target]; did you mean `method`?"
    );
    let error = refused("[target]\nurl = \"http://a/\"\n[[host]]\nname = \"a\"\ncors = 1\n");
    assert_eq!(error, "line 5: `cors` is not a key of [host]; did you mean `cores`?");
    assert!(
        refused("[taget]\nurl = \"http://a/\"\n")
            .contains("line 1: `taget` is not a key of a plan file; did you")
    );
    assert!(refused("[target]\nurl = \"a\"\nzzz = 1\n").contains("url, method, headers, body"));
}

#[test]
fn a_value_that_its_key_cannot_have_says_what_it_could_have() {
    let host =
        |line: &str| refused(&format!("[target]\nurl = \"http://a/\"\n[[host]]\nname = \"a\"\n{line}\n"));
    assert!(host("cores = 0").contains("line 5: `host.cores` is 0; it must be a number of cores above 0"));
    assert!(host("link = 200").contains("\"200Mbit\""));
    assert!(host("link = { up = \"1Mbit\" }").contains("`up` is not a key of [host.link]"));
    assert!(host("memory = \"many\"").contains("`many`") && host("packets = -1").contains("is -1"));
    assert!(host("disk = \"fast\"").contains("`fast`") && host("disk = \"0MB\"").contains("`0MB`"));
    let probe = host("probe = \"mariadb://ann:secret@db:port\"");
    assert!(probe.contains("line 5: `host.probe` is no probe") && !probe.contains("secret"), "{probe}");
    assert!(host("ready = \"80\"").contains("\"tcp:80\""));
    assert!(host("probe = \"smoke\"").contains("smoke"));
    assert!(host("run = 3").contains("a text in quotes"));
    let load = |line: &str| refused(&format!("[target]\nurl = \"http://a/\"\n[load]\n{line}\n"));
    assert!(load("ladder = [1, 0]").contains("line 4: `load.ladder` is 0"));
    assert!(load("ladder = [1]\nrate = 5").contains("`load.ladder` and `load.rate`"));
    assert!(load("step = \"long\"").contains("\"10s\""));
    assert!(load("step = 1e300").contains("`load.step` is 1e300; it must be a duration"));
    let expect = |line: &str| refused(&format!("[target]\nurl = \"http://a/\"\n[expect]\n{line}\n"));
    assert!(expect("limit = \"cpus\"").contains("did you mean `cpu`?"));
    assert!(expect("either = [\"cpu@web\"]").contains("at least two"));
    assert!(expect("size = 3").contains("`expect.limit` is missing"));
    assert!(expect("overload = \"collapses\"\nramp = \"keep_up\"").contains("did you mean `keeps_up`?"));
    assert!(expect("limit = \"any\"\nsize = 3").contains("size"));
    assert!(refused("name = \"x\"").contains("`target.url` is missing"));
    assert!(refused("a = [1\n\n").contains("this is not TOML"));
}

#[test]
fn a_host_is_made_in_a_lab_unless_it_is_only_sampled() {
    let file = PlanFile::parse(
        "[target]\nurl = \"http://a/\"\n[[host]]\nname = \"a\"\nprobe = \"ssh://a\"\n[[host]]\nname = \"b\"\n",
    )
    .unwrap();
    assert_eq!(file.lab_hosts.iter().map(|host| host.name.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(file.spec.hosts.len(), 2);
    let waits =
        "[target]\nurl = \"http://a/\"\n[[host]]\nname = \"a\"\nprobe = \"ssh://a\"\nready = \"tcp:80\"\n";
    assert!(refused(waits).contains("`host.run` is missing"));
    for name in ["generator", "a b", "-a", "a:1", ""] {
        let error = refused(&format!("[target]\nurl = \"http://a/\"\n[[host]]\nname = \"{name}\"\n"));
        assert!(error.contains("line 4: `host.name`"), "{error}");
    }
    let twice = "[target]\nurl = \"http://a/\"\n[[host]]\nname = \"a\"\n[[host]]\nname = \"A\"\n";
    assert!(refused(twice).contains("line 6"));
}

#[test]
fn a_load_is_a_ladder_rates_or_searched_for() {
    let load =
        |lines: &str| PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n{lines}")).unwrap().spec.load;
    let ladder = |lines: &str| match load(lines) {
        LoadSpec::Ladder { steps, step_limit, budget } => (steps, step_limit, budget),
        other @ LoadSpec::Single { .. } => panic!("{other:?}"),
    };
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(ladder(""), (None, None, seconds(90)));
    assert_eq!(ladder("[load]\nsearch = true\nstep = \"2s\""), (None, seconds(2), None));
    assert_eq!(ladder("[load]\nsearch = true\nbudget = \"2m\"").2, seconds(120));
    assert_eq!(ladder("[load]\nladder = [\"1k\"]"), (Some(vec![1000]), seconds(10), None));
    let rate = |lines: &str| match load(lines) {
        LoadSpec::Single { profile: Some(profile), duration, .. } => (profile, duration),
        other => panic!("{other:?}"),
    };
    assert_eq!(rate("[load]\nrate = [500]"), (RateProfile::Constant(500.0), seconds(10)));
    let (profile, duration) = rate("[load]\nrate = [100, \"2k\"]\nstep = \"5s\"");
    assert_eq!((profile.to_string().as_str(), duration), ("const(100,5s) const(2000,5s)", None));
    assert_eq!(rate("[load]\nrate = \"ramp(1,2,3s)\"").0.to_string(), "ramp(1,2,3s)");
    let spread = |lines: &str| match load(lines) {
        LoadSpec::Single { arrivals, .. } => arrivals,
        other @ LoadSpec::Ladder { .. } => panic!("{other:?}"),
    };
    assert_eq!(spread("[load]\nrate = 5"), ArrivalProcess::Constant);
    assert_eq!(spread("[load]\nrate = 5\narrivals = \"poisson\""), ArrivalProcess::Poisson);
}

#[test]
fn what_has_no_effect_on_a_load_is_refused() {
    let read = |lines: &str| PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n[load]\n{lines}\n"));
    for (lines, key, other) in [
        ("rate = 5\nbudget = \"90s\"", "load.rate", "load.budget"),
        ("rate = 5\nwithin = \"5%\"", "load.rate", "load.within"),
        ("ladder = [1]\nbudget = \"90s\"", "load.ladder", "load.budget"),
        ("ladder = [1]\nwithin = \"5%\"", "load.ladder", "load.within"),
        ("ladder = [1]\narrivals = \"poisson\"", "load.ladder", "load.arrivals"),
        ("search = true\narrivals = \"poisson\"", "load.search", "load.arrivals"),
        ("rate = \"ramp(1,2,3s)\"\nstep = \"5s\"", "load.rate", "load.step"),
    ] {
        let error = read(lines).unwrap_err();
        let both = Problem::Both { key: key.to_owned(), other: other.to_owned() };
        assert_eq!((error.line, error.problem), (5, both), "{lines}");
    }
    let missing = |lines: &str| match read(lines).unwrap_err().problem {
        Problem::Missing { key, .. } => key,
        other => panic!("{other}"),
    };
    assert_eq!(missing("within = \"5%\""), "load.search");
    assert_eq!(missing("arrivals = \"poisson\""), "load.rate");
    assert!(read("budget = \"2m\"").is_ok(), "that of the ladder alone");
    assert!(read("search = true\nstep = \"1s\"\nbudget = \"2m\"\nwithin = \"5%\"").is_ok());
    let stages = "ladder = [1]\nstep = \"5s\"\n[[variant]]\nname = \"x\"\nload.rate = \"ramp(1,2,3s)\"";
    assert!(read(stages).is_ok(), "stages of a variant take the place of the step's time too");
}

#[test]
fn a_search_without_a_condition_of_a_kind_takes_that_of_the_command_line() {
    let spec = |lines: &str| {
        let text = format!("[target]\nurl = \"http://a/\"\n[load]\nsearch = true\n{lines}");
        PlanFile::parse(&text).unwrap().spec
    };
    let slo = |lines: &str| spec(lines).slo;
    assert_eq!((slo(""), spec("").slo_assumed), (Slo::reference(), true));
    let equal = spec("[slo]\np99 = \"500ms\"");
    assert_eq!((equal.slo, equal.slo_assumed), (Slo::reference(), false), "the user gave it");
    let median = slo("[slo]\nconditions = [\"p50<20ms\"]");
    assert_eq!(median.latency, [LatencyLimit { percent: 50.0, limit_ms: 20.0 }]);
    assert_eq!(median.success_ratio, Slo::reference().success_ratio);
}

#[test]
fn a_search_is_as_narrow_as_is_asked_for_or_as_its_budget_allows() {
    let tolerance = |lines: &str| {
        let file = PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n{lines}")).unwrap();
        file.spec.search.map(|order| order.tolerance)
    };
    assert_eq!(tolerance("[load]\nsearch = true"), Some(0.05));
    assert_eq!(tolerance("[load]\nsearch = true\nbudget = \"10m\""), Some(0.02));
    assert_eq!(tolerance("[load]\nsearch = true\nwithin = \"1%\""), Some(0.01));
    assert_eq!(tolerance("[load]\nladder = [1, 2]"), None);
    assert_eq!(tolerance(""), None, "the ladder alone");
}

#[test]
fn conditions_of_a_file_are_typed_as_on_the_command_line() {
    let read = |lines: &str| PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n[slo]\n{lines}"));
    let slo = read("p99 = \"500ms\"\nconditions = [\"p50<20ms\", \"errors<1%\"]").unwrap().spec.slo;
    assert_eq!((slo.limit_ms(50.0), slo.limit_ms(99.0)), (Some(20.0), Some(500.0)));
    assert_eq!(slo.success_ratio, Some(0.99));
    for wrong in ["success = \"0%\"", "conditions = [\"p50\"]", "p99 = \"1s\"\nconditions = [\"p99<2s\"]"] {
        assert!(matches!(read(wrong).unwrap_err().problem, Problem::Conditions(_)), "{wrong}");
    }
}

#[test]
fn a_limit_without_a_unit_is_refused() {
    let slo =
        |value: &str| PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n[slo]\np99 = {value}\n"));
    for value in ["200", "\"200\"", "0.2", "\" 0.2 \""] {
        let error = slo(value).unwrap_err();
        assert!(matches!(&error.problem, Problem::Wrong { key, .. } if key == "slo.p99"), "{value}: {error}");
    }
    assert_eq!(slo("\"200ms\"").unwrap().spec.slo.limit_ms(99.0), Some(200.0));
}

#[test]
fn a_header_that_closes_the_connection_asks_for_one_a_request() {
    let file =
        PlanFile::parse("[target]\nurl = \"http://a/\"\nheaders = { connection = \"Close\" }\n").unwrap();
    assert!(!file.spec.network.keep_alive);
    assert_eq!(file.spec.headers, ["connection: Close"]);
}

#[test]
fn the_protocol_is_a_key_of_the_target() {
    let secure = "[target]\nurl = \"https://a/\"\nhttp2 = true\ncacert = \"ca.pem\"\n";
    let file = PlanFile::parse(secure).unwrap();
    let plan = file.spec.freeze().unwrap();
    let tls = plan.tls.unwrap();
    assert!(plan.http2 && !tls.insecure && tls.cacert.as_deref() == Some(std::path::Path::new("ca.pem")));
    let other = format!("{secure}[[variant]]\nname = \"x\"\ntarget = {{ insecure = true, http2 = false }}\n");
    let other = PlanFile::parse(&other).unwrap().variants.remove(0).file.spec.transport;
    assert!(other.tls.insecure && other.tls.cacert.is_none() && !other.http2);
    let target = |url: &str, lines: &str| refused(&format!("[target]\nurl = \"{url}\"\n{lines}\n"));
    let plain = target("http://a/", "insecure = true");
    assert!(plain.starts_with("line 3: `target.insecure` is true") && plain.contains("https://"), "{plain}");
    assert!(target("http://a/", "cacert = \"x\"").starts_with("line 3: `target.cacert` is `x`"));
    let both = target("https://a/", "insecure = true\ncacert = \"x\"");
    assert!(both.starts_with("line 4: `target.insecure` and `target.cacert`"), "{both}");
    let close = target("https://a/", "headers = { Connection = \"close\" }\nhttp2 = true");
    assert!(close.starts_with("line 4: `target.http2` is true"), "{close}");
    let listed = target("https://a/", "headers = { Connection = \"te, close\" }\nhttp2 = true");
    assert!(listed.starts_with("line 4: `target.http2` is true"), "{listed}");
    assert!(
        target("https://a/", "http2 = 2")
            .starts_with("line 3: `target.http2` is 2; it must be true or false")
    );
}

const SEVERAL: &str = "[target]\nurl = \"http://a/\"\nheaders = { X-All = \"1\" }\n\
    [[request]]\nurl = \"/orders?id=7\"\nweight = 3\n\
    [[request]]\nname = \"order\"\nurl = \"http://a/orders\"\nheaders = { X-All = \"2\" }\nbody = \"{}\"\n";

#[test]
fn several_requests_are_tables_with_weights_that_share_the_targets_headers() {
    let plan = PlanFile::parse(SEVERAL).unwrap().spec.freeze().unwrap();
    let names: Vec<&str> = plan.requests.iter().map(|group| group.name.as_str()).collect();
    assert_eq!(names, ["GET /orders", "order"]);
    let [look, order] = plan.mix.as_slice() else { panic!("two requests") };
    assert_eq!((look.weight, look.line, look.path.as_str()), (3, 4, "/orders?id=7"));
    assert_eq!((order.weight, order.method.as_str(), order.body.as_slice()), (1, "POST", &b"{}"[..]));
    let all = |value: &str| vec![("X-All".to_owned(), value.to_owned())];
    assert_eq!((&look.headers, &order.headers), (&all("1"), &all("2")));
    let named = "[target]\nrequests = \"mix.http\"\n";
    let named = PlanFile::parse(named).unwrap();
    assert_eq!(named.requests.as_deref(), Some(std::path::Path::new("mix.http")));
    assert!(named.spec.url.is_empty(), "the host may be left to the file of requests");
}

#[test]
fn requests_that_cannot_be_sent_are_named_by_line_and_key() {
    let more = |lines: &str| refused(&format!("{SEVERAL}{lines}"));
    assert!(more("[[request]]\nweight = 2\n").contains("line 12: `request.url` is missing"));
    assert!(more("[[request]]\nurl = \"orders\"\n").contains("line 13: `request.url` is `orders`"));
    assert!(more("[[request]]\nurl = \"/\"\nweight = 0\n").contains("line 14: `request.weight` is 0"));
    assert!(more("[[request]]\nurl = \"/\"\nwieght = 2\n").contains("did you mean `weight`?"));
    let target = |line: &str| refused(&SEVERAL.replace("headers = { X-All = \"1\" }", line));
    assert!(target("requests = \"x\"").starts_with("line 4: `target.requests` and `request`"));
    assert!(target("body = \"x\"").starts_with("line 4: `target.body` and `request`"));
    assert!(refused("request = []\n[target]\nurl = \"http://a/\"\n").contains("line 1: `request` is a list"));
}

#[test]
fn what_a_variant_sends_takes_the_place_of_what_the_file_does() {
    let with = |base: &str, over: &str| {
        let text = format!("{base}[[variant]]\nname = \"x\"\n{over}\n");
        PlanFile::parse(&text).unwrap().variants.remove(0).file
    };
    let single = with(SEVERAL, "target = { method = \"PUT\" }");
    assert_eq!((single.spec.scenario.requests.len(), single.spec.method.as_deref()), (0, Some("PUT")));
    let named = with(SEVERAL, "target = { requests = \"mix.http\" }");
    assert!(named.spec.scenario.requests.is_empty() && named.requests.is_some());
    let several = with(WHOLE, "[[variant.request]]\nurl = \"/\"");
    assert_eq!((several.spec.scenario.requests.len(), several.spec.body), (1, None));
}

#[test]
fn a_variant_changes_only_what_it_names_however_deep() {
    let file = with(
        "[[variant]]\nname = \"narrow\"\n[variant.load]\nrate = [10]\n[[variant.host]]\nname = \"api1\"\n\
         link = { in = \"20Mbit\" }\n[[variant]]\nname = \"tied\"\nexpect = { either = [\"cpu@web\", \"packets@api1\"] }\n",
    );
    let names: Vec<Option<&str>> = file.all().map(|(name, _)| name).collect();
    assert_eq!(names, [None, Some("narrow"), Some("tied")]);
    let [narrow, tied] = [&file.variants[0].file, &file.variants[1].file];
    let api = &narrow.lab_hosts[1].capacity;
    assert_eq!(
        (api.link_in_bits_per_sec, api.link_out_bits_per_sec),
        (Some(20_000_000), Some(1_000_000_000))
    );
    assert_eq!(narrow.lab_hosts[0], file.lab_hosts[0]);
    assert!(matches!(narrow.spec.load, LoadSpec::Single { .. }), "a rate takes the place of the ladder");
    assert_eq!((&narrow.expect, &narrow.spec.name), (&file.expect, &file.spec.name));
    assert_eq!(tied.expect.as_ref().unwrap().limits.len(), 2, "a tie takes the place of the one limit");
    assert_eq!(tied.spec, file.spec);
    assert!(tied.variants.is_empty());
}

#[test]
fn a_variant_may_add_a_host_and_a_mistyped_one_is_refused() {
    let more = with("[[variant]]\nname = \"more\"\n[[variant.host]]\nname = \"api2\"\nrun = [\"true\"]\n");
    assert_eq!(more.variants[0].file.lab_hosts.len(), 3);
    let error =
        refused(&format!("{WHOLE}[[variant]]\nname = \"x\"\n[[variant.host]]\nname = \"wbe\"\ncores = 1\n"));
    assert!(error.contains("`wbe`") && error.contains("(web, api1)"), "{error}");
    let error = refused(&format!("{WHOLE}[[variant]]\nname = \"x\"\n[variant.target]\nurk = \"\"\n"));
    assert!(error.contains("`urk` is not a key of [target]; did you mean `url`?"), "{error}");
    let error = refused(&format!("{WHOLE}[[variant]]\n[variant.target]\nurl = \"\"\n"));
    assert!(error.contains("`variant.name` is missing"), "{error}");
}

#[test]
fn a_profile_has_a_source_and_a_time_and_a_variant_may_change_them() {
    assert_eq!(whole().profile, None);
    let section = "[profile]\nsource = \"http://${host:api1}:9000/debug/pprof/profile\"\n";
    let file = with(&format!("{section}[[variant]]\nname = \"short\"\nprofile.time = \"2s\"\n"));
    let profile = file.profile.unwrap();
    assert_eq!(profile.time, ProfileSpec::DEFAULT_TIME);
    let short = file.variants[0].file.profile.clone().unwrap();
    assert_eq!(short, ProfileSpec { time: Duration::from_secs(2), ..profile });
    let error = refused(&format!("{WHOLE}[profile]\ntime = \"2s\"\n"));
    assert!(error.contains("source"), "{error}");
}

const VARIANTS: &str = "[[variant]]\nname = \"gin\"\n[[variant]]\nname = \"net-http\"\n";

#[test]
fn runs_are_compared_with_a_variant_or_with_the_file_itself() {
    let against = |name: &str| {
        let text = format!("[target]\nurl = \"http://a/\"\n[compare]\nagainst = \"{name}\"\n{VARIANTS}");
        PlanFile::named(&text, Some("shop")).map(|file| file.compare).map_err(|error| error.to_string())
    };
    assert_eq!(against("net-http"), Ok(Some(Compare { against: vec![Some("net-http".to_owned())] })));
    assert_eq!(against("shop"), Ok(Some(Compare { against: vec![None] })));
    let several = with(&format!("[compare]\nagainst = [\"net-http\", \"gin\"]\n{VARIANTS}"));
    assert_eq!(several.compare.map(|compare| compare.against.len()), Some(2));
    let list = |names: &str| refused(&format!("{WHOLE}[compare]\nagainst = [{names}]\n{VARIANTS}"));
    assert!(list("").contains("`compare.against` is a list; it must be the name"), "{}", list(""));
    let twice = list("\"gin\", \"net-http\", \"gin\"");
    assert!(twice.contains("`compare.against` is `gin`") && twice.contains("in the list before"), "{twice}");
    let error = against("net-htp").unwrap_err();
    assert!(error.starts_with("line 4: `compare.against`") && error.contains("`net-http`?"), "{error}");
    assert!(against("zzz").unwrap_err().contains("one of shop, gin, net-http"), "{:?}", against("zzz"));
    let alone = refused("name = \"a\"\n[target]\nurl = \"http://a/\"\n[compare]\nagainst = \"a\"\n");
    assert!(alone.contains("line 5") && alone.contains("without variants"), "{alone}");
    let missing = refused(&format!("[target]\nurl = \"http://a/\"\n[compare]\n{VARIANTS}"));
    assert!(missing.contains("`compare.against` is missing"), "{missing}");
}

#[test]
fn machines_are_counted_for_a_rate_and_a_share_of_each() {
    let machines = |keys: &str| {
        let text = format!("{WHOLE}[machines]\n{keys}\n{VARIANTS}");
        PlanFile::parse(&text).map(|file| file.machines).map_err(|error| error.to_string())
    };
    let goal = |utilisation: f64| Ok(Some(MachineGoal { target_per_sec: 100_000.0, utilisation }));
    assert_eq!(machines("target = \"100k\""), goal(0.7));
    assert_eq!(machines("target = 100000\nutilisation = \"60%\""), goal(0.6));
    assert!(machines("utilisation = 0.5").unwrap_err().contains("`machines.target` is missing"));
    for wrong in ["1.5", "\"0%\"", "\"-5%\""] {
        let error = machines(&format!("target = \"100k\"\nutilisation = {wrong}")).unwrap_err();
        assert!(error.contains("`machines.utilisation`"), "{error}");
    }
    assert!(machines("target = \"100k\"\nutilization = 0.5").unwrap_err().contains("`utilisation`?"));
}

#[test]
fn what_is_said_of_all_runs_is_not_said_by_one_of_them() {
    for table in ["variant.compare]\nagainst = \"a\"", "variant.machines]\ntarget = 1"] {
        let error = refused(&format!("{WHOLE}[[variant]]\nname = \"a\"\n[{table}\n"));
        assert!(error.contains("is not a key of [variant]"), "{error}");
    }
    let file = with(&format!("[machines]\ntarget = 5\n{VARIANTS}"));
    assert!(file.machines.is_some() && file.variants[0].file.machines.is_none());
}

#[test]
fn a_warm_up_has_a_longest_time_and_a_variant_may_change_it() {
    let warming = |more: &str| {
        PlanFile::parse(&format!("[target]\nurl = \"http://a/\"\n[load]\nladder = [4, 9, 2]\n{more}"))
    };
    let file = warming("warm = \"60s\"\n[[variant]]\nname = \"longer\"\nload.warm = \"2m\"\n").unwrap();
    let plan = file.spec.clone().freeze().unwrap();
    assert_eq!(plan.warm, Some(Duration::from_secs(60)));
    assert_eq!(plan.load.warming(), Level::Closed { connections: 9, depth: 1 });
    assert_eq!(file.variants[0].file.spec.warm, Some(Duration::from_secs(120)));
    assert_eq!(warming("").unwrap().spec.warm, None);
    let again = "warm = \"60s\"\n[[variant]]\nname = \"warm-already\"\nload.warm = 0\n";
    assert_eq!(warming(again).unwrap().variants[0].file.spec.warm, None);
    for wrong in ["warm = true", "warm = \"long\""] {
        let error = warming(wrong).unwrap_err().to_string();
        assert!(error.contains("line 5: `load.warm`") && error.contains("\"10s\""), "{error}");
    }
    for short in ["5ms", "900ms"] {
        let spec = warming(&format!("warm = \"{short}\"")).unwrap().spec;
        let error = spec.freeze().unwrap_err().to_string();
        assert!(error.contains("the warm-up is ") && error.contains("at least 1000 ms"), "{error}");
    }
}

#[test]
fn a_search_warms_up_at_32_connections_and_rates_at_what_they_are_on_average() {
    let warming = |load: &str| {
        let text = format!("[target]\nurl = \"http://a/\"\n[load]\n{load}\n");
        PlanFile::parse(&text).unwrap().spec.freeze().unwrap().load.warming()
    };
    assert_eq!(warming("search = true").connections(), 32);
    let profile = |load| warming(load).profile().cloned();
    assert_eq!(profile("rate = 500"), Some(RateProfile::Constant(500.0)));
    assert_eq!(profile("rate = [100, 300]"), Some(RateProfile::Constant(200.0)));
}

#[test]
fn a_variant_changes_its_row_key_by_key() {
    let file = with(
        r#"
[row]
front = "web"
held = 0
[[variant]]
name = "alone"
row = { case = "sleep 70", alone = "api1", held = "70ms", cores = 0.5 }
[[variant]]
name = "through"
row = { case = "sleep 70", held = "70ms", group = "text" }
"#,
    );
    let row = |index: usize| file.variants[index].file.row.clone().unwrap();
    let (front, held) = (Some("web".to_owned()), Some(Duration::from_millis(70)));
    let common =
        RowSpec { case: Some("sleep 70".to_owned()), front: front.clone(), held, ..RowSpec::default() };
    assert_eq!(file.row, Some(RowSpec { front, held: Some(Duration::ZERO), ..RowSpec::default() }));
    assert_eq!(row(0), RowSpec { alone: Some("api1".to_owned()), cores: Some(0.5), ..common.clone() });
    assert_eq!(row(1), RowSpec { group: Some("text".to_owned()), ..common });
    let group = file.variants[1].file.spec.clone().freeze().unwrap().group;
    assert_eq!(group.as_deref(), Some("text"), "the run is recorded with it");
    assert_eq!(with("").row, None, "a file without the table makes no rows");
}

#[test]
fn a_row_names_hosts_and_tiers_that_are_there() {
    let row = |line: &str| refused(&format!("{WHOLE}[row]\n{line}\n"));
    assert!(row("alone = \"api2\"").contains("did you mean `api`?"), "{}", row("alone = \"api2\""));
    assert!(with("[row]\nalone = \"api\"").row.is_some(), "a tier can be measured alone");
    assert!(row("front = \"nginx\"").contains("the name of a host of this file; write one of web, api1"));
    assert!(row("case = \" \"").contains("not empty"));
    assert!(row("hold = \"1s\"").contains("did you mean `held`?"));
}

#[test]
fn hosts_that_take_no_part_are_made_and_not_sampled() {
    let file = with("[[variant]]\nname = \"alone\"\nwith = [\"api1\"]\ntarget.url = \"http://api1/\"\n");
    let names = |file: &PlanFile| file.spec.hosts.iter().map(|host| host.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&file), ["web", "api1"]);
    let alone = &file.variants[0].file;
    assert_eq!((names(alone), alone.lab_hosts.len()), (vec!["api1".to_owned()], 2));
    let alone = "row.alone = \"api1\"\nwith = [\"api1\"]\n";
    let file = with(&format!("[row]\nfront = \"web\"\n[[variant]]\nname = \"alone\"\n{alone}"));
    let front = file.variants[0].file.row.as_ref().and_then(|row| row.front.as_deref());
    assert_eq!(front, Some("web"), "a row may name a host that takes no part in this run");
    let error = refused(&format!("with = [\"wep\"]\n{WHOLE}"));
    assert!(error.contains("line 1: `with`") && error.contains("web, api1"), "{error}");
}

#[test]
fn a_quick_pass_leaves_out_what_says_so() {
    let file = with("[[variant]]\nname = \"long\"\nquick = false\n[[variant]]\nname = \"short\"\n");
    let of_pass = |quick| file.of_pass(quick).map(|(name, _)| name.map(str::to_owned)).collect::<Vec<_>>();
    assert_eq!(of_pass(false), [None, Some("long".to_owned()), Some("short".to_owned())]);
    assert_eq!(of_pass(true), [None, Some("short".to_owned())]);
    assert!(refused(&format!("quick = 1\n{WHOLE}")).contains("true or false"));
}

#[test]
fn a_host_starts_capped_or_free() {
    let of = |start: &str| {
        PlanFile::parse(&format!("{WHOLE}[[host]]\nname = \"jvm\"\ncores = 0.1\nrun = \"java\"\n{start}"))
    };
    let starts_free = |start: &str| of(start).unwrap().lab_hosts[2].starts_free;
    assert_eq!(
        [starts_free(""), starts_free("start = \"capped\""), starts_free("start = \"free\"")],
        [false, false, true]
    );
    assert!(of("start = \"fast\"").unwrap_err().to_string().contains("once all hosts are ready"));
    let there = refused(&format!("{WHOLE}[[host]]\nname = \"db\"\nprobe = \"ssh://db\"\nstart = \"free\"\n"));
    assert!(there.contains("`host.run` is missing; `start` says"), "{there}");
}

#[test]
fn another_limit_has_another_place_and_no_size() {
    let file = "[target]\nurl = \"http://api/\"\n[expect]\nlimit = \"pool\"\nwhere = \"api\"\nsize = 8\n\
                [[variant]]\nname = \"fast\"\nexpect.limit = \"cpu\"\n[[variant]]\nname = \"wide\"\nexpect.size = 16\n\
                [[variant]]\nname = \"open\"\nexpect.limit = \"any\"\n";
    let file = PlanFile::parse(file).unwrap();
    let expected = |index: usize| file.variants[index].file.expect.clone().unwrap();
    assert_eq!((expected(0).size, expected(0).limits[0].host.clone()), (None, None));
    assert_eq!((expected(1).size, expected(1).limits[0].host.as_deref()), (Some(16), Some("api")));
    assert_eq!(file.variants[2].file.expect, None, "a variant may expect nothing");
}

#[test]
fn what_a_file_is_about_is_one_line_and_no_part_of_its_plan() {
    let about = "about = \"does a second API double the QPS?\"\n";
    let file = PlanFile::parse(&format!("{about}{WHOLE}[[variant]]\nname = \"v\"\n")).unwrap();
    assert_eq!(file.about.as_deref(), Some("does a second API double the QPS?"));
    assert_eq!((file.variants[0].file.about.as_ref(), file.spec), (None, whole().spec));
    assert_eq!(whole().about, None);
    for (text, found) in [
        ("\" \"", "line 1: `about` is empty; it must be a text of one line"),
        ("\"a\\nb\"", "is a text with a line break"),
        ("3", "a text in quotes"),
    ] {
        let error = refused(&format!("about = {text}\n{WHOLE}"));
        assert!(error.contains(found) && !error.contains('\n'), "{error}");
    }
    let of_variant = refused(&format!("{WHOLE}[[variant]]\nname = \"v\"\nabout = \"v\"\n"));
    assert!(of_variant.contains("`about` is not a key of [variant]"), "{of_variant}");
}
