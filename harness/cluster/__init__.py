"""Live clusters: nodes as processes, on loopback or in a network of their own, faults done to them, probes that speak Kafka's protocol."""
