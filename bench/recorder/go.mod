module plimsoll/recorder

go 1.21
