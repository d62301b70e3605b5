package plimsoll.services.tests;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A program that a test started on a free port of the loopback, in a folder of its own; it ends with the test. */
final class Part implements AutoCloseable {
    private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);
    private static final long END_TIMEOUT_S = 20;
    private static final Set<Part> RUNNING = ConcurrentHashMap.newKeySet();

    static {
        // For those of a test class that failed while it started others.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> RUNNING.forEach(Part::closeAtTheEnd)));
    }

    private final Process process;
    private final int port;
    private final Path folder;

    private Part(List<String> command, int port, Path folder) throws Exception {
        this.port = port;
        this.folder = folder;
        process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true)
                .redirectOutput(log(folder)).start();
        RUNNING.add(this);
        awaitPort();
    }

    private void closeAtTheEnd() {
        try {
            close();
        } catch (Exception failure) {
            System.err.println("left behind: " + folder + ": " + failure);
        }
    }

    /** The service of this name with its flags, as the lab starts it. */
    static Part service(String name, String... flags) throws Exception {
        int port = freePort();
        Path folder = newFolder();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx96m", "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + folder, "-jar", Path.of(System.getProperty("jars"), name + ".jar").toString(),
                "--address=127.0.0.1", "--port=" + port));
        command.addAll(List.of(flags));
        return new Part(command, port, folder);
    }

    static Part redis() throws Exception {
        int port = freePort();
        return new Part(List.of("redis-server", "--port", "" + port, "--bind", "127.0.0.1", "--save", ""), port, newFolder());
    }

    static Part memcached() throws Exception {
        int port = freePort();
        return new Part(List.of("memcached", "-l", "127.0.0.1", "-p", "" + port, "-u", "root", "-m", "16"), port, newFolder());
    }

    static Part mariadb() throws Exception {
        Path folder = newFolder();
        int port = freePort();
        Process install = new ProcessBuilder("mariadb-install-db", "--no-defaults", "--datadir=" + folder.resolve("data"),
                "--auth-root-authentication-method=normal", "--skip-test-db").redirectErrorStream(true)
                .redirectOutput(log(folder)).start();
        if (install.waitFor() != 0) {
            throw new IOException("mariadb-install-db: " + Files.readString(log(folder).toPath()));
        }
        Path users = Files.writeString(folder.resolve("users.sql"),
                "CREATE USER plimsoll@'127.0.0.1';\nGRANT ALL ON *.* TO plimsoll@'127.0.0.1';");
        return new Part(List.of(sbin("mariadbd"), "--no-defaults", "--user=" + System.getProperty("user.name"),
                "--datadir=" + folder.resolve("data"), "--socket=" + folder.resolve("socket"),
                "--pid-file=" + folder.resolve("pid"), "--bind-address=127.0.0.1", "--port=" + port,
                "--init-file=" + users, "--skip-name-resolve", "--innodb-buffer-pool-size=16M"), port, folder);
    }

    /** Servers are in a folder that need not be on an ordinary user's path. */
    private static String sbin(String name) {
        Path there = Path.of("/usr/sbin", name);
        return Files.isExecutable(there) ? there.toString() : name;
    }

    private static Path newFolder() throws IOException {
        return Files.createTempDirectory("services-test");
    }

    private static File log(Path folder) {
        return folder.resolve("log").toFile();
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitPort() throws Exception {
        long began = System.nanoTime();
        while (System.nanoTime() - began < START_TIMEOUT_NS && process.isAlive()) {
            try (Socket ready = new Socket()) {
                ready.connect(new InetSocketAddress("127.0.0.1", port), 1000);
                return;
            } catch (IOException notYet) {
                Thread.sleep(20);
            }
        }
        String log = Files.readString(log(folder).toPath());
        close();
        throw new IOException("it takes no connections on port " + port + ":\n" + log);
    }

    /** Where it listens. */
    String address() {
        return "127.0.0.1:" + port;
    }

    /** The same as the beginning of a URL. */
    String url() {
        return "http://" + address();
    }

    /** What it wrote so far. */
    String log() throws IOException {
        return Files.readString(log(folder).toPath());
    }

    /** How many files and folders it keeps, besides its log. */
    int leavings() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return (int) files.count() - 1;
        }
    }

    /** What Redis or memcached answers to commands; the last of them ends the connection. */
    String ask(String... commands) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write((String.join("\r\n", commands) + "\r\nquit\r\n").getBytes(StandardCharsets.UTF_8));
            try (InputStream answer = socket.getInputStream()) {
                return new String(answer.readAllBytes(), StandardCharsets.UTF_8);
            }
        }
    }

    /** Ends it with SIGTERM and waits; the code with which it ended. */
    int terminate() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
            throw new IllegalStateException("it did not end in " + END_TIMEOUT_S + " s of SIGTERM");
        }
        return process.exitValue();
    }

    @Override
    public void close() throws Exception {
        RUNNING.remove(this);
        process.destroyForcibly().waitFor();
        if (Files.notExists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
