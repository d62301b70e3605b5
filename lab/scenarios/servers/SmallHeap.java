import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/** A service that keeps objects and makes garbage with each request: SmallHeap PORT [MICROSECONDS REPLACED KEPT]. */
public class SmallHeap {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Kept for good: what a collector has to look through each time. */
    private static Object[] kept;

    public static void main(String[] args) throws Exception {
        kept = new Object[args.length > 3 ? Integer.parseInt(args[3]) : 600_000];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = new int[] {i, i};
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(args[0])), 1024);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.createContext("/healthz", exchange -> answer(exchange, "ok"));
        long nanos = args.length > 1 ? Long.parseLong(args[1]) * 1000 : 0;
        int replaced = args.length > 2 ? Integer.parseInt(args[2]) : 0;
        server.createContext("/", exchange -> answer(exchange, garbageWithin(nanos, replaced)));
        server.start();
    }

    /**
     * Garbage, so many kept objects replaced, and computing until the thread has used so much CPU time: how fast the machine is, and what
     * the compiler made of the code, then changes the time of the collector alone.
     */
    private static String garbageWithin(long nanos, int replaced) {
        long end = THREADS.getCurrentThreadCpuTime() + nanos;
        for (int i = 0; i < replaced; i++) {
            kept[ThreadLocalRandom.current().nextInt(kept.length)] = new int[] {i, i};
        }
        String text = garbage();
        while (THREADS.getCurrentThreadCpuTime() < end) {
            Thread.onSpinWait();
        }
        return text;
    }

    /** Two megabytes that nobody needs any more once the request is answered. */
    private static String garbage() {
        int sum = 0;
        for (int i = 0; i < 32; i++) {
            byte[] block = new byte[65_536];
            block[i] = (byte) i;
            sum += block[i];
        }
        return Integer.toString(sum);
    }

    private static void answer(HttpExchange exchange, String text) throws IOException {
        byte[] bytes = text.getBytes();
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
