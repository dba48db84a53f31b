"""What a host can do: each file registers one capability; a scenario that needs one is UNSUPPORTED without it."""
