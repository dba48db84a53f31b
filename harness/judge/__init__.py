"""The judge: pure functions from declared runs and their results to a verdict with its reasons."""
