#!/usr/bin/env bash
# Builds the container image of Plimsoll: only the static, stripped binary and this system's certificate authorities.
# Writes target/plimsoll-image.tar, an OCI archive. Needs the musl target of rustup and musl-gcc (Debian: musl-tools).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

TARGET=$(uname -m)-unknown-linux-musl
AUTHORITIES=/etc/ssl/certs/ca-certificates.crt
REFERENCE=${1:-plimsoll:$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)}
OUT=target/plimsoll-image.tar

fail() {
    printf 'image: %s\n' "$1" >&2
    exit 1
}

command -v musl-gcc >/dev/null || fail "musl-gcc is not on the PATH; install it (Debian: apt-get install musl-tools)"
command -v python3 >/dev/null || fail "python3 is not on the PATH; it packs the image"
rustup target add "$TARGET"
# LuaJIT's make also links its interpreter, which is not used here, and gcc's unwinder for glibc does not fit musl.
TARGET_XLDFLAGS=-Wl,--unresolved-symbols=ignore-all \
    "${CARGO:-cargo}" build --locked --package plimsoll --profile image --target "$TARGET"

files=("target/$TARGET/image/plimsoll=/plimsoll")
# The certificate authorities that verify HTTPS targets and tls:// brokers.
[ -e "$AUTHORITIES" ] && files+=("$AUTHORITIES=$AUTHORITIES")
scripts/image.py "$OUT" "$REFERENCE" "${files[@]}"
