"""What the builds are called that a rehearsal may install on a node."""

BASE, CANDIDATE = "base", "the candidate"
WITH_KEY, WITH_KEY_LEFT = "the candidate with its flag set", "base with the flag left in place"
DIES_ON_LOAD = "the sabotaged jar"
