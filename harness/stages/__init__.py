"""The stages of a verification; each reads and writes the run directory, so that any can be run again alone."""
