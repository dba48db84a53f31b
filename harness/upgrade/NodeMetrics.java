import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsReporter;

import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;

/**
 * Lists the metrics that a node has in JMX, when a file asks for them.
 *
 * <p>While {@code <file>.wanted} is there, {@code <file>} is written, a line an attribute with tabs between: the bean's
 * name, its class, the attribute, the type of its value (or, of a text that names a unit, {@code unit:} and the text).
 */
public final class NodeMetrics implements MetricsReporter {
    private static final long TICK_MS = 100;

    private final MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
    private volatile boolean closed = false;

    @Override
    public void configure(Map<String, ?> configs) {
    }

    @Override
    public void init(List<KafkaMetric> known) {
        String file = System.getProperty("harness.metrics");
        if (file != null) {
            Thread writer = new Thread(() -> writeUntilClosed(new File(file)), "harness-metrics");
            writer.setDaemon(true);
            writer.start();
        }
    }

    @Override
    public void metricChange(KafkaMetric metric) {
    }

    @Override
    public void metricRemoval(KafkaMetric metric) {
    }

    @Override
    public void close() {
        closed = true;
    }

    private void writeUntilClosed(File file) {
        File wanted = new File(file.getPath() + ".wanted");
        try {
            for (; !closed; Thread.sleep(TICK_MS)) {
                if (wanted.delete()) {
                    File staged = File.createTempFile("metrics", null, file.getParentFile());
                    Files.write(staged.toPath(), list().getBytes(StandardCharsets.UTF_8));
                    Files.move(staged.toPath(), file.toPath(), StandardCopyOption.ATOMIC_MOVE);
                }
            }
        } catch (IOException | InterruptedException e) {
            closed = true; // there is nobody to tell: the reader sees that no file comes
        }
    }

    private String list() {
        StringBuilder lines = new StringBuilder();
        for (ObjectName name : beans.queryNames(null, null)) {
            if (name.getDomain().startsWith("kafka")) {
                describe(name, lines);
            }
        }
        return lines.toString();
    }

    private void describe(ObjectName name, StringBuilder lines) {
        try {
            String type = beans.getMBeanInfo(name).getClassName();
            for (MBeanAttributeInfo attribute : beans.getMBeanInfo(name).getAttributes()) {
                lines.append(name.getDomain()).append(':').append(plain(name.getKeyPropertyListString())).append('\t')
                    .append(type).append('\t').append(plain(attribute.getName())).append('\t')
                    .append(valueOf(name, attribute)).append('\n');
            }
        } catch (JMException e) {
            return; // it was removed meanwhile
        }
    }

    private String valueOf(ObjectName name, MBeanAttributeInfo attribute) {
        try {
            Object value = beans.getAttribute(name, attribute.getName());
            boolean isUnit = attribute.getName().endsWith("Unit");
            return isUnit ? "unit:" + plain(String.valueOf(value)) : value == null ? "" : value.getClass().getSimpleName();
        } catch (JMException | RuntimeException e) {
            return ""; // a gauge that cannot be read now has no type that could be told
        }
    }

    private static String plain(String text) {
        return text.replaceAll("\\s", " ");
    }
}
