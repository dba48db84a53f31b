"""Is the jar a drop-in? Differences from base, upstream's tests, the source audit, and the lines that ran."""
