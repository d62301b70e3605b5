package plimsoll.services.provider;

import java.util.List;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import plimsoll.services.accounts.Accounts;
import plimsoll.services.accounts.CannedAccounts;
import plimsoll.services.accounts.RedisAccounts;
import plimsoll.services.flags.FlagMistake;
import plimsoll.services.flags.Flags;
import plimsoll.services.flags.Program;

/** The accounts in Redis, offered by Dubbo to consumers that know its address. */
public final class DubboProvider {
    private DubboProvider() {}

    /** Starts it; see {@code --help}. */
    public static void main(String[] args) {
        // Dubbo would try other ways to log first, and say so.
        System.setProperty("dubbo.application.logger", "slf4j");
        Program.run("dubbo-provider", args, DubboProvider::start);
    }

    private static void start(Flags flags) throws FlagMistake {
        ProtocolConfig protocol = protocol(flags);
        Accounts accounts = accounts(flags);
        ServiceConfig<Accounts> service = new ServiceConfig<>();
        service.setInterface(Accounts.class);
        service.setRef(accounts);
        ApplicationConfig application = new ApplicationConfig("dubbo-provider");
        application.setQosEnable(false);
        DubboBootstrap.getInstance().application(application).registry(new RegistryConfig("N/A"))
                .protocol(protocol).service(service).start().await();
    }

    private static ProtocolConfig protocol(Flags flags) throws FlagMistake {
        String name = flags.text("protocol", "tri", "tri (Triple) or dubbo");
        if (!List.of("tri", "dubbo").contains(name)) {
            throw new FlagMistake("--protocol is tri or dubbo, not '" + name + "'");
        }
        ProtocolConfig protocol = new ProtocolConfig(name, flags.number("port", 20880, 1, 65535, "port to listen on"));
        protocol.setHost(flags.text("address", "0.0.0.0", "address to listen on"));
        protocol.setThreads(flags.number("threads", 200, 1, 10_000, "calls worked on at once"));
        return protocol;
    }

    private static Accounts accounts(Flags flags) throws FlagMistake {
        List<String> redis = flags.list("redis", "", "instances of Redis as host:port,host:port; none: answers at once");
        int connections = flags.number("redis-connections", 16, 1, 10_000, "connections to each instance of Redis");
        int count = flags.number("accounts", 1000, 1, 1_000_000, "accounts there are, numbered from 1");
        flags.end();
        if (redis.isEmpty()) {
            return new CannedAccounts();
        }
        RedisAccounts accounts = new RedisAccounts(redis, connections);
        accounts.seed(count);
        return accounts;
    }
}
