// What the drawings show, computed: which sectors, banks, threads, and turns. No drawing decides anything by itself, and
// components.test.mjs checks all of it. What a request costs comes from common/views/request.mjs, by the rules of the CPU
// device.
import { costOf, efficiency } from '../../../../common/views/request.mjs';

export const lanes = Array.from({ length: 32 }, (_, lane) => lane);
/// 0, 1, ... without `count`.
export const upTo = (count) => Array.from({ length: count }, (_, index) => index);
/// 22 as an exponent.
export const superscript = (number) => [...String(number)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]).join('');

// ---- requests ---------------------------------------------------------------------------------------------------------

const request = (kind, words, begin = 0) => ({
    kind, bytes: 4, lanes: words.map((_, lane) => lane), offsets: words.map((word) => 4 * word), array: { begin }, event: {},
});

/// Lane k loads the float with index k * stride + offset of an array that begins at a sector: {words, sectors, used, moved, share};
/// `words` are the indices, `sectors` the numbers of the sectors, `used` and `moved` bytes.
export function strided(stride, offset = 0) {
    const words = lanes.map((lane) => lane * stride + offset);
    const cost = costOf(request('global_load', words));
    return { words, sectors: cost.fetched.map((first) => first / 32), used: cost.used, moved: cost.moved, share: efficiency(cost) };
}

/// The word of shared memory where element (row, col) of a tile with 32 columns lies. `layout`: "plain", "padded", "swizzled";
/// `padding`: unused words at the end of each row.
export const wordOf = (row, col, { layout, padding = 1 }) =>
    layout === 'padded' ? row * (32 + padding) + col : row * 32 + (layout === 'swizzled' ? col ^ row : col);

export const bankOf = (row, col, how) => wordOf(row, col, how) % 32;

/// Wavefronts of a request for a whole row or column of the tile.
export function wavefrontsOf(direction, index, how) {
    const words = lanes.map((lane) => (direction === 'row' ? wordOf(index, lane, how) : wordOf(lane, index, how)));
    return costOf(request('shared_load', words)).wavefronts;
}

/// How atomic additions of the lanes to so many addresses follow each other: [[lane]], one list for each turn. Those to the
/// same address are serialized; those to different ones, here words next to each other, go together.
export function atomicTurns(addresses) {
    const seen = upTo(addresses).map(() => 0);
    const turns = [];
    for (const lane of lanes) (turns[seen[lane % addresses]++] ??= []).push(lane);
    return turns;
}

// ---- threads ------------------------------------------------------------------------------------------------------------

/// Where a thread of a one-dimensional launch is: {block, thread, warp, lane}.
export function placeOfThread(index, threadsPerBlock) {
    const thread = index % threadsPerBlock;
    return { block: Math.floor(index / threadsPerBlock), thread, warp: Math.floor(thread / 32), lane: thread % 32 };
}

/// The passes of a warp through a branch: [{side, active}] for each side that at least one lane takes. `takes(lane)`: true or false.
export function passesOf(takes) {
    const sides = [true, false].map((side) => ({ side, active: lanes.filter((lane) => takes(lane) === side) }));
    return sides.filter(({ active }) => active.length > 0);
}

/// Which lanes take the branch.
export const conditions = {
    all: () => true,
    half: (lane) => lane < 16,
    odd: (lane) => lane % 2 === 1,
    one: (lane) => lane === 5,
};

/// The element that each thread of a grid takes in each turn of a grid-stride loop: [[{thread, element}]].
export function gridStride(threads, elements) {
    const turns = [];
    for (let first = 0; first < elements; first += threads) {
        turns.push(upTo(Math.min(threads, elements - first)).map((thread) => ({ thread, element: first + thread })));
    }
    return turns;
}

/// Blocks in waves: [count], and the share of all places that they use.
export function waves(blocks, places) {
    const counts = [];
    for (let left = blocks; left > 0; left -= places) counts.push(Math.min(left, places));
    return { counts, share: blocks / (counts.length * places) };
}

// ---- trees --------------------------------------------------------------------------------------------------------------

/// The rounds of a tree that adds `count` numbers (a power of two): [[{thread, into, from}]].
///     modulo:      every second thread adds (thread % (2 * distance) == 0)
///     interleaved: the same words, but the threads that add have the lowest numbers
///     sequential:  the lowest threads add the upper half to the lower one
export function treeRounds(shape, count) {
    const rounds = [];
    if (shape === 'sequential') {
        for (let half = count / 2; half >= 1; half /= 2) rounds.push(upTo(half).map((thread) => ({ thread, into: thread, from: thread + half })));
        return rounds;
    }
    for (let distance = 1; distance < count; distance *= 2) {
        rounds.push(upTo(count / (2 * distance)).map((at) => {
            const into = 2 * distance * at;
            return { thread: shape === 'modulo' ? into : at, into, from: into + distance };
        }));
    }
    return rounds;
}

/// Of the rounds: values of the words after each, starting with those given.
export function treeValues(rounds, values) {
    const states = [values];
    for (const round of rounds) {
        const next = [...states.at(-1)];
        for (const { into, from } of round) next[into] += states.at(-1)[from];
        states.push(next);
    }
    return states;
}

/// A scan in rounds: after round r each place has added the value 2^r places before it. [[number]], beginning with the values.
export function scanStates(values) {
    const states = [values];
    for (let distance = 1; distance < values.length; distance *= 2) {
        const last = states.at(-1);
        states.push(last.map((value, at) => (at >= distance ? value + last[at - distance] : value)));
    }
    return states;
}

/// The same for runs of equal keys: each place holds a sum and whether a run begins in the part that it is made of,
/// [[{begins, sum}]]. A part that begins a run keeps its sum. Without `withFlags` the sums of all runs are mixed.
export function runParts(keys, values, withFlags) {
    const states = [values.map((sum, place) => ({ begins: withFlags && (place === 0 || keys[place] !== keys[place - 1]), sum }))];
    for (let distance = 1; distance < values.length; distance *= 2) {
        const last = states.at(-1);
        states.push(
            last.map((right, place) => {
                if (place < distance) return right;
                const left = last[place - distance];
                return { begins: left.begins || right.begins, sum: right.begins ? right.sum : left.sum + right.sum };
            }),
        );
    }
    return states;
}

/// A look-back from the tile after the last one given: [{first, end, before, done}], one entry per look at `lanes` tiles. `tiles`:
/// [{state: 'sum' | 'prefix', number}], the first of which has a prefix; `before`: the sum so far.
export function lookBack(tiles, lanes) {
    const looks = [];
    for (let end = tiles.length, before = 0; ; ) {
        const first = Math.max(0, end - lanes);
        const at = tiles.slice(0, end).findLastIndex(({ state }) => state === 'prefix');
        const from = Math.max(first, at);
        for (const { number } of tiles.slice(from, end)) before += number;
        looks.push({ first, end, before, done: at >= first });
        if (at >= first) return looks;
        end = first;
    }
}

/// Stream A allocates memory, fills it, and frees it; stream B uses it. `events`: "none"; "one", from the filling to B; "two", also
/// from B's use to the free. All times in turns: {allocate, fill, use, free, memory: {begin, end}, events: [{at, down}], right}; the
/// memory is there from the end of the allocation until the free begins.
export function borrowed(events) {
    const allocate = { begin: 0, end: 1 }, fill = { begin: 1, end: 4 };
    const useBegin = events === 'none' ? 0 : fill.end;
    const use = { begin: useBegin, end: useBegin + 3 };
    const freeBegin = events === 'two' ? use.end : fill.end;
    const free = { begin: freeBegin, end: freeBegin + 1 };
    const memory = { begin: allocate.end, end: free.begin };
    const all = { none: [], one: [{ at: fill.end, down: true }], two: [{ at: fill.end, down: true }, { at: use.end, down: false }] };
    const right = use.begin >= fill.end && use.end <= free.begin;
    return { allocate, fill, use, free, memory, events: all[events], right };
}

/// A word and a flag go from thread A to thread B of another block. `releases`, `acquires`: what the two do. What each sees at five
/// moments: at the start, after A's store of the word and that of the flag, and after B's load of the flag and that of the word.
/// [{l2: {word, flag}, l1: word or undefined, flag, word}]: `l1` is B's cache, `flag` and `word` are what B has loaded so far.
/// Without a release the store of the word may be the last to arrive, and that is what happens here.
export function handOver(releases, acquires) {
    const old = 0, sent = 42;
    const arrived = releases ? sent : old;
    const moments = [{ l2: { word: old, flag: 0 }, l1: old }];
    moments.push({ l2: { word: old, flag: 0 }, l1: old });
    moments.push({ l2: { word: arrived, flag: 1 }, l1: old });
    moments.push({ l2: { word: arrived, flag: 1 }, l1: acquires ? undefined : old, flag: 1 });
    const loaded = acquires ? arrived : old;
    moments.push({ l2: { word: arrived, flag: 1 }, l1: loaded, flag: 1, word: loaded });
    return moments;
}

/// A bitonic network for `count` keys, a power of two: [{run, distance, mirrored, pairs: [{low, high}]}], in the order of the rounds. Each
/// run of `run` places is sorted after its last round.
export function bitonicRounds(count) {
    const rounds = [];
    for (let run = 2; run <= count; run *= 2) {
        for (let distance = run / 2; distance >= 1; distance /= 2) {
            const mirrored = distance === run / 2;
            const pairs = upTo(count / 2).map((thread) => {
                const within = thread % distance;
                const low = 2 * thread - within;
                return { low, high: mirrored ? low + 2 * (distance - within) - 1 : low + distance };
            });
            rounds.push({ run, distance, mirrored, pairs });
        }
    }
    return rounds;
}

/// What the places hold, beginning with the keys, and then after each round.
export function bitonicStates(keys) {
    const states = [keys];
    for (const { pairs } of bitonicRounds(keys.length)) {
        const next = [...states.at(-1)];
        for (const { low, high } of pairs) [next[low], next[high]] = [Math.min(next[low], next[high]), Math.max(next[low], next[high])];
        states.push(next);
    }
    return states;
}

/// Keys of `digits` decimal digits, beginning with those given, and then after each pass of a radix sort from the lowest digit. Where it
/// is not stable, a pass reverses keys with the same digit.
export function radixPasses(keys, digits, stable) {
    const states = [keys];
    for (let pass = 0; pass < digits; ++pass) {
        const digit = (key) => Math.floor(key / 10 ** pass) % 10;
        states.push(upTo(10).flatMap((value) => {
            const run = states.at(-1).filter((key) => digit(key) === value);
            return stable ? run : run.reverse();
        }));
    }
    return states;
}

/// The pairs of maximum and sum of exponentials, {largest, sum, factors}, of neighbors combined in rounds: [[pair]], beginning with one
/// pair for each value. `factors`: by which the two sums were multiplied.
export function normalizerRounds(values) {
    const rounds = [values.map((value) => ({ largest: value, sum: 1 }))];
    while (rounds.at(-1).length > 1) {
        const last = rounds.at(-1);
        rounds.push(upTo(last.length / 2).map((at) => {
            const [a, b] = [last[2 * at], last[2 * at + 1]];
            const largest = Math.max(a.largest, b.largest);
            const factors = [Math.exp(a.largest - largest), Math.exp(b.largest - largest)];
            return { largest, sum: a.sum * factors[0] + b.sum * factors[1], factors };
        }));
    }
    return rounds;
}

/// One query, its keys in tiles: what the online softmax has after each tile, [{largest, sum, mean, factor, weights}], beginning with
/// nothing. `factor`: by which the sums before were multiplied; `weights`: of the keys of the tile.
export function onlineTiles(scores, values, perTile) {
    let largest = -Infinity, sum = 0, weighted = 0;
    const after = [{ largest, sum, mean: 0, factor: 1, weights: [] }];
    for (let first = 0; first < scores.length; first += perTile) {
        const tile = scores.slice(first, first + perTile);
        const larger = Math.max(largest, ...tile);
        const factor = Math.exp(largest - larger);
        const weights = tile.map((score) => Math.exp(score - larger));
        sum = sum * factor + weights.reduce((total, weight) => total + weight, 0);
        weighted = weighted * factor + weights.reduce((total, weight, at) => total + weight * values[first + at], 0);
        largest = larger;
        after.push({ largest, sum, mean: weighted / sum, factor, weights });
    }
    return after;
}

// ---- pictures -----------------------------------------------------------------------------------------------------------

/// The picture of the lesson convolution, by the rules of its picture.h: {rows, cols, pixels}, brightness from 0 to 1.
export function picture() {
    const rows = 48, cols = 72;
    const whole = Math.floor;
    const brightness = (row, col) => {
        const distance = (row - 16) ** 2 + (col - 18) ** 2;
        if (distance < 225) return whole(distance / 25) % 2 === 0 ? 0.9 : 0.1;
        if (row >= 5 && row < 27 && col >= 40 && col < 68) return whole((col - 40) ** 2 / 40) % 2 === 0 ? 0.95 : 0.05;
        if (row >= 31 && row < 45 && col >= 40 && col < 67) return (whole((row - 31) / 4) + whole((col - 40) / 4)) % 2 === 0 ? 0.9 : 0.1;
        if (row >= 34 && row < 46 && col >= 3 && col < 36 && (row * 7 + col * 13) % 31 === 0) return 1;
        return 0.2 + (0.4 * col) / cols;
    };
    return { rows, cols, pixels: upTo(rows * cols).map((at) => brightness(whole(at / cols), at % cols)) };
}

const gaussian = (sigma) => {
    const weights = upTo(9).map((j) => Math.exp(-((j - 4) ** 2) / (2 * sigma * sigma)));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
};
const productOf = (line) => upTo(81).map((at) => line[Math.floor(at / 9)] * line[at % 9]);

/// 9 x 9 weights, row after row.
export const filters = {
    blurred: productOf(gaussian(2)),
    sharpened: productOf(gaussian(2)).map((weight, at) => (at === 40 ? 2 : 0) - weight),
    edges: productOf(gaussian(1)).map((weight, at) => weight - productOf(gaussian(2))[at]),
};

/// The picture with each pixel as a weighted sum of the 81 around it. `border`: what is outside of it, "clamped" (the nearest pixel at
/// the border) or "black".
export function filteredPicture({ rows, cols, pixels }, weights, border = 'clamped') {
    const pixel = (row, col) => {
        if (border === 'black' && (row < 0 || row >= rows || col < 0 || col >= cols)) return 0;
        return pixels[Math.min(Math.max(row, 0), rows - 1) * cols + Math.min(Math.max(col, 0), cols - 1)];
    };
    const sum = (row, col) => weights.reduce((total, weight, at) => total + weight * pixel(row + Math.floor(at / 9) - 4, col + (at % 9) - 4), 0);
    return { rows, cols, pixels: pixels.map((_, at) => sum(Math.floor(at / cols), at % cols)) };
}

/// The letters in which the lesson prints a picture: one for 3 x 2 pixels.
export const lettersOf = ({ rows, cols, pixels }, scale = 1, offset = 0) =>
    upTo(rows / 3).map((line) => upTo(cols / 2).map((at) => {
        const value = scale * pixels[3 * line * cols + 2 * at] + offset;
        return ' .:-=+*#%@'[Math.floor(Math.min(Math.max(10 * value, 0), 9))];
    }).join(''));

/// The picture as a data URL: an uncompressed bitmap of 256 grays. `cols` has to be a multiple of 4.
export function imageOf({ rows, cols, pixels }, scale = 1, offset = 0) {
    const palette = 54;
    const start = palette + 1024;
    const bytes = new Uint8Array(start + rows * cols);
    const view = new DataView(bytes.buffer);
    bytes.set([0x42, 0x4d]);
    const words = { 2: bytes.length, 10: start, 14: 40, 18: cols, 22: rows, 26: 1 | (8 << 16), 34: rows * cols, 46: 256 };
    for (const [at, word] of Object.entries(words)) view.setUint32(Number(at), word, true);
    for (const gray of upTo(256)) bytes.set([gray, gray, gray, 0], palette + 4 * gray);
    for (const at of upTo(rows * cols)) {
        const row = rows - 1 - Math.floor(at / cols); // the last row comes first
        const gray = Math.round(255 * (scale * pixels[row * cols + (at % cols)] + offset));
        bytes[start + at] = Math.min(Math.max(gray, 0), 255);
    }
    return `data:image/bmp;base64,${btoa(String.fromCharCode(...bytes))}`;
}

/// What a tile with `side` x `side` pixels and a halo of `radius` loads, in pixels, and how many that is for each of its own.
export function imageHalo(side, radius) {
    const loaded = (side + 2 * radius) ** 2;
    return { loaded, own: side * side, share: loaded / (side * side) };
}

// ---- time ---------------------------------------------------------------------------------------------------------------

/// When the parts of chunks (copy in, compute, copy out) run: [{stream, chunk, part, begin, end}]. Each engine and each stream
/// does one thing at a time, in the order in which the work was queued; the rules of the lesson host_memory_and_streams.
/// `times`: of each part for all chunks together.
export function planned(streams, chunks, times) {
    const freeEngine = times.map(() => 0);
    const freeStream = upTo(streams).map(() => 0);
    const plan = [];
    for (let chunk = 0; chunk < chunks; ++chunk) {
        const stream = chunk % streams;
        times.forEach((time, part) => {
            const begin = Math.max(freeEngine[part], freeStream[stream]);
            const end = begin + time / chunks;
            freeEngine[part] = freeStream[stream] = end;
            plan.push({ stream, chunk, part, begin, end });
        });
    }
    return plan;
}
export const endOf = (plan) => Math.max(...plan.map(({ end }) => end));

/// Loading and computing tiles with so many buffers: [{tile, work: "load" | "compute", buffer, begin, end}]. With one buffer, a load
/// waits until the tile before has been computed.
export function buffered(buffers, tiles, load, compute) {
    const plan = [];
    const freeBuffer = upTo(buffers).map(() => 0);
    let [loader, computer] = [0, 0];
    for (let tile = 0; tile < tiles; ++tile) {
        const buffer = tile % buffers;
        const begin = Math.max(loader, freeBuffer[buffer]);
        loader = begin + load;
        const start = Math.max(loader, computer);
        computer = freeBuffer[buffer] = start + compute;
        plan.push({ tile, work: 'load', buffer, begin, end: loader }, { tile, work: 'compute', buffer, begin: start, end: computer });
    }
    return plan;
}

/// Warps of one scheduler that each issue an instruction, wait for `latency` cycles, and so on: [{warp, cycle}] within `cycles`,
/// and the share of cycles in which something is issued once all have begun.
export function issued(warps, latency, cycles) {
    const ready = upTo(warps).map(() => 0);
    const issues = [];
    for (let cycle = 0; cycle < cycles; ++cycle) {
        const warp = ready.indexOf(Math.min(...ready));
        if (ready[warp] > cycle) continue;
        issues.push({ warp, cycle });
        ready[warp] = cycle + latency;
    }
    return { issues, share: Math.min(1, warps / latency) };
}

/// Warps of one scheduler with independent chains of operations: [{warp, chain, cycle}] within `cycles`, and the share of cycles in which
/// something is issued. An operation of a chain can be issued `latency` cycles after the one before it.
export function issuedChains(warps, chains, latency, cycles) {
    const { issues, share } = issued(warps * chains, latency, cycles);
    return { issues: issues.map(({ warp: at, cycle }) => ({ warp: Math.floor(at / chains), chain: at % chains, cycle })), share };
}

/// Little's law: bytes that have to be in flight. GB/s times ns are bytes.
export const bytesInFlight = (gbPerS, nanoseconds) => gbPerS * nanoseconds;
/// ... and the bandwidth that so many bytes in flight allow, no more than the peak: GB/s.
export const bandwidthWith = (bytes, nanoseconds, peak) => Math.min(peak, bytes / nanoseconds);

// ---- tiles of a matrix product ------------------------------------------------------------------------------------------

/// Floats that have to be loaded for each multiply-add: a tile of rows x cols sums needs rows + cols operands per term.
export const loadsPerMultiplyAdd = (rows, cols) => (rows + cols) / (rows * cols);

// ---- blocks and their places --------------------------------------------------------------------------------------------

/// The threads of a block in the order in which warps take them, x fastest: [{x, y, z, rank, warp, lane}].
export function ranksOf([columns, rows, layers]) {
    return upTo(columns * rows * layers).map((rank) => ({
        x: rank % columns, y: Math.floor(rank / columns) % rows, z: Math.floor(rank / (columns * rows)),
        rank, warp: Math.floor(rank / 32), lane: rank % 32,
    }));
}

/// Who has a variable, by its qualifier: `lies` in which memory, `one` for each what, what the `host` can do, and what it `lasts` for.
export const scopes = {
    none: { lies: 'register', one: 'thread', host: 'nothing', lasts: 'thread' },
    shared: { lies: 'shared', one: 'block', host: 'nothing', lasts: 'block' },
    device: { lies: 'global', one: 'device', host: 'copies', lasts: 'program' },
    constant: { lies: 'constant', one: 'device', host: 'copies', lasts: 'program' },
    managed: { lies: 'global', one: 'device', host: 'uses', lasts: 'program' },
};

// ---- sums ---------------------------------------------------------------------------------------------------------------

/// The sum of two numbers in float: {exact, result, lost, gap}; `gap` is the distance of the floats there.
export function addedInFloat(sum, term) {
    const exact = sum + term;
    const result = Math.fround(exact);
    return { exact, result, lost: exact - result, gap: 2 ** (Math.floor(Math.log2(sum)) - 23) };
}

/// How `count` terms are added: [{first, last, level, parts: [index, index]}], the terms first (without parts), the whole sum last.
/// `level` is how many additions a sum is at most above its terms. "loop": one after the other; "tree": pairs; "threads": two threads with a
/// loop each, whose sums are added.
export function additions(shape, count) {
    const sums = upTo(count).map((term) => ({ first: term, last: term, level: 0, parts: [] }));
    const add = (one, other) => sums.push({
        first: sums[one].first, last: sums[other].last, level: Math.max(sums[one].level, sums[other].level) + 1, parts: [one, other],
    }) - 1;
    const loop = (first, last) => upTo(last - first).reduce((sum, at) => add(sum, first + 1 + at), first);
    const tree = (first, last) => (first === last ? first : add(tree(first, (first + last - 1) / 2), tree((first + last + 1) / 2, last)));
    if (shape === 'loop') loop(0, count - 1);
    else if (shape === 'tree') tree(0, count - 1);
    else add(loop(0, count / 2 - 1), loop(count / 2, count - 1));
    return sums;
}
/// The sums that contain a term, which are the additions that it goes through.
export const additionsOf = (sums, term) => sums.filter(({ first, last, parts }) => parts.length > 0 && first <= term && term <= last);

// ---- caches and registers ------------------------------------------------------------------------------------------------

/// A loop over a matrix of floats whose rows are stored one after the other, after so many reads: which lines of `lineFloats` floats it
/// has fetched, and which of them a cache with `places` still holds: {now: {row, col}, fetches, held: [line], read}.
export function lineFetches(order, reads, { rows, cols, lineFloats, places }) {
    const lineOf = ({ row, col }) => Math.floor((row * cols + col) / lineFloats);
    const place = (read) => (order === 'down' ? { row: read % rows, col: Math.floor(read / rows) } : { row: Math.floor(read / cols), col: read % cols });
    let fetches = 0;
    let held = [];
    for (const line of upTo(reads).map((read) => lineOf(place(read)))) {
        if (!held.includes(line)) ++fetches;
        held = [...held.filter((one) => one !== line), line].slice(-places);
    }
    return { now: reads > 0 ? place(reads - 1) : undefined, fetches, held };
}

/// Results per clock of an SM: those that its schedulers can issue, those that the unit which is used most can compute, and the smaller.
export function priceOf({ instructions, units, uses }) {
    const issue = 128 / instructions;
    const unit = units / uses;
    return { issue, unit, price: Math.min(issue, unit) };
}

// ---- one loop, by whom ----------------------------------------------------------------------------------------------------

/// A loop with `count` iterations: [{row, begin, end, what: "work" | "launch" | "free"}], where row 0 is the host's first thread, and an
/// iteration takes 1 there. "serial": one thread; "openmp": `threads` threads of the host, which takes `fork` to begin; "launch": a thread of
/// the device for each iteration, for which it takes `slower`; meanwhile the host is free.
export function forked(way, { count = 16, threads = 4, fork = 0.5, slower = 2.6 } = {}) {
    if (way === 'serial') return upTo(count).map((at) => ({ row: 0, begin: at, end: at + 1, what: 'work' }));
    if (way === 'openmp') {
        return upTo(count).map((at) => {
            const [row, turn] = [Math.floor(at / (count / threads)), at % (count / threads)];
            return { row, begin: fork + turn, end: fork + turn + 1, what: 'work' };
        });
    }
    return [
        { row: 0, begin: 0, end: fork, what: 'launch' },
        { row: 0, begin: fork, end: fork + slower, what: 'free' },
        ...upTo(count).map((at) => ({ row: 1 + at, begin: fork, end: fork + slower, what: 'work' })),
    ];
}

/// Eight small kernels that take 1 each: one, two sweeps of each of three rows, and one more. [{place: "host" | "device", track, begin,
/// end, row}], where row -1 is the first and the last kernel. A launch takes the host `launch`, and a wait `wait` beyond the kernel.
/// "wait": the host waits after each kernel; "stream": it does not; "graph": one launch for all, in the same order; "branches": the rows
/// at the same time.
export function launched(way, { launch = 1, wait = 0.5 } = {}) {
    const rows = [-1, 0, 1, 2, 0, 1, 2, -1];
    if (way === 'branches') {
        const kernel = (track, turn, row) => ({ place: 'device', track, begin: launch + turn, end: launch + turn + 1, row });
        const sweeps = upTo(3).flatMap((row) => upTo(2).map((turn) => kernel(row, 1 + turn, row)));
        return [{ place: 'host', track: 0, begin: 0, end: launch, row: -1 }, kernel(0, 0, -1), ...sweeps, kernel(0, 3, -1)];
    }
    const boxes = [];
    let host = 0;
    let device = 0;
    rows.forEach((row, at) => {
        if (way !== 'graph' || at === 0) {
            boxes.push({ place: 'host', track: 0, begin: host, end: host + launch, row });
            host += launch;
        }
        const begin = Math.max(host, device);
        device = way === 'graph' && at > 0 ? device + 1 : begin + 1;
        boxes.push({ place: 'device', track: 0, begin: device - 1, end: device, row });
        if (way === 'wait') host = device + wait;
    });
    return boxes;
}

/// When mistakes show: what the calls of a program that looks at every status return ("ended": it has ended there, because a call before
/// has told it), and what becomes of the kernel. The calls: an allocation, a launch, cudaGetLastError, cudaDeviceSynchronize, a copy.
export const errorClasses = {
    call: { returns: ['error', 'ended', 'ended', 'ended', 'ended'], kernel: 'none', reportedBy: 'the call itself', sticky: false },
    launch: { returns: ['success', 'nothing', 'error', 'ended', 'ended'], kernel: 'none', reportedBy: 'cudaGetLastError', sticky: false },
    dies: { returns: ['success', 'nothing', 'success', 'error', 'error'], kernel: 'dies', reportedBy: 'cudaDeviceSynchronize', sticky: true },
    address: { returns: ['success', 'nothing', 'success', 'success', 'success'], kernel: 'wrong', reportedBy: 'nobody', sticky: false },
};

/// Operations of the lesson instruction_throughput, by what is shown: their row of its table `rates`, of how many instructions they consist,
/// and the unit that they use most: how many an SM has, and how often they use it.
export const operations = {
    'float v + a': { row: 'float  v + a', instructions: 1, kind: 'fp32', units: 128, uses: 1 },
    'double fma(v, a, a)': { row: 'double fma(v, a, a)', instructions: 1, kind: 'fp64', units: 64, uses: 1 },
    '__umulhi(v, b)': { row: '32 bit __umulhi(v, b)', instructions: 1, kind: 'multiplier', units: 64, uses: 2 },
    '__sinf(v) + a': { row: '__sinf(v) + a', instructions: 3, kind: 'special', units: 16, uses: 1 },
    'sqrtf(v)': { row: 'sqrtf(v)', instructions: 10, kind: 'special', units: 16, uses: 1 },
    'float a / (v + b)': { row: 'float  a / (v + b)', instructions: 11, kind: 'special', units: 16, uses: 2 },
    'unsigned v / n': { row: '32 bit b - v / (n | 1)', instructions: 19, kind: 'special', units: 16, uses: 3 },
};

/// Bins are dealt out to the blocks of a cluster in turn: the block that has the counter of a key, and the counter's number there.
export const ownerOf = (key, blocks) => ({ rank: key % blocks, place: Math.floor(key / blocks) });

/// Four warps of one scheduler: `warps`, a row each, with "issued", "ready" (the scheduler took another warp), or what the warp waits for,
/// in each of `cycles`. The instructions are simplified: a load takes 30 cycles, and an addition does not delay the next one.
/// "memory": a load, and its use; "batch": four loads before their uses; "shared": each instruction is a load from shared memory, of which
/// one per four cycles finds a place in the queue; "barrier": warp 0 makes eight additions between two barriers,
/// each of which needs the result of the one before, four cycles later; each of the other warps makes one.
export function stalled(kind, cycles = 96) {
    const loops = {
        memory: () => ['load', 'use', 'add'],
        batch: () => ['load', 'load', 'load', 'load', 'use', 'add', 'add', 'add', 'add', 'add'],
        shared: () => ['shared'],
        barrier: (warp) => [...upTo(warp === 0 ? 8 : 1).map(() => 'chained'), 'barrier'],
    };
    const all = upTo(4).map((warp) => ({ loop: loops[kind](warp), at: 0, arrives: 0, result: 0, waits: false }));
    const rows = all.map(() => []);
    let queueFree = 0;
    let last = 3;
    for (let cycle = 0; cycle < cycles; ++cycle) {
        if (all.every((warp) => warp.waits)) all.forEach((warp) => Object.assign(warp, { waits: false, at: 0 }));
        const reason = (warp) => {
            const next = warp.loop[warp.at];
            if (warp.waits) return 'barrier';
            if (next === 'use' && cycle < warp.arrives) return 'memory';
            if (next === 'chained' && cycle < warp.result) return 'result';
            return next === 'shared' && cycle < queueFree ? 'queue' : undefined;
        };
        const states = all.map((warp) => reason(warp) ?? 'ready');
        const turn = upTo(4).map((k) => (last + 1 + k) % 4).find((warp) => states[warp] === 'ready');
        if (turn !== undefined) {
            states[turn] = 'issued';
            last = turn;
            const warp = all[turn];
            const instruction = warp.loop[warp.at];
            if (instruction === 'load') warp.arrives = cycle + 30;
            if (instruction === 'chained') warp.result = cycle + 4;
            if (instruction === 'shared') queueFree = cycle + 4;
            if (instruction === 'barrier') warp.waits = true;
            else warp.at = (warp.at + 1) % warp.loop.length;
        }
        states.forEach((state, warp) => rows[warp].push(state));
    }
    return rows;
}

/// {issued, waits, ready}: of `stalled`, the instructions, and the cycles that warps spend per issued instruction.
export function perInstruction(rows) {
    const count = (is) => rows.flat().filter(is).length;
    const issued = count((state) => state === 'issued');
    const waits = count((state) => state !== 'issued' && state !== 'ready');
    return { issued, waits: waits / issued, ready: count((state) => state === 'ready') / issued };
}

/// The chunks of 16 bytes of a row of 128 bytes: which eighth of the banks chunk `chunk` of a row lies in. Rows are dense, or
/// padded by one chunk, or the accelerator has swizzled them.
export const placeOfChunk = (row, chunk, layout) => (layout === 'padded' ? (chunk + row) % 8 : layout === 'swizzled' ? chunk ^ (row % 8) : chunk);
/// The chunk of the row that lies there.
export const chunkAt = (row, place, layout) => upTo(8).find((chunk) => placeOfChunk(row, chunk, layout) === place);
/// 32 lanes read one chunk of 32 rows, each 4 bytes of it or all 16. Lanes with 16 bytes are served eight at a time.
export const chunkWavefronts = (layout, bytes) => {
    const together = bytes === 16 ? 8 : 32;
    let all = 0;
    for (let first = 0; first < 32; first += together) {
        const counts = upTo(8).map((place) => upTo(together).filter((k) => placeOfChunk(first + k, 0, layout) === place).length);
        all += Math.max(...counts);
    }
    return all;
};

/// What a lane holds of the matrices of an mma.sync with 16 x 8 sums: words of 4 bytes of A (a row has 8) and of B (a column has
/// 8), and sums of C, in the order of its registers.
export function fragmentsOf(lane) {
    const group = Math.floor(lane / 4);
    const member = lane % 4;
    return {
        group,
        member,
        a: upTo(4).map((i) => ({ row: group + (i % 2) * 8, col: member + Math.floor(i / 2) * 4 })),
        b: upTo(2).map((i) => ({ row: member + i * 4, col: group })),
        c: upTo(4).map((i) => ({ row: group + Math.floor(i / 2) * 8, col: 2 * member + (i % 2) })),
    };
}

/// An all-reduce in a ring of n devices, after `sends` sends of each: how many arrays are added up in the part that each device holds
/// (`held[device][part]`; 1: its own numbers alone), and which part each device sends next (null when all is done).
export function ringOf(n, sends) {
    const held = upTo(n).map(() => Array(n).fill(1));
    const part = (device, send) => (device - send + 2 * n) % n;
    for (let send = 0; send < sends; ++send) {
        const leaves = upTo(n).map((device) => held[device][part(device, send)]);
        upTo(n).forEach((device) => {
            const next = (device + 1) % n;
            held[next][part(device, send)] = send < n - 1 ? leaves[device] + 1 : leaves[device];
        });
    }
    return { held, next: upTo(n).map((device) => (sends < 2 * (n - 1) ? part(device, sends) : null)) };
}

/// Two devices at work: [{device, lane: 'work' or 'link', begin, end, kind}]. `what` and `way` are those of the drawing gpu_timeline. A
/// kernel of the whole part takes 6 units of time; what else things take is assumed, too.
export function devicesAtWork(what, way) {
    const both = (make) => [0, 1].flatMap(make);
    const box = (device, lane, begin, end, kind) => ({ device, lane, begin, end, kind });
    if (what === 'reduction') {
        if (way === 'one') return [box(0, 'work', 0, 6, 'work'), box(0, 'link', 6, 7, 'wait'), box(1, 'work', 7, 13, 'work'), box(1, 'link', 13, 14, 'wait')];
        if (way === 'all') return [...both((d) => [box(d, 'work', d * 0.3, 6 + d * 0.3, 'work'), box(d, 'link', 6.3 + d, 7.3 + d, 'wait')])];
        if (way === 'events') return [...both((d) => [box(d, 'work', 0.3 - d * 0.3, 6.3 - d * 0.3, 'work')]), box(1, 'link', 6, 6.6, 'send'), box(0, 'work', 6.8, 7.2, 'add')];
        return [...both((d) => [box(d, 'work', 0.3 - d * 0.3, 6.3 - d * 0.3, 'work')]), box(1, 'link', 6, 6.2, 'send'), box(0, 'work', 6.3, 6.5, 'add')];
    }
    const turns = upTo(2);
    if (what === 'halo') {
        if (way === 'whole') return both((d) => turns.flatMap((k) => [box(d, 'work', k * 9, k * 9 + 3, 'work'), box(d, 'link', k * 9 + 3, k * 9 + 9, 'send')]));
        if (way === 'rows') return both((d) => turns.flatMap((k) => [box(d, 'work', k * 4, k * 4 + 3, 'work'), box(d, 'link', k * 4 + 3, k * 4 + 4, 'send')]));
        return both((d) => turns.flatMap((k) => [box(d, 'work', k * 3.2, k * 3.2 + 0.4, 'edge'), box(d, 'work', k * 3.2 + 0.4, k * 3.2 + 3.2, 'work'), box(d, 'link', k * 3.2 + 0.4, k * 3.2 + 1.4, 'send')]));
    }
    if (way === 'first') return both((d) => [box(d, 'link', 0, 2, 'send'), box(d, 'work', 2, 8, 'work')]);
    return both((d) => [box(d, 'work', 0, 3, 'own'), box(d, 'link', 0, 2, 'send'), box(d, 'work', 3, 6, 'work')]);
}
