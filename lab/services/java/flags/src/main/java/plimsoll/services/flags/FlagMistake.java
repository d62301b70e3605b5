package plimsoll.services.flags;

/** A flag that cannot be meant: its message says which, and what could be. */
public final class FlagMistake extends Exception {
    /** With a message for whoever started the program. */
    public FlagMistake(String message) {
        super(message);
    }
}
