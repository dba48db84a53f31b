"""The container engine of this host: images, containers and what a killed harness left there."""
