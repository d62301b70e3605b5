import io.undertow.Undertow;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.StatusCodes;

/** Undertow whose workers take turns at a part of each request: UndertowLock PORT WORKERS FREE-MS LOCKED-MS LOCKS */
public class UndertowLock {
    public static void main(String[] arguments) {
        long free = Long.parseLong(arguments[2]);
        long locked = Long.parseLong(arguments[3]);
        Object[] locks = new Object[Integer.parseInt(arguments[4])];
        for (int i = 0; i < locks.length; i++) {
            locks[i] = new Object();
        }
        Undertow.builder()
            .addHttpListener(Integer.parseInt(arguments[0]), "0.0.0.0")
            .setIoThreads(2)
            .setWorkerThreads(Integer.parseInt(arguments[1]))
            .setHandler(new BlockingHandler(exchange -> {
                if (!exchange.getRequestPath().equals("/healthz")) {
                    Thread.sleep(free);
                    synchronized (locks[(int) (Thread.currentThread().getId() % locks.length)]) {
                        Thread.sleep(locked);
                    }
                }
                exchange.setStatusCode(StatusCodes.OK).getResponseSender().send("ok");
            }))
            .build()
            .start();
    }
}
