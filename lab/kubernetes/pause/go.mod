module plimsoll.test/pause

go 1.24
