"""What figures of runs weigh: costs beside base by stated limits, over repeats by statistics, and as claims state."""
