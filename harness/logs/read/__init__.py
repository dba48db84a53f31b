"""Log files to template counts: layouts, events, masks and statements, on Spark."""
