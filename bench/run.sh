#!/usr/bin/env bash
# Builds Plimsoll and measures it and other tools side by side: bench/run.sh [--date YYYY-MM-DD] [CASE…]
# Named cases are measured in any case. Without names it is every case that bench/out does not hold yet for this very
# binary, so a run that was broken off goes on where it ended. BENCH_FLAGS is given to each CPU case (--rounds 1
# --seconds 1 for a quick look that proves nothing). With a date the tables go into RESULTS.md.
# Ends with 3 when a goal was missed and with 1 when something could not be measured; the rest is measured all the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

OUT=bench/out
DATE=""
if [ "${1:-}" = --date ]; then
    DATE=${2:?--date needs a day such as 2026-01-31}
    shift 2
fi

cargo build --release --locked --package plimsoll
mkdir -p "$OUT"
mapfile -t cpu_cases < <(PYTHONPATH=bench python3 -c 'import cases; print("\n".join(cases.BY_NAME))')

names=("$@")
unless=()
if [ "${#names[@]}" -eq 0 ]; then
    names=("${cpu_cases[@]}" latency knee probe soak-epoll soak-io_uring scenarios experiments production plan)
    unless=(--unless-measured)
fi

measure() {
    case "$1" in
    latency | knee | probe | soak | scenarios | experiments | production | plan) python3 "bench/$1.py" --out "$OUT" "${unless[@]}" ;;
    soak-*) python3 bench/soak.py --out "$OUT" "${unless[@]}" --driver "${1#soak-}" ;;
    # The flags are several words on purpose.
    # shellcheck disable=SC2086
    *) python3 bench/engine.py --out "$OUT" "${unless[@]}" ${BENCH_FLAGS:-} "$1" ;;
    esac
}

worst=0
for name in "${names[@]}"; do
    printf 'bench: %s\n' "$name" >&2
    status=0
    measure "$name" || status=$?
    case "$status" in
    0) ;;
    3) [ "$worst" -ne 0 ] || worst=3 ;;
    *)
        rm -f "$OUT/$name.json" "$OUT/$name.md"
        worst=1
        ;;
    esac
done
python3 bench/record.py --out "$OUT" ${DATE:+--date "$DATE"}
printf 'bench: the tables are in %s/summary.md, the raw figures next to it\n' "$OUT" >&2
exit "$worst"
