// What a request of a warp costs: sectors of global memory, passes of the banks of shared memory, addresses of constant
// memory. The rules are those by which the CPU device counts (common/cpu_device/src/request_model.cpp), so that the
// drawings show exactly what the counters say; views.test.mjs compares both on every recorded trace.
/** @import { Request } from './trace.mjs' */

const sectorBytes = 32;
const bankCount = 32;

const addressesOf = (request) => request.offsets.map((offset) => request.array.begin + offset);

/**
 * `fetched`: the different sectors, as the place of their first byte in the array, below 0 where the array begins inside of the
 * sector. `sectors` as the counter has it: for atomics, repeated ones. `asked`: bytes, all lanes together; `used`:
 * different bytes of them; `moved`: bytes of the different sectors.
 *
 * @typedef {{ space: 'global', fetched: number[], sectors: number, asked: number, used: number,
 *      moved: number }} GlobalCost
 */

/** @returns {GlobalCost} */
function globalCost(request) {
    const addresses = addressesOf(request);
    const sectors = new Set();
    const bytes = new Set();
    for (const address of addresses) {
        for (let byte = address; byte < address + request.bytes; ++byte) {
            bytes.add(byte);
            sectors.add(Math.floor(byte / sectorBytes));
        }
    }
    const fetched = [...sectors].sort((a, b) => a - b).map((sector) => sector * sectorBytes - request.array.begin);
    return {
        space: 'global',
        fetched,
        sectors: request.kind === 'global_atomic' ? sectorsOfAtomics(addresses) : fetched.length,
        asked: request.bytes * addresses.length,
        used: bytes.size,
        moved: fetched.length * sectorBytes,
    };
}

/** Atomic operations on one address follow each other, those on the other addresses of a sector go along. */
function sectorsOfAtomics(addresses) {
    const sectors = new Map();
    for (const address of addresses) {
        const number = Math.floor(address / sectorBytes);
        const sector = sectors.get(number) ?? new Map();
        sector.set(address, (sector.get(address) ?? 0) + 1);
        sectors.set(number, sector);
    }
    return [...sectors.values()].reduce((sum, sector) => sum + Math.max(...sector.values()), 0);
}

/**
 * `passes`: the words that banks deliver in each, and to whom. In which of its passes a bank delivers which word is not
 * known: here it goes by lane. `turns`: words that this bank delivers to lanes which are served together; more than one
 * is a conflict.
 *
 * @typedef {{ space: 'shared', passes: { bank: number, lanes: number[], turns: number }[][], wavefronts: number,
 *      least: number, conflicts: number }} SharedCost
 */

/** How the lanes of an atomic operation of shared memory are served. A trace does not say which of them it was. */
const atomicUses = ['increment', 'each_lane', 'compare_and_swap'];

/** @returns {SharedCost} */
function sharedCost(request) {
    if (request.kind !== 'shared_atomic') return sharedCostAs(request);
    const costs = atomicUses.map((use) => sharedCostAs(request, use));
    const agrees = (cost) =>
        cost.wavefronts === request.event.wavefronts && cost.least === request.event.least_wavefronts;
    return costs.find(agrees) ?? costs[1];
}

function sharedCostAs(request, use) {
    const addresses = addressesOf(request);
    const bytes = use === 'compare_and_swap' ? 2 * request.bytes : request.bytes;
    // 8-byte accesses are served a half warp at a time, 16-byte ones a quarter; loads of which neighbors want the same
    // twice as many lanes.
    let together = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8;
    const addressOf = new Map(request.lanes.map((lane, rank) => [lane, addresses[rank]]));
    const neighborsAgree = (bit) =>
        request.lanes.every((lane) => {
            const other = addressOf.get(lane ^ bit);
            return other === undefined || other === addressOf.get(lane);
        });
    if (request.kind === 'shared_load' && bytes > 4 && (neighborsAgree(1) || neighborsAgree(2))) together *= 2;

    const eachLane = use === 'each_lane' || use === 'compare_and_swap';
    const passes = [];
    for (let first = 0; first < 32; first += together) {
        const inBank = Array.from({ length: bankCount }, () => []);
        const known = new Map();
        request.lanes.forEach((lane, rank) => {
            if (lane < first || lane >= first + together) return;
            const last = Math.floor((addresses[rank] + request.bytes - 1) / 4);
            for (let word = Math.floor(addresses[rank] / 4); word <= last; ++word) {
                const same = eachLane ? undefined : known.get(word);
                if (same) {
                    same.lanes.push(lane);
                    continue;
                }
                const delivered = { bank: word % bankCount, lanes: [lane], turns: 1 };
                known.set(word, delivered);
                inBank[delivered.bank].push(delivered);
            }
        });
        for (const words of inBank) for (const word of words) word.turns = words.length;
        const most = Math.max(...inBank.map((words) => words.length));
        for (let pass = 0; pass < most; ++pass) passes.push(inBank.flatMap((words) => words.slice(pass, pass + 1)));
    }
    const least = Math.min(passes.length, Math.ceil((request.lanes.length * bytes) / (4 * bankCount)));
    return { space: 'shared', passes, wavefronts: passes.length, least, conflicts: passes.length - least };
}

/**
 * One pass for each of the addresses.
 *
 * @typedef {{ space: 'constant', addresses: { offset: number, lanes: number[] }[], wavefronts: number }} ConstantCost
 */

/** @returns {ConstantCost} */
function constantCost(request) {
    // Addresses count by the largest power of two that divides the size: an access that crosses counts on both sides.
    const unit = request.bytes & -request.bytes || 1;
    const pieces = new Map();
    addressesOf(request).forEach((address, rank) => {
        const last = Math.floor((address + request.bytes - 1) / unit);
        for (let piece = Math.floor(address / unit); piece <= last; ++piece) {
            const lanes = pieces.get(piece) ?? [];
            lanes.push(request.lanes[rank]);
            pieces.set(piece, lanes);
        }
    });
    const addresses = [...pieces].map(([piece, lanes]) => ({ offset: piece * unit - request.array.begin, lanes }));
    return { space: 'constant', addresses, wavefronts: addresses.length };
}

/** @typedef {GlobalCost | SharedCost | ConstantCost} RequestCost */

/**
 * @param {Request} request
 * @returns {RequestCost}
 */
export function costOf(request) {
    if (request.kind.startsWith('global')) return globalCost(request);
    return request.kind.startsWith('shared') ? sharedCost(request) : constantCost(request);
}

/**
 * `used` over `moved`: what is wanted of all that moves.
 *
 * @param {{ moved: number, used: number }} cost
 */
export const efficiency = ({ moved, used }) => (moved === 0 ? 1 : used / moved);

/**
 * Distance of neighboring lanes in bytes, where it is the same for all; 0 where all lanes want the same.
 *
 * @param {Request} request
 * @returns {number | undefined}
 */
export function strideOf({ offsets }) {
    if (offsets.length < 2) return undefined;
    const stride = offsets[1] - offsets[0];
    return offsets.every((offset, rank) => rank === 0 || offset - offsets[rank - 1] === stride) ? stride : undefined;
}

/**
 * Sums over the requests to each memory, as the counters add them up.
 *
 * @param {RequestCost[]} costs
 */
export function totalsOf(costs) {
    const totals = {
        global: { requests: 0, sectors: 0, moved: 0, used: 0 },
        shared: { requests: 0, wavefronts: 0, conflicts: 0 },
        constant: { requests: 0, wavefronts: 0 },
    };
    for (const cost of costs) {
        const sums = totals[cost.space];
        for (const key of Object.keys(sums)) sums[key] += key === 'requests' ? 1 : cost[key];
    }
    return totals;
}

/**
 * What views show of some requests: per request, in bytes, as a share of the bytes, or as a count; undefined where there
 * are no requests to this memory.
 *
 * @typedef {{ sectors?: number, moved?: number, used?: number, wavefronts?: number, conflicts?: number,
 *      constant?: number }} Counters
 *
 * @param {RequestCost[]} costs
 * @returns {Counters}
 */
export function countersOf(costs) {
    const { global, shared, constant } = totalsOf(costs);
    const of = ({ requests }, value) => (requests > 0 ? value : undefined);
    return {
        sectors: of(global, global.sectors / global.requests),
        moved: of(global, global.moved),
        used: of(global, efficiency(global)),
        wavefronts: of(shared, shared.wavefronts / shared.requests),
        conflicts: of(shared, shared.conflicts),
        constant: of(constant, constant.wavefronts / constant.requests),
    };
}

/** Counters of one array: sectors or passes per request, without those that say the same in other units. */
const countersOfArray = ['sectors', 'wavefronts', 'constant'];

/**
 * Counters of two launches side by side: of each array that both have, if there are several arrays, and of all requests.
 *
 * @typedef {{ requests: Request[], costs: RequestCost[] }} Requests
 *
 * @param {Requests} left
 * @param {Requests} right
 * @returns {{ counter: keyof Counters, array?: string, values: [number | undefined, number | undefined] }[]}
 */
export function comparisonOf(left, right) {
    const both = [left, right];
    const rowsOf = (costs, array) => {
        const [one, other] = costs.map(countersOf);
        return Object.keys(one)
            .filter((counter) => one[counter] !== undefined || other[counter] !== undefined)
            .map((counter) => ({ counter, array, values: [one[counter], other[counter]] }));
    };
    const [names, others] = both.map(({ requests }) => new Set(requests.map(({ array }) => array.name)));
    const common = [...names].filter((name) => others.has(name));
    const ofArrays = common.flatMap((name) => {
        const costs = both.map(({ requests, costs }) => costs.filter((_, index) => requests[index].array.name === name));
        return rowsOf(costs, name).filter(({ counter }) => countersOfArray.includes(counter));
    });
    const all = rowsOf(both.map(({ costs }) => costs));
    return new Set([...names, ...others]).size > 1 ? [...ofArrays, ...all] : all;
}
