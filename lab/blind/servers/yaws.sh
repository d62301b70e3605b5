#!/bin/sh
# Compiles and starts gate.erl: yaws.sh FOLDER SOURCE PORT PROCESSES MILLISECONDS
set -eu
folder=$1
source=$2
shift 2
export HOME="$folder"
erlc -I /usr/lib/yaws/include -o "$folder" "$source"
exec erl -noshell -pa "$folder" -pa /usr/lib/yaws/ebin -run gate start "$folder" "$@"
