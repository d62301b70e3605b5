//! What holds for every command line of wrk: shared by the tests and the fuzz target.

use plimsoll_wrk::options::{Dialect, Exit, Options, parse};

/// Reads each line of a text as one argument, the first as the name of the program. The line is refused as wrk refuses it, or
/// gives options that a command line in another spelling gives too.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let mut words = text.split('\n').map(str::to_owned);
    let program = words.next().unwrap_or_default();
    let args: Vec<String> = words.collect();
    match parse(&program, &args) {
        Ok(options) => check_options(&program, &options),
        Err(exit) => check_exit(&exit, &args),
    }
}

fn check_exit(exit: &Exit, args: &[String]) {
    assert_eq!(exit.code, 1, "{args:?}");
    assert!(exit.stdout.contains("Usage: wrk <options> <url>"), "{args:?}");
    assert!(exit.stderr.is_empty() || exit.stderr.ends_with('\n'), "{args:?}: {}", exit.stderr);
}

fn check_options(program: &str, options: &Options) {
    assert!(options.threads >= 1 && options.connections >= options.threads, "{options:?}");
    assert!(options.duration.as_secs() >= 1 && options.timeout.as_secs() >= 1, "{options:?}");
    assert_eq!(options.rate.is_some(), options.dialect == Dialect::Wrk2, "{options:?}");
    assert!(options.rate != Some(0), "{options:?}");
    assert!(["http", "https"].contains(&options.url.scheme.as_str()), "{options:?}");
    assert!(!options.url.host.is_empty() && options.url.path.starts_with('/'), "{options:?}");
    let spelled = parse(program, &spelled_out(options));
    let expected = Options { warnings: Vec::new(), greeting: String::new(), ..options.clone() };
    assert_eq!(spelled.as_ref(), Ok(&expected));
    let bundled = parse(program, &bundled(options));
    assert_eq!(bundled.as_ref(), Ok(&expected));
}

/// The options by their names.
fn spelled_out(options: &Options) -> Vec<String> {
    let mut args = vec![
        format!("--threads={}", options.threads),
        "--connections".to_owned(),
        options.connections.to_string(),
        format!("--duration={}s", options.duration.as_secs()),
        format!("--timeout={}", options.timeout.as_secs()),
    ];
    args.extend(options.rate.map(|rate| format!("--rate={rate}")));
    args.extend(options.script.as_ref().map(|script| format!("--script={script}")));
    args.extend(options.headers.iter().map(|(name, value)| format!("--header={name}: {value}")));
    let flags = [
        ("--u_latency", options.service_time),
        ("--latency", options.latency && !options.service_time),
        ("--batch_latency", options.batch_latency),
    ];
    args.extend(flags.iter().filter(|(_, given)| *given).map(|(name, _)| (*name).to_owned()));
    args.extend(["--".to_owned(), options.url_text.clone()]);
    args.extend(options.args.iter().cloned());
    args
}

/// The options by their letters, after the URL.
fn bundled(options: &Options) -> Vec<String> {
    let mut args = vec![options.url_text.clone()];
    // An operand that begins with a dash can only follow `--`.
    let flags = [
        ('U', options.service_time),
        ('L', options.latency && !options.service_time),
        ('B', options.batch_latency),
    ];
    let letters: String = flags.iter().filter(|(_, given)| *given).map(|(letter, _)| *letter).collect();
    args.push(format!("-{letters}t{}", options.threads));
    args.push(format!("-c{}", options.connections));
    args.push(format!("-d{}", options.duration.as_secs()));
    args.extend(["-T".to_owned(), format!("{}S", options.timeout.as_secs())]);
    args.extend(options.rate.map(|rate| format!("-R{rate}")));
    args.extend(options.script.iter().flat_map(|script| ["-s".to_owned(), script.clone()]));
    args.extend(
        options.headers.iter().flat_map(|(name, value)| ["-H".to_owned(), format!("{name}: {value}")]),
    );
    args.push("--".to_owned());
    args.extend(options.args.iter().cloned());
    args
}
