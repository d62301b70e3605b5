package plimsoll.services.accounts;

import java.util.List;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * Accounts in Redis: three keys of each, read one after another. With several instances all keys of an account are on
 * the one that its number names, and any other key is on the one that its hash names.
 */
public final class RedisAccounts implements Accounts, AutoCloseable {
    private static final int SEEDED_AT_ONCE = 1000;

    private final List<RedisClient> instances;

    /** Connects to instances given as host:port, with a pool of so many connections to each. */
    public RedisAccounts(List<String> addresses, int connections) {
        ConnectionPoolConfig pool = new ConnectionPoolConfig();
        pool.setMaxTotal(connections);
        pool.setMaxIdle(connections);
        instances = addresses.stream()
                .map(address -> RedisClient.builder().hostAndPort(HostAndPort.from(address)).poolConfig(pool).build())
                .toList();
    }

    /** Writes the accounts 1 to {@code count}, the same ones whoever does it and however often. */
    public void seed(int count) {
        for (int instance = 0; instance < instances.size(); instance++) {
            int first = instance == 0 ? instances.size() : instance;
            for (int id = first; id <= count; id += SEEDED_AT_ONCE * instances.size()) {
                seed(instances.get(instance), id, count);
            }
        }
    }

    private void seed(RedisClient instance, int first, int count) {
        try (AbstractPipeline pipeline = instance.pipelined()) {
            int last = Math.min(count, first + (SEEDED_AT_ONCE - 1) * instances.size());
            for (int id = first; id <= last; id += instances.size()) {
                pipeline.set("account:" + id, "user" + id);
                pipeline.set("rights:" + id, "read,write");
                pipeline.set("session:" + id, Long.toHexString(0x9e3779b97f4a7c15L * id));
            }
        }
    }

    @Override
    public Account login(long id) {
        RedisClient instance = instances.get((int) Long.remainderUnsigned(id, instances.size()));
        String name = instance.get("account:" + id);
        String rights = instance.get("rights:" + id);
        String session = instance.get("session:" + id);
        return name == null ? null : new Account(id, name, rights, session);
    }

    @Override
    public String writeString(String key, String value) {
        return holding(key).set(key, value);
    }

    @Override
    public long writeHash(String key, String field, String value) {
        return holding(key).hset(key, field, value);
    }

    private RedisClient holding(String key) {
        return instances.get(Math.floorMod(key.hashCode(), instances.size()));
    }

    @Override
    public void close() {
        instances.forEach(RedisClient::close);
    }
}
