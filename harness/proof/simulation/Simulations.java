import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/**
 * Runs simulations, methods that jqwik calls properties, seed after seed: a seed gives every property its arguments.
 *
 * <p>jqwik itself draws a hundred tries from one seed and cannot be told to go on, nor to repeat one try. What happens is
 * appended to a feed: {@code BEGIN property seed arguments}, then {@code PASSED milliseconds} or
 * {@code FAILED milliseconds message trace}, the last two in base 64; {@code END} when all is done.
 *
 * <p>{@code Simulations FEED SECONDS seeds CLASS[,CLASS…]} runs seeds 0, 1, 2, … until the time is over; a property that
 * has failed often enough is left out from then on. {@code Simulations FEED SECONDS these CLASS#METHOD:SEED[,…]} runs
 * just these.
 */
public final class Simulations {
    private static final int MOST_FAILURES = 10;
    private static final int MOST_TEXT = 20_000;

    private final PrintStream feed;
    private final long until;
    private final Map<Method, Integer> failures = new HashMap<>();

    private Simulations(PrintStream feed, double seconds) {
        this.feed = feed;
        this.until = System.nanoTime() + (long) (seconds * 1e9);
    }

    public static void main(String[] arguments) throws IOException, ReflectiveOperationException {
        try (PrintStream feed = new PrintStream(arguments[0], "UTF-8")) {
            Simulations simulations = new Simulations(feed, Double.parseDouble(arguments[1]));
            String[] what = arguments[3].split(",");
            if (arguments[2].equals("these")) {
                simulations.runThese(what);
            } else {
                simulations.runSeeds(propertiesOf(what));
            }
            simulations.say("END");
        }
        System.exit(0);  // whatever threads a jar has left
    }

    /** Each property gets as much of the time as any other: the quick ones come to more seeds. */
    private void runSeeds(List<Method> properties) throws ReflectiveOperationException {
        Map<Method, Long> spent = new HashMap<>();
        Map<Method, Long> seeds = new HashMap<>();
        while (!properties.isEmpty() && !isOver()) {
            Method next = Collections.min(properties, Comparator.comparingLong(each -> spent.getOrDefault(each, 0L)));
            long began = System.nanoTime();
            run(next, seeds.merge(next, 1L, Long::sum) - 1);
            spent.merge(next, System.nanoTime() - began, Long::sum);
            properties.removeIf(property -> failures.getOrDefault(property, 0) >= MOST_FAILURES);
        }
    }

    private void runThese(String[] named) throws ReflectiveOperationException {
        for (String each : named) {
            String name = each.substring(0, each.indexOf(':'));
            for (Method property : propertiesOf(name.substring(0, name.indexOf('#')))) {
                if (nameOf(property).equals(name) && !isOver()) {
                    run(property, Long.parseLong(each.substring(each.indexOf(':') + 1)));
                }
            }
        }
    }

    private boolean isOver() {
        return System.nanoTime() - until >= 0;
    }

    private void run(Method property, long seed) throws ReflectiveOperationException {
        Object[] arguments = argumentsOf(property, seed);
        say("BEGIN " + nameOf(property) + " " + seed + " " + Arrays.toString(arguments));
        Object simulation = property.getDeclaringClass().getDeclaredConstructor().newInstance();
        long began = System.nanoTime();
        try {
            property.invoke(simulation, arguments);
            say("PASSED " + millisecondsSince(began));
        } catch (InvocationTargetException failed) {
            failures.merge(property, 1, Integer::sum);
            Throwable cause = failed.getCause();
            say("FAILED " + millisecondsSince(began) + " " + encoded(message(cause)) + " " + encoded(trace(cause)));
        }
    }

    private static long millisecondsSince(long began) {
        return (System.nanoTime() - began) / 1_000_000;
    }

    private void say(String line) {
        feed.println(line);
        feed.flush();
    }

    private static String message(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root == failure ? failure.toString() : failure + ": " + root;
    }

    private static String trace(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }

    /** Never empty: a field that is missing would be taken for a feed that was cut. */
    private static String encoded(String text) {
        String shown = text.isEmpty() ? " " : text.substring(0, Math.min(text.length(), MOST_TEXT));
        return Base64.getEncoder().encodeToString(shown.getBytes(StandardCharsets.UTF_8));
    }

    private static String nameOf(Method property) {
        return property.getDeclaringClass().getName() + "#" + property.getName();
    }

    private static List<Method> propertiesOf(String... classes) throws ClassNotFoundException {
        List<Method> found = new ArrayList<>();
        for (String name : classes) {
            for (Method method : Class.forName(name).getDeclaredMethods()) {
                if (method.isAnnotationPresent(Property.class)) {
                    method.setAccessible(true);
                    found.add(method);
                }
            }
        }
        found.sort(Comparator.comparing(Simulations::nameOf));
        return found;
    }

    /** The same for the same seed, on every jar: drawn from the seed and the property's name alone. */
    private static Object[] argumentsOf(Method property, long seed) {
        Random random = new Random(seed * 1_000_003L + nameOf(property).hashCode());
        return Arrays.stream(property.getAnnotatedParameterTypes()).map(type -> argumentOf(type, random)).toArray();
    }

    private static Object argumentOf(AnnotatedType type, Random random) {
        IntRange range = type.getAnnotation(IntRange.class);
        if (type.getType() == boolean.class) {
            return random.nextBoolean();
        }
        if (type.getType() != int.class) {
            throw new IllegalArgumentException("a parameter of type " + type.getType() + " cannot be drawn");
        }
        return range == null ? random.nextInt() : range.min() + random.nextInt(range.max() - range.min() + 1);
    }
}
