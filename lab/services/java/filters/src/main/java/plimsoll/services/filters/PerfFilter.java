package plimsoll.services.filters;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.noear.solon.core.handle.Context;
import org.noear.solon.core.handle.Filter;
import org.noear.solon.core.handle.FilterChain;

/** Records how long each request took: with a call for each, or summed up and sent at an interval. */
final class PerfFilter implements Filter {
    private final CollectorClient collector;
    private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
    private Summary sum = Summary.NONE;

    /** Requests since the last call. */
    private record Summary(long count, long totalNs, long slowestNs) {
        static final Summary NONE = new Summary(0, 0, 0);

        Summary plus(long tookNs) {
            return new Summary(count + 1, totalNs + tookNs, Math.max(slowestNs, tookNs));
        }

        byte[] toJson() {
            return String.format("{\"name\":\"getAppByID\",\"count\":%d,\"total_us\":%d,\"slowest_us\":%d}",
                    count, totalNs / 1000, slowestNs / 1000).getBytes(StandardCharsets.UTF_8);
        }
    }

    PerfFilter(CollectorClient collector, Duration interval) {
        this.collector = collector;
        clock.scheduleAtFixedRate(this::flush, interval.toMillis(), interval.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void doFilter(Context context, FilterChain chain) throws Throwable {
        Switches switches = Request.of(context).switches();
        long began = System.nanoTime();
        chain.doFilter(context);
        record(switches, System.nanoTime() - began);
    }

    private void record(Switches switches, long tookNs) {
        switch (switches.perf()) {
            case OFF -> { }
            case CALL -> collector.send(switches.send(), "perf", Summary.NONE.plus(tookNs).toJson());
            case BUFFERED -> add(tookNs);
        }
    }

    private synchronized void add(long tookNs) {
        sum = sum.plus(tookNs);
    }

    private synchronized Summary take() {
        Summary taken = sum;
        sum = Summary.NONE;
        return taken;
    }

    /** Sends what was summed up, if there was a request. */
    void flush() {
        Summary taken = take();
        if (taken.count() > 0) {
            collector.postCounted("perf", taken.toJson());
        }
    }
}
