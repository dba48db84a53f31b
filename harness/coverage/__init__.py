"""Was the patched code reached? JaCoCo's agent in nodes of the candidate, its data, and the changed lines that ran."""
