#!/bin/sh
# Varnish that answers 429 beyond RATE requests a second, and passes the others on: varnish.sh FOLDER API-ADDRESS RATE
set -eu
cat >"$1/front.vcl" <<VCL
vcl 4.1;
import vsthrottle;
backend api {
    .host = "$2";
    .port = "9000";
}
sub vcl_recv {
    if (vsthrottle.is_denied("all", $3, 1s)) {
        return (synth(429));
    }
    return (pass);
}
VCL
exec varnishd -F -j none -n "$1/work" -a :80 -f "$1/front.vcl" -s malloc,16m \
    -p thread_pools=1 -p thread_pool_min=20 -p thread_pool_max=200 -p thread_pool_reserve=5
