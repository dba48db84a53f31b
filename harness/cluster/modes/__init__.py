"""How a cluster keeps its metadata, and what of its nodes depends on that: KRaft, and ZooKeeper."""
