#!/bin/sh
# Debian's Tomcat 10 with a folder of its own and a fixed number of threads: tomcat.sh FOLDER THREADS
set -eu
base=$1
threads=$2
home=/usr/share/tomcat10
mkdir -p "$base/conf" "$base/logs" "$base/temp" "$base/work" "$base/webapps/ROOT"
cp "$home/etc/web.xml" "$base/conf/" 2>/dev/null || cp /etc/tomcat10/web.xml "$base/conf/"
cat >"$base/conf/server.xml" <<XML
<Server port="-1">
  <Service name="Catalina">
    <Connector port="8080" protocol="HTTP/1.1" maxThreads="$threads" minSpareThreads="$threads"
               maxKeepAliveRequests="-1" acceptCount="1000" />
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" unpackWARs="false" autoDeploy="false" />
    </Engine>
  </Service>
</Server>
XML
cat >"$base/webapps/ROOT/wait.jsp" <<'JSP'
<%@ page session="false" %><% Thread.sleep(40); %>waited
JSP
export CATALINA_HOME="$home" CATALINA_BASE="$base" CATALINA_OPTS="-Xmx256m"
exec "$home/bin/catalina.sh" run
