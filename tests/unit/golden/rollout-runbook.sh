#!/bin/sh
# Runbook: replace kafka-raft-3.9.1.jar node by node. runbook.md, beside this file, says the same in words.
#
#   sh runbook.sh                  what it would do; nothing is asked of the cluster
#   sh runbook.sh check            list B for every node, once; nothing is changed
#   sh runbook.sh forward          every node's turn; with NODE... only these
#   sh runbook.sh back             the way back, from complete
#   sh runbook.sh back NODE...     from half-way: these nodes, in this order; FAILED=NODE before it names one
#                                  that runs and is sick: checked is only what its stop could harm
#
# It asks before every turn, and stops with the reason (exit code 1) where the rehearsal would have stopped.
# Lists of ids and of checks are meant to be split; what stands in single quotes is for awk or for a node.
# shellcheck disable=SC2016,SC2046,SC2086
set -eu

# ---- What is yours: say it here, in the environment, or in a file of yours that SITE names. ----
case ${SITE:-} in */* | "") ;; *) SITE=./$SITE ;; esac
# shellcheck source=/dev/null
[ -z "${SITE:-}" ] || . "$SITE"
: "${BROKERS:=broker1:9092,broker2:9092}"
: "${CONTROLLERS:=controller1:9093,controller2:9093}"
# What Kafka's scripts need to be let in; empty where that is nothing.
: "${COMMAND_CONFIG=conf/client.properties}"
case $COMMAND_CONFIG in /* | "") ;; *) COMMAND_CONFIG=$PWD/$COMMAND_CONFIG ;; esac
# Where Kafka's bin/ is on this machine.
: "${KAFKA:=/opt/kafka}"
# Ids: those of the rehearsal. A node that is both is in both lists.
: "${CONTROLLER_IDS:=0 1 2 3 4}"
: "${BROKER_IDS:=5 6 7}"
# Who comes first (brokers-first, controllers-first), or every node's id in the order of the roll.
: "${FIRST:=brokers-first}"
: "${ORDER:=}"
# Limits in seconds, those of the rehearsal: nodes with much data take longer to stop and to catch up.
# BUDGET_SECONDS is how long a client may wait in a turn; with 0 nobody is asked for it.
: "${BEFORE_SECONDS:=60}"
: "${STOP_SECONDS:=20}"
: "${AFTER_SECONDS:=120}"
: "${LEADERS_SECONDS:=60}"
: "${COMMAND_SECONDS:=30}"
: "${BUDGET_SECONDS:=5}"
# no: go on without asking.
: "${ASK:=yes}"

# How a node is reached; each is given the node's id. These are examples:
# stop it (SIGTERM), and return at once or when it has stopped
# stop_node() { ssh "kafka-$1.example.org" systemctl stop --no-block kafka; }
# put the jar in place that $2 names: new or base; by another name first, so that a process that still has
# the old one open goes on with that
# install_jar() { ssh "kafka-$1.example.org" "cp /opt/kafka/libs/kafka-raft-3.9.1.jar.$2 /opt/kafka/libs/kafka-raft-3.9.1.jar.next && mv -f /opt/kafka/libs/kafka-raft-3.9.1.jar.next /opt/kafka/libs/kafka-raft-3.9.1.jar"; }
# start it
# start_node() { ssh "kafka-$1.example.org" systemctl start kafka; }
# succeed if it has a process: one that is stopping still has; exit 1 where it has none, and another code, as
# ssh has, where that cannot be told: the node then counts as running
# is_running() { [ "$(ssh "kafka-$1.example.org" systemctl show -p MainPID --value kafka)" -gt 0 ]; }
# print the SHA-256 of the jar kafka-raft that its live process holds open
# running_jar() { ssh "kafka-$1.example.org" 'for fd in /proc/$(systemctl show -p MainPID --value kafka)/fd/*; do case $(readlink "$fd") in
#     */kafka-raft-[0-9]*.jar*) sha256sum <"$fd" | cut -d" " -f1; break ;; esac; done'; }
# print the ERROR and FATAL lines since its last start, each with the line below it; fail where no line of it
# can be read, be it for permissions, or since Kafka writes to server.log alone
# error_lines() { ssh "kafka-$1.example.org" 'log=$(journalctl -q -o cat _SYSTEMD_INVOCATION_ID=$(systemctl show -p InvocationID --value kafka)) && [ -n "$log" ] &&
#     { printf "%s\n" "$log" | grep -A 1 -E "ERROR|FATAL" || true; }'; }
# print how many seconds a client waited at most in the last $1 seconds; if it is left out, you are asked
# longest_wait() { … your monitoring; }
# succeed if the topic ids on every broker's disks are the cluster's, else say why not in the last line; if it is
# left out, you are asked; runbook.md has how exports are made
# topic_ids() { harness topic-ids check --config server.properties --merge broker-2.jsonl --merge …; }

# ---- What was rehearsed. ----
ANSWER='The rehearsal passed.'
REFUSED=''
CHOICE='Brokers first, the active controller last, since a broker only observes the metadata quorum, and a jar that fails there takes no vote with it; another order is rehearsed by --order controllers-first, or node ids.'
CHECKS_BEFORE='all_answer one_active_controller quorum_survives brokers_unfenced isr_full all_led min_isr_survives no_reassignment observers_follow'
CHECKS_AFTER='all_answer one_active_controller brokers_unfenced voters_caught_up isr_full all_led observers_follow'
CHECKS_OF_A_STOP='one_active_controller quorum_survives min_isr_survives'
BASE_SHA256=bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
NEW_SHA256=cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc
STATUS=kafka-metadata-quorum-describe-status
AT_MIN_ISR=kafka-topics-describe-at-min-isr-partitions
NO_SPARE='{
    isr = replicas = ""
    for (at = 1; at < NF; at++) { if ($at == "Isr:") isr = $(at + 1); if ($at == "Replicas:") replicas = $(at + 1) }
    whole = split(isr, each, ",") == split(replicas, each, ",")
    if (index("," isr ",", "," node ",") && whole) print $2 "-" $4 ""
}'
KNOWN_ERRORS='ERROR sad \(x\)'
REFUSAL='^(java\.util\.concurrent\.[A-Za-z]+: )?org\.apache\.kafka\.common\.errors\.[A-Za-z]+'
GRAVE='\.(CorruptRecord|KafkaStorage|InconsistentClusterId|UnknownServer|Serialization)Exception'
FAULT='Encountered [a-z ]*fault|[Cc]orrupt'
DURATION='(^|[^A-Za-z0-9_])took [0-9]+(\.[0-9]+)? ?(ms|s|milliseconds|seconds)([^A-Za-z0-9_]|$)'
TRACE='^([ 	]+at |([A-Za-z0-9_$]+[.])+[A-Za-z0-9_$]+(Exception|Error|Throwable)([^A-Za-z0-9_]|$)|Caused by: )'
STOPS='a check of list B is not met within 60 s: the node is not touched
the node does not stop within 20 s of SIGTERM, or crashes after its start
a check of list A is not met within 120 s
the live process does not hold the right jar open (sha256 of /proc/PID/fd/N)
the new jar writes an ERROR line that base'"'"'s own restart does not write, unless it only refuses a request (org.apache.kafka.common.errors)
a client waits longer than its budget (rehearsed: 5 s)'
TOLD=''
IDS_AGREE='the topic ids on every broker'"'"'s disks are those of the cluster'
RAISES=''
DESCRIBES=''
RELEASE_OF_BASE=''
FINALISE_REFUSED=''
export REFUSAL GRAVE FAULT DURATION TRACE

describe() {
    case $1 in
    all_answer) printf '%s' 'every node runs and answers on its listeners' ;;
    one_active_controller) printf '%s' 'one controller is active' ;;
    quorum_survives) printf '%s' 'the other caught-up controllers are a majority' ;;
    brokers_unfenced) printf '%s' 'every broker is registered and not fenced' ;;
    isr_full) printf '%s' 'every partition has all its replicas in sync' ;;
    all_led) printf '%s' 'every partition has a leader' ;;
    min_isr_survives) printf '%s' 'no partition with a replica to spare falls below min.insync.replicas without the node' ;;
    no_reassignment) printf '%s' 'no partition is being moved' ;;
    observers_follow) printf '%s' 'every observer follows the active controller' ;;
    voters_caught_up) printf '%s' 'every controller has caught up' ;;
    preferred_leaders) printf '%s' 'every partition is led by its preferred replica' ;;
    holds_jar) printf '%s' 'the live process holds the right jar open' ;;
    esac
}

# Expected: active, on each of them.
all_answer() {
    for each in $(all_nodes); do
        is_running "$each" </dev/null || printf 'node %s does not run\n' "$each"
    done | joined
}

# Expected: the LeaderId of the active controller.
one_active_controller() {
    ask kafka-metadata-quorum-describe-status bin/kafka-metadata-quorum.sh --bootstrap-controller "$CONTROLLERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} describe --status || return 0
    unmet '
/^LeaderId:/ && $2 >= 0 { led = 1 }
END { if (!led) print "nobody leads" }
' "$DIR/kafka-metadata-quorum-describe-status"
}

# Expected: a majority of the voters without node N has Lag 0 or 1, or a LastCaughtUpTimestamp of 2 s ago at most by that of the leader.
quorum_survives() {
    ask kafka-metadata-quorum-describe-replication bin/kafka-metadata-quorum.sh --bootstrap-controller "$CONTROLLERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} describe --replication || return 0
    unmet '
NF > 4 && ($NF == "Leader" || $NF == "Follower") {
    voters++; lag[$1] = $(NF - 3); last[$1] = $(NF - 1)
    if ($NF == "Leader") now = last[$1]
}
function keeps_up(id) {
    if (lag[id] <= 1) return 1
    return last[id] >= 0 && now >= last[id] && now - last[id] <= 2000
}

END {
    for (id in lag) if (id == node) votes = 1; else if (keeps_up(id)) left++
    needed = int(voters / 2) + 1
    if (!voters) print "no voter is listed"
    else if (votes && left < needed) print left + 0 " would be left caught up, " needed " of " voters " are needed"
}
' "$DIR/kafka-metadata-quorum-describe-replication"
}

# Expected: a line for every broker.
brokers_unfenced() {
    ask kafka-broker-api-versions bin/kafka-broker-api-versions.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} || return 0
    unmet '
match($0, /\(id: [0-9]+/) && !/-> ERROR/ { listed[substr($0, RSTART + 5, RLENGTH - 5)] = 1 }
END {
    count = split(brokers, wanted, " ")
    for (at = 1; at <= count; at++) if (!(wanted[at] in listed)) print "broker " wanted[at] " is not listed"
}
' "$DIR/kafka-broker-api-versions"
}

# Expected: no output.
isr_full() {
    ask kafka-topics-describe-under-replicated-partitions bin/kafka-topics.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --describe --under-replicated-partitions || return 0
    unmet '
NF { print $2 "-" $4 }
' "$DIR/kafka-topics-describe-under-replicated-partitions"
}

# Expected: no output.
all_led() {
    ask kafka-topics-describe-unavailable-partitions bin/kafka-topics.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --describe --unavailable-partitions || return 0
    unmet '
NF { print $2 "-" $4 }
' "$DIR/kafka-topics-describe-unavailable-partitions"
}

# Expected: no partition with node N among its Isr, but for those whose Isr are all of their Replicas.
min_isr_survives() {
    ask kafka-topics-describe-at-min-isr-partitions bin/kafka-topics.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --describe --at-min-isr-partitions || return 0
    unmet '
{
    isr = replicas = ""
    for (at = 1; at < NF; at++) { if ($at == "Isr:") isr = $(at + 1); if ($at == "Replicas:") replicas = $(at + 1) }
    whole = split(isr, each, ",") == split(replicas, each, ",")
    if (index("," isr ",", "," node ",") && !whole) print $2 "-" $4 " needs it"
}
' "$DIR/kafka-topics-describe-at-min-isr-partitions"
}

# Expected: “No partition reassignments found”.
no_reassignment() {
    ask kafka-reassign-partitions-list bin/kafka-reassign-partitions.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --list || return 0
    unmet '
/No partition reassignments found/ { none = 1 }
END { if (!none) print "partitions are being moved" }
' "$DIR/kafka-reassign-partitions-list"
}

# Expected: on a second call every Observer's LogEndOffset is higher (one that died stays listed for 5 minutes).
observers_follow() {
    ask kafka-metadata-quorum-describe-replication bin/kafka-metadata-quorum.sh --bootstrap-controller "$CONTROLLERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} describe --replication || return 0
    again kafka-metadata-quorum-describe-replication bin/kafka-metadata-quorum.sh --bootstrap-controller "$CONTROLLERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} describe --replication || return 0
    unmet '
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
' "$DIR/kafka-metadata-quorum-describe-replication.before" "$DIR/kafka-metadata-quorum-describe-replication"
}

# Expected: every voter has Lag 0 or 1, or a LastCaughtUpTimestamp of 2 s ago at most by that of the leader.
voters_caught_up() {
    ask kafka-metadata-quorum-describe-replication bin/kafka-metadata-quorum.sh --bootstrap-controller "$CONTROLLERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} describe --replication || return 0
    unmet '
NF > 4 && ($NF == "Leader" || $NF == "Follower") {
    voters++; lag[$1] = $(NF - 3); last[$1] = $(NF - 1)
    if ($NF == "Leader") now = last[$1]
}
function keeps_up(id) {
    if (lag[id] <= 1) return 1
    return last[id] >= 0 && now >= last[id] && now - last[id] <= 2000
}

END {
    count = split(controllers, wanted, " ")
    for (at = 1; at <= count; at++) {
        if (!(wanted[at] in lag)) print "controller " wanted[at] " is not listed"
        else if (!keeps_up(wanted[at])) print "controller " wanted[at] " is " lag[wanted[at]] " behind"
    }
}
' "$DIR/kafka-metadata-quorum-describe-replication"
}

# Expected: on every line with a Leader that is the first of its Replicas.
preferred_leaders() {
    ask kafka-topics-describe bin/kafka-topics.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} --describe || return 0
    unmet '
{
    for (at = 1; at < NF; at++) {
        if ($at == "Leader:") leader = $(at + 1)
        if ($at == "Replicas:") { split($(at + 1), replicas, ","); if (replicas[1] != leader) print $2 "-" $4 }
    }
}
' "$DIR/kafka-topics-describe"
}

elect_preferred_leaders() {
    ask kafka-leader-election-election-type-preferred-all-topic-partitions bin/kafka-leader-election.sh --bootstrap-server "$BROKERS" ${COMMAND_CONFIG:+--admin.config "$COMMAND_CONFIG"} --election-type preferred --all-topic-partitions
}

# What follows is the same in every runbook.sh.

usage() {
    printf 'sh %s [plan | check | forward [NODE...] | back [NODE...]%s]\n' "$0" "${RAISES:+ | finalise}" >&2
    exit 2
}

refuse() {
    printf '%s: %s\n' "$0" "$*" >&2
    exit 2
}

say() {
    printf '%s  %s\n' "$(date +%H:%M:%S)" "$*"
}

now() {
    date +%s
}

# halt REASON: nothing more is done; say why, and what the way back is.
halt() {
    printf '\nSTOPPED: %s.\n' "$*" >&2
    back=$TOUCHED
    if [ "$MODE" = back ]; then
        back=${NEXT:+ $NEXT}$(without "$NEXT" "$LEFT")
    fi
    back=$(down_first "$back")
    if [ "$TURNS" = taken ]; then
        printf 'Every node had its turn.\n' >&2
    elif [ "$TURNS" = final ]; then
        printf 'The features may be finalised: base is put on no node any more.\n' >&2
    elif [ -z "$back" ]; then
        printf 'No node was touched.\n' >&2
    else
        printf 'See whether your clients are served. The way back, a node that is down or failed first: %ssh %s back%s\n' \
            "${FAILED:+FAILED=$FAILED }" "$0" "$back" >&2
    fi
    if [ "$MODE$TURNS" = forwardopen ] && [ -n "$LEFT" ]; then
        printf 'To go on when that is mended: sh %s forward%s\n' "$0" "$LEFT" >&2
    fi
    exit 1
}

# confirm WHAT: go on only after a yes.
confirm() {
    [ "$ASK" != no ] || return 0
    printf '%s: type yes to go on: ' "$*"
    answer=
    read -r answer || true
    [ "$answer" = yes ] || halt "you did not say yes ($*)"
}

is_in() {
    case " $2 " in
    *" $1 "*) return 0 ;;
    esac
    return 1
}

# without NODE LIST: the others.
without() {
    for each in $2; do
        [ "$each" = "$1" ] || printf ' %s' "$each"
    done
}

# has_ended NODE: it is certain that it has no process; a host that cannot be reached says nothing.
has_ended() {
    code=0
    is_running "$1" </dev/null || code=$?
    [ "$code" -eq 1 ]
}

# down_first LIST: the same nodes, those that do not run first.
down_first() {
    up=
    for each in $1; do
        if has_ended "$each"; then printf ' %s' "$each"; else up="$up $each"; fi
    done
    printf '%s' "$up"
}

# down_in LIST: those of them that do not run.
down_in() {
    for each in $1; do
        ! has_ended "$each" || printf ' %s' "$each"
    done
}

all_nodes() {
    for each in $CONTROLLER_IDS; do
        printf '%s ' "$each"
    done
    for each in $BROKER_IDS; do
        is_in "$each" "$CONTROLLER_IDS" || printf '%s ' "$each"
    done
}

# ask NAME COMMAND...: run a command of Kafka's once a look; what it printed is then in $DIR/NAME, else say why not.
ask() {
    asked=$1
    shift
    [ ! -e "$DIR/$asked" ] || return 0
    seconds=$((deadline - $(now)))
    [ "$seconds" -le "$COMMAND_SECONDS" ] || seconds=$COMMAND_SECONDS
    [ "$seconds" -ge 5 ] || seconds=5
    code=0
    (cd "$KAFKA" && exec timeout "$seconds" "$@") >"$DIR/$asked.partial" 2>"$DIR/$asked.errors" </dev/null || code=$?
    if [ "$code" -ne 0 ]; then
        why=$(awk 'NF { print; exit }' "$DIR/$asked.errors" "$DIR/$asked.partial")
        [ "$code" -ne 124 ] || why="no answer within $seconds s"
        printf '%s failed (exit %s): %s\n' "$1" "$code" "$why"
        return 1
    fi
    mv "$DIR/$asked.partial" "$DIR/$asked"
}

# again NAME COMMAND...: run it a second time; what it printed before is then in $DIR/NAME.before.
again() {
    mv "$DIR/$1" "$DIR/$1.before"
    sleep 1
    ask "$@"
}

# The first four lines as one.
joined() {
    awk 'NF && ++n <= 4 { printf "%s%s", (n > 1 ? "; " : ""), $0 } END { if (n > 4) printf "; …" }'
}

# unmet AWK FILE...: what is in the way by what was printed, in one line; nothing where all is well.
unmet() {
    program=$1
    shift
    found=$(awk -v node="$NODE" -v controllers="$CONTROLLER_IDS" -v brokers="$BROKER_IDS" "$program" "$@") || return 1
    printf '%s\n' "$found" | joined
}

# look CHECK...: make all checks at this moment; PROBLEM says what is in the way of the first that is not met.
look() {
    rm -f "$DIR"/kafka-*
    for check in "$@"; do
        PROBLEM=$("$check") || PROBLEM="the check could not be made${PROBLEM:+: $PROBLEM}"
        if [ -n "$PROBLEM" ]; then
            PROBLEM="$(describe "$check"): not so ($PROBLEM)"
            return 1
        fi
    done
}

# await SECONDS CHECK...: until all of them are met at the same look.
await() {
    limit=$1 deadline=$(($(now) + $1)) told=
    shift
    until look "$@"; do
        if [ "$STARTED" = yes ] && has_ended "$NODE"; then
            PROBLEM="node $NODE crashed after its start"
            return 1
        fi
        [ "$PROBLEM" = "$told" ] || say "  waiting: $PROBLEM"
        told=$PROBLEM
        if [ "$(now)" -ge "$deadline" ]; then
            PROBLEM="$PROBLEM, $limit s long"
            return 1
        fi
        sleep 1
    done
}

stop_in_time() {
    say "node $NODE: stop, within $STOP_SECONDS s of SIGTERM"
    signalled=$(now)
    stop_node "$NODE" </dev/null || halt "stop_node $NODE failed"
    until has_ended "$NODE"; do
        [ $(($(now) - signalled)) -lt "$STOP_SECONDS" ] || break
        sleep 1
    done
    if [ $(($(now) - signalled)) -gt "$STOP_SECONDS" ] || ! has_ended "$NODE"; then
        halt "node $NODE did not stop within $STOP_SECONDS s of SIGTERM"
    fi
}

# holds_jar: the node's live process holds the jar of its turn open.
holds_jar() {
    wanted=$NEW_SHA256
    [ "$JAR" != base ] || wanted=$BASE_SHA256
    held=$(running_jar "$NODE" </dev/null) || {
        printf 'running_jar %s failed' "$NODE"
        return 0
    }
    [ "$held" = "$wanted" ] ||
        printf 'the live process of node %s holds %s open, not %s' "$NODE" "${held:-no such jar}" "$wanted"
}

right_jar() {
    JAR=$1
    PROBLEM=$(holds_jar)
    [ -z "$PROBLEM" ] || halt "$PROBLEM"
}

# Of ERROR lines, each with the line below it, those that speak against a jar.
against_the_jar() {
    awk '
function weigh(below) {
    refused = below ~ ENVIRON["REFUSAL"] && below !~ ENVIRON["GRAVE"]
    timed = line ~ ENVIRON["DURATION"] && below !~ ENVIRON["TRACE"]
    if (line != "" && (line ~ ENVIRON["FAULT"] || !refused && !timed)) print line
    line = ""
}
{ weigh($0) }
/(^|[^A-Za-z])(ERROR|FATAL)([^A-Za-z]|$)/ { line = $0 }
END { weigh("") }
' | { if [ -n "$KNOWN_ERRORS" ]; then grep -v -E -e "$KNOWN_ERRORS" || true; else cat; fi; }
}

no_new_errors() {
    for each in $TOUCHED; do
        lines=$(error_lines "$each" </dev/null) || halt "error_lines $each failed"
        lines=$(printf '%s\n' "$lines" | against_the_jar)
        [ -n "$lines" ] || continue
        FAILED=$each TOUCHED=" $each$(without "$each" "$TOUCHED")"
        halt "node $each wrote: $(printf '%s\n' "$lines" | head -n 1)"
    done
}

no_long_wait() {
    [ "$BUDGET_SECONDS" != 0 ] || return 0
    waited=$(longest_wait "$(($(now) - began))") || halt "longest_wait failed"
    awk -v waited="$waited" -v budget="$BUDGET_SECONDS" \
        'BEGIN { exit !(waited ~ /^[0-9]+([.][0-9]+)?$/ && waited + 0 <= budget + 0) }' ||
        halt "a client waited ${waited:-an unknown time} s in the turn of node $NODE, and $BUDGET_SECONDS s are allowed"
}

# no_spare: say which partitions have no replica to spare: no check could ever be met for them, so none asks for it.
no_spare() {
    [ -e "$DIR/$AT_MIN_ISR" ] || return 0
    bare=$(awk -v node="$NODE" "$NO_SPARE" "$DIR/$AT_MIN_ISR" | joined)
    [ -z "$bare" ] || say "while node $NODE is down nobody can write to: $bare"
}

# failed_is_left: a node that failed has not had its turn; until then the checks of the whole cluster cannot be met.
failed_is_left() {
    [ -n "$FAILED" ] && [ "$FAILED" != "$NODE" ] && is_in "$FAILED" "$LEFT"
}

# not_yet: on the way back, why the whole cluster cannot be as checks A want it; nothing where it can.
not_yet() {
    [ "$MODE" = back ] || return 0
    down=$(down_in "$(without "$NODE" "$LEFT")")
    if [ -n "$down" ]; then
        printf 'nodes%s are down too: checks A are made when they were started' "$down"
    elif failed_is_left; then
        printf 'node %s failed: checks A are made after its turn' "$FAILED"
    fi
}

# turn NODE JAR: checks B, stop the node, put a jar in place (new, base, none), start it, checks A.
turn() {
    NODE=$1 STARTED=no began=$(now) runs=yes
    if [ "$MODE" = back ] && has_ended "$NODE"; then
        runs=no
        say "node $NODE is down: nothing is checked before its turn"
    else
        checks=$CHECKS_BEFORE
        if [ "$NODE" = "$FAILED" ]; then
            say "node $NODE failed: checked is only what its stop could harm"
            checks=$CHECKS_OF_A_STOP
        fi
        say "node $NODE: checks B, for $BEFORE_SECONDS s at most"
        await "$BEFORE_SECONDS" $checks || halt "$PROBLEM; node $NODE was not touched"
        no_spare
    fi
    TOUCHED=" $NODE$(without "$NODE" "$TOUCHED")"
    failed_is_left || FAILED=$NODE
    [ "$runs" = no ] || stop_in_time
    if [ "$2" != none ]; then
        say "node $NODE: install $2"
        install_jar "$NODE" "$2" </dev/null || halt "install_jar $NODE $2 failed"
    fi
    say "node $NODE: start"
    start_node "$NODE" </dev/null || halt "start_node $NODE failed"
    STARTED=yes
    why=$(not_yet)
    if [ -n "$why" ]; then
        say "$why"
        JAR=$2
        await "$AFTER_SECONDS" holds_jar || halt "$PROBLEM"
        return 0
    fi
    say "node $NODE: checks A, for $AFTER_SECONDS s at most"
    await "$AFTER_SECONDS" $CHECKS_AFTER || halt "$PROBLEM"
    right_jar "$2"
    [ "$MODE" = back ] || no_new_errors
    [ "$AFTER_STOP" = yes ] || no_long_wait
    say "node $NODE: in service"
}

# next_node: of those in LEFT, as ORDER or FIRST says; the active controller is asked for each time.
next_node() {
    sequence=$ORDER
    if [ -z "$sequence" ]; then
        STARTED=no NODE=
        await "$BEFORE_SECONDS" one_active_controller || halt "$PROBLEM"
        leader=$(awk '/^LeaderId:/ { print $2 }' "$DIR/$STATUS")
        observers=
        for each in $BROKER_IDS; do
            is_in "$each" "$CONTROLLER_IDS" || observers="$observers $each"
        done
        controllers=$(without "$leader" "$CONTROLLER_IDS")
        sequence="$observers $controllers $leader"
        [ "$FIRST" = brokers-first ] || sequence="$controllers $leader $observers"
    fi
    [ "$MODE" != back ] || sequence=$(down_first "$sequence")
    for NEXT in $sequence; do
        ! is_in "$NEXT" "$LEFT" || return 0
    done
    halt "nodes$LEFT are in neither CONTROLLER_IDS, BROKER_IDS nor ORDER"
}

# rolled: the nodes that run the new jar already, as those of a roll that goes on do.
rolled() {
    [ "$NEW_SHA256" != "$BASE_SHA256" ] || return 0
    for other in $(all_nodes); do
        held=$(running_jar "$other" </dev/null) || has_ended "$other" || refuse "running_jar $other failed"
        [ "$held" != "$NEW_SHA256" ] || printf ' %s' "$other"
    done
}

# ids_agree: before the first turn; a broker that restarts refuses partitions whose directories have another id.
ids_agree() {
    [ -n "$IDS_AGREE" ] || return 0
    if ! command -v topic_ids >/dev/null 2>&1; then
        confirm "$IDS_AGREE, which you have checked"
        return 0
    fi
    say "checking that $IDS_AGREE"
    found=$(topic_ids 2>&1 </dev/null) ||
        halt "$IDS_AGREE: not so ($(printf '%s\n' "$found" | awk 'NF { last = $0 } END { printf "%s", last }'))"
}

# roll JAR NODE...: every node's turn, and the preferred leaders after the last.
roll() {
    jar=$1
    shift
    LEFT=" $*"
    while [ -n "$LEFT" ]; do
        next_node
        confirm "node $NEXT: stop it, install ${jar}, start it"
        turn "$NEXT" "$jar"
        LEFT=$(without "$NEXT" "$LEFT")
        [ "$FAILED" != "$NEXT" ] || FAILED=''
    done
    TURNS=taken
    elect
}

elect() {
    confirm "every node had its turn: make the preferred replicas lead again"
    NODE='' STARTED=no deadline=$(($(now) + COMMAND_SECONDS))
    rm -f "$DIR"/kafka-*
    PROBLEM=$(elect_preferred_leaders) || halt "$PROBLEM"
    await "$LEADERS_SECONDS" preferred_leaders || halt "$PROBLEM"
    say "every partition is led by its preferred replica"
}

plan() {
    printf 'Nothing is done. %s\n\n' "$ANSWER"
    printf 'sh %s forward would take the turn of these nodes, and ask before each: %s\n%s\n\n' "$0" "$(all_nodes)" "$CHOICE"
    [ -z "$IDS_AGREE" ] || printf 'Before the first turn, else no node is touched:\n  - %s\n' "$IDS_AGREE"
    printf 'Before each turn, for %s s at most, else the node is not touched:\n' "$BEFORE_SECONDS"
    for check in $CHECKS_BEFORE; do
        printf '  - %s\n' "$(describe "$check")"
    done
    printf 'stop_node (%s s at most), install_jar, start_node, and then, for %s s at most:\n' "$STOP_SECONDS" "$AFTER_SECONDS"
    for check in $CHECKS_AFTER; do
        printf '  - %s\n' "$(describe "$check")"
    done
    printf 'It stops, and says the way back, if one of them is not met, or if\n'
    printf '%s\n' "$STOPS" | awk 'NF { print "  - " $0 }'
    printf 'After the last turn the preferred replicas are made to lead again.\n'
}

# check: list B of every node, at one look; nothing is changed.
check_all() {
    STARTED=no bad=0
    for NODE in $(all_nodes); do
        deadline=$(($(now) + BEFORE_SECONDS))
        if look $CHECKS_BEFORE; then
            say "node $NODE may stop"
        else
            say "node $NODE may not stop: $PROBLEM"
            bad=1
        fi
    done
    return "$bad"
}

# base_starts: before the way back; where features are finalised above what base knows, it would not start any more.
base_starts() {
    [ -n "$RAISES" ] || return 0
    deadline=$(($(now) + COMMAND_SECONDS)) NODE=''
    rm -f "$DIR"/kafka-*
    if ! PROBLEM=$(features_described); then
        say "which features are finalised is not known ($PROBLEM)"
        confirm "base does not start once the features are finalised, and they are not"
        return 0
    fi
    level=$(awk '/metadata[.]version/ { for (at = 1; at < NF; at++) if ($at ~ /^Finalized/) print $(at + 1) }' \
        "$DIR/$DESCRIBES")
    if [ -z "$level" ]; then
        say "at which level metadata.version is finalised is not told"
        confirm "base does not start once the features are finalised, and they are not"
    elif is_above "$level" "$RELEASE_OF_BASE"; then
        printf '%s\n' "$TOLD"
        halt "metadata.version is finalised at $level, with which base does not start"
    fi
}

# is_above LEVEL OTHER: whether the first is later, as 4.0-IV3 is later than 3.9-IV0. A level that base has no name for
# (its own script prints "UNKNOWN 30") is later than all that it knows.
is_above() {
    case $1 in
    [0-9]*.[0-9]*-IV[0-9]*) ;;
    *) return 0 ;;
    esac
    awk -v one="$1" -v other="$2" 'BEGIN {
        split(one, a, /[^0-9]+/); split(other, b, /[^0-9]+/)
        for (at = 1; at <= 3; at++) if (a[at] + 0 != b[at] + 0) exit !(a[at] + 0 > b[at] + 0)
        exit 1
    }'
}

# static_voters: raising kraft.version makes voters those of the metadata log, for good (KIP-853).
static_voters() {
    deadline=$(($(now) + COMMAND_SECONDS)) NODE=''
    rm -f "$DIR"/kafka-*
    PROBLEM=$(features_described) || halt "$PROBLEM"
    if awk '/kraft[.]version/ && /FinalizedVersionLevel: 0([^0-9]|$)/ { found = 1 } END { exit !found }' \
        "$DIR/$DESCRIBES"; then
        say "kraft.version is 0: voters are those of controller.quorum.voters. Finalising all features may make them those"
        say "of the metadata log, which cannot be taken back, and which was not rehearsed"
        [ "$ASK" != no ] || halt "that is asked of somebody, and ASK is no"
        confirm "finalise kraft.version too"
        ARE_STATIC=yes
    fi
}

finalise() {
    printf '%s\n' "$TOLD"
    ARE_STATIC=no
    static_voters
    confirm "finalise the features"
    STARTED=no
    for NODE in $(all_nodes); do
        is_running "$NODE" </dev/null || halt "node $NODE is down: on base it could not start any more"
        right_jar new
    done
    for NODE in $(all_nodes); do
        say "node $NODE runs the new one: checks B, for $BEFORE_SECONDS s at most"
        await "$BEFORE_SECONDS" $CHECKS_BEFORE || halt "$PROBLEM"
    done
    TURNS=final NODE='' deadline=$(($(now) + COMMAND_SECONDS))
    rm -f "$DIR"/kafka-*
    PROBLEM=$(raise_features) || halt "$PROBLEM"
    cat "$DIR/$RAISES"
    roll none $(all_nodes)
    if [ "$ARE_STATIC" = yes ]; then
        say "leave controller.quorum.voters in the configuration until every node ignores it: the metric ignored-static-voters"
        say "(broker-metadata-metrics), IgnoredStaticVoters of a controller, is 1 then"
    fi
}

needs() {
    for each in "$@"; do
        command -v "$each" >/dev/null 2>&1 || refuse "$each is not defined: say at the top of $0, or in SITE, how it is done"
    done
}

MODE=${1:-plan}
[ $# -eq 0 ] || shift
NODE='' NEXT='' JAR='' STARTED=no TURNS=open TOUCHED='' LEFT='' PROBLEM=''
: "${FAILED:=}"
[ "$MODE" = back ] || FAILED=''
# On the way back from a stop, whose command names nodes, clients have waited already.
AFTER_STOP=no
[ "$MODE" != back ] || [ $# -eq 0 ] || AFTER_STOP=yes
if [ "$MODE" = plan ]; then
    plan
    exit 0
fi
case $MODE in
check | finalise) [ $# -eq 0 ] || usage ;;
forward | back) ;;
*) usage ;;
esac
is_in "$FIRST" "brokers-first controllers-first" || refuse "FIRST=$FIRST is neither brokers-first nor controllers-first"
for each in $ORDER $FAILED "$@"; do
    is_in "$each" "$(all_nodes)" || refuse "node $each is in neither CONTROLLER_IDS nor BROKER_IDS"
done
for each in $(all_nodes); do
    [ -z "$ORDER" ] || is_in "$each" "$ORDER" || refuse "ORDER=$ORDER does not name node $each"
done
[ -x "$KAFKA/bin/kafka-metadata-quorum.sh" ] || refuse "KAFKA=$KAFKA has no bin/kafka-metadata-quorum.sh"
[ -z "$COMMAND_CONFIG" ] || [ -r "$COMMAND_CONFIG" ] || refuse "COMMAND_CONFIG=$COMMAND_CONFIG cannot be read"
needs awk timeout mktemp is_running
DIR=$(mktemp -d)
trap 'rm -rf "$DIR"' EXIT
case $MODE in
check)
    check_all
    exit
    ;;
forward | finalise)
    [ -z "$REFUSED" ] || refuse "$REFUSED"
    [ "$MODE" = forward ] || [ -n "$RAISES" ] || refuse "there is nothing to finalise"
    ;;
esac
case $MODE in
finalise)
    [ -z "$FINALISE_REFUSED" ] || refuse "$FINALISE_REFUSED"
    [ -x "$NEW_KAFKA/bin/kafka-features.sh" ] || refuse "NEW_KAFKA=$NEW_KAFKA has no bin/kafka-features.sh"
    ;;
esac
trap 'halt "interrupted"' HUP INT TERM
needs stop_node start_node running_jar
[ "$MODE" = finalise ] || needs install_jar
[ "$MODE" = back ] || needs error_lines
if [ "$ASK" = no ]; then
    [ "$BUDGET_SECONDS" = 0 ] || [ "$AFTER_STOP" = yes ] || needs longest_wait
    [ "$MODE" != forward ] || [ -z "$IDS_AGREE" ] || needs topic_ids
elif ! command -v longest_wait >/dev/null 2>&1; then
    longest_wait() {
        printf 'How many seconds did one of your clients wait at most in the last %s s? ' "$1" >&2
        answer=
        read -r answer || true
        printf '%s' "$answer"
    }
fi
case $MODE in
forward)
    TOUCHED=$(rolled) || exit 2
    if [ $# -eq 0 ]; then
        for each in $(all_nodes); do
            if is_in "$each" "$TOUCHED"; then
                say "node $each runs the new one already"
            else
                set -- "$@" "$each"
            fi
        done
        if [ $# -eq 0 ]; then
            TURNS=taken
            elect
            say "done"
            exit 0
        fi
    fi
    ids_agree
    roll new "$@"
    ;;
back)
    if [ $# -eq 0 ]; then
        set -- $(all_nodes)
    else
        ORDER=$*
    fi
    base_starts
    roll base "$@"
    ;;
finalise) finalise ;;
esac
say "done"
