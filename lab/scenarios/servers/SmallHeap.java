import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** A service that keeps most of its heap and makes garbage with each request. */
public class SmallHeap {
    /** Kept for good: what a collector has to look through each time. */
    private static final Object[] KEPT = new Object[600_000];

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < KEPT.length; i++) {
            KEPT[i] = new int[] {i, i};
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(Integer.parseInt(args[0])), 1024);
        server.setExecutor(Executors.newFixedThreadPool(32));
        server.createContext("/healthz", exchange -> answer(exchange, "ok"));
        server.createContext("/", exchange -> answer(exchange, garbage()));
        server.start();
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
