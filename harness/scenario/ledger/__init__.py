"""The ledger: every record that clients sent, what they were told of it, and where it was seen."""
