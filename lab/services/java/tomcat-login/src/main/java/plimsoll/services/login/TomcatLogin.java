package plimsoll.services.login;

import java.io.File;
import java.nio.file.Files;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.ExpandWar;
import org.apache.catalina.startup.Tomcat;
import plimsoll.services.accounts.Accounts;
import plimsoll.services.accounts.CannedAccounts;
import plimsoll.services.accounts.RedisAccounts;
import plimsoll.services.flags.FlagMistake;
import plimsoll.services.flags.Flags;
import plimsoll.services.flags.Program;

/** Embedded Tomcat with the login interface and two that write, over nothing, Redis, or Dubbo. */
public final class TomcatLogin {
    /** Kept, because the logging system forgets a logger that nobody holds, and its level with it. */
    private static final Logger TOMCAT_LOG = Logger.getLogger("org.apache");

    private TomcatLogin() {}

    /** Starts it; see {@code --help}. */
    public static void main(String[] args) {
        Program.run("tomcat-login", args, TomcatLogin::start);
    }

    private static void start(Flags flags) throws Exception {
        TOMCAT_LOG.setLevel(Level.WARNING);
        Connector connector = connector(flags);
        int count = flags.number("accounts", 1000, 1, 1_000_000, "accounts there are, numbered from 1");
        Accounts accounts = accounts(flags, count);
        Tomcat tomcat = tomcat(connector, new LoginServlet(accounts, count));
        tomcat.start();
        // A port that is taken fails the connector alone, and Tomcat would stay without it.
        if (connector.getState().isAvailable()) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(tomcat)));
        } else {
            throw new IllegalStateException("cannot listen on port " + connector.getPort());
        }
    }

    private static Connector connector(Flags flags) throws FlagMistake {
        Connector connector = new Connector("org.apache.coyote.http11.Http11NioProtocol");
        connector.setPort(flags.number("port", 8810, 1, 65535, "port to listen on"));
        connector.setProperty("address", flags.text("address", "0.0.0.0", "address to listen on"));
        int threads = flags.number("threads", 200, 1, 10_000, "requests worked on at once");
        connector.setProperty("maxThreads", Integer.toString(threads));
        connector.setProperty("minSpareThreads", Integer.toString(Math.min(threads, 10)));
        connector.setProperty("acceptCount", "1000");
        // A closed connection after every hundred requests would be part of every figure.
        connector.setProperty("maxKeepAliveRequests", "-1");
        return connector;
    }

    private static Accounts accounts(Flags flags, int count) throws FlagMistake {
        String mode = flags.text("mode", "empty", "empty (answers at once), redis or dubbo");
        List<String> redis = flags.list("redis", "127.0.0.1:6379", "instances of Redis as host:port,host:port");
        int connections = flags.number("redis-connections", 16, 1, 10_000, "connections to each instance of Redis");
        List<String> providers = flags.list("dubbo", "tri://127.0.0.1:20880", "providers as tri://host:port or dubbo://host:port");
        flags.end();
        switch (mode) {
            case "empty":
                return new CannedAccounts();
            case "redis":
                RedisAccounts accounts = new RedisAccounts(redis, connections);
                accounts.seed(count);
                return accounts;
            case "dubbo":
                return DubboAccounts.of(providers);
            default:
                throw new FlagMistake("--mode is empty, redis or dubbo, not '" + mode + "'");
        }
    }

    private static Tomcat tomcat(Connector connector, LoginServlet servlet) throws Exception {
        File base = Files.createTempDirectory("tomcat-login").toFile();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(base.getPath());
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", base.getPath());
        Tomcat.addServlet(context, "login", servlet).addMapping("/*");
        return tomcat;
    }

    private static void stop(Tomcat tomcat) {
        try {
            tomcat.stop();
            tomcat.destroy();
            ExpandWar.delete(tomcat.getServer().getCatalinaBase());
        } catch (Exception failure) {
            System.err.println("tomcat-login: while stopping: " + failure);
        }
    }
}
