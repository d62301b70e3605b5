#!/bin/sh
# Makes what the scenarios need beyond Debian's packages: one Go program, Java libraries and Node modules: build.sh SERVICES-FOLDER
set -eu
mkdir -p "$1"
services=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
(cd "$here/go" && CGO_ENABLED=0 go build -o "$services/scenario" ./cmd/scenario)
mvn --quiet --batch-mode --file "$here/java/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$services/scenario-jars"
cp "$here/node/package.json" "$here/node/package-lock.json" "$services/"
npm --prefix "$services" ci --silent --no-audit --no-fund
