#!/bin/sh
# The first program of the guest: trials of the scheduler, told on the console for tools/schedext.sh to judge.
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
echo 1 >/proc/sys/kernel/printk
exec 2>&1
orders='compute,chase1,chase2 compute,chase2,chase1 chase1,compute,chase2
        chase2,compute,chase1 chase1,chase2,compute chase2,chase1,compute'

state() { cat /sys/kernel/sched_ext/state; }
uptime_s() { cut -d' ' -f1 /proc/uptime; }

await() { # STATE: for up to a minute
    for _ in $(seq 600); do
        [ "$(state)" != "$1" ] || return 0
        sleep 0.1
    done
    echo "the state is $(state) for a minute, not $1"
}

in_order() { # WHO SCHEDULES, ORDER, SECONDS
    echo "trial $1 $2"
    # shellcheck disable=SC2046 # a list of names
    three-threads "$3" $(echo "$2" | tr , ' ')
    sleep 0.3 # for the agent to see that they are gone
}

attach() { # SCHEDULER
    schedext-agent "/$1.bpf.o" /factors.json &
    agent=$!
    await enabled
}

# Beside a trial, so that there are threads to steer and to give back.
end_in_a_trial() { # SIGNAL
    three-threads 3 compute chase1 chase2 >/beside &
    trial=$!
    sleep 1
    kill "-$1" "$agent"
    wait "$agent"
    echo "exit $?"
    await disabled
    echo "state $(state)"
    wait "$trial" && echo "threads $(grep -c ran /beside)"
}

echo "guest $(uname -r), capacities $(cat /sys/devices/system/cpu/cpu*/cpu_capacity | tr '\n' ' ')"
for order in $orders; do in_order kernel "$order" 2; done
attach kinds
echo "attached after $(uptime_s) s"
for order in $orders; do in_order kinds "$order" 5; done

echo 'case second'
schedext-agent /kinds.bpf.o /factors.json
echo "exit $?"

echo 'case unload'
end_in_a_trial TERM

echo 'case killed'
attach kinds
end_in_a_trial KILL

obeys /kinds.bpf.o

echo 'case hotplug'
attach kinds
echo 0 >/sys/devices/system/cpu/cpu1/online
await disabled
echo 1 >/sys/devices/system/cpu/cpu1/online
await enabled
echo "state $(state)"
kill "$agent"
wait "$agent"
echo "exit $?"

echo 'case watchdog'
three-threads 12 compute chase1 chase2 >/beside &
trial=$!
schedext-agent /stalls.bpf.o /factors.json
echo "exit $?"
await disabled
echo "state $(state)"
wait "$trial" && echo "threads $(grep -c ran /beside)"

echo 'case verifier'
schedext-agent /refused.bpf.o /factors.json
echo "exit $?"

echo 'case user'
su nobody -c 'schedext-agent /kinds.bpf.o /factors.json'
echo "exit $?"

echo 'case factors'
echo '{"version": 1, "unit": "us", "cores": {"big": 1}, "known_tasks": []}' >/other.json
schedext-agent /kinds.bpf.o /other.json
echo "exit $?"

echo "done after $(uptime_s) s"
poweroff -f
