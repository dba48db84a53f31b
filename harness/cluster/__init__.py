"""Live clusters: nodes as processes, on loopback or in a network; faults, and probes that speak Kafka's protocol."""
