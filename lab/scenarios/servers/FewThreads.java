import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The JDK's own server with a fixed number of threads, and a page that waits: FewThreads PORT THREADS MILLISECONDS */
public class FewThreads {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        long wait = Long.parseLong(arguments[2]);
        // Without it an answer's body waits for the acknowledgement of its head, which clients delay by 40 ms.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 1024);
        server.setExecutor(Executors.newFixedThreadPool(Integer.parseInt(arguments[1])));
        server.createContext("/", exchange -> {
            try {
                Thread.sleep(exchange.getRequestURI().getPath().equals("/healthz") ? 0 : wait);
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            byte[] answer = "waited".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
