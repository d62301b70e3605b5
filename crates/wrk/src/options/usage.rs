//! The options of both programs, and how they are shown.

use super::getopt::{Named, Table};

const fn plain(name: &'static str, letter: char) -> Named {
    Named { name, letter, takes_value: false }
}

const fn valued(name: &'static str, letter: char) -> Named {
    Named { name, letter, takes_value: true }
}

/// The options of wrk. `-r` and `-?` are known and show the usage.
pub(super) const WRK: Table = Table {
    named: &[
        valued("connections", 'c'),
        valued("duration", 'd'),
        valued("threads", 't'),
        valued("script", 's'),
        valued("header", 'H'),
        plain("latency", 'L'),
        valued("timeout", 'T'),
        plain("help", 'h'),
        plain("version", 'v'),
    ],
    letters: "t:c:d:s:H:T:Lrv?",
};

/// The options of wrk2.
pub(super) const WRK2: Table = Table {
    named: &[
        valued("connections", 'c'),
        valued("duration", 'd'),
        valued("threads", 't'),
        valued("script", 's'),
        valued("header", 'H'),
        plain("latency", 'L'),
        plain("u_latency", 'U'),
        plain("batch_latency", 'B'),
        valued("timeout", 'T'),
        plain("help", 'h'),
        plain("version", 'v'),
        valued("rate", 'R'),
    ],
    letters: "t:c:d:s:H:T:R:LUBrv?",
};

/// The answer to `-v`: wrk's own has its version in the same place.
pub(super) const VERSION: &str =
    concat!("wrk plimsoll/", env!("CARGO_PKG_VERSION"), " [wrk 4.1, wrk2 4.0 compatible]\n");

/// wrk's usage, whose lines it fills up with spaces.
pub(super) const WRK_TEXT: &str = concat!(
    "Usage: wrk <options> <url>                            \n",
    "  Options:                                            \n",
    "    -c, --connections <N>  Connections to keep open   \n",
    "    -d, --duration    <T>  Duration of test           \n",
    "    -t, --threads     <N>  Number of threads to use   \n",
    "                                                      \n",
    "    -s, --script      <S>  Load Lua script file       \n",
    "    -H, --header      <H>  Add header to request      \n",
    "        --latency          Print latency statistics   \n",
    "        --timeout     <T>  Socket/request timeout     \n",
    "    -v, --version          Print version details      \n",
    "                                                      \n",
    "  Numeric arguments may include a SI unit (1k, 1M, 1G)\n",
    "  Time arguments may include a time unit (2s, 2m, 2h)\n",
);

/// wrk2's usage.
pub(super) const WRK2_TEXT: &str = concat!(
    "Usage: wrk <options> <url>                            \n",
    "  Options:                                            \n",
    "    -c, --connections <N>  Connections to keep open   \n",
    "    -d, --duration    <T>  Duration of test           \n",
    "    -t, --threads     <N>  Number of threads to use   \n",
    "                                                      \n",
    "    -s, --script      <S>  Load Lua script file       \n",
    "    -H, --header      <H>  Add header to request      \n",
    "    -L  --latency          Print latency statistics   \n",
    "    -U  --u_latency        Print uncorrected latency statistics\n",
    "        --timeout     <T>  Socket/request timeout     \n",
    "    -B, --batch_latency    Measure latency of whole   \n",
    "                           batches of pipelined ops   \n",
    "                           (as opposed to each op)    \n",
    "    -v, --version          Print version details      \n",
    "    -R, --rate        <T>  work rate (throughput)     \n",
    "                           in requests/sec (total)    \n",
    "                           [Required Parameter]       \n",
    "                                                      \n",
    "                                                      \n",
    "  Numeric arguments may include a SI unit (1k, 1M, 1G)\n",
    "  Time arguments may include a time unit (2s, 2m, 2h)\n",
);
