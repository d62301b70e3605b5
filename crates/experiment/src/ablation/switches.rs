//! Applies the settings of switches to a plan file.

use plimsoll_plan::{GeneratorSpec, LabHostSpec, PlanFile, PlanSpec, Switch, Turn};

/// The shell commands of a combination to run before the load, each with its host.
pub(super) fn commands<'a>(switches: &'a [Switch], settings: &[bool]) -> Vec<(Option<&'a str>, &'a str)> {
    let pairs = switches.iter().zip(settings);
    let command = |(switch, on): (&'a Switch, &bool)| match &switch.turn {
        Turn::Command { host, positions } => positions.at(*on).map(|command| (host.as_deref(), command)),
        Turn::Header(_) | Turn::Query(_) | Turn::Environment { .. } => None,
    };
    pairs.filter_map(command).collect()
}

/// The hosts of a file: files with equal hosts run in one lab.
pub(super) fn footing(file: &PlanFile) -> (&[LabHostSpec], GeneratorSpec) {
    (&file.lab_hosts, file.generator)
}

/// Returns the file with these settings: headers and query of its requests, and the environment of its hosts' commands.
pub(super) fn turned(file: &PlanFile, settings: &[bool]) -> PlanFile {
    let mut turned = file.clone();
    for (switch, on) in file.switches.iter().zip(settings) {
        match &switch.turn {
            Turn::Header(positions) => {
                if let Some(header) = positions.at(*on) {
                    turn_header(&mut turned.spec, header);
                }
            }
            Turn::Query(positions) => {
                if let Some(part) = positions.at(*on) {
                    turn_query(&mut turned.spec, part);
                }
            }
            Turn::Environment { host, positions } => {
                if let Some((name, value)) = positions.at(*on).and_then(|text| text.split_once('=')) {
                    export(&mut turned, host, name, value);
                }
            }
            Turn::Command { .. } => {}
        }
    }
    turned
}

/// Sets a header. A request from a list takes the file's headers, except those that it sets itself.
fn turn_header(spec: &mut PlanSpec, header: &str) {
    let (name, value) = parts(header);
    for request in &mut spec.scenario.requests {
        let own = request.headers.iter_mut().find(|(known, _)| known.trim().eq_ignore_ascii_case(&name));
        if let Some((_, known)) = own {
            *known = joined(&name, known, &value);
        }
    }
    join_header(&mut spec.headers, header);
}

/// Adds a part of the query. If there are several requests, the file's URL only names their host.
fn turn_query(spec: &mut PlanSpec, part: &str) {
    let requests = &mut spec.scenario.requests;
    if requests.is_empty() {
        spec.url = with_query(&spec.url, part);
    }
    requests.iter_mut().for_each(|request| request.url = with_query(&request.url, part));
}

/// The name of a header in lower case, and its value.
fn parts(header: &str) -> (String, String) {
    let (name, value) = header.split_once(':').unwrap_or((header, ""));
    (name.trim().to_ascii_lowercase(), value.trim().to_owned())
}

/// Appends a value to a header's values.
fn joined(name: &str, known: &str, value: &str) -> String {
    let sign = if name == "cookie" { "; " } else { "," };
    format!("{}{sign}{value}", known.trim_end())
}

/// Adds a header, or appends its value to the existing header with that name. Several headers with a name mean the same as one with
/// a list (RFC 9110, 5.3; cookies are separated by semicolons, RFC 6265, 4.2), but many servers read only the first.
fn join_header(headers: &mut Vec<String>, header: &str) {
    let (name, value) = parts(header);
    match headers.iter_mut().find(|known| parts(known).0 == name) {
        Some(known) => *known = joined(&name, known, &value),
        None => headers.push(header.to_owned()),
    }
}

fn with_query(url: &str, part: &str) -> String {
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    let sign = if url.contains('?') { '&' } else { '?' };
    let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
    format!("{url}{sign}{part}{fragment}")
}

/// Sets an environment variable for each command of a host. A shell runs the commands, so `export` can precede them.
fn export(file: &mut PlanFile, host: &str, name: &str, value: &str) {
    let quoted = value.replace('\'', "'\\''");
    for known in file.lab_hosts.iter_mut().filter(|known| known.name == host) {
        for command in &mut known.run {
            *command = format!("export {name}='{quoted}'; {command}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[target]\nurl = \"http://web/a?b=1\"\n[[host]]\nname = \"web\"\nrun = [\"exec serve\"]\n\
        [[switch]]\nname = \"log\"\nheader = { on = \"X-Log: 1\", off = \"X-Log: 0\" }\n\
        [[switch]]\nname = \"cache\"\nquery = \"cache=1\"\n\
        [[switch]]\nname = \"name\"\nhost = \"web\"\nenv = \"NAME=it's\"\n\
        [[switch]]\nname = \"pin\"\nhost = \"web\"\ncommand = { on = \"pin\", off = \"unpin\" }\n";

    #[test]
    fn switches_turn_headers_queries_environments_and_commands() {
        let file = PlanFile::parse(FILE).unwrap();
        let on = turned(&file, &[true; 4]);
        assert_eq!(
            (on.spec.headers, on.spec.url),
            (vec!["X-Log: 1".into()], "http://web/a?b=1&cache=1".into())
        );
        assert_eq!(on.lab_hosts[0].run, ["export NAME='it'\\''s'; exec serve"]);
        let off = turned(&file, &[false; 4]);
        assert_eq!((off.spec.headers, off.spec.url), (vec!["X-Log: 0".into()], "http://web/a?b=1".into()));
        assert_eq!(off.lab_hosts[0].run, ["exec serve"]);
        assert_eq!(commands(&file.switches, &[true; 4]), [(Some("web"), "pin")]);
        assert_eq!(commands(&file.switches, &[false; 4]), [(Some("web"), "unpin")]);
    }

    #[test]
    fn settings_that_change_what_a_host_runs_need_a_lab_of_their_own() {
        let file = PlanFile::parse(FILE).unwrap();
        let with = |settings: [bool; 4]| turned(&file, &settings);
        let (on, plain, off) = (with([true; 4]), with([false, false, true, false]), with([false; 4]));
        assert_eq!(footing(&on), footing(&plain));
        assert_ne!(footing(&on), footing(&off));
    }

    #[test]
    fn switches_of_one_header_make_one_header() {
        let switch = |name: &str, header: &str| {
            format!(
                "[[switch]]\nname = \"{name}\"\nheader = {{ on = \"{header}=call\", off = \"{header}=off\" }}\n"
            )
        };
        let text = format!(
            "[target]\nurl = \"http://web/\"\nheaders = {{ \"Cookie\" = \"a=1\" }}\n{}{}{}",
            switch("perf", "Switches: perf"),
            switch("cookie", "cookie: b"),
            switch("log", "switches:log")
        );
        let turned = turned(&PlanFile::parse(&text).unwrap(), &[false, true, true]);
        assert_eq!(turned.spec.headers, ["Cookie: a=1; b=call", "Switches: perf=off,log=call"]);
    }

    #[test]
    fn each_of_several_requests_is_turned() {
        let text = "[target]\nurl = \"http://web/\"\n\
            [[request]]\nurl = \"/a\"\n[[request]]\nurl = \"/b?c=1\"\nheaders = { \"x-switches\" = \"own\" }\n\
            [[switch]]\nname = \"log\"\nheader = \"X-Switches: log\"\n[[switch]]\nname = \"cache\"\nquery = \"cache=1\"\n";
        let spec = turned(&PlanFile::parse(text).unwrap(), &[true, true]).spec;
        let urls: Vec<&str> = spec.scenario.requests.iter().map(|request| request.url.as_str()).collect();
        assert_eq!((urls, spec.url.as_str()), (vec!["/a?cache=1", "/b?c=1&cache=1"], "http://web/"));
        let plan = spec.freeze().unwrap();
        let value = |index: usize| {
            let headers = &plan.mix[index].headers;
            headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("X-Switches")).unwrap().1.as_str()
        };
        assert_eq!((value(0), value(1)), ("log", "own,log"));
    }

    #[test]
    fn a_query_comes_before_a_fragment() {
        assert_eq!(with_query("http://web/a#b", "c=1"), "http://web/a?c=1#b");
    }
}
