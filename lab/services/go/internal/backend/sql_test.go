package backend

import (
	"database/sql"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
)

// A MariaDB of its own without a password; returns its address.
func startMariaDB(t *testing.T) string {
	t.Helper()
	here := folder(t)
	files, socket := "--datadir="+filepath.Join(here, "files"), filepath.Join(here, "socket")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	install := exec.Command("mariadb-install-db", "--no-defaults", "--user="+me.Username, files,
		"--auth-root-authentication-method=normal", "--skip-test-db")
	if log, err := install.CombinedOutput(); err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, log)
	}
	start(t, socket, mariadbd(), "--no-defaults", "--user="+me.Username, files, "--socket="+socket,
		"--pid-file="+filepath.Join(here, "pid"), "--skip-networking", "--skip-grant-tables", "--innodb-buffer-pool-size=16M")
	return "plimsoll@unix(" + socket + ")/mysql"
}

// The server's folder may not be on an ordinary user's path.
func mariadbd() string {
	if path, err := exec.LookPath("mariadbd"); err == nil {
		return path
	}
	return "/usr/sbin/mariadbd"
}

// Each call records its connection.
func TestEachSQLCallAsksTheDatabaseOnNoMoreConnectionsThanItMay(t *testing.T) {
	dsn := startMariaDB(t)
	database, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	if _, err := database.Exec("CREATE TABLE seen (connection BIGINT)"); err != nil {
		t.Fatal(err)
	}
	calls, err := SQL(dsn, "INSERT INTO seen SELECT CONNECTION_ID() FROM (SELECT SLEEP(0.02)) AS slow", 2)
	if err != nil {
		t.Fatal(err)
	}
	callAtOnce(t, calls, 20)
	var asked, connections int
	err = database.QueryRow("SELECT COUNT(*), COUNT(DISTINCT connection) FROM seen").Scan(&asked, &connections)
	if asked != 20 || connections != 2 || err != nil {
		t.Errorf("asked %d times on %d connections, error %v", asked, connections, err)
	}
	refused, err := SQL(dsn, "SELECT nothing FROM nowhere", 0)
	if err != nil || refused(t.Context()) == nil {
		t.Errorf("a query that cannot be answered was no error; %v", err)
	}
}

func TestADatabaseThatCannotBeNamedIsToldAtTheStart(t *testing.T) {
	if _, err := SQL("no database", "SELECT 1", 0); err == nil {
		t.Error("it is taken for one")
	}
}
