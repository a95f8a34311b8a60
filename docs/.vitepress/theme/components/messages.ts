// All words of the interactive views, in English and Simplified Chinese.
import { efficiency, strideOf, type ConstantCost, type GlobalCost, type SharedCost } from './request';
import type { CellKind } from './timeline';
import type { Limit } from './occupancy';
import type { Request, TraceProblem } from './trace';

export type Language = 'en' | 'zh';

export const languageOf = (tag: string | undefined): Language => (tag?.toLowerCase().startsWith('zh') ? 'zh' : 'en');

/// 12.5 %, 100 %, 0.39 %
export function percent(share: number): string {
    const value = share * 100;
    return `${value >= 10 || value === 0 ? Math.round(value * 10) / 10 : Number(value.toPrecision(2))}\u00a0%`;
}

/// Three digits that count: 0.0123, 1.23, 12.3, 12,346
export function number(value: number): string {
    if (!Number.isFinite(value)) return '∞';
    if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en-US');
    return String(Number(value.toPrecision(3)));
}

/// "0–15, 20"
export function ranges(lanes: number[]): string {
    const parts: string[] = [];
    for (let i = 0; i < lanes.length;) {
        let j = i;
        while (j + 1 < lanes.length && lanes[j + 1] === lanes[j] + 1) ++j;
        parts.push(j > i ? `${lanes[i]}–${lanes[j]}` : String(lanes[i]));
        i = j + 1;
    }
    return parts.join(', ');
}

export type RequestCost =
    | { space: 'global'; cost: GlobalCost }
    | { space: 'shared'; cost: SharedCost }
    | { space: 'constant'; cost: ConstantCost };

export interface RequestInWords {
    request: Request;
    cost: RequestCost;
    index: number; // from 0
    count: number;
    threads: number; // of the warp
}

export interface BlockInWords {
    column: number; // from 0
    columns: number;
    active: number;
    threads: number;
    runs: number;
    waits: number;
    skips: number;
    done: number;
    lines: number[];
    barrier?: number; // its line
}

const plural = (count: number, one: string, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

const en = {
    // player
    play: 'Play',
    pause: 'Pause',
    stepBack: 'Step back',
    stepForward: 'Step forward',
    position: 'Position',
    keys: 'Keys: ← and → step, Home and End jump, the space bar plays.',

    // warp view
    warpView: 'Warp view',
    loading: 'The trace is being loaded.',
    notLoaded: (name: string) => `The trace ${name} could not be loaded.`,
    launch: 'Launch',
    warp: 'Warp',
    line: 'Line',
    allLines: 'all lines',
    lineWithRequests: (line: number, requests: number) => `${line} (${plural(requests, 'request')})`,
    noRequests: 'This warp makes no requests here.',
    finished: (count: number) => `No more: these are all ${count} requests.`,
    finishedSteps: (count: number) => `No more: these are all ${count} steps.`,
    source: (path: string) => `Source: ${path}`,
    lanes: 'lane',
    laneInactive: (lane: number) => `lane ${lane} takes no part`,
    arrayOf: (name: string, bytes: number) => `${name}, ${number(bytes)} bytes`,
    spaces: { global: 'Global memory', shared: 'Shared memory', constant: 'Constant memory' },
    sectorsHint:
        'Each row is a line of 128 bytes in four sectors of 32. Left: its first byte, counted from the start of the array.',
    banksHint:
        'Columns are the 32 banks, rows the passes (wavefronts). In which pass a bank serves whom is not known; here it goes by lane.',
    constantHint: 'Columns are the 32 lanes, rows the addresses, one pass each. Left: the byte of the array.',
    legend: {
        used: 'used, with its lane',
        fetched: 'fetched, not used',
        untouched: 'not fetched',
        delivered: 'word for this lane',
        idle: 'bank idle',
        conflict: 'pass because of a conflict',
        several: '+: for several lanes',
        further: 'a further pass',
    },
    laneAt: (lane: number, offset: number, bytes: number) => `lane ${lane}: bytes ${offset} to ${offset + bytes - 1}`,
    tableOfLanes: 'Table of lanes',
    tableHead: { lane: 'lane', offset: 'byte of the array', sector: 'line, sector', bank: 'bank', pass: 'pass' },
    countersHead: { none: '', now: 'this request', soFar: 'so far', all: 'all' },
    counters: {
        sectors: 'sectors a request',
        moved: 'bytes moved',
        used: 'of them used',
        wavefronts: 'passes a request',
        conflicts: 'passes by conflicts',
        constant: 'passes a constant read',
    },
    cut: 'The warp did more than this trace holds.',
    cpuDevice: 'CPU device',
    trimmed: (what: string) => `Shown: ${what}.`,

    requestInWords({ request, cost, index, count, threads }: RequestInWords): string {
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
        const start = `Request ${index + 1} of ${count}, line ${event.line}: ${who} ${verb}${one ? 's' : ''} ${plural(bytes, 'byte')}${one ? '' : ' each'} ${where} ${array.name}${pattern}: `;
        if (cost.space === 'global') {
            const queued = event.same_address ? `, ${event.same_address} wait for others at the same address` : '';
            return `${start}${plural(cost.cost.sectors, 'sector')}, ${percent(efficiency(cost.cost))} used${queued}.`;
        }
        if (cost.space === 'shared') {
            const { wavefronts, conflicts } = cost.cost;
            const why = conflicts === 0 ? 'no conflict' : `${conflicts} of them because of conflicts`;
            return `${start}${plural(wavefronts, 'pass', 'passes')}, ${why}.`;
        }
        return `${start}${plural(cost.cost.wavefronts, 'address', 'addresses')}, ${plural(cost.cost.wavefronts, 'pass', 'passes')}.`;
    },

    // block view
    blockView: 'Block view',
    block: 'Block',
    warpNumber: (warp: number) => `warp ${warp}`,
    blockHint:
        'Above, the threads of the block at one step; below, all steps from left to right. Between barriers warps do not wait for each other: the same line is drawn in one column, but need not run at one time.',
    waits: 'waits',
    skips: 'skips',
    done: 'done',
    lineShort: (line: number) => `line ${line}`,
    barrier: 'barrier',
    cellKinds: {
        step: 'computes',
        global: 'global memory',
        shared: 'shared memory',
        constant: 'constant memory',
    } as Record<CellKind, string>,
    inactive: 'inactive',
    noEvents: 'The trace has no steps of this block.',
    blockInWords({
        column,
        columns,
        active,
        threads,
        runs,
        waits,
        skips,
        done,
        lines,
        barrier,
    }: BlockInWords): string {
        const start = `Step ${column + 1} of ${columns}: `;
        if (barrier !== undefined) return `${start}barrier in line ${barrier}, ${plural(runs, 'warp')} meet.`;
        const where = lines.length === 1 ? `line ${lines[0]}` : `lines ${lines.join(', ')}`;
        const others = [
            skips > 0 ? `${skips} skip it` : '',
            waits > 0 ? `${waits} wait at the barrier` : '',
            done > 0 ? `${done} are done` : '',
        ].filter(Boolean);
        return `${start}${where}, ${active} of ${threads} threads active, in ${plural(runs, 'warp')}${others.map((text) => `; ${text}`).join('')}.`;
    },
    timelineLabel: 'All steps of the block',

    // trace loader
    loaderTitle: 'A trace of your own kernel',
    loaderHow: 'Record one, then choose the file or drop it here. It is read by this page only and sent nowhere.',
    chooseFile: 'Choose a trace',
    dropHere: 'or drop it here',
    loaded: (name: string, launches: number) => `${name}: ${plural(launches, 'launch', 'launches')}.`,
    fileTooLarge: (megabytes: number) =>
        `The file has ${number(megabytes)} MB; traces of up to 64 MB can be shown. Trace a smaller run.`,
    notReadable: 'The file could not be read.',
    problems: {
        not_json: () => 'This is no trace: the file holds no JSON. Record one with --trace FILE.',
        not_a_trace: () =>
            'This is JSON, but no trace of Warpwise: "warpwise_trace" is missing. Files of --json are something else; use --trace FILE.',
        newer_version: (detail: string) =>
            `This trace has version ${detail}; this page reads version 1. Record it again with the Warpwise that this page belongs to.`,
        no_launches: () => 'The trace holds no launch. Did the program launch a kernel while it was watched?',
        damaged: (detail: string) => `The trace is damaged or was changed: ${detail} is not as it should be.`,
    } as Record<TraceProblem, (detail: string) => string>,

    // occupancy
    occupancyTitle: 'Occupancy',
    capability: 'Compute capability',
    blockSize: 'Threads a block',
    registers: 'Registers a thread',
    sharedMemory: 'Shared memory a block, bytes',
    residentBlocks: 'resident blocks',
    residentWarps: (warps: number, most: number) => `${warps} of ${most} warps`,
    limits: {
        blocks: 'the number of blocks',
        threads: 'warps',
        registers: 'registers',
        shared_memory: 'shared memory',
        impossible: 'such a block does not fit',
    } as Record<Limit, string>,
    limitedBy: (limits: string[]) => `Limited by ${limits.join(' and ')}.`,
    doesNotFit: 'Such a block does not fit: it cannot be launched.',
    blocksAllowed: 'Blocks that fit, by',
    occupancyAgainst: (what: string) => `Occupancy against: ${what}`,
    tableOfValues: 'Table of values',
    occupancyFacts:
        "Theoretical occupancy, by the rules of NVIDIA's occupancy calculator; limits from the CUDA C++ Programming Guide, “Compute Capabilities”.",

    // amdahl
    amdahlTitle: "Amdahl's law",
    serialShare: 'Serial share of the time',
    processors: 'Processors',
    speedUp: 'speed-up',
    timeNow: 'time',
    atMost: (limit: string) => `at most ${limit}, with any number`,
    ninety: (processors: string) => `90 % of that with ${processors} processors`,
    serialPart: 'serial part',
    parallelPart: 'parallel part',
    onOne: '1 processor',
    onMany: (processors: string, one: boolean) => `${processors} ${one ? 'processor' : 'processors'}`,
    amdahlInWords: (serial: string, processors: string, speed: string) =>
        `With ${serial} serial, ${processors} processors are ${speed} times as fast as one.`,
    idealLine: 'if all were parallel',
    amdahlFormula: 'speed-up = 1 / (serial + (1 − serial) / processors)',

    // roofline
    rooflineTitle: 'Roofline',
    intensity: 'operations a byte',
    rate: '10⁹ operations a second',
    memoryRoof: (rate: string) => `memory: ${rate} GB/s`,
    computeRoof: (rate: string) => `FP32 peak: ${rate} Gop/s`,
    pointInWords: (lesson: string, step: string, rate: string, intensity: string, share: string) =>
        `${lesson}, ${step}: ${rate} Gop/s at ${intensity} operations a byte, ${share} of the attainable.`,
    pointHint: 'Point at a lesson, or go through them with the tab key or the arrow keys.',
    tableOfLessons: 'Table of the lessons',
    rooflineHead: {
        lesson: 'lesson',
        step: 'fastest step',
        intensity: 'op/byte',
        rate: 'Gop/s',
        bandwidth: 'GB/s',
        share: 'of attainable',
    },
    rooflineFrom: (machine: string, commands: string, dates: string) => `${machine}, ${commands}, ${dates}`,
    rooflineRoofs: 'Memory: the fastest copy in these runs. Peak: SMs × FP32 lanes × 2 × highest clock.',
    noOperations: (lessons: string) => `Not drawn, because no operations are counted: ${lessons}.`,
    noBytes: '∞ (no bytes)',
};

export type Messages = typeof en;

const zh: Messages = {
    play: '播放',
    pause: '暂停',
    stepBack: '上一步',
    stepForward: '下一步',
    position: '位置',
    keys: '键盘：← 和 → 单步，Home 和 End 到头尾，空格播放。',

    warpView: '线程束视图',
    loading: '正在载入跟踪记录。',
    notLoaded: (name) => `无法载入跟踪记录 ${name}。`,
    launch: '启动',
    warp: '线程束',
    line: '代码行',
    allLines: '全部',
    lineWithRequests: (line, requests) => `${line}（${requests} 次请求）`,
    noRequests: '这个线程束在这里没有请求。',
    finished: (count) => `到此为止，一共 ${count} 次请求。`,
    finishedSteps: (count) => `到此为止，一共 ${count} 步。`,
    source: (path) => `源代码：${path}`,
    lanes: 'lane',
    laneInactive: (lane) => `lane ${lane} 没有参与`,
    arrayOf: (name, bytes) => `${name}，${number(bytes)} 字节`,
    spaces: { global: '全局内存', shared: '共享内存', constant: '常量内存' },
    sectorsHint: '每行是一条 128 字节的缓存行，含四个 32 字节的扇区。左边是该行首字节在数组中的位置。',
    banksHint:
        '列是 32 个存储体，行是一趟趟的访问（波前，wavefront）。存储体在哪一趟服务哪个 lane 无从得知，图中按 lane 的顺序排列。',
    constantHint: '列是 32 个 lane，行是地址，每个地址一趟。左边是数组中的字节位置。',
    legend: {
        used: '用到，数字是 lane',
        fetched: '取来但没用到',
        untouched: '没有取',
        delivered: '送给该 lane 的字',
        idle: '存储体空闲',
        conflict: '冲突造成的一趟',
        several: '+：送给多个 lane',
        further: '多出的一趟',
    },
    laneAt: (lane, offset, bytes) => `lane ${lane}：第 ${offset} 到 ${offset + bytes - 1} 字节`,
    tableOfLanes: '各 lane 列表',
    tableHead: { lane: 'lane', offset: '数组中的字节', sector: '缓存行、扇区', bank: '存储体', pass: '趟' },
    countersHead: { none: '', now: '本次请求', soFar: '到目前', all: '全部' },
    counters: {
        sectors: '每次请求的扇区数',
        moved: '搬运的字节',
        used: '其中用到',
        wavefronts: '每次请求的趟数',
        conflicts: '冲突造成的趟数',
        constant: '每次常量读取的趟数',
    },
    cut: '这个线程束之后还有操作，跟踪记录里没有。',
    cpuDevice: 'CPU 设备',
    trimmed: (what) => `只显示 ${what}。`,

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
        const start = `第 ${index + 1} 次请求，共 ${count} 次，第 ${event.line} 行：${who} ${verb} ${bytes} 字节${pattern}：`;
        if (cost.space === 'global') {
            const queued = event.same_address ? `，${event.same_address} 个在同一地址排队` : '';
            return `${start}${cost.cost.sectors} 个扇区，利用率 ${percent(efficiency(cost.cost))}${queued}。`;
        }
        if (cost.space === 'shared') {
            const { wavefronts, conflicts } = cost.cost;
            return `${start}${wavefronts} 趟，${conflicts === 0 ? '没有冲突' : `其中 ${conflicts} 趟由冲突造成`}。`;
        }
        return `${start}${cost.cost.wavefronts} 个地址，${cost.cost.wavefronts} 趟。`;
    },

    blockView: '线程块视图',
    block: '线程块',
    warpNumber: (warp) => `线程束 ${warp}`,
    blockHint:
        '上图是线程块在某一步的全部线程，下图从左到右是所有的步。两个屏障之间线程束互不等待：同一行代码画在同一列，但不一定同时执行。',
    waits: '等待',
    skips: '跳过',
    done: '结束',
    lineShort: (line) => `第 ${line} 行`,
    barrier: '屏障',
    cellKinds: { step: '计算', global: '全局内存', shared: '共享内存', constant: '常量内存' },
    inactive: '不活跃',
    noEvents: '跟踪记录里没有这个线程块的步骤。',
    blockInWords({ column, columns, active, threads, runs, waits, skips, done, lines, barrier }) {
        const start = `第 ${column + 1} 步，共 ${columns} 步：`;
        if (barrier !== undefined) return `${start}第 ${barrier} 行的屏障，${runs} 个线程束会合。`;
        const others = [
            skips > 0 ? `${skips} 个跳过这一步` : '',
            waits > 0 ? `${waits} 个在屏障处等待` : '',
            done > 0 ? `${done} 个已结束` : '',
        ].filter(Boolean);
        return `${start}第 ${lines.join('、')} 行，${threads} 个线程中 ${active} 个活跃，分布在 ${runs} 个线程束${others.map((text) => `；${text}`).join('')}。`;
    },
    timelineLabel: '线程块的所有步骤',

    loaderTitle: '你自己的核函数的跟踪记录',
    loaderHow: '先记录，再选择文件或拖到这里。文件只在本页读取，不会发送到任何地方。',
    chooseFile: '选择跟踪记录',
    dropHere: '或拖到这里',
    loaded: (name, launches) => `${name}：${launches} 次启动。`,
    fileTooLarge: (megabytes) => `文件有 ${number(megabytes)} MB，最多能显示 64 MB。请跟踪规模更小的运行。`,
    notReadable: '无法读取文件。',
    problems: {
        not_json: () => '这不是跟踪记录：文件不是 JSON。请用 --trace FILE 记录。',
        not_a_trace: () =>
            '这是 JSON，但不是 Warpwise 的跟踪记录：缺少 "warpwise_trace"。--json 写的文件是另一种，请用 --trace FILE。',
        newer_version: (detail) =>
            `这份跟踪记录的版本是 ${detail}，本页只能读版本 1。请用与本页配套的 Warpwise 重新记录。`,
        no_launches: () => '跟踪记录里没有启动。程序在被观察时启动过核函数吗？',
        damaged: (detail) => `跟踪记录已损坏或被改动：${detail} 不正确。`,
    },

    occupancyTitle: '占用率',
    capability: '计算能力',
    blockSize: '每个线程块的线程数',
    registers: '每个线程的寄存器数',
    sharedMemory: '每个线程块的共享内存（字节）',
    residentBlocks: '驻留线程块',
    residentWarps: (warps, most) => `${most} 个线程束中的 ${warps} 个`,
    limits: {
        blocks: '线程块数',
        threads: '线程束数',
        registers: '寄存器',
        shared_memory: '共享内存',
        impossible: '这样的线程块放不下',
    },
    limitedBy: (limits) => `受限于${limits.join('和')}。`,
    doesNotFit: '这样的线程块放不下，无法启动。',
    blocksAllowed: '各项限制允许的线程块数',
    occupancyAgainst: (what) => `占用率随「${what}」的变化`,
    tableOfValues: '数值表',
    occupancyFacts:
        '理论占用率，规则与 NVIDIA 的占用率计算器相同；各项上限出自《CUDA C++ Programming Guide》的 Compute Capabilities 一章。',

    amdahlTitle: '阿姆达尔定律',
    serialShare: '串行部分占时间的比例',
    processors: '处理器数',
    speedUp: '加速比',
    timeNow: '时间',
    atMost: (limit) => `无论多少处理器，最多 ${limit}`,
    ninety: (processors) => `达到上限的 90 % 需要 ${processors} 个处理器`,
    serialPart: '串行部分',
    parallelPart: '并行部分',
    onOne: '1 个处理器',
    onMany: (processors) => `${processors} 个处理器`,
    amdahlInWords: (serial, processors, speed) =>
        `串行部分占 ${serial} 时，${processors} 个处理器的速度是一个的 ${speed} 倍。`,
    idealLine: '全部可并行时',
    amdahlFormula: '加速比 = 1 / (串行 + (1 − 串行) / 处理器数)',

    rooflineTitle: '屋顶线',
    intensity: '每字节的运算次数',
    rate: '每秒运算次数（10⁹）',
    memoryRoof: (rate) => `内存：${rate} GB/s`,
    computeRoof: (rate) => `FP32 峰值：${rate} Gop/s`,
    pointInWords: (lesson, step, rate, intensity, share) =>
        `${lesson}，${step}：${rate} Gop/s，每字节 ${intensity} 次运算，达到可及上限的 ${share}。`,
    pointHint: '把指针移到某一课上，或用 Tab 键、方向键逐个查看。',
    tableOfLessons: '各课列表',
    rooflineHead: {
        lesson: '课',
        step: '最快的步骤',
        intensity: '运算/字节',
        rate: 'Gop/s',
        bandwidth: 'GB/s',
        share: '占上限',
    },
    rooflineFrom: (machine, commands, dates) => `${machine}，${commands}，${dates}`,
    rooflineRoofs: '内存：这些运行中最快的拷贝。峰值：SM 数 × FP32 通道数 × 2 × 最高时钟频率。',
    noOperations: (lessons) => `没有统计运算次数、因此没有画出的课：${lessons}。`,
    noBytes: '∞（无字节）',
};

export const messages: Record<Language, Messages> = { en, zh };
