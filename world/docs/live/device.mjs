// Runs a kernel of a lesson that was compiled to WebAssembly (docs/scripts/live.mjs), and turns what its threads accessed into the requests
// of warps: the trace that the views of common/views draw, and counts of the whole launch. The rules of counting are those of the views.
/** @import { Launch, TraceEvent } from '../../common/views/trace.mjs' */
import { costOf } from '../../common/views/request.mjs';

const lanesOfWarp = 32;
const barrierSite = 0xffff;
const pageBytes = 65536;
const alignment = 256; // of arrays, as cudaMalloc has it

/**
 * What the script wrote. `sites`: of each access in the code whether it stores, its bytes, and the file and line of its source; 2: no access, a
 * basic block begins. `order`: the places of the sites in the code.
 *
 * @typedef {{ compiler: string, files: { path: string, first: number, lines: string[] }[], kernels: string[], names: string[],
 *      sites: [stores: 0 | 1 | 2, bytes: number, file: number, line: number][], order: number[], wasm: string }} Built
 */

/**
 * One launch. `args`: numbers, or names of arrays. `fill`: the value of each element; without it element i holds i % 1000.
 *
 * @typedef {{ kernel: string, grid: [number, number], block: [number, number],
 *      arrays: { name: string, type: 'float' | 'unsigned', count: number, fill?: (i: number) => number }[],
 *      args: (string | number)[] }} LiveLaunch
 */

/** @param {Built} built */
export async function loadKernels(built) {
    const bytes = Uint8Array.from(atob(built.wasm), (letter) => letter.charCodeAt(0));
    const { instance } = await WebAssembly.instantiate(bytes, {});
    return { built, device: instance.exports };
}

/** Puts the arrays and the arguments into the memory of the device. */
function prepare(device, launch) {
    const { memory } = device;
    let end = device.__heap_base.value;
    const arrays = launch.arrays.map(({ name, count, type, fill }) => {
        const begin = Math.ceil(end / alignment) * alignment;
        end = begin + 4 * count;
        return { name, count, type, fill: fill ?? ((i) => i % 1000), begin, bytes: 4 * count };
    });
    const missing = Math.ceil((end - memory.buffer.byteLength) / pageBytes);
    if (missing > 0) memory.grow(missing);
    for (const { begin, count, type, fill } of arrays) {
        const elements = new (type === 'float' ? Float32Array : Uint32Array)(memory.buffer, begin, count);
        for (let i = 0; i < count; ++i) elements[i] = fill(i);
    }
    const values = launch.args.map((one) => (typeof one === 'string' ? arrays.find(({ name }) => name === one).begin : one));
    new Uint32Array(memory.buffer, device.live_arguments(), values.length).set(values);
    return arrays;
}

/** The events of one block, for each of its threads. */
function eventsOfBlock({ device }, count, threads) {
    const words = new Uint32Array(device.memory.buffer, device.live_events(), 2 * count);
    const counts = new Uint32Array(threads);
    for (let i = 0; i < words.length; i += 2) ++counts[words[i] & 0xffff];
    const of = Array.from(counts, (most) => ({ sites: new Uint16Array(most), values: new Uint32Array(most), at: 0 }));
    for (let i = 0; i < words.length; i += 2) {
        const thread = of[words[i] & 0xffff];
        thread.sites[thread.at] = words[i] >>> 16;
        thread.values[thread.at++] = words[i + 1];
    }
    for (const thread of of) thread.at = 0;
    return of;
}

/**
 * What the lanes of a warp did, as a warp does it: those that are furthest back in the code go on together, until all wait at a barrier or
 * have ended. The CPU device has the same rule (common/cpu_device/src/recorder.h).
 */
function merged(lanes, order) {
    const placeOf = ({ sites, at }) => {
        if (at === sites.length) return Infinity;
        return sites[at] === barrierSite ? order.length : order[sites[at]];
    };
    const places = lanes.map(placeOf);
    const result = [];
    for (;;) {
        const next = Math.min(...places);
        if (next === Infinity) return result;
        const together = [];
        places.forEach((place, lane) => {
            if (place === next) together.push(lane);
        });
        const { sites, at } = lanes[together[0]];
        result.push({ site: sites[at], lanes: together, values: together.map((lane) => lanes[lane].values[lanes[lane].at]) });
        for (const lane of together) {
            lanes[lane].at += 1;
            places[lane] = placeOf(lanes[lane]);
        }
    }
}

const maskOf = (lanes) => (lanes.reduce((mask, lane) => mask | (1 << lane), 0) >>> 0).toString(16).padStart(8, '0');

/** Where the lanes are in an array: evenly spaced, or one by one. */
function placesOf(offsets) {
    const stride = offsets.length > 1 ? offsets[1] - offsets[0] : 0;
    const even = offsets.every((offset, rank) => offset === offsets[0] + rank * stride);
    return even ? { first: offsets[0], stride } : { at: offsets };
}

/**
 * An event of a trace, and what it costs.
 *
 * @returns {{ event: TraceEvent, cost?: import('../../common/views/request.mjs').RequestCost }}
 */
function eventOf({ site, lanes, values }, built, arrays) {
    if (site === barrierSite) {
        const line = values[0] & 0x7fffffff;
        const file = built.files.findIndex(({ first, lines }) => line >= first && line < first + lines.length);
        return { event: { kind: 'barrier', file, line, lanes: maskOf(lanes) } };
    }
    const [stores, bytes, file, line] = built.sites[site];
    const array = arrays.findIndex((one) => values[0] >= one.address && values[0] < one.address + one.bytes);
    const { address, space, begin } = arrays[array] ?? {};
    const offsets = values.map((value) => value - address);
    if (array < 0 || offsets.some((offset) => offset < 0 || offset + bytes > arrays[array].bytes)) {
        throw new Error(`${built.files[file]?.path}:${line}: an access outside of every array`);
    }
    const kind = `${space}_${stores ? 'store' : 'load'}`;
    const event = { kind, file, line, lanes: maskOf(lanes), array, bytes, ...placesOf(offsets) };
    const cost = costOf({ event, array: { ...arrays[array], begin }, kind, lanes, offsets, bytes });
    if (space === 'global') event.sectors = cost.sectors;
    else Object.assign(event, { wavefronts: cost.wavefronts, least_wavefronts: cost.least });
    return { event, cost };
}

/** The __shared__ arrays of a block, one after the other as the CPU device has them. */
function sharedArrays({ device, built }) {
    const found = new Uint32Array(device.memory.buffer, device.live_shared(), 3 * device.live_shared_count());
    return Array.from({ length: found.length / 3 }, (_, k) => {
        const [address, bytes, name] = found.subarray(3 * k, 3 * k + 3);
        return { name: built.names[name], space: 'shared', address, bytes, begin: (address - found[0]) % 128 };
    });
}

/**
 * Runs a launch. The trace shows the warps of block `shown`; `counts` are of the whole launch, by the names of `TraceEvent.kind`.
 *
 * @param {Awaited<ReturnType<typeof loadKernels>>} kernels
 * @param {LiveLaunch} launch
 * @param {number} [shown] number of a block
 */
export function runLive(kernels, launch, shown = 0) {
    const { built, device } = kernels;
    const kernel = built.kernels.indexOf(launch.kernel);
    if (kernel < 0) throw new Error(`there is no kernel ${launch.kernel}`);
    const arrays = prepare(device, launch);
    const threads = launch.block[0] * launch.block[1];
    device.live_shape(...launch.grid, ...launch.block);

    const ofLaunch = arrays.map(({ name, begin, bytes }) => ({ name, space: 'global', address: begin, bytes, begin: begin % 128 }));
    const counts = {};
    let warps;
    let all = ofLaunch;
    for (let block = 0; block < launch.grid[0] * launch.grid[1]; ++block) {
        const place = [block % launch.grid[0], Math.floor(block / launch.grid[0])];
        const events = eventsOfBlock(kernels, device.live_block(kernel, ...place), threads);
        all = [...ofLaunch, ...sharedArrays(kernels)];
        const ofBlock = [];
        for (let first = 0; first < threads; first += lanesOfWarp) {
            const lanes = events.slice(first, first + lanesOfWarp);
            const done = merged(lanes, built.order)
                .filter(({ site }) => site === barrierSite || built.sites[site][0] < 2)
                .map((one) => eventOf(one, built, all));
            for (const { event, cost } of done) {
                if (!cost) continue;
                const sums = (counts[event.kind] ??= { requests: 0, lanes: 0, bytes: 0, used: 0, sectors: 0, wavefronts: 0, least_wavefronts: 0 });
                const active = event.at?.length ?? parseInt(event.lanes, 16).toString(2).replaceAll('0', '').length;
                sums.requests += 1;
                sums.lanes += active;
                sums.bytes += active * event.bytes;
                sums.used += cost.used ?? 0; // different bytes of each request
                for (const key of ['sectors', 'wavefronts', 'least_wavefronts']) sums[key] += event[key] ?? 0;
            }
            ofBlock.push({ block: [...place, 0], warp: first / lanesOfWarp, threads: lanes.length, cut: false, events: done.map(({ event }) => event) });
        }
        if (block === Math.min(shown, launch.grid[0] * launch.grid[1] - 1)) warps = ofBlock;
    }
    return {
        trace: {
            warpwise_trace: 1,
            date: '',
            command: [],
            launches: [
                {
                    step: null,
                    kernel: launch.kernel,
                    file: built.files[0].path,
                    line: built.files[0].first,
                    grid: [...launch.grid, 1],
                    block: [...launch.block, 1],
                    shared_bytes: 0,
                    blocks: launch.grid[0] * launch.grid[1],
                    arrays: all.map(({ name, space, bytes, begin }) => ({ name, space, bytes, begin })),
                    files: built.files,
                    warps,
                },
            ],
        },
        counts,
        /** What an array holds after the launch. @param {string} name */
        values(name) {
            const { begin, count, type } = arrays.find((one) => one.name === name);
            return new (type === 'float' ? Float32Array : Uint32Array)(device.memory.buffer, begin, count).slice();
        },
    };
}
