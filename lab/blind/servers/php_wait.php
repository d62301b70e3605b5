<?php
// Waits for 50 ms.
usleep(50000);
echo "waited";
