"""Conditions that can be looked at on a live cluster: the guards' and expectations' oracles.

An observer is judged by its own progress, never by being listed: `CurrentObservers` keeps a dead observer for
five minutes under the same leader.
"""
