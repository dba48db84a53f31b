"""The engine: carries a scenario's plan out on a live cluster, watches, and writes down what happened."""
