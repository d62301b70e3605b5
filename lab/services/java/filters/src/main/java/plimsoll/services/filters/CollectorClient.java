package plimsoll.services.filters;

import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.ConnectionPool;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/**
 * Calls the collector in three ways. What waits to be sent is bounded: beyond that a request waits or sends itself, so
 * that memory is bounded too and nothing is dropped.
 */
final class CollectorClient {
    private static final MediaType JSON = MediaType.get("application/json");

    private final HttpUrl collector;
    private final OkHttpClient client;
    private final ThreadPoolExecutor pool;
    private final Semaphore waiting;
    private final AtomicLong failures = new AtomicLong();

    /** What is set at the start. */
    record Limits(int poolThreads, int waiting, int idleConnections) {}

    CollectorClient(String collector, Limits limits) {
        this.collector = HttpUrl.get(collector);
        // Its dispatcher keeps OkHttp's own limits, five calls at once to one host: they are what async costs.
        client = new OkHttpClient.Builder()
                .connectionPool(new ConnectionPool(limits.idleConnections(), 5, TimeUnit.MINUTES)).build();
        waiting = new Semaphore(limits.waiting());
        pool = new ThreadPoolExecutor(limits.poolThreads(), limits.poolThreads(), 0, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(limits.waiting()), new ThreadPoolExecutor.CallerRunsPolicy());
    }

    /** Whether calls from this address are allowed. */
    boolean allows(String address) throws IOException {
        HttpUrl url = collector.newBuilder().addPathSegment("whitelist").addQueryParameter("ip", address).build();
        try (Response response = client.newCall(new Request.Builder().url(url).build()).execute()) {
            return succeeded(response).equals("true");
        }
    }

    /** Sends a record or an entry. A failure is counted, and no request fails by it. */
    void send(Switches.Send way, String page, byte[] body) {
        switch (way) {
            case SYNC -> postCounted(page, body);
            case ASYNC -> enqueue(page, body);
            case POOL -> pool.execute(() -> postCounted(page, body));
        }
    }

    /** Sends now, and counts a failure. */
    void postCounted(String page, byte[] body) {
        try {
            post(page, body);
        } catch (IOException failure) {
            failed(failure);
        }
    }

    private void post(String page, byte[] body) throws IOException {
        try (Response response = client.newCall(request(page, body)).execute()) {
            succeeded(response);
        }
    }

    private void enqueue(String page, byte[] body) {
        waiting.acquireUninterruptibly();
        client.newCall(request(page, body)).enqueue(new Callback() {
            @Override
            public void onFailure(Call call, IOException failure) {
                waiting.release();
                failed(failure);
            }

            @Override
            public void onResponse(Call call, Response response) {
                waiting.release();
                try (response) {
                    succeeded(response);
                } catch (IOException failure) {
                    failed(failure);
                }
            }
        });
    }

    private Request request(String page, byte[] body) {
        HttpUrl url = collector.newBuilder().addPathSegment(page).build();
        return new Request.Builder().url(url).post(RequestBody.create(body, JSON)).build();
    }

    private static String succeeded(Response response) throws IOException {
        String body = response.body().string();
        if (!response.isSuccessful()) {
            throw new IOException(response.request().url() + " answered " + response.code());
        }
        return body;
    }

    /** The first one is told; a line for each would cost more than the call. */
    private void failed(IOException failure) {
        if (failures.getAndIncrement() == 0) {
            System.err.println("filters: the collector: " + failure);
        }
    }

    /** Records and entries that could not be sent so far. */
    long failures() {
        return failures.get();
    }
}
