"""Chaos: schedules of faults that follow from a seed, as scenarios that are made from their names."""
