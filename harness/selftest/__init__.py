"""Canaries: faults made on purpose, at each of which the harness must raise the alarm (`harness selftest`)."""
