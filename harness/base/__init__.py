"""What everything stands on: errors, text, files, locks, processes; nothing of Kafka."""
