//! wrk's command line, as a command and under its own name.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use plimsoll_units::best_effort;
use plimsoll_wrk::Streams;
use plimsoll_wrk::options::{self, Exit, Options};

use crate::signals;
use crate::terminal::Printable;

/// How long after a signal a script may still run: long enough to drain the load, to print it, and to sum it up.
const INTERRUPTED_LONGEST: Duration = Duration::from_secs(5);

/// Makes the run of wrk's command line, if this process is called by wrk's own name or with the command `wrk`; otherwise `None`.
pub(crate) fn run() -> Option<ExitCode> {
    let mut args = env::args_os();
    let path = args.next()?;
    let name = Path::new(&path).file_name()?.to_string_lossy().into_owned();
    // The program's name in messages; wrk2 is recognised by it.
    let program = match name.as_str() {
        "wrk" | "wrk2" => path.to_string_lossy().into_owned(),
        _ => (args.next()? == "wrk").then(|| format!("{name} wrk"))?,
    };
    let text = |arg: OsString| {
        let refusal = |arg| format!("{program}: the argument {arg:?} is not UTF-8\n");
        arg.into_string().map_err(|arg| Exit { code: 1, stdout: String::new(), stderr: refusal(arg) })
    };
    let args = args.map(text).collect::<Result<Vec<_>, _>>();
    let options = args.and_then(|args| options::parse(&program, &args));
    Some(options.map_or_else(|exit| leave(&exit), |options| make(&options)).into())
}

fn make(options: &Options) -> u8 {
    let mut out = Printable { stream: io::stdout(), styles: false };
    let mut err = Printable { stream: io::stderr(), styles: false };
    let mut streams = Streams { out: &mut out, err: &mut err };
    let watch = || signals::interrupted_for(INTERRUPTED_LONGEST);
    plimsoll_wrk::run(options, env!("CARGO_PKG_VERSION"), &watch, &mut streams)
}

fn leave(exit: &Exit) -> u8 {
    let mut out = Printable { stream: io::stdout(), styles: false };
    let written = out.write_all(exit.stdout.as_bytes()).and_then(|()| out.flush());
    let mut err = Printable { stream: io::stderr(), styles: false };
    let written = written.and_then(|()| err.write_all(exit.stderr.as_bytes()));
    best_effort(written, "both streams are closed, and the exit code says the same");
    exit.code
}
