//! A plan file with its switches turned.

use plimsoll_plan::{PlanFile, Switch, Turn};

/// What a combination asks of the lab before its load: shell commands with the hosts they are called on.
pub(super) fn commands<'a>(switches: &'a [Switch], settings: &[bool]) -> Vec<(Option<&'a str>, &'a str)> {
    let pairs = switches.iter().zip(settings);
    let command = |(switch, on): (&'a Switch, &bool)| match &switch.turn {
        Turn::Command { host, positions } => positions.at(*on).map(|command| (host.as_deref(), command)),
        Turn::Header(_) | Turn::Query(_) | Turn::Environment { .. } => None,
    };
    pairs.filter_map(command).collect()
}

/// The settings of the switches for which hosts are started again.
pub(super) fn environment(switches: &[Switch], settings: &[bool]) -> Vec<bool> {
    let is_environment = |switch: &Switch| matches!(switch.turn, Turn::Environment { .. });
    switches.iter().zip(settings).filter(|(switch, _)| is_environment(switch)).map(|(_, on)| *on).collect()
}

/// The file with these settings: headers and query of its request, and the environment of what its hosts run.
pub(super) fn turned(file: &PlanFile, settings: &[bool]) -> PlanFile {
    let mut turned = file.clone();
    for (switch, on) in file.switches.iter().zip(settings) {
        match &switch.turn {
            Turn::Header(positions) => turned.spec.headers.extend(positions.at(*on).map(ToOwned::to_owned)),
            Turn::Query(positions) => {
                if let Some(part) = positions.at(*on) {
                    turned.spec.url = with_query(&turned.spec.url, part);
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

fn with_query(url: &str, part: &str) -> String {
    let (url, fragment) = url.split_once('#').unwrap_or((url, ""));
    let sign = if url.contains('?') { '&' } else { '?' };
    let fragment = if fragment.is_empty() { String::new() } else { format!("#{fragment}") };
    format!("{url}{sign}{part}{fragment}")
}

/// Commands are run by a shell, so that a variable can stand before each.
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
        assert_eq!(environment(&file.switches, &[true, true, false, true]), [false]);
    }

    #[test]
    fn a_query_comes_before_a_fragment() {
        assert_eq!(with_query("http://web/a#b", "c=1"), "http://web/a?c=1#b");
    }
}
