"""What is in the way of a roll, found in what Kafka's scripts print: awk programs, for the runbook's script.

Each prints what is in the way, nothing where all is well. `node` is whose turn it is; `controllers` and `brokers` are
the ids of those who should be there. Where a check looks twice, the first file is what the script printed before.
"""

from __future__ import annotations

from harness.cluster.probes import CAUGHT_UP_LAG, KEEPS_UP_SECONDS

LED = """
/^LeaderId:/ && $2 >= 0 { led = 1 }
END { if (!led) print "nobody leads" }
"""
_KEEP_UP = f"""
NF > 4 && ($NF == "Leader" || $NF == "Follower") {{
    voters++; lag[$1] = $(NF - 3); last[$1] = $(NF - 1)
    if ($NF == "Leader") now = last[$1]
}}
function keeps_up(id) {{
    if (lag[id] <= {CAUGHT_UP_LAG}) return 1
    return last[id] >= 0 && now >= last[id] && now - last[id] <= {KEEPS_UP_SECONDS * 1000}
}}
"""
A_MAJORITY_LEFT = f"""{_KEEP_UP}
END {{
    for (id in lag) if (id == node) votes = 1; else if (keeps_up(id)) left++
    needed = int(voters / 2) + 1
    if (!voters) print "no voter is listed"
    else if (votes && left < needed) print left + 0 " would be left caught up, " needed " of " voters " are needed"
}}
"""
CAUGHT_UP = f"""{_KEEP_UP}
END {{
    count = split(controllers, wanted, " ")
    for (at = 1; at <= count; at++) {{
        if (!(wanted[at] in lag)) print "controller " wanted[at] " is not listed"
        else if (!keeps_up(wanted[at])) print "controller " wanted[at] " is " lag[wanted[at]] " behind"
    }}
}}
"""
UNFENCED = """
match($0, /\\(id: [0-9]+/) && !/-> ERROR/ { listed[substr($0, RSTART + 5, RLENGTH - 5)] = 1 }
END {
    count = split(brokers, wanted, " ")
    for (at = 1; at <= count; at++) if (!(wanted[at] in listed)) print "broker " wanted[at] " is not listed"
}
"""
NO_LINE = """
NF { print $2 "-" $4 }
"""
# Of a partition at min.insync.replicas with all of its replicas in sync none is to spare, whatever is waited for.
_ISR = """
{
    isr = replicas = ""
    for (at = 1; at < NF; at++) { if ($at == "Isr:") isr = $(at + 1); if ($at == "Replicas:") replicas = $(at + 1) }
    whole = split(isr, each, ",") == split(replicas, each, ",")
    if (index("," isr ",", "," node ",") && %s) print $2 "-" $4 %s
}
"""
NODE_NOT_NEEDED = _ISR % ("!whole", '" needs it"')
NO_SPARE = _ISR % ("whole", '""')
NOTHING_MOVED = """
/No partition reassignments found/ { none = 1 }
END { if (!none) print "partitions are being moved" }
"""
OFFSETS_GROW = """
FNR == 1 { file++ }
$NF == "Observer" && file == 1 && !($1 in before && before[$1] > $3) { before[$1] = $3 }
$NF == "Observer" && file == 2 && !($1 in now && now[$1] > $3) { now[$1] = $3 }
END {
    count = split(controllers, each, " ")
    for (at = 1; at <= count; at++) votes[each[at]] = 1
    count = split(brokers, each, " ")
    for (at = 1; at <= count; at++) {
        if (each[at] in votes) continue
        if (!(each[at] in now)) print "observer " each[at] " is not listed"
        else if (now[each[at]] + 0 <= before[each[at]] + 0) print "observer " each[at] " stays at " now[each[at]]
    }
}
"""
PREFERRED_LEAD = """
{
    for (at = 1; at < NF; at++) {
        if ($at == "Leader:") leader = $(at + 1)
        if ($at == "Replicas:") { split($(at + 1), replicas, ","); if (replicas[1] != leader) print $2 "-" $4 }
    }
}
"""
