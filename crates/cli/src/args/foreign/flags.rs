//! The table of the options of ab and hey.
//!
//! This table translates the command line before it is parsed, and a test compares `docs/ab-and-hey.md` with it. An option is
//! accepted only if it means the same here. A letter with another meaning here keeps that meaning; a value that only ab or hey
//! takes is refused, with what to write instead.

use super::conflict::Conflict;

/// One option of ab or hey.
#[derive(Debug)]
pub(super) struct ForeignFlag {
    /// The option as typed in that tool: a letter, or one of hey's words after a single dash.
    pub(super) spelling: &'static str,
    /// The name of its value, if it takes one.
    pub(super) value: Option<&'static str>,
    /// The tool that has it: `ab`, `hey` or both.
    pub(super) from: &'static str,
    /// Its meaning there.
    pub(super) there: &'static str,
    /// Its meaning here.
    pub(super) here: Here,
}

/// The meaning of a foreign option here.
#[derive(Debug, Clone, Copy)]
pub(super) enum Here {
    /// The same option means the same.
    Same,
    /// The letter means something else here, and values that only the other tool takes are refused.
    Own(Conflict, &'static str),
    /// It stands for these arguments, with the value in place of `{}`.
    Means(&'static [&'static str]),
    /// It stands for the type of the body. wrk's `-T` is a time, which is refused.
    ContentType,
    /// It stands for a cookie; several share one header.
    Cookie,
    /// It stands for the header that carries a name and a password.
    Credentials,
    /// ab's name and password, or hey's header Accept, distinguished by the colon.
    CredentialsOrAccept,
    /// Accepted with a remark that it has no effect, because this is always so.
    NoEffect(&'static str),
    /// Refused with these words.
    Refused(&'static str),
}

const fn row(
    spelling: &'static str,
    value: Option<&'static str>,
    from: &'static str,
    there: &'static str,
    here: Here,
) -> ForeignFlag {
    ForeignFlag { spelling, value, from, there, here }
}

use Here::{ContentType, Cookie, Credentials, CredentialsOrAccept, Means, NoEffect, Own, Refused, Same};

const BOTH: &str = "ab, hey";
const NO_PROXY: &str = "requests go through no proxy; --connect-to HOST:PORT sends them to another server";
pub(super) const THREADS: &str =
    "worker threads; how long is -d TIME, the time for one request --timeout TIME";
const NO_HTML: &str =
    "the page of a run is --html FILE; for tables export the run file: plimsoll export FILE --format csv";
const NEGOTIATED: &str = "version and cipher of TLS are agreed on with the server, and the report names them";

/// All options that are translated, hey's words before the letters that they begin with.
pub(super) const FOREIGN_FLAGS: &[ForeignFlag] = &[
    row("-n", Some("N"), BOTH, "number of requests", Same),
    row("-c", Some("N"), BOTH, "connections at a time", Same),
    row("-m", Some("METHOD"), BOTH, "method", Same),
    row("-H", Some("HEADER"), BOTH, "header", Same),
    row("-z", Some("TIME"), "hey", "how long, instead of a number of requests", Means(&["-d", "{}"])),
    row(
        "-k",
        None,
        "ab",
        "keep connections open",
        NoEffect("connections stay open unless --no-keepalive is given"),
    ),
    row("-p", Some("FILE"), "ab", "body of a POST", Means(&["-b", "@{}"])),
    row("-u", Some("FILE"), "ab", "body of a PUT", Means(&["-m", "PUT", "-b", "@{}"])),
    row("-D", Some("FILE"), "hey", "body from a file", Means(&["-b", "@{}"])),
    row("-T", Some("TYPE"), BOTH, "content type of the body", ContentType),
    row("-i", None, "ab", "HEAD instead of GET", Means(&["-m", "HEAD"])),
    row("-C", Some("NAME=VALUE"), "ab", "cookie", Cookie),
    row("-a", Some("USER:PASSWORD"), "hey", "basic authentication", Credentials),
    row("-A", Some("VALUE"), BOTH, "ab: basic authentication; hey: the header Accept", CredentialsOrAccept),
    row("-U", Some("AGENT"), "hey", "the header User-Agent", Means(&["-H", "User-Agent: {}"])),
    row("-host", Some("HOST"), "hey", "the header Host", Means(&["-H", "Host: {}"])),
    row("-h2", None, "hey", "HTTP/2", Means(&["--http2"])),
    row("-B", Some("ADDRESS"), "ab", "where connections come from", Means(&["--source-ip", "{}"])),
    row("-E", Some("FILE"), "ab", "client certificate and key", Means(&["--cert", "{}"])),
    row("-cpus", Some("N"), "hey", "cores to use", Means(&["-t", "{}"])),
    row("-disable-keepalive", None, "hey", "a new connection for each request", Means(&["--no-keepalive"])),
    row(
        "-disable-compression",
        None,
        "hey",
        "ask for no compression",
        NoEffect("compression is never asked for"),
    ),
    row("-disable-redirects", None, "hey", "follow no redirects", NoEffect("redirects are never followed")),
    row("-l", None, "ab", "let the length of answers vary", NoEffect("answers may be of any length")),
    row("-r", None, "ab", "go on after socket errors", NoEffect("errors are counted and the load goes on")),
    row("-S", None, "ab", "no deviations and warnings", NoEffect("there are none to be left out")),
    row(
        "-q",
        Some("RATE"),
        BOTH,
        "ab: quiet; hey: requests a second for each worker",
        Own(Conflict::Rate, "--quiet, as in ab; a rate is one over all connections: -R RATE"),
    ),
    row(
        "-t",
        Some("SECONDS"),
        BOTH,
        "ab: how long; hey: time for one request",
        Own(Conflict::Threads, THREADS),
    ),
    row(
        "-d",
        Some("BODY"),
        BOTH,
        "hey: body; ab: no table of percentiles",
        Own(Conflict::Duration, "how long the load lasts; a body is -b BODY"),
    ),
    row(
        "-o",
        Some("csv"),
        "hey",
        "each request as a line of CSV",
        Own(Conflict::Folder, "folder for the files; tables come from plimsoll export FILE --format csv"),
    ),
    row(
        "-s",
        Some("SECONDS"),
        "ab",
        "time for one answer",
        Refused("write --timeout TIME; a script of wrk's runs under plimsoll wrk -s FILE"),
    ),
    row(
        "-g",
        Some("FILE"),
        "ab",
        "file for gnuplot",
        Refused("export the run file, which is kept anyway: plimsoll export FILE --format dat"),
    ),
    row(
        "-e",
        Some("FILE"),
        "ab",
        "file of percentiles",
        Refused("export the run file, which is kept anyway: plimsoll export FILE --format csv"),
    ),
    row(
        "-v",
        Some("LEVEL"),
        "ab",
        "print heads and bodies",
        Refused("answers are counted and not printed; curl -v URL shows one"),
    ),
    row("-X", Some("HOST:PORT"), "ab", "proxy", Refused(NO_PROXY)),
    row("-x", Some("VALUE"), BOTH, "hey: proxy; ab: attributes of HTML", Refused(NO_PROXY)),
    row("-P", Some("USER:PASSWORD"), "ab", "authentication at a proxy", Refused(NO_PROXY)),
    row("-w", None, "ab", "result as HTML", Refused(NO_HTML)),
    row("-y", Some("VALUE"), "ab", "attributes of HTML", Refused(NO_HTML)),
    row("-f", Some("VERSION"), "ab", "version of TLS", Refused(NEGOTIATED)),
    row("-Z", Some("CIPHERS"), "ab", "ciphers of TLS", Refused(NEGOTIATED)),
];

/// Returns the row of an option as typed.
pub(super) fn flag(spelling: &str) -> Option<&'static ForeignFlag> {
    FOREIGN_FLAGS.iter().find(|row| row.spelling == spelling)
}
