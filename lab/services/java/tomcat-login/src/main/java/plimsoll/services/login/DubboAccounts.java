package plimsoll.services.login;

import java.util.List;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import plimsoll.services.accounts.Accounts;

/** The consumer of the accounts behind Dubbo: providers are called by their addresses in turn, and no registry is asked. */
final class DubboAccounts {
    private static final int CALL_TIMEOUT_MS = 5000;

    private DubboAccounts() {}

    /** Connects to providers given as tri://host:port or dubbo://host:port. */
    static Accounts of(List<String> providers) {
        // Dubbo would try other ways to log first, and say so.
        System.setProperty("dubbo.application.logger", "slf4j");
        ReferenceConfig<Accounts> reference = new ReferenceConfig<>();
        reference.setInterface(Accounts.class);
        reference.setUrl(String.join(";", providers));
        reference.setLoadbalance("roundrobin");
        reference.setTimeout(CALL_TIMEOUT_MS);
        // A call that failed is not sent again: a second one would be load that nobody offered.
        reference.setRetries(0);
        ApplicationConfig application = new ApplicationConfig("tomcat-login");
        application.setQosEnable(false);
        DubboBootstrap.getInstance().application(application).registry(new RegistryConfig("N/A"))
                .reference(reference).start();
        return reference.get();
    }
}
