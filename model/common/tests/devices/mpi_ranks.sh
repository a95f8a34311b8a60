#!/usr/bin/env bash
# mpi_ranks.sh PROGRAM MPIRUN: four ranks on one machine, each with a device of its own or with four to choose from.
set -u
program=$1 mpirun=$2
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 CPU_DEVICE_TIMEOUT=3
failed=0

# run COUNT RANKS FAULT PATTERN TIMES: so many lines of the output match.
run() {
    local output
    output=$(CPU_DEVICE_COUNT=$1 timeout 40 "$mpirun" --oversubscribe -np "$2" "$program" "$3" 2>&1)
    local status=$?
    local found
    found=$(grep -c -- "$4" <<<"$output")
    if [[ $status == 124 || $found -lt $5 ]]; then
        echo "count $1, $2 ranks, $3: status $status, $found lines with '$4' instead of $5"
        echo "$output"
        failed=1
    fi
}

run 1 4 sum ': right' 4
run 4 4 sum ': right' 4
run 2 2 sum ': right' 2
run 1 1 sum ': right' 1
run 4 4 other 'rank 3 waits in ncclBroadcast' 4
# mpirun ends all ranks when one of them ends too early: not all may come to say it.
run 1 3 late 'rank 0 waits in ncclAllReduce of 100003 floats' 1
run 1 3 dies 'signal 9\|has ended\|waits in' 1
exit $failed
