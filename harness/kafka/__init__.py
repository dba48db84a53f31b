"""Where Kafka comes from: locks, downloads, source trees and class paths."""
