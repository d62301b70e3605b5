//! The command line as a run file records it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::sync::OnceLock;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use plimsoll_plan::HIDDEN;
use plimsoll_report::{shown_address, shown_brokers, shown_header, shown_setting};

/// The options whose values are the addresses of a broker.
const BROKERS: [&str; 2] = ["fleet", "join"];

/// The command line of this process, once it is parsed.
static LINE: OnceLock<String> = OnceLock::new();

/// Returns the command line of this process, quoted for a shell: in the options of Plimsoll, without what documents hide. `None`
/// if the line is not UTF-8.
pub(crate) fn command_line() -> Option<String> {
    LINE.get().cloned()
}

/// Keeps the parsed line for the run files of this process.
pub(super) fn keep(root: &Command, matches: &ArgMatches) {
    LINE.get_or_init(|| recorded(root, matches));
}

fn recorded(root: &Command, matches: &ArgMatches) -> String {
    let mut words = vec![root.get_name().to_owned()];
    let (mut command, mut matches) = (Some(root), Some(matches));
    while let Some((known, given)) = command.zip(matches) {
        words.extend(typed(known, given));
        let below = given.subcommand();
        words.extend(below.map(|(name, _)| name.to_owned()));
        command = below.and_then(|(name, _)| known.find_subcommand(name));
        matches = below.map(|(_, given)| given);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Returns a command's own options and values, in the order in which they were typed.
fn typed(command: &Command, matches: &ArgMatches) -> Vec<String> {
    let redacted = matches.try_get_many::<String>("redact").ok().flatten().into_iter().flatten();
    let redacted: Vec<String> = redacted.map(|name| name.to_ascii_lowercase()).collect();
    let is_typed = |arg: &&Arg| matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let mut given: Vec<(usize, Vec<String>)> = Vec::new();
    // Global options, such as --color, do not describe the run.
    for arg in command.get_arguments().filter(|arg| !arg.is_global_set()).filter(is_typed) {
        let id = arg.get_id().as_str();
        let mut positions = matches.indices_of(id).into_iter().flatten();
        for values in matches.get_raw_occurrences(id).into_iter().flatten() {
            let values: Vec<String> = values.map(|value| shown(arg, value, &redacted)).collect();
            // An option without its optional value has no position; at the end it cannot take another word for its value.
            let at = positions.by_ref().take(values.len()).min().unwrap_or(usize::MAX);
            given.push((at, words(arg, values)));
        }
    }
    given.sort_by_key(|(at, _)| *at);
    given.into_iter().flat_map(|(_, words)| words).collect()
}

/// Returns a value without what documents hide.
fn shown(arg: &Arg, value: &OsStr, redacted: &[String]) -> String {
    let value = value.to_string_lossy();
    match arg.get_id().as_str() {
        "headers" => shown_header(&value, redacted),
        "body" if !value.is_empty() && !value.starts_with('@') => HIDDEN.to_owned(),
        _ if arg.is_positional() => shown_address(&value),
        _ if arg.get_long().is_some_and(|name| BROKERS.contains(&name)) => shown_brokers(&value),
        _ => shown_setting(&value),
    }
}

/// Returns an option with its values, or the values alone if they are positional.
fn words(arg: &Arg, values: Vec<String>) -> Vec<String> {
    let Some(option) = option(arg) else { return values };
    if !arg.get_action().takes_values() {
        return vec![option];
    }
    let values = match arg.get_value_delimiter() {
        Some(delimiter) if !values.is_empty() => vec![values.join(&delimiter.to_string())],
        _ => values,
    };
    match values.as_slice() {
        [value] if value.starts_with('-') && value != "-" => vec![format!("{option}={value}")],
        _ => [vec![option], values].concat(),
    }
}

fn option(arg: &Arg) -> Option<String> {
    let long = arg.get_long().map(|name| format!("--{name}"));
    long.or_else(|| arg.get_short().map(|letter| format!("-{letter}")))
}

/// Quotes a word for a shell, if that is necessary.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:=@%+,".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => format!("'{}'", word.replace('\'', "'\\''")).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign::translate;
    use super::super::whole_command;
    use super::*;

    fn recorded_of(line: &[&str]) -> String {
        let mut root = whole_command();
        root.build();
        let line = std::iter::once("/usr/bin/plimsoll").chain(line.iter().copied());
        let line = translate(&root, line.map(str::to_owned).collect()).unwrap().line;
        recorded(&root, &whole_command().try_get_matches_from(line).unwrap())
    }

    #[test]
    fn a_line_is_recorded_in_its_order_and_quoted_for_a_shell() {
        for (line, expected) in [
            (&["http://a/"][..], "plimsoll http://a/"),
            (
                &["run", "-c4", "http://a/", "--html", "-d", "10s", "-q"],
                "plimsoll run --connections 4 http://a/ --duration 10s --quiet --html",
            ),
            (
                &["sweep", "http://a/", "--ladder", "1,2,4", "--color", "never"],
                "plimsoll sweep http://a/ --ladder 1,2,4",
            ),
            (
                &["run", "http://a/", "-R", "const(5k,1m) ramp(1,2,3s)"],
                "plimsoll run http://a/ --rate 'const(5k,1m) ramp(1,2,3s)'",
            ),
            (
                &["run", "http://a/", "-n", "9", "-H", "Accept: it's"],
                "plimsoll run http://a/ --requests-count 9 --header 'Accept: it'\\''s'",
            ),
            (&["lab", "run", "x.toml", "--quick"], "plimsoll lab run x.toml --quick"),
        ] {
            assert_eq!(recorded_of(line), expected);
        }
    }

    #[test]
    fn no_secret_is_recorded_however_it_is_typed() {
        for line in [
            &["http://a/?token=s3cret"][..],
            &["run", "http://a/", "-HAuthorization: s3cret"],
            &["run", "http://a/", "-qHX-Mine: s3cret", "--redact", "x-mine"],
            &["run", "http://a/", "--header=Cookie: s3cret"],
            &["run", "http://a/", "-a", "ann:s3cret"],
            &["search", "http://a/", "-qbs3cret"],
            &["sweep", "http://a/", "--probe", "db=mariadb://ann:s3cret@b:3306"],
            &["ab", "http://a/?k=s3cret", "http://b/?k=s3cret", "--body", "s3cret"],
            &["sweep", "http://a/", "--probe", "db=mariadb://ann:p/s3cret@b:3306"],
            &["sweep", "http://a/", "--probe", "redis://:a@b/s3cret#c@b"],
            &["run", "http://a/", "--store", "postgres://ann:s3cret@b/db"],
            &["run", "http://a/", "--store", "postgres://ann:p/s3cret@b/db"],
            &["run", "http://a/", "--fleet", "nats://u:p@n1:4222,nats://u:s3cret@n2:4222"],
            &["run", "http://a/", "-H", "X-Of-A-Plan: s3cret"],
        ] {
            let text = recorded_of(line);
            assert!(!text.contains("s3cret") && text.contains("http://a/"), "{text}");
        }
        assert!(recorded_of(&["run", "http://a/", "-b", "@body.json"]).contains("--body @body.json"));
        let brokers = ["run", "http://a/", "--fleet", "nats://u:p@n1:4222,nats://u:p@n2:4222"];
        assert!(recorded_of(&brokers).ends_with("--fleet 'nats://…@n1:4222,nats://…@n2:4222'"));
    }
}
