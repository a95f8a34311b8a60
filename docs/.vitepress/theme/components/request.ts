// What a request of a warp costs: sectors of global memory, passes of the banks of shared memory, addresses of constant
// memory. The rules are those by which the CPU device counts (common/cpu_device/src/request_model.cpp), so that the
// drawings show exactly what the counters say; request.test.mjs compares both on every recorded trace.
import type { Request } from './trace';

export const sectorBytes = 32;
export const lineBytes = 128;
export const banks = 32;

/// Bytes of a line of 128 that lanes use: [from, to).
export interface Piece {
    from: number;
    to: number;
    lanes: number[];
}

export interface MemoryLine {
    offset: number; // of its first byte in the array; below 0 where the array begins inside of the line
    fetched: boolean[]; // of the four sectors
    pieces: Piece[];
}

export interface GlobalCost {
    lines: MemoryLine[]; // by address
    sectors: number; // as the counter has it: for atomics, repeated ones
    fetched: number; // different sectors
    asked: number; // bytes, all lanes together
    used: number; // different bytes of them
    moved: number; // bytes of the fetched sectors
}

/// `used` over `moved`: what is wanted of all that moves.
export const efficiency = (cost: GlobalCost) => (cost.moved === 0 ? 1 : cost.used / cost.moved);

const addressesOf = (request: Request) => request.offsets.map((offset) => request.array.begin + offset);

export function globalCost(request: Request): GlobalCost {
    const addresses = addressesOf(request);
    const lines = new Map<number, MemoryLine>();
    const bytes = new Set<number>();
    addresses.forEach((address, rank) => {
        for (let byte = address; byte < address + request.bytes; ++byte) bytes.add(byte);
        for (let from = address; from < address + request.bytes;) {
            const number = Math.floor(from / lineBytes);
            const to = Math.min(address + request.bytes, (number + 1) * lineBytes);
            let line = lines.get(number);
            if (!line) {
                const offset = number * lineBytes - request.array.begin;
                line = { offset, fetched: [false, false, false, false], pieces: [] };
                lines.set(number, line);
            }
            const [begin, end] = [from - number * lineBytes, to - number * lineBytes];
            const same = line.pieces.find((piece) => piece.from === begin && piece.to === end);
            if (same) same.lanes.push(request.lanes[rank]);
            else line.pieces.push({ from: begin, to: end, lanes: [request.lanes[rank]] });
            for (let sector = Math.floor(begin / sectorBytes); sector * sectorBytes < end; ++sector) {
                line.fetched[sector] = true;
            }
            from = to;
        }
    });
    const sorted = [...lines].sort(([a], [b]) => a - b).map(([, line]) => line);
    const fetched = sorted.reduce((sum, line) => sum + line.fetched.filter(Boolean).length, 0);
    return {
        lines: sorted,
        sectors: request.kind === 'global_atomic' ? sectorsOfAtomics(addresses) : fetched,
        fetched,
        asked: request.bytes * addresses.length,
        used: bytes.size,
        moved: fetched * sectorBytes,
    };
}

/// Atomic operations on one address follow each other, those on the other addresses of a sector go along.
function sectorsOfAtomics(addresses: number[]): number {
    const sectors = new Map<number, Map<number, number>>();
    for (const address of addresses) {
        const number = Math.floor(address / sectorBytes);
        const sector = sectors.get(number) ?? new Map<number, number>();
        sector.set(address, (sector.get(address) ?? 0) + 1);
        sectors.set(number, sector);
    }
    return [...sectors.values()].reduce((sum, sector) => sum + Math.max(...sector.values()), 0);
}

/// A word that a bank delivers in a pass, and to whom.
export interface DeliveredWord {
    bank: number;
    word: number; // of the block's shared memory
    lanes: number[];
}

export interface SharedCost {
    passes: DeliveredWord[][];
    wavefronts: number; // passes.length
    least: number;
    conflicts: number;
}

/// How the lanes of an atomic operation of shared memory are served. A trace does not say which of them it was.
export type AtomicUse = 'increment' | 'each_lane' | 'compare_and_swap';

/// The passes that the banks need. In which of its passes a bank delivers which word is not known: here it goes by lane.
export function sharedCost(request: Request): SharedCost {
    if (request.kind !== 'shared_atomic') return sharedCostAs(request);
    const uses: AtomicUse[] = ['increment', 'each_lane', 'compare_and_swap'];
    const costs = uses.map((use) => sharedCostAs(request, use));
    const agrees = (cost: SharedCost) =>
        cost.wavefronts === request.event.wavefronts && cost.least === request.event.least_wavefronts;
    return costs.find(agrees) ?? costs[1];
}

function sharedCostAs(request: Request, use?: AtomicUse): SharedCost {
    const addresses = addressesOf(request);
    const bytes = use === 'compare_and_swap' ? 2 * request.bytes : request.bytes;
    // 8-byte accesses are served a half warp at a time, 16-byte ones a quarter; loads of which neighbors want the same
    // twice as many lanes.
    let together = bytes <= 4 ? 32 : bytes === 8 ? 16 : 8;
    const addressOf = new Map(request.lanes.map((lane, rank) => [lane, addresses[rank]]));
    const neighborsAgree = (bit: number) =>
        request.lanes.every((lane) => {
            const other = addressOf.get(lane ^ bit);
            return other === undefined || other === addressOf.get(lane);
        });
    if (request.kind === 'shared_load' && bytes > 4 && (neighborsAgree(1) || neighborsAgree(2))) together *= 2;

    const eachLane = use === 'each_lane' || use === 'compare_and_swap';
    const passes: DeliveredWord[][] = [];
    for (let first = 0; first < 32; first += together) {
        const inBank: DeliveredWord[][] = Array.from({ length: banks }, () => []);
        const known = new Map<number, DeliveredWord>();
        request.lanes.forEach((lane, rank) => {
            if (lane < first || lane >= first + together) return;
            const last = Math.floor((addresses[rank] + request.bytes - 1) / 4);
            for (let word = Math.floor(addresses[rank] / 4); word <= last; ++word) {
                const same = eachLane ? undefined : known.get(word);
                if (same) {
                    same.lanes.push(lane);
                    continue;
                }
                const delivered = { bank: word % banks, word, lanes: [lane] };
                known.set(word, delivered);
                inBank[delivered.bank].push(delivered);
            }
        });
        const most = Math.max(...inBank.map((words) => words.length));
        for (let pass = 0; pass < most; ++pass) passes.push(inBank.flatMap((words) => words.slice(pass, pass + 1)));
    }
    const least = Math.min(passes.length, Math.ceil((request.lanes.length * bytes) / (4 * banks)));
    return { passes, wavefronts: passes.length, least, conflicts: passes.length - least };
}

export interface ConstantCost {
    addresses: { offset: number; lanes: number[] }[]; // one pass each
    wavefronts: number;
}

export function constantCost(request: Request): ConstantCost {
    // Addresses count by the largest power of two that divides the size: an access that crosses counts on both sides.
    const unit = request.bytes & -request.bytes || 1;
    const pieces = new Map<number, number[]>();
    addressesOf(request).forEach((address, rank) => {
        const last = Math.floor((address + request.bytes - 1) / unit);
        for (let piece = Math.floor(address / unit); piece <= last; ++piece) {
            const lanes = pieces.get(piece) ?? [];
            lanes.push(request.lanes[rank]);
            pieces.set(piece, lanes);
        }
    });
    const addresses = [...pieces].map(([piece, lanes]) => ({ offset: piece * unit - request.array.begin, lanes }));
    return { addresses, wavefronts: addresses.length };
}

/// Distance of neighboring lanes in bytes, where it is the same for all; 0 where all lanes want the same.
export function strideOf({ offsets }: Request): number | undefined {
    if (offsets.length < 2) return undefined;
    const stride = offsets[1] - offsets[0];
    return offsets.every((offset, rank) => rank === 0 || offset - offsets[rank - 1] === stride) ? stride : undefined;
}

/// Sums over requests, as the counters add them up.
export interface Totals {
    global: { requests: number; sectors: number; moved: number; used: number };
    shared: { requests: number; wavefronts: number; conflicts: number };
    constant: { requests: number; wavefronts: number };
}

export function totalsOf(requests: Request[]): Totals {
    const totals: Totals = {
        global: { requests: 0, sectors: 0, moved: 0, used: 0 },
        shared: { requests: 0, wavefronts: 0, conflicts: 0 },
        constant: { requests: 0, wavefronts: 0 },
    };
    for (const request of requests) {
        if (request.kind.startsWith('global')) {
            const cost = globalCost(request);
            totals.global.requests += 1;
            totals.global.sectors += cost.sectors;
            totals.global.moved += cost.moved;
            totals.global.used += cost.used;
        } else if (request.kind.startsWith('shared')) {
            const cost = sharedCost(request);
            totals.shared.requests += 1;
            totals.shared.wavefronts += cost.wavefronts;
            totals.shared.conflicts += cost.conflicts;
        } else {
            totals.constant.requests += 1;
            totals.constant.wavefronts += constantCost(request).wavefronts;
        }
    }
    return totals;
}
