<?php
// A page that works for 6 ms on what its session has, and for 20 ms on what all have. PHP keeps a session's file locked while it is open.
if ($_SERVER["REQUEST_URI"] !== "/healthz") {
    session_start();
    $_SESSION["pages"] = ($_SESSION["pages"] ?? 0) + 1;
    usleep(6000);
    session_write_close();
    usleep(20000);
}
header("Content-Length: 2");
echo "ok";
