//! What both programs print about themselves.

use super::getopt::Dialect;

/// The output of `-v`, with the version where wrk has its own.
pub(super) const VERSION: &str =
    concat!("wrk plimsoll/", env!("CARGO_PKG_VERSION"), " [wrk 4.1, wrk2 4.0 compatible]\n");

pub(super) fn text(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Wrk => WRK,
        Dialect::Wrk2 => WRK2,
    }
}

/// wrk's usage, with its trailing spaces.
const WRK: &str = concat!(
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

const WRK2: &str = concat!(
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
