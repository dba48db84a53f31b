"""Patch-verification and regression harness for Apache Kafka builds."""

__version__ = "0.1.0"
