"""The night: a matrix of verifications, run in shards, merged, and told against the nights before it."""
