"""The metadata log on disk: read, and held against what Raft promises. Only `folder` and `dump` touch files."""
