"""Clients in the background: what they were promised is held against what is there when the run ends."""
