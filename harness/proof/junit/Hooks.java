import java.lang.reflect.Method;

import net.jqwik.api.lifecycle.AroundPropertyHook;
import net.jqwik.api.lifecycle.LifecycleContext;
import net.jqwik.api.lifecycle.PropagationMode;
import net.jqwik.api.lifecycle.PropertyExecutionResult;
import net.jqwik.api.lifecycle.PropertyExecutor;
import net.jqwik.api.lifecycle.PropertyLifecycleContext;
import net.jqwik.api.lifecycle.SkipExecutionHook;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** What the harness adds to a run of JUnit; the service files beside the classes say which of it takes part. */
public final class Hooks {
    /** Gives every property one seed, so that base and candidate see the same tries: jqwik has no setting for it. */
    public static final class Seed implements AroundPropertyHook {
        @Override
        public PropertyExecutionResult aroundProperty(PropertyLifecycleContext context, PropertyExecutor property) {
            context.attributes().setSeed(System.getProperty("harness.seed"));
            return property.execute();
        }

        @Override
        public PropagationMode propagateTo() {
            return PropagationMode.ALL_DESCENDANTS;
        }
    }

    /** Skips every property: it is only counted. */
    public static final class CountProperties implements SkipExecutionHook {
        @Override
        public SkipResult shouldBeSkipped(LifecycleContext context) {
            return context.optionalElement().filter(Method.class::isInstance).isPresent()
                ? SkipResult.skip("counted") : SkipResult.doNotSkip();
        }

        @Override
        public PropagationMode propagateTo() {
            return PropagationMode.ALL_DESCENDANTS;
        }
    }

    /** Expands every parameterized test into its invocations and runs none of them. */
    public static final class CountTests implements InvocationInterceptor {
        @Override
        public void interceptTestMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context
        ) {
            test.skip();
        }

        @Override
        public void interceptTestTemplateMethod(
            Invocation<Void> test, ReflectiveInvocationContext<Method> method, ExtensionContext context
        ) {
            test.skip();
        }

        @Override
        public void interceptBeforeEachMethod(
            Invocation<Void> step, ReflectiveInvocationContext<Method> method, ExtensionContext context
        ) {
            step.skip();
        }

        @Override
        public void interceptAfterEachMethod(
            Invocation<Void> step, ReflectiveInvocationContext<Method> method, ExtensionContext context
        ) {
            step.skip();
        }
    }
}
