"""The night: a matrix of verifications, run in shards, merged, and compared with the nights before it."""
