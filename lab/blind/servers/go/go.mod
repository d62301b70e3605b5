module plimsoll/scenarios

go 1.25.0

require (
	github.com/beanstalkd/go-beanstalk v0.2.0
	github.com/bradfitz/gomemcache v0.0.0-20230905024940-24af94b03874
	github.com/jackc/pgx/v5 v5.7.6
	github.com/labstack/echo/v4 v4.13.3
	github.com/nats-io/nats.go v1.48.0
	github.com/rabbitmq/amqp091-go v1.16.0
	github.com/valyala/fasthttp v1.61.0
	golang.org/x/sync v0.16.0
)

require (
	github.com/andybalholm/brotli v1.1.1 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.2 // indirect
	github.com/klauspost/compress v1.18.0 // indirect
	github.com/labstack/gommon v0.4.2 // indirect
	github.com/mattn/go-colorable v0.1.13 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	github.com/nats-io/nkeys v0.4.11 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/valyala/bytebufferpool v1.0.0 // indirect
	github.com/valyala/fasttemplate v1.2.2 // indirect
	golang.org/x/crypto v0.37.0 // indirect
	golang.org/x/net v0.39.0 // indirect
	golang.org/x/sys v0.32.0 // indirect
	golang.org/x/text v0.24.0 // indirect
)
