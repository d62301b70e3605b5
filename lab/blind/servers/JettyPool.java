import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty's threads that each take a connection of HikariCP's pool: JettyPool PORT THREADS DATABASE-HOST CONNECTIONS SECONDS */
public class JettyPool {
    public static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[1]);
        String query = "SELECT pg_sleep(" + arguments[4] + ")";
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:postgresql://" + arguments[2] + ":5432/postgres");
        config.setUsername("postgres");
        config.setMaximumPoolSize(Integer.parseInt(arguments[3]));
        HikariDataSource pool = new HikariDataSource(config);
        // Jetty needs a few threads for its acceptor and selector, apart from those that handle requests.
        Server server = new Server(new QueuedThreadPool(threads + 2, threads + 2));
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setPort(Integer.parseInt(arguments[0]));
        connector.setAcceptQueueSize(1024);
        server.addConnector(connector);
        server.setHandler(new AbstractHandler() {
            @Override
            public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response)
                    throws IOException {
                base.setHandled(true);
                if (!target.equals("/healthz")) {
                    try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
                        statement.execute(query);
                    } catch (SQLException failed) {
                        response.setStatus(502);
                    }
                }
                response.getOutputStream().print("ok");
            }
        });
        server.start();
    }
}
