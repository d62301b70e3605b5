import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;

/** Vert.x with work that blocks, given to its workers through one context: VertxOrdered PORT WORKERS MILLISECONDS ORDERED */
public class VertxOrdered extends AbstractVerticle {
    private static int port;
    private static long milliseconds;
    private static boolean ordered;

    public static void main(String[] arguments) {
        port = Integer.parseInt(arguments[0]);
        milliseconds = Long.parseLong(arguments[2]);
        // What is ordered, the default of executeBlocking, is done one after the other whatever the number of workers.
        ordered = Boolean.parseBoolean(arguments[3]);
        Vertx.vertx(new VertxOptions().setWorkerPoolSize(Integer.parseInt(arguments[1]))).deployVerticle(new VertxOrdered());
    }

    @Override
    public void start() {
        Context own = context;
        vertx.createHttpServer().requestHandler(request -> {
            if (request.path().equals("/healthz")) {
                request.response().end("ok");
                return;
            }
            own.executeBlocking(() -> {
                Thread.sleep(milliseconds);
                return "ok";
            }, ordered).onComplete(done -> request.response().end("ok"));
        }).listen(port);
    }
}
