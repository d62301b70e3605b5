package plimsoll.services.filters;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import plimsoll.services.flags.FlagMistake;
import plimsoll.services.flags.Flags;

/** What a request goes through: set at the start by flags, and for one request by its header {@code Switches}. */
record Switches(Perf perf, Log log, Whitelist whitelist, Send send, boolean sharedCache, boolean localCache) {
    /** The performance record of a request. */
    enum Perf { OFF, CALL, BUFFERED }

    /** The log entry of a request. */
    enum Log { OFF, CALL, BATCHED }

    /** Whether the caller's address is allowed. */
    enum Whitelist { OFF, CALL, CACHED }

    /** How a record or a log entry is sent by a filter that calls for each request. */
    enum Send { SYNC, ASYNC, POOL }

    /** As the flags say; without any as the service was found: all filters call, on the client's own threads. */
    static Switches of(Flags flags) throws FlagMistake {
        Switches found = new Switches(Perf.CALL, Log.CALL, Whitelist.CALL, Send.ASYNC, true, true);
        String[][] known = {
            {"perf", "call", "performance record: off, call, or buffered (one call each --perf-interval)"},
            {"log", "call", "log: off, call, or batched (one call for up to --log-batch entries)"},
            {"whitelist", "call", "whitelist: off, call, or cached (for --whitelist-cache)"},
            {"send", "async", "records and entries sent by: sync (the request's thread), async (OkHttp's own), pool"},
            {"shared-cache", "on", "look into memcached: on or off"},
            {"local-cache", "on", "look into this process's cache first: on or off"},
        };
        for (String[] one : known) {
            try {
                found = found.with(one[0], flags.text(one[0], one[1], one[2]));
            } catch (IllegalArgumentException mistake) {
                throw new FlagMistake("--" + mistake.getMessage());
            }
        }
        return found;
    }

    /** With the values that a header such as {@code perf=off,log=batched} gives. */
    Switches with(String header) {
        Switches changed = this;
        for (String part : header.split(",")) {
            String[] pair = part.trim().split("=", 2);
            changed = changed.with(pair[0], pair.length == 2 ? pair[1] : "");
        }
        return changed;
    }

    private Switches with(String name, String value) {
        return switch (name) {
            case "perf" -> new Switches(one(Perf.class, name, value), log, whitelist, send, sharedCache, localCache);
            case "log" -> new Switches(perf, one(Log.class, name, value), whitelist, send, sharedCache, localCache);
            case "whitelist" -> new Switches(perf, log, one(Whitelist.class, name, value), send, sharedCache, localCache);
            case "send" -> new Switches(perf, log, whitelist, one(Send.class, name, value), sharedCache, localCache);
            case "shared-cache" -> new Switches(perf, log, whitelist, send, on(name, value), localCache);
            case "local-cache" -> new Switches(perf, log, whitelist, send, sharedCache, on(name, value));
            default -> throw new IllegalArgumentException("there is no switch '" + name
                    + "'; perf, log, whitelist, send, shared-cache and local-cache are");
        };
    }

    private static <T extends Enum<T>> T one(Class<T> kind, String name, String value) {
        for (T constant : kind.getEnumConstants()) {
            if (lower(constant).equals(value)) {
                return constant;
            }
        }
        String all = Arrays.stream(kind.getEnumConstants()).map(Switches::lower).collect(Collectors.joining(", "));
        throw new IllegalArgumentException(name + " is one of " + all + ", not '" + value + "'");
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static boolean on(String name, String value) {
        if (!value.equals("on") && !value.equals("off")) {
            throw new IllegalArgumentException(name + " is on or off, not '" + value + "'");
        }
        return value.equals("on");
    }
}
