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
