import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.lang.management.MemoryUsage;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Appends what a node counts of itself to a file, a line a second: {@code <ms since the epoch> name=value name=value}.
 *
 * <p>The raft module's own metrics by their names (and the keys of their tags, where they have any), whether the
 * controller is the active one and how long it took for its events, how long a leader committed nothing, the heap, what
 * threads allocate on it, and buffers outside of it. While the file {@code <file>.collect} is there, the heap is
 * collected, that file removed, and a line with {@code live} written.
 */
public final class NodeFigures implements MetricsReporter {
    private static final String GROUP = "raft-metrics";
    private static final String ACTIVE = "kafka.controller:type=KafkaController,name=ActiveControllerCount";
    private static final String EVENTS = "kafka.controller:type=ControllerEventManager,name=EventQueueProcessingTimeMs";
    private static final long TICK_MS = 100;
    private static final long LINE_MS = 1000;

    private final Map<String, KafkaMetric> metrics = new ConcurrentHashMap<>();
    private final MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    private volatile boolean closed = false;

    // Of the writer's thread: the epoch that this node leads, null where it does not, and how far it has committed in it.
    private Object ledEpoch = null;
    private double committed = -1;
    private boolean hasCommitted = false;
    private long lookedMs = 0;
    private long pauseMs = 0;
    private long longestPauseMs = 0;

    // Of the writer's thread: what each thread had allocated at the last line, and what all have since the start.
    private Map<Long, Long> allocatedByThread = new HashMap<>();
    private long allocated = 0;

    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public void init(List<KafkaMetric> known) {
        known.forEach(this::metricChange);
        String file = System.getProperty("harness.figures");
        if (file == null) {
            return;
        }
        Thread writer = new Thread(() -> writeUntilClosed(new File(file)), "harness-figures");
        writer.setDaemon(true);
        writer.start();
    }

    @Override
    public void metricChange(KafkaMetric metric) {
        if (metric.metricName().group().equals(GROUP)) {
            metrics.put(nameOf(metric.metricName()), metric);
        }
    }

    @Override
    public void metricRemoval(KafkaMetric metric) {
        metrics.remove(nameOf(metric.metricName()), metric);
    }

    /** With its tags' keys, if it has any: JMX shows it under another name then, and what read it before finds nothing. */
    private static String nameOf(MetricName metric) {
        String tags = metric.tags().isEmpty() ? "" : new TreeSet<>(metric.tags().keySet()).toString();
        return (metric.name() + tags).replaceAll("[\\s=]", "");
    }

    @Override
    public void close() {
        closed = true;
    }

    private void writeUntilClosed(File file) {
        File collect = new File(file.getPath() + ".collect");
        try (OutputStream out = new FileOutputStream(file, true)) {
            for (long next = 0; !closed; Thread.sleep(TICK_MS)) {
                lookAtCommits(System.nanoTime() / 1_000_000);
                boolean asked = collect.exists();
                if (asked) {
                    System.gc();
                    collect.delete();
                }
                if (asked || System.nanoTime() / 1_000_000 >= next) {
                    next = System.nanoTime() / 1_000_000 + LINE_MS;
                    out.write(line(asked).getBytes(StandardCharsets.UTF_8));
                }
            }
        } catch (IOException | InterruptedException e) {
            closed = true; // there is nobody to tell: the reader sees that the lines end
        }
    }

    /**
     * A leader commits a no-op every half second: its high watermark stands still for longer only where something stalls.
     *
     * <p>A pause counts once a commit of the same epoch has ended it, so that neither the wait for a majority that is gone nor
     * the first commit of an epoch is one. Where this thread itself comes late, the host or a collection of the heap held
     * the whole process: of that no more counts than two ticks.
     */
    private void lookAtCommits(long nowMs) {
        long passedMs = Math.min(nowMs - lookedMs, 2 * TICK_MS);
        lookedMs = nowMs;
        Object epoch = "leader".equals(value("current-state")) ? value("current-epoch") : null;
        Object offset = value("high-watermark");
        double mark = offset instanceof Number ? Math.max(((Number) offset).doubleValue(), -1) : -1;
        boolean stays = epoch != null && epoch.equals(ledEpoch);
        if (stays && mark <= committed) {
            pauseMs += passedMs;
            return;
        }
        if (stays && hasCommitted) {
            longestPauseMs = Math.max(longestPauseMs, pauseMs + passedMs);
        }
        hasCommitted = stays;
        ledEpoch = epoch;
        committed = mark;
        pauseMs = 0;
    }

    private Object value(String name) {
        KafkaMetric metric = metrics.get(name);
        return metric == null ? null : metric.metricValue();
    }

    private String line(boolean collected) {
        StringBuilder line = new StringBuilder(512).append(System.currentTimeMillis());
        new TreeMap<>(metrics).forEach((name, metric) -> put(line, name, metric.metricValue()));
        putController(line);
        if (longestPauseMs > 0) {
            put(line, "commit-pause-ms", longestPauseMs);
            longestPauseMs = 0;
        }
        put(line, "heap-after-gc", heapAfterCollection());
        put(line, "gc-ms", collectionMillis());
        put(line, "direct", directBytes());
        putAllocated(line);
        if (collected) {
            // What the collection left: a look at the heap would count the buffers that threads have taken since.
            put(line, "live", heapAfterCollection());
        }
        return line.append('\n').toString();
    }

    private static void put(StringBuilder line, String name, Object value) {
        line.append(' ').append(name).append('=').append(String.valueOf(value).replaceAll("\\s", "_"));
    }

    /** Only a controller has them. */
    private void putController(StringBuilder line) {
        try {
            ObjectName active = new ObjectName(ACTIVE);
            if (beans.isRegistered(active)) {
                put(line, "active-controller", beans.getAttribute(active, "Value"));
            }
            ObjectName events = new ObjectName(EVENTS);
            if (beans.isRegistered(events)) {
                put(line, "controller-events", beans.getAttribute(events, "Count"));
                put(line, "controller-event-ms-mean", beans.getAttribute(events, "Mean"));
            }
        } catch (JMException e) {
            put(line, "controller-events", "unreadable");
        }
    }

    /**
     * What all threads have allocated on the heap: work for collections, which a look at the heap after one does not show.
     *
     * <p>HotSpot counts it for each thread (com.sun.management.ThreadMXBean, asked by name since other JVMs have none). What a
     * thread allocates between the last line and its end is not known.
     */
    private void putAllocated(StringBuilder line) {
        try {
            ObjectName threading = new ObjectName(ManagementFactory.THREAD_MXBEAN_NAME);
            long[] ids = (long[]) beans.getAttribute(threading, "AllThreadIds");
            String[] signature = {long[].class.getName()};
            long[] bytes = (long[]) beans.invoke(threading, "getThreadAllocatedBytes", new Object[] {ids}, signature);
            Map<Long, Long> now = new HashMap<>();
            for (int i = 0; i < ids.length; i++) {
                if (bytes[i] >= 0) {
                    now.put(ids[i], bytes[i]);
                    allocated += Math.max(bytes[i] - allocatedByThread.getOrDefault(ids[i], 0L), 0);
                }
            }
            allocatedByThread = now;
            put(line, "allocated", allocated);
        } catch (JMException | JMRuntimeException e) {
            // A JVM that does not count it: the figure is not there, on base as on the candidate.
        }
    }

    private static long heapAfterCollection() {
        long used = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage after = pool.getType() == MemoryType.HEAP ? pool.getCollectionUsage() : null;
            used += after == null ? 0 : after.getUsed();
        }
        return used;
    }

    /** Buffers outside of the heap, which no collection counts: a leak of them ends a node as a full heap does. */
    private static long directBytes() {
        long used = 0;
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
            used += pool.getName().equals("direct") ? pool.getMemoryUsed() : 0;
        }
        return used;
    }

    private static long collectionMillis() {
        long millis = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            millis += Math.max(collector.getCollectionTime(), 0);
        }
        return millis;
    }
}
