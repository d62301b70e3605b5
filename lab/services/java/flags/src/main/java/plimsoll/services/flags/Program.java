package plimsoll.services.flags;

/** A program with flags, which is told on one line of standard error why it cannot start. */
@FunctionalInterface
public interface Program {
    /** Starts to serve and returns, or throws. */
    void start(Flags flags) throws Exception;

    /** Starts the program of this name. It ends with code 2 at a mistaken flag, and with 1 where it cannot start. */
    static void run(String name, String[] args, Program program) {
        try {
            program.start(new Flags(name, args, System.getenv()));
        } catch (FlagMistake mistake) {
            end(name, mistake.getMessage(), 2);
        } catch (Exception failure) {
            end(name, failure.toString(), 1);
        }
    }

    private static void end(String name, String message, int code) {
        System.err.println(name + ": " + message);
        System.exit(code);
    }
}
