"""What changes for an operator between two Kafkas: an inventory of each, asked of its own classes and live nodes."""
