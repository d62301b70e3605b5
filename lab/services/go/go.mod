module plimsoll/services

go 1.24
