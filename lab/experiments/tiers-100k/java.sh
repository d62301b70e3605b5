# Java as these small hosts can carry it: the compiler that is quick to be done, the collector without threads of its own.
exec java -Xmx64m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:ActiveProcessorCount=1 "$@"
