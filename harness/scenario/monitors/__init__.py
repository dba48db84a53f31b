"""What watches a whole run of any plan: each file is one monitor, with an invariant, measures, or both."""
