"""What else changed? Node logs on Spark: events, masked templates, counts, and the differences between arms."""
