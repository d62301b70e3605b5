#!/bin/sh
# Compiles and starts mochi.erl: mochiweb.sh FOLDER SOURCE PORT CONNECTIONS MILLISECONDS
set -eu
folder=$1
source=$2
shift 2
export HOME="$folder"
erlc -o "$folder" "$source"
exec erl -noshell -pa "$folder" -run mochi start "$@"
