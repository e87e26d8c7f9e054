#!/usr/bin/awk -f
# Judges what schedext/trial/guest.sh told on the console: a table of the trials, a line for each thing that must hold, and
# exit status 1 where one does not.

/^guest / { guest = substr($0, 7) }
/^trial / { who = $2; order = $3; section = ""; if (!(order in seen)) orders[++count] = order; seen[order] = 1 }
/^case / { section = $2; who = "" }
/^ran / && who { on_cpu[who, order, $2, $3] += $4 }
# took three-threads.compute 105: big 3767 ms little 149 ms
/^took / && who { sub(/^.*\./, "", $2); counted[order, $2] = percent($5, $8) }
section { told[section] = told[section] "\n" $0 }
/^obeys stolen / { stolen[$3] = $4 }
/^obeys weight / { weight = $3 }
/^obeys lone / { lone = lone == "" || $4 < lone ? $4 : lone }
/^obeys foreign / { foreign = $3 }
/^done after / { done = $3 }

function percent(part, rest) { return part + rest > 0 ? 100 * part / (part + rest) : 0 }

function on_big(who, order, name) {
    return percent(on_cpu[who, order, name, "cpu0"], on_cpu[who, order, name, "cpu1"])
}

function verdict(holds, text) {
    printf "%s %s\n", holds ? "ok    " : "MISSED", text
    if (!holds) missed = 1
}

function tells(section, pattern) { return told[section] ~ pattern }

function print_table(   i, order) {
    print "order of start              compute's time on the big CPU, %         chase1  chase2"
    print "                            kernel's own  with kinds  as it counts   with kinds"
    for (i = 1; i <= count; ++i) {
        order = orders[i]
        printf "%-28s %11.0f %11.0f %13.0f %10.0f %7.0f\n", order, on_big("kernel", order, "compute"),
            on_big("kinds", order, "compute"), counted[order, "compute"], on_big("kinds", order, "chase1"),
            on_big("kinds", order, "chase2")
    }
}

function least_on_big(   i, least) {
    least = 100
    for (i = 1; i <= count; ++i) if (on_big("kinds", orders[i], "compute") < least) least = on_big("kinds", orders[i], "compute")
    return count ? least : 0
}

function largest_difference(   i, largest, difference) {
    for (i = 1; i <= count; ++i) {
        difference = counted[orders[i], "compute"] - on_big("kinds", orders[i], "compute")
        if (difference < 0) difference = -difference
        if (difference > largest) largest = difference
    }
    return largest + 0
}

END {
    printf "guest: %s\n", guest
    print "Both CPUs are equally fast under emulation: this shows who is where, and no gain.\n"
    print_table()
    print ""
    verdict(count == 6, count + 0 " orders of start were tried; 6 must be")
    verdict(least_on_big() >= 80, sprintf("the compute-bound thread is on the big CPU for %.0f %% of its time at least; 80 must be", least_on_big()))
    verdict(largest_difference() <= 10, sprintf("the scheduler counts a thread's times by kind as the thread does, to %.0f %%; 10 may be", largest_difference()))
    verdict(stolen[2] != "" && stolen[2] <= 5, sprintf("of two threads wished on the little CPU, one of them waiting, the idle big one takes %s %%; 5 may be", stolen[2]))
    verdict(stolen[4] >= 25, sprintf("of four, it takes %s %%; 25 must be", stolen[4]))
    verdict(weight >= 68 && weight <= 82, sprintf("of two threads of nice 0 and 5 the first one has %s %%; by their weights it is 75", weight))
    verdict(lone >= 90, sprintf("a thread that nobody waits behind goes where it is wished: %s %% of its time there; 90 must be", lone))
    verdict(foreign != "" && foreign <= 5, sprintf("a wish for an earlier thread of the same number is ignored: %s %% there; 5 may be", foreign))
    verdict(tells("second", "another scheduler is in charge") && tells("second", "exit 1"), "a second agent is refused, and says why")
    verdict(tells("unload", "exit 0") && tells("unload", "state disabled") && tells("unload", "threads [3-6]"), "a terminated agent unloads the scheduler, and the threads go on")
    verdict(tells("killed", "exit 137") && tells("killed", "state disabled") && tells("killed", "threads [3-6]"), "a killed agent gives the machine back, and the threads go on")
    verdict(tells("hotplug", "the kernel let the scheduler go") && tells("hotplug", "waiting") && tells("hotplug", "state enabled") && tells("hotplug", "exit 0"), "a CPU that goes and comes back: the agent attaches again")
    verdict(tells("watchdog", "runnable task stall") && tells("watchdog", "exit 3") && tells("watchdog", "state disabled") && tells("watchdog", "threads [3-6]"), "the watchdog throws a scheduler out: the agent says so, and the threads go on")
    verdict(tells("verifier", "refuses to load it") && tells("verifier", "map_value_or_null") && tells("verifier", "exit 1"), "the verifier's refusal is told in its own words")
    verdict(tells("user", "run it as root") && tells("user", "exit 1"), "without the right to load BPF the agent says what is missing")
    verdict(tells("factors", "knows nothing of kind .little.") && tells("factors", "exit 1"), "a file of another machine's factors is refused")
    verdict(done > 0, "the guest came to its end")
    exit missed
}
