package plimsoll.services.filters;

import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.noear.solon.core.handle.Context;
import org.noear.solon.core.handle.Filter;
import org.noear.solon.core.handle.FilterChain;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** Logs what each request asked and was answered: with a call for each, or many entries in one. */
final class LogFilter implements Filter {
    private static final ObjectMapper JSON = JsonMapper.builder().build();
    private static final int BATCHES_WAITING = 50;

    private final CollectorClient collector;
    private final int batch;
    private final Duration idle;
    private final BlockingQueue<byte[]> entries;

    /** One line of the log. */
    private record Entry(long at_ms, String level, String name, String input, String output) {}

    LogFilter(CollectorClient collector, int batch, Duration idle) {
        this.collector = collector;
        this.batch = batch;
        this.idle = idle;
        entries = new ArrayBlockingQueue<>(batch * BATCHES_WAITING);
        Thread packer = new Thread(this::pack, "log-packer");
        packer.setDaemon(true);
        packer.start();
    }

    @Override
    public void doFilter(Context context, FilterChain chain) throws Throwable {
        chain.doFilter(context);
        Request request = Request.of(context);
        switch (request.switches().log()) {
            case OFF -> { }
            case CALL -> collector.send(request.switches().send(), "log", array(List.of(entry(context, request))));
            case BATCHED -> entries.put(entry(context, request));
        }
    }

    private static byte[] entry(Context context, Request request) {
        return JSON.writeValueAsBytes(new Entry(
                System.currentTimeMillis(), "info", context.path(), context.queryString(), request.output()));
    }

    /** Sends packets as long as there are entries, and waits a while where there are none. */
    private void pack() {
        try {
            while (true) {
                if (!sendSome()) {
                    Thread.sleep(idle.toMillis());
                }
            }
        } catch (InterruptedException ending) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends what is left. */
    void flush() {
        while (sendSome()) {
            // Each turn sends one packet.
        }
    }

    private synchronized boolean sendSome() {
        List<byte[]> packet = new ArrayList<>(batch);
        if (entries.drainTo(packet, batch) == 0) {
            return false;
        }
        collector.postCounted("log", array(packet));
        return true;
    }

    private static byte[] array(List<byte[]> entries) {
        ByteArrayOutputStream text = new ByteArrayOutputStream(entries.size() * 256);
        byte before = '[';
        for (byte[] entry : entries) {
            text.write(before);
            text.write(entry, 0, entry.length);
            before = ',';
        }
        text.write(']');
        return text.toByteArray();
    }
}
