import com.sun.net.httpserver.HttpServer;
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

    private static String garbage() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            text.append(i);
        }
        return Integer.toString(text.toString().hashCode());
    }

    private static void answer(com.sun.net.httpserver.HttpExchange exchange, String text) throws java.io.IOException {
        byte[] bytes = text.getBytes();
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }
}
