"""The rollout rehearsal: replace the raft jar, or all of Kafka, node by node on a live cluster under load, and go back.

`nodes` says in which order, `health` what must be true before and after each turn, `checks` tests it on the live
cluster; `features` says what going back means, `finalising` finalises them; `rehearsals` are plans for the engine that
carries out every scenario; `turns` reads a rehearsal back from its journal, `rollout_verdict` decides, `runbook` writes
what an operator does.
"""
