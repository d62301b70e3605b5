<?php
// Each request opens a connection to PostgreSQL of its own, keeps it for 200 ms, and tries again
// after about 200 ms where there is none left.
header("Content-Length: 2");
if ($_SERVER["REQUEST_URI"] === "/healthz") {
    echo "ok";
    return;
}
for ($tries = 0; $tries < 1000; $tries++) {
    $connection = @pg_connect("host=" . getenv("DATABASE") . " user=postgres dbname=postgres", PGSQL_CONNECT_FORCE_NEW);
    if ($connection) {
        pg_query($connection, "SELECT pg_sleep(0.2)");
        pg_close($connection);
        echo "ok";
        return;
    }
    usleep(random_int(150000, 250000));
}
http_response_code(502);
echo "no";
