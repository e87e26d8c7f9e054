#!/usr/bin/env bash
# Every function, virtual function and stream that users give to what is installed is in the list below, with the
# test that lets it throw, or the reason why there is none. usage: callbacks_test.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"

known=$(sed 's/#.*//; /^ *$/d' <<'LIST'
stop_when           tidemill/runtime/execute/callbacks_test.cpp
when_late           tidemill/runtime/execute/callbacks_test.cpp
calling             tidemill/runtime/execute/callbacks_test.cpp
called              tidemill/runtime/execute/callbacks_test.cpp
waiting             tidemill/runtime/execute/callbacks_test.cpp
waited              tidemill/runtime/execute/callbacks_test.cpp
begin_run           tidemill/runtime/execute/callbacks_test.cpp
end_run             tidemill/runtime/execute/callbacks_test.cpp
watch               tidemill/runtime/execute/callbacks_test.cpp
Report              tidemill/runtime/execute/callbacks_test.cpp  # of a Watchdog
Sink                tidemill/runtime/execute/callbacks_test.cpp  # of a DebugPrint
begin               tidemill/runtime/execute/callbacks_test.cpp  # of a module, as the next five
end                 tidemill/runtime/execute/callbacks_test.cpp
keep                tidemill/runtime/execute/callbacks_test.cpp
reset_counters       tidemill/runtime/execute/callbacks_test.cpp
merge               tidemill/runtime/execute/callbacks_test.cpp
Cloner              tidemill/runtime/execute/callbacks_test.cpp  # its copy constructor
to                  tidemill/runtime/execute/callbacks_test.cpp  # the stream of a Journal
name                tidemill/runtime/execute/callbacks_test.cpp  # of an EnergyMeter, as the next three
start               tidemill/runtime/execute/callbacks_test.cpp
sample              tidemill/runtime/execute/callbacks_test.cpp
domains             tidemill/runtime/execute/callbacks_test.cpp
MakePolicy          tidemill/runtime/execute/callbacks_test.cpp
create              tidemill/runtime/execute/callbacks_test.cpp  # of a policy, as the next ten, which its board calls alike
ready               tidemill/runtime/execute/callbacks_test.cpp
issue               tidemill/runtime/execute/callbacks_test.cpp
part_types          tidemill/runtime/execute/callbacks_test.cpp
follow              tidemill/runtime/execute/callbacks_test.cpp
complete            tidemill/runtime/execute/callbacks_test.cpp
tick                tidemill/runtime/execute/callbacks_test.cpp
wants_predecessors  tidemill/runtime/execute/callbacks_test.cpp
learn               tidemill/runtime/execute/callbacks_test.cpp
ready_tasks         tidemill/runtime/execute/callbacks_test.cpp
rank_changes        tidemill/runtime/execute/callbacks_test.cpp
Fill                tidemill/runtime/execute/callbacks_test.cpp  # of an Inlet, called in its task
Tell                tidemill/runtime/execute/callbacks_test.cpp  # of an Outlet, called in its task
OnError             tidemill/runtime/execute/callbacks_test.cpp
observe             tidemill/runtime/tasks/ended_tasks_test.cpp
Build               tidemill/apps/running/app_test.cpp
Outcome             tidemill/apps/running/app_test.cpp
frames              tidemill/runtime/execute/callbacks_test.cpp  # of a receiver, called in its tasks, as the next five
packets             tidemill/runtime/execute/callbacks_test.cpp
generic             tidemill/runtime/execute/callbacks_test.cpp
fields              tidemill/runtime/execute/callbacks_test.cpp
input_clock         tidemill/runtime/execute/callbacks_test.cpp
short_of_time       tidemill/runtime/execute/callbacks_test.cpp
on_end              tidemill/dvbs2/receiver/pushed_receiver_test.cpp
reset               -  # called by Graph::reset(), on its thread
MakeProfile         -  # called by prepare(), on its thread
Output              -  # called by profile(), on its thread
Take                -  # the executors' own
tell                -  # the executors' own
run                 -  # the executors' own
Follow              -  # a failure on the thread that looks is a warning in the report, else run() throws it
is_steady           -  # called between frames as stop_when is
is_steady_          -
text                -  # of parse_journal(), on its thread
format              -  # of a SampleSource, called in its task, as the next six
sample_rate_hz      -
moved               -
seconds_at          -
controls            -
control             -
read                -
restarts            -
fault               -  # asked of an error where a program ends
LIST
)

reached=() pending=(tidemill/tidemill.hpp tidemill/dvbs2.hpp tidemill/runtime/tasks/tasks.hpp)
while [ "${#pending[@]}" -gt 0 ]; do
    header=${pending[0]} pending=("${pending[@]:1}")
    [[ " ${reached[*]} " == *" $header "* ]] && continue
    reached+=("$header")
    mapfile -t included < <(sed -n 's,^#include "\(tidemill/[^"]*\)".*,\1,p' "$header")
    pending+=("${included[@]}")
done

# Declarations of a header: "using NAME = std::function<", a function or a stream as a member or an argument,
# and "virtual ... NAME(".
names_in() {
    sed -E 's,//.*,,' "$1" | tr '\n' ' ' | sed 's/  */ /g' | grep -oE \
        -e 'using [A-Za-z_]+ = std::function<' \
        -e 'std::function<[^;{}]*> [a-z_]+' \
        -e 'std::[io]stream& [a-z_]+' \
        -e 'virtual [^;{}~(]*[ &*][a-z_]+\(' |
        sed -E 's/^using ([A-Za-z_]+) .*/\1/; s/.*[ &*]([A-Za-z_]+)\(?$/\1/'
}

failed=0
for header in "${reached[@]}"; do
    while IFS= read -r name; do
        if ! test=$(awk -v name="$name" '$1 == name { print $2; found = 1 } END { exit !found }' <<<"$known"); then
            printf '%s: %s is called for users, and in no test that lets it throw: add it to %s\n' \
                "$header" "$name" "tidemill/runtime/execute/callbacks_test.sh"
            failed=1
        elif [ "$test" != - ] && [ ! -e "$test" ]; then
            printf '%s: there is no %s\n' "$name" "$test"
            failed=1
        fi
    done < <(names_in "$header" || true)
done
printf '%d headers, %d callbacks\n' "${#reached[@]}" "$(wc -l <<<"$known")"
exit "$failed"
