package plimsoll.services.flags;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The flags of a program, {@code --name=value}, or else the environment's {@code PROGRAM_NAME=value}.
 *
 * <p>A program asks for each flag once with its default and its meaning, and then calls {@link #end}: what it asked
 * for is what {@code --help} prints, and any other flag is a mistake.
 */
public final class Flags {
    private final String program;
    private final Map<String, String> given = new TreeMap<>();
    private final Map<String, String> environment;
    private final List<String> meanings = new ArrayList<>();
    private boolean help;

    /** Reads the command line; the flags' names are judged by {@link #end}. */
    public Flags(String program, String[] args, Map<String, String> environment) throws FlagMistake {
        this.program = program;
        this.environment = environment;
        for (String arg : args) {
            read(arg);
        }
    }

    private void read(String arg) throws FlagMistake {
        if (arg.equals("--help")) {
            help = true;
            return;
        }
        int equals = arg.indexOf('=');
        if (!arg.startsWith("--") || equals < 0) {
            throw new FlagMistake("'" + arg + "' is no --name=value; --help lists them");
        }
        given.put(arg.substring(2, equals), arg.substring(equals + 1));
    }

    /** A text. */
    public String text(String name, String otherwise, String meaning) {
        meanings.add(String.format("  --%-22s %s%s", name + "=", meaning, otherwise.isEmpty() ? "" : " (" + otherwise + ")"));
        String value = given.remove(name);
        return value == null ? environment.getOrDefault(variable(name), otherwise) : value;
    }

    /** A whole number between two bounds, which are allowed too. */
    public int number(String name, int otherwise, int least, int most, String meaning) throws FlagMistake {
        String text = text(name, Integer.toString(otherwise), meaning);
        try {
            int value = Integer.parseInt(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException notOne) {
            // Said below, as one out of bounds is.
        }
        throw new FlagMistake("--" + name + " is a whole number from " + least + " to " + most + ", not '" + text + "'");
    }

    /** Texts between commas. */
    public List<String> list(String name, String otherwise, String meaning) {
        String text = text(name, otherwise, meaning);
        return text.isEmpty() ? List.of() : List.of(text.split(","));
    }

    /** Ends the program where help is wanted, and refuses flags that nobody asked for. */
    public void end() throws FlagMistake {
        if (help) {
            System.out.println("java -jar " + program + ".jar\n" + String.join("\n", meanings));
            System.out.println("each may come from the environment too, as " + variable("name"));
            System.exit(0);
        }
        if (!given.isEmpty()) {
            throw new FlagMistake("there is no flag --" + given.keySet().iterator().next() + "; --help lists them");
        }
    }

    private String variable(String flag) {
        return (program + "_" + flag).replace('-', '_').toUpperCase(Locale.ROOT);
    }
}
