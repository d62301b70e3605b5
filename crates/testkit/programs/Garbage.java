import java.util.ArrayList;
import java.util.List;

/** Makes garbage, collects it, keeps a few threads, says how large its heap may become, and waits to be ended. */
public class Garbage {
    public static void main(String[] arguments) throws Exception {
        List<byte[]> kept = new ArrayList<>();
        for (int round = 0; round < 3; round++) {
            kept.add(new byte[4 << 20]);
            System.gc();
        }
        for (int index = 0; index < 5; index++) {
            Thread thread = new Thread(() -> {
                try {
                    Thread.sleep(Long.MAX_VALUE);
                } catch (InterruptedException ended) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        System.out.println(Runtime.getRuntime().maxMemory());
        while (System.in.read() >= 0) {
            kept.get(0)[0]++;
        }
    }
}
