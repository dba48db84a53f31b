"""Clients in the background: what they were promised is compared with what is there when the run ends."""
