#!/bin/bash
# Hardware counters of the kernels whose names begin with x_. Each program launches each of them once. Takes at most
# 60 s without the build: the most valuable first, and none is begun that may not end in time.
. "$(dirname "$0")/build.sh"
SECONDS=0
ncu=$(command -v ncu || ls /usr/local/cuda/bin/ncu /opt/nvidia/nsight-compute/*/ncu 2>/dev/null | tail -1)
[ -n "$ncu" ] || { echo "ncu: not found"; exit 1; }
# count "what" "regex of kernels" "metrics that surely exist" "more metrics" PROGRAM ARGUMENT...
count() {
    local what=$1 kernels=$2 sure=$3 more=$4 left=$((58 - SECONDS)) output rc
    shift 4
    [ $left -ge 5 ] || { echo "### $what: left out, no time"; return; }
    [ $left -le 15 ] || left=15
    echo "### $what ($*)"
    output=$(timeout $left "$ncu" --clock-control none --print-units base --kernel-name "regex:$kernels" \
        --metrics "gpu__time_duration.sum,$sure${more:+,$more}" "$bin/$1" "${@:2}" counters 2>&1)
    rc=$?
    if [ -n "$more" ] && [ $rc -ne 124 ] && echo "$output" | grep -qiE "failed to find metric|invalid metric"; then
        echo "(some of $more are not known to this ncu: without them)"
        left=$((58 - SECONDS)); [ $left -ge 3 ] || return
        output=$(timeout $left "$ncu" --clock-control none --print-units base --kernel-name "regex:$kernels" \
            --metrics "gpu__time_duration.sum,$sure" "$bin/$1" "${@:2}" counters 2>&1)
        rc=$?
    fi
    echo "$output" | grep -vE "^==PROF==|^ *$|^ *-+ -+|Metric Name|Section:"
    [ $rc -eq 0 ] || echo "(ended with $rc)"
    ! echo "$output" | grep -q ERR_NVGPUCTRPERM || { echo "counters are not allowed here"; exit 1; }
    echo "-- at $SECONDS s"
}
dram=dram__bytes_read.sum,dram__bytes_write.sum
l2=lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum,lts__t_sectors_srcunit_tex_lookup_miss.sum
l1=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
strides='^(x_stride_8|x_stride_16|x_pairs_in_64|x_pairs_across_64|x_stride_32)$'
count "half sectors" '^x_(store|both|load)' "$dram" "$l2" half_sectors
count "L2 granularity as it is" "$strides" "$dram" "" l2_granularity
count "L2 granularity 32" "$strides" "$dram" "" l2_granularity 32
count "L2 granularity 128" "$strides" "$dram" "" l2_granularity 128
count "matrix_add" '^x_' "$dram" "$l1,$l2" matrix_add_causes
count "swizzle" '^x_(padded|padded_xor_moves|swizzled|padded_early|swizzled_early)$' smsp__inst_executed.sum \
    l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum swizzle_cost
count "constant memory" '^x_' smsp__inst_executed.sum \
    smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio,smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio constant_batches
count "pi" '^x_' smsp__inst_executed.sum smsp__inst_executed_pipe_xu.sum pi_causes
count "wavefronts of shared memory" '^x_read' smsp__inst_executed.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum \
    shared_wavefronts
echo "all done at $SECONDS s"
