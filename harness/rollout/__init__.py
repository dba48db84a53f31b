"""The rollout rehearsal: replace the raft jar node by node on a live cluster under load, and go back.

`nodes` says in which order, `health` what must be true before and after each step, `steps` takes one, `clients` put
the cluster under load and account for it, `programme` has the rehearsals, `judging` decides, `runbook` writes what an
operator does.
"""
