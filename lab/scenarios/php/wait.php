<?php
usleep(40000);
echo "waited";
