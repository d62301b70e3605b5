#!/usr/bin/env bash
# Looks for undefined behaviour, data races and memory errors: Miri for code without system calls, and the thread and address
# sanitizers for the engine and its system calls.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

HOST=$(rustc -vV | sed -n 's/^host: //p')

if ! cargo +nightly miri --version >/dev/null 2>&1; then
    echo "sanitize: needs nightly Rust with Miri and the sources of the standard library. To get them:" >&2
    echo "    rustup toolchain install nightly --profile minimal --component miri,rust-src" >&2
    exit 1
fi

echo "sanitize: Miri"
export MIRIFLAGS=-Zmiri-disable-isolation
cargo +nightly miri test --locked --target-dir target/miri -p plimsoll-units -p plimsoll-http --lib -- --skip 64_kib
cargo +nightly miri test --locked --target-dir target/miri -p plimsoll-sys --lib -- ring::provided

for sanitizer in thread address; do
    echo "sanitize: $sanitizer"
    RUSTFLAGS="-Zsanitizer=$sanitizer" cargo +nightly test --locked -Zbuild-std --target "$HOST" \
        --target-dir "target/$sanitizer" -p plimsoll-sys -p plimsoll-engine --lib
done
