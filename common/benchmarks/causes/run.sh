#!/bin/bash
# Builds all experiments and runs them one after the other: about a minute each. Prints plain text.
# `run.sh NAME...` runs only these.
. "$(dirname "$0")/build.sh"
wanted=" $* "
failed=0
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,temperature.gpu,clocks_throttle_reasons.active --format=csv 2>/dev/null
run() {
    [ "$wanted" = "  " ] || case "$wanted" in *" $1 "*) ;; *) return ;; esac
    local begin=$SECONDS name=$1 rc=0
    shift
    timeout 30 "$bin/$name" "$@" || rc=$?
    [ $rc -eq 0 ] || { echo "FAILED ($rc): $name $*"; failed=1; }
    echo "-- $name $*: $((SECONDS - begin)) s"
    echo
}
run l2_granularity
run l2_granularity 32
run l2_granularity 64
run l2_granularity 128
run half_sectors
run pi_causes
run constant_batches
run swizzle_cost
run shared_wavefronts
run matrix_add_causes
run vector_add_causes
run ring_threads
run streams_causes
run after_a_copy
run read_bandwidths
run cluster_barriers
exit $failed
