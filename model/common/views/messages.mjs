// All words of the views, in English and Simplified Chinese, and how numbers are written.
import { efficiency, strideOf } from './request.mjs';
import { runsOf } from './timeline.mjs';
/** @import { Request } from './trace.mjs' */
/** @import { RequestCost } from './request.mjs' */

/**
 * 12.5 %, 100 %, 0.39 %
 *
 * @param {number} share
 */
export function percent(share) {
    const value = share * 100;
    return `${value >= 10 || value === 0 ? Math.round(value * 10) / 10 : Number(value.toPrecision(2))}\u00a0%`;
}

/**
 * Three digits that count: 0.0123, 1.23, 12.3, 12,346
 *
 * @param {number} value
 */
export function number(value) {
    if (!Number.isFinite(value)) return '∞';
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
    return String(Number(value.toPrecision(3)));
}

/**
 * "0–15, 20"
 *
 * @param {[number, number][]} runs first and count of each (runsOf)
 */
export const ranges = (runs) =>
    runs.map(([first, count]) => (count > 1 ? `${first}–${first + count - 1}` : first)).join(', ');

/** "−28 (× 0.125)": from left to right; of shares in `points`. */
function differenceOf(counter, [left, right], points) {
    if (left === right) return '0';
    const sign = right > left ? '+' : '−';
    const far = Math.abs(right - left);
    const size = counter === 'used' ? points(number(100 * far)) : number(far);
    return left > 0 && right > 0 ? `${sign}${size} (× ${number(right / left)})` : `${sign}${size}`;
}

const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/**
 * What a view says of a request; `index` from 0, `threads` of the warp.
 *
 * @typedef {{ request: Request, cost: RequestCost, index: number, count: number, threads: number }} RequestInWords
 */

/**
 * What a view says of a lane in a request; `place`: where it goes, counted from 0, sector and pass from 1.
 *
 * @typedef {{ lane: number, request: Request, cost: RequestCost, place: { offset: number, element: number, row: number,
 *      column: number, sector?: number, bank?: string, pass?: string | number } }} LaneInWords
 */

/**
 * What a view says of a step of a block; `column` from 0, `barrier` its line.
 *
 * @typedef {{ column: number, columns: number, active: number, threads: number, runs: number, waits: number,
 *      skips: number, done: number, lines: number[], barrier?: number }} BlockInWords
 */

const english = {
    // player
    play: 'Play',
    pause: 'Pause',
    stepBack: 'Step back',
    stepForward: 'Step forward',
    position: 'Position',
    keys: 'Keys: ← and → step, Home and End jump, the space bar plays.',

    // both views
    launch: 'Launch',
    warp: 'Warp',
    source: (path) => `Source: ${path}`,
    cpuDevice: 'CPU device',
    trimmed: (what) => `Shown: ${what}.`,
    array: 'Array',
    allArrays: 'all arrays',

    // warp view
    warpView: 'Warp view',
    line: 'Line',
    allLines: 'all lines',
    lineWithRequests: (line, requests) => `${line} (${plural(requests, 'request')})`,
    noRequests: 'This warp makes no requests here.',
    finished: (count) => `No more: these are all ${count} requests.`,
    lanesOfWarp: 'Lanes of the warp',
    laneInactive: (lane) => `Lane ${lane} takes no part.`,
    pointHint: 'Point at a lane, a colored cell, or a source line, or tap it: what belongs together is marked.',
    /** @param {LaneInWords} what */
    laneGoes({ lane, place, request, cost }) {
        const { array, bytes, event } = request;
        const how = {
            global: () => `sector ${place.sector} of ${cost.fetched.length}`,
            shared: () => `bank ${place.bank}, pass ${place.pass} of ${cost.wavefronts}`,
            constant: () => `pass ${place.pass} of ${cost.wavefronts}`,
        }[cost.space]();
        return (
            `Lane ${lane}, line ${event.line}: element ${place.element} of ${array.name} (row ${place.row}, ` +
            `column ${place.column}), bytes ${place.offset} to ${place.offset + bytes - 1}, ${how}.`
        );
    },
    lanesTogether: (lanes, first) => `Lanes ${lanes} together. ${first}`,
    lineTouches: (line, lanes, name, index, count) =>
        `Line ${line}: lanes ${lanes} access ${name} in request ${index} of ${count}.`,
    arrayOf: (name, bytes) => `${name}, ${number(bytes)} bytes`,
    rowLength: 'Row length',
    rowLengthOf: (name) => `Row length of ${name}, in elements`,
    elementsOf: (bytes) => `elements of ${plural(bytes, 'byte')}`,
    mapOf: (name) => `Map of ${name}`,
    moreRows: (rows) => `and ${plural(rows, 'more row', 'more rows')}`,
    mapLayout: ({ cell, row }, bytes) =>
        `${plural(Math.ceil(bytes / row), 'row')} of ${plural(Math.round(row / cell), 'element')}`,
    maps: { array: 'Rows and columns of the array', banks: 'By bank: 32 banks, 32 words per row' },
    spaces: { global: 'Global memory', shared: 'Shared memory', constant: 'Constant memory' },
    hints: {
        global: 'The array as rows and columns, of which only touched ones are shown. Left: numbers of the rows. Right: the lanes. A frame is a sector of 32 bytes.',
        shared: 'The tile as rows and columns, with a pale color for each bank. Left: numbers of the rows. Right: the lanes.',
        banks: 'Shared memory by bank: the columns are the 32 banks, and the rows are words that lie 128 bytes apart. Right: the lanes.',
        constant: 'The array as rows and columns. Each address takes a pass of its own. Left: numbers of the rows. Right: the lanes.',
    },
    conflictsInWords({ conflicts, passes }) {
        if (conflicts === 0) return 'No bank conflict.';
        const words = passes.flat().filter(({ turns }) => turns > 1);
        if (words.length === 0) return 'The passes serve different groups of lanes.';
        const banks = [...new Set(words.map(({ bank }) => bank))].sort((a, b) => a - b);
        const most = Math.max(...words.map(({ turns }) => turns));
        return `Bank conflict: ${banks.length === 1 ? 'bank' : 'banks'} ${ranges(runsOf(banks))}, up to ${most} words per bank.`;
    },
    legend: {
        used: 'used, in the color of its lane',
        fetched: 'fetched, not used',
        untouched: 'not fetched',
        banks: 'not used, in the color of its bank',
        idle: 'not used',
        conflict: 'bank conflict',
        further: 'a further pass',
    },
    tableOfLanes: 'Table of lanes',
    tableHead: {
        lane: 'lane',
        offset: 'byte of the array',
        row: 'row',
        column: 'column',
        sector: 'sector',
        bank: 'bank',
        pass: 'pass',
    },
    countersHead: { now: 'this request', soFar: 'so far', all: 'all' },
    counters: {
        sectors: 'sectors per request',
        moved: 'bytes moved',
        used: 'of them used',
        wavefronts: 'wavefronts (passes) per request',
        conflicts: 'wavefronts by conflicts',
        constant: 'passes per constant read',
    },
    compared: 'The two launches compared',
    differenceHead: 'difference',
    difference: (counter, values) => differenceOf(counter, values, (points) => `${points} points`),
    cut: 'The warp did more than this trace holds.',

    /** @param {RequestInWords} what */
    requestInWords({ request, cost, index, count, threads }) {
        const { event, bytes, lanes, array, kind } = request;
        const who = lanes.length === threads ? plural(lanes.length, 'lane') : `${lanes.length} of ${threads} lanes`;
        const one = lanes.length === 1;
        const verb = kind.endsWith('load') ? 'load' : kind.endsWith('store') ? 'store' : 'update';
        const where = kind.endsWith('load') ? 'from' : kind.endsWith('store') ? 'to' : 'in';
        const stride = strideOf(request);
        const pattern = one
            ? ''
            : stride === undefined
              ? ', at uneven distances'
              : stride === 0
                ? ', all the same'
                : `, stride ${plural(stride, 'byte')}`;
        const start =
            `Request ${index + 1} of ${count}, line ${event.line}: ${who} ${verb}${one ? 's' : ''} ` +
            `${plural(bytes, 'byte')}${one ? '' : ' each'} ${where} ${array.name}${pattern}: `;
        if (cost.space === 'global') {
            const queued = event.same_address ? `, ${event.same_address} wait for others at the same address` : '';
            return `${start}${plural(cost.sectors, 'sector')}, ${percent(efficiency(cost))} used${queued}.`;
        }
        const passes = plural(cost.wavefronts, 'pass', 'passes');
        if (cost.space === 'constant') return `${start}${plural(cost.wavefronts, 'address', 'addresses')}, ${passes}.`;
        const why = cost.conflicts === 0 ? 'no conflict' : `${cost.conflicts} of them because of conflicts`;
        return `${start}${passes}, ${why}.`;
    },

    // block view
    blockView: 'Block view',
    block: 'Block',
    warpNumber: (warp) => `warp ${warp}`,
    blockHint:
        'Above, the threads of the block at one step; below, all steps from left to right. Between barriers warps do not wait for each other: the same line is drawn in one column, but need not run at one time.',
    finishedSteps: (count) => `No more: these are all ${count} steps.`,
    states: { waits: 'waits', skips: 'skips', done: 'done' },
    lineShort: (line) => `line ${line}`,
    cellKinds: {
        step: 'computes',
        shared: 'shared memory',
        constant: 'constant memory',
        global: 'global memory',
        barrier: 'barrier',
    },
    inactive: 'inactive',
    noEvents: 'The trace has no steps of this block.',

    /** @param {BlockInWords} what */
    blockInWords({ column, columns, active, threads, runs, waits, skips, done, lines, barrier }) {
        const start = `Step ${column + 1} of ${columns}: `;
        if (barrier !== undefined) return `${start}barrier in line ${barrier}, ${plural(runs, 'warp')} meet.`;
        const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
        const others = [
            skips > 0 ? `; ${skips} skip it` : '',
            waits > 0 ? `; ${waits} wait at the barrier` : '',
            done > 0 ? `; ${done} are done` : '',
        ].join('');
        return `${start}${where}, ${active} of ${threads} threads active, in ${plural(runs, 'warp')}${others}.`;
    },
};

/** @typedef {typeof english} ViewMessages */

/** @type {ViewMessages} */
const chinese = {
    play: '播放',
    pause: '暂停',
    stepBack: '上一步',
    stepForward: '下一步',
    position: '位置',
    keys: '键盘：← 和 → 单步，Home 和 End 到头尾，空格播放。',

    launch: '启动',
    warp: '线程束',
    source: (path) => `源代码：${path}`,
    cpuDevice: 'CPU 设备',
    trimmed: (what) => `只显示 ${what}。`,
    array: '数组',
    allArrays: '全部数组',

    warpView: '线程束视图',
    line: '代码行',
    allLines: '全部',
    lineWithRequests: (line, requests) => `${line}（${requests} 次请求）`,
    noRequests: '这个线程束在这里没有请求。',
    finished: (count) => `到此为止，一共 ${count} 次请求。`,
    lanesOfWarp: '线程束的 lane',
    laneInactive: (lane) => `lane ${lane} 没有参与。`,
    pointHint: '指向或点按一个 lane、一个彩色格子或一行源代码，相关的部分就会标出来。',
    laneGoes({ lane, place, request, cost }) {
        const { array, bytes, event } = request;
        const how = {
            global: () => `${cost.fetched.length} 个扇区中的第 ${place.sector} 个`,
            shared: () => `存储体 ${place.bank}，第 ${place.pass} 趟，共 ${cost.wavefronts} 趟`,
            constant: () => `第 ${place.pass} 趟，共 ${cost.wavefronts} 趟`,
        }[cost.space]();
        return (
            `lane ${lane}，第 ${event.line} 行：${array.name} 的元素 ${place.element}（行 ${place.row}，列 ${place.column}），` +
            `第 ${place.offset} 到 ${place.offset + bytes - 1} 字节，${how}。`
        );
    },
    lanesTogether: (lanes, first) => `lane ${lanes} 相同。${first}`,
    lineTouches: (line, lanes, name, index, count) =>
        `第 ${line} 行：lane ${lanes} 访问 ${name}，第 ${index} 次请求，共 ${count} 次。`,
    arrayOf: (name, bytes) => `${name}，${number(bytes)} 字节`,
    rowLength: '行长',
    rowLengthOf: (name) => `${name} 的行长，按元素计`,
    elementsOf: (bytes) => `个元素，每个 ${bytes} 字节`,
    mapOf: (name) => `${name} 的布局图`,
    moreRows: (rows) => `还有 ${number(rows)} 行`,
    mapLayout: ({ cell, row }, bytes) => `${number(Math.ceil(bytes / row))} 行，每行 ${number(Math.round(row / cell))} 个元素`,
    maps: { array: '数组的行和列', banks: '按存储体：32 个存储体，每行 32 个字' },
    spaces: { global: '全局内存', shared: '共享内存', constant: '常量内存' },
    hints: {
        global: '把数组画成行和列，只画触及的行列。左边是行号，右边是 lane。一个框是一个 32 字节的扇区。',
        shared: '把分块画成行和列，每个存储体一种浅色。左边是行号，右边是 lane。',
        banks: '按存储体画的共享内存：列是 32 个存储体，相邻两行的字相距 128 字节。右边是 lane。',
        constant: '把数组画成行和列，每个地址单独一趟。左边是行号，右边是 lane。',
    },
    conflictsInWords({ conflicts, passes }) {
        if (conflicts === 0) return '没有存储体冲突。';
        const words = passes.flat().filter(({ turns }) => turns > 1);
        if (words.length === 0) return '各趟服务的是不同的几组 lane。';
        const banks = [...new Set(words.map(({ bank }) => bank))].sort((a, b) => a - b);
        const most = Math.max(...words.map(({ turns }) => turns));
        return `存储体冲突：存储体 ${ranges(runsOf(banks))}，每个存储体最多 ${most} 个字。`;
    },
    legend: {
        used: '用到，颜色是它的 lane',
        fetched: '取来但没用到',
        untouched: '没有取',
        banks: '没用到，颜色是它的存储体',
        idle: '没用到',
        conflict: '存储体冲突',
        further: '多出的一趟',
    },
    tableOfLanes: '各 lane 列表',
    tableHead: { lane: 'lane', offset: '数组中的字节', row: '行', column: '列', sector: '扇区', bank: '存储体', pass: '趟' },
    countersHead: { now: '本次请求', soFar: '到目前', all: '全部' },
    counters: {
        sectors: '每次请求的扇区数',
        moved: '搬运的字节',
        used: '其中用到',
        wavefronts: '每次请求的波前（趟）数',
        conflicts: '冲突造成的波前数',
        constant: '每次常量读取的趟数',
    },
    compared: '两次启动的比较',
    differenceHead: '差',
    difference: (counter, values) => differenceOf(counter, values, (points) => `${points} 个百分点`),
    cut: '这个线程束之后还有操作，跟踪记录里没有。',

    requestInWords({ request, cost, index, count, threads }) {
        const { event, bytes, lanes, array, kind } = request;
        const who =
            lanes.length === threads ? `${lanes.length} 个 lane` : `${threads} 个 lane 中的 ${lanes.length} 个`;
        const verb = kind.endsWith('load')
            ? `从 ${array.name} 各加载`
            : kind.endsWith('store')
              ? `向 ${array.name} 各存储`
              : `在 ${array.name} 中各原子更新`;
        const stride = strideOf(request);
        const pattern =
            lanes.length === 1
                ? ''
                : stride === undefined
                  ? '，间隔不等'
                  : stride === 0
                    ? '，都是同一处'
                    : `，步长 ${stride} 字节`;
        const start =
            `第 ${index + 1} 次请求，共 ${count} 次，第 ${event.line} 行：` +
            `${who} ${verb} ${bytes} 字节${pattern}：`;
        if (cost.space === 'global') {
            const queued = event.same_address ? `，${event.same_address} 个在同一地址排队` : '';
            return `${start}${cost.sectors} 个扇区，利用率 ${percent(efficiency(cost))}${queued}。`;
        }
        const passes = `${cost.wavefronts} 趟`;
        if (cost.space === 'constant') return `${start}${cost.wavefronts} 个地址，${passes}。`;
        return `${start}${passes}，${cost.conflicts === 0 ? '没有冲突' : `其中 ${cost.conflicts} 趟由冲突造成`}。`;
    },

    blockView: '线程块视图',
    block: '线程块',
    warpNumber: (warp) => `线程束 ${warp}`,
    blockHint:
        '上图是线程块在某一步的全部线程，下图从左到右是所有的步。两个屏障之间线程束互不等待：同一行代码画在同一列，但不一定同时执行。',
    finishedSteps: (count) => `到此为止，一共 ${count} 步。`,
    states: { waits: '等待', skips: '跳过', done: '结束' },
    lineShort: (line) => `第 ${line} 行`,
    cellKinds: { step: '计算', shared: '共享内存', constant: '常量内存', global: '全局内存', barrier: '屏障' },
    inactive: '不活跃',
    noEvents: '跟踪记录里没有这个线程块的步骤。',

    blockInWords({ column, columns, active, threads, runs, waits, skips, done, lines, barrier }) {
        const start = `第 ${column + 1} 步，共 ${columns} 步：`;
        if (barrier !== undefined) return `${start}第 ${barrier} 行的屏障，${runs} 个线程束会合。`;
        const others = [
            skips > 0 ? `；${skips} 个跳过这一步` : '',
            waits > 0 ? `；${waits} 个在屏障处等待` : '',
            done > 0 ? `；${done} 个已结束` : '',
        ].join('');
        return `${start}第 ${lines.join('、')} 行，${threads} 个线程中 ${active} 个活跃，分布在 ${runs} 个线程束${others}。`;
    },
};

export const viewMessages = { en: english, zh: chinese };
