//! wrk's command line, as a command and under its own name.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use plimsoll_units::best_effort;
use plimsoll_wrk::options::{self, Exit, Options};
use plimsoll_wrk::{Streams, run};

use crate::signals;

/// wrk's own exit code where nothing can be run.
const COULD_NOT_RUN: u8 = 1;

/// How long after a signal a script may still run: long enough to drain the load, to print it, and to sum it up.
const INTERRUPTED_LONGEST: Duration = Duration::from_secs(5);

/// A call of wrk's command line.
pub(crate) struct Called {
    /// What to call the program in messages; wrk2's options are known by it.
    program: String,
    args: Vec<OsString>,
}

/// The call of wrk that this process is, if it is one: by its own name, or as the command `wrk`.
pub(crate) fn called() -> Option<Called> {
    let mut args = env::args_os();
    let program = args.next()?;
    let name = Path::new(&program).file_name()?.to_string_lossy().into_owned();
    match name.as_str() {
        "wrk" | "wrk2" => {
            Some(Called { program: program.to_string_lossy().into_owned(), args: args.collect() })
        }
        _ => (args.next()? == "wrk").then(|| Called { program: format!("{name} wrk"), args: args.collect() }),
    }
}

impl Called {
    /// Makes the run.
    pub(crate) fn run(self) -> ExitCode {
        self.options().map_or_else(|exit| leave(&exit), |options| make(&options)).into()
    }

    fn options(self) -> Result<Options, Exit> {
        let Self { program, args } = self;
        let text = |arg: OsString| {
            arg.into_string().map_err(|arg| refusal(&format!("{program}: the argument {arg:?} is not UTF-8")))
        };
        let args = args.into_iter().map(text).collect::<Result<Vec<_>, _>>()?;
        options::parse(&program, &args)
    }
}

fn make(options: &Options) -> u8 {
    let (mut out, mut err) = (io::stdout(), io::stderr());
    let mut streams = Streams { out: &mut out, err: &mut err };
    let watch = || signals::interrupted_for(INTERRUPTED_LONGEST);
    run(options, env!("CARGO_PKG_VERSION"), &watch, &mut streams)
}

fn refusal(words: &str) -> Exit {
    Exit { code: COULD_NOT_RUN, stdout: String::new(), stderr: format!("{words}\n") }
}

fn leave(exit: &Exit) -> u8 {
    let written = io::stdout().write_all(exit.stdout.as_bytes()).and_then(|()| io::stdout().flush());
    let written = written.and_then(|()| io::stderr().write_all(exit.stderr.as_bytes()));
    best_effort(written, "both streams are closed, and the exit code says the same");
    exit.code
}
