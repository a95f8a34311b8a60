// What the CPU device counted in a step, all its launches together.
//
//     const counts = countedOf(step.launches);    // counts.global_load.sectors, counts.occupancy ...

const operations = ['global_load', 'global_store', 'global_atomic', 'shared_load', 'shared_store', 'shared_atomic', 'constant_load'];
const figures = ['requests', 'lanes', 'bytes', 'sectors', 'needed_sectors', 'wavefronts', 'least_wavefronts', 'same_address', 'remote_lanes'];

const threadsOfBlock = ({ block }) => block[0] * block[1] * block[2];
const threadsOf = (launch) => launch.blocks * threadsOfBlock(launch);
const largest = (launches, value) => launches.reduce((most, launch) => (value(launch) > value(most) ? launch : most));

/// {OPERATION: {FIGURE: count}, steps, active_lanes, barriers, barriers_per_warp, launches, occupancy, registers, sampled}: samples are
/// scaled up to their grids, and operations of which there are none are left out. `occupancy` is that of the largest
/// launch, and without `registers` (per thread) the most that block and shared memory permit; `sampled`, where there are any samples, {blocks, of_blocks} of the one with the largest grid.
export function countedOf(launches) {
    const counted = { barriers: 0, steps: 0, active_lanes: 0, barriers_per_warp: 0 };
    for (const launch of launches) {
        const scale = launch.instrumented_blocks > 0 ? launch.blocks / launch.instrumented_blocks : 1;
        for (const key of ['barriers', 'steps', 'active_lanes']) counted[key] += scale * launch.counters[key];
        for (const operation of operations) {
            if (!launch.counters[operation]) continue;
            counted[operation] ??= Object.fromEntries(figures.map((figure) => [figure, 0]));
            for (const figure of figures) counted[operation][figure] += scale * (launch.counters[operation][figure] ?? 0);
        }
        const warps = launch.instrumented_blocks * Math.ceil(threadsOfBlock(launch) / 32);
        if (warps > 0) counted.barriers_per_warp += launch.counters.barriers / warps;
    }
    for (const operation of operations) if (counted[operation]?.remote_lanes === 0) delete counted[operation].remote_lanes;
    counted.launches = launches.length;
    const { occupancy, registers } = largest(launches, threadsOf);
    counted.occupancy = occupancy;
    if (registers) counted.registers = registers;
    const samples = launches.filter((launch) => launch.instrumented_blocks < launch.blocks);
    if (samples.length > 0) {
        const { instrumented_blocks, blocks } = largest(samples, (launch) => launch.blocks);
        counted.sampled = { blocks: instrumented_blocks, of_blocks: blocks };
    }
    return counted;
}
