"""Live clusters: nodes as processes on loopback, faults done to them, probes that speak Kafka's protocol."""
