"""Builds in containers: the engine, images made on this machine, and Gradle in them."""
