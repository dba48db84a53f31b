"""Raft's rules held against what nodes said of themselves. All of it is pure; monitors bring what it judges."""
