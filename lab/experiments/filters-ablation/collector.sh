#!/bin/sh
# What the filters call, which writes each call to its disk before it answers: collector.sh SERVICES FOLDER
# The first of the JVM's two compilers alone: it is warm within seconds on a part of a core.
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx64m -Djava.io.tmpdir="$2" \
    -jar "$1/collector.jar" --journal="$2/journal"
