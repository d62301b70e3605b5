package plimsoll.services.filters;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The table of apps in MariaDB, read through a pool of connections. */
final class AppTable {
    private static final int FIRST_ID = 10_001;
    private static final int ROWS = 1000;
    private static final long START_TIMEOUT_MS = 30_000;

    private final HikariDataSource pool;

    /** Connects, and makes the table with its thousand rows if it is not there. A database that starts is waited for. */
    AppTable(String url, int connections) throws SQLException {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(connections);
        config.setInitializationFailTimeout(START_TIMEOUT_MS);
        pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection()) {
            create(connection);
        }
    }

    private static void create(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS app (app_id INT PRIMARY KEY, app_key VARCHAR(64) NOT NULL,"
                    + " agroup_id INT NOT NULL, name VARCHAR(64) NOT NULL)");
        }
        try (PreparedStatement row = connection.prepareStatement("INSERT IGNORE INTO app VALUES (?, ?, ?, ?)")) {
            for (int id = FIRST_ID; id < FIRST_ID + ROWS; id++) {
                row.setInt(1, id);
                row.setString(2, "key-" + Integer.toHexString(id * 0x9e3779b1));
                row.setInt(3, id % 10 + 1);
                row.setString(4, "app " + id);
                row.addBatch();
            }
            row.executeBatch();
        }
    }

    /** The app of this number, or null. */
    App find(int id) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement query = connection.prepareStatement(
                        "SELECT app_id, app_key, agroup_id, name FROM app WHERE app_id = ?")) {
            query.setInt(1, id);
            try (ResultSet rows = query.executeQuery()) {
                return rows.next() ? new App(rows.getInt(1), rows.getString(2), rows.getInt(3), rows.getString(4)) : null;
            }
        }
    }
}
