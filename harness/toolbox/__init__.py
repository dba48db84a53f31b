"""What work is done with: downloads, Java, the cache."""
