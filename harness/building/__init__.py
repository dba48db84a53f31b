"""Jars under test: compiled from sources, released, or given; and what their own configuration says."""
