import org.apache.kafka.common.utils.Exit;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.util.Base64;

/**
 * Asks command-line tools for their help, in one JVM: a line each, {@code <its number> <what it printed, in base64>},
 * behind {@code late <its number>} for one that had not ended by then.
 *
 * <p>Every argument is a main class and its own arguments, with blanks between. Kafka's tools end by Kafka's own Exit,
 * which can be kept from ending the JVM; after one that ends it otherwise the caller goes on with the next.
 */
public final class CommandHelp {
    private static final long MOST_MS = 8000;

    private static final PrintStream OUT = System.out;
    private static ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private static int asked = -1;

    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(CommandHelp::answer));
        Exit.setExitProcedure((code, message) -> {
            throw new Ended();
        });
        Exit.setHaltProcedure((code, message) -> {
            throw new Ended();
        });
        for (int number = 0; number < args.length; number++) {
            asked = number;
            boolean ended = ask(args[number].split(" "));
            answer();
            if (!ended) {
                break; // it may still print, and the next tool is asked by another JVM
            }
        }
        Runtime.getRuntime().halt(0); // a tool may have left threads
    }

    private static synchronized void answer() {
        OUT.println(asked + " " + Base64.getEncoder().encodeToString(printed.toByteArray()));
        OUT.flush();
    }

    /** Whether the tool has ended by itself. */
    private static boolean ask(String[] command) throws Exception {
        printed = new ByteArrayOutputStream();
        PrintStream sink = new PrintStream(printed, true, "UTF-8");
        System.setOut(sink);
        System.setErr(sink);
        Thread tool = new Thread(() -> call(command), "tool");
        tool.setDaemon(true);
        tool.start();
        tool.join(MOST_MS);
        if (tool.isAlive()) {
            OUT.println("late " + asked);
            return false;
        }
        return true;
    }

    private static void call(String[] command) {
        try {
            String[] own = java.util.Arrays.copyOfRange(command, 1, command.length);
            Class.forName(command[0]).getMethod("main", String[].class).invoke(null, (Object) own);
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof Ended)) {
                System.err.println(e.getCause());
            }
        } catch (ReflectiveOperationException | LinkageError e) {
            System.err.println(e);
        }
    }

    /** What a tool meets instead of the end of the JVM. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }
}
