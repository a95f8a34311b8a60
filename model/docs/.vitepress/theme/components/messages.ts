// All words of the explorers and of the trace loader, in English and Simplified Chinese. Those of the views, and how
// numbers are written, are in common/views/messages.mjs.
import { number } from '../../../../common/views/messages.mjs';
import type { TraceProblem } from '../../../../common/views/trace.mjs';
import { drawingWords } from '../drawings/words.mjs';
import type { Limit } from './occupancy';
import type { RooflineProblem } from './roofline';

export type Language = 'en' | 'zh';

/// Names, each with a share as text.
type Shares = (readonly [name: string, share: string])[];
const sharesText = (shares: Shares) => shares.map(([name, share]) => `${name} (${share})`).join(', ');

export const languageOf = (tag: string | undefined): Language => (tag?.toLowerCase().startsWith('zh') ? 'zh' : 'en');

const en = {
    // while data come
    loading: 'The data are being loaded.',
    notLoaded: (name: string) => (name ? `The trace ${name} could not be loaded.` : 'The data could not be loaded.'),

    // trace loader
    loaderTitle: 'A trace of your own kernel',
    loaderHow:
        'Record one, then choose the file or drop it here. With two launches, or two files, you can compare them. Files are read by this page only and sent nowhere.',
    chooseFile: 'Choose a trace, or two',
    chooseAnother: 'Add a second trace',
    dropHere: 'or drop them here',
    loaded: (name: string, launches: number) => `${name}: ${launches} ${launches === 1 ? 'launch' : 'launches'}.`,
    compareTwo: 'Compare two launches',
    atMostTwo: 'Two traces can be compared at a time. Choose one or two files.',
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

    // a kernel that runs in the page
    live: {
        title: 'Run it in the page',
        still: 'On the site of this book, this kernel runs in the page, with sliders for its sizes.',
        loading: 'The kernel is being loaded.',
        failed: 'The kernel could not be loaded, or this browser runs no WebAssembly.',
        from: "The kernel's source, compiled to WebAssembly, runs in this page each time you move a slider. The counts follow the rules of the CPU device; tests compare both.",
        controls: {
            kernel: 'Kernel',
            type: 'Type of an element',
            count: 'Elements',
            block: 'Threads per block',
            grid: 'Blocks',
            rows: 'Rows',
            cols: 'Columns',
            width: 'Width of a block of 128 threads, blockDim.x',
            stride: 'Stride, in elements',
            offset: 'Start, in elements',
            radius: 'Radius of the window',
            repeats: 'Reads per thread',
            padding: 'Padding of a row, in floats',
            shown: 'Block that is shown',
        } as Record<string, string>,
        says: (kernel: string, grid: string, block: string) => `${kernel}<<<${grid}, ${block}>>>(...)`,
        whole: 'The whole launch, all blocks and warps',
        head: { kind: 'kind', requests: 'requests', each: 'per request, on average', waste: 'of all requests' },
        kinds: { global_load: 'global loads', global_store: 'global stores', shared_load: 'shared loads', shared_store: 'shared stores' } as Record<string, string>,
        sectors: (count: string) => `${count} ${count === '1' ? 'sector' : 'sectors'}`,
        wavefronts: (count: string) => `${count} ${count === '1' ? 'wavefront' : 'wavefronts'}`,
        moved: (bytes: string, share: string) => `${bytes} bytes moved, ${share} of them used`,
        conflicts: (count: string) => `${count} bank ${count === '1' ? 'conflict' : 'conflicts'}`,
    },

    // occupancy
    occupancyTitle: 'Occupancy',
    capability: 'Compute capability',
    kernelOfLesson: 'Kernel of a lesson',
    ownNumbers: 'none: your own numbers',
    blockSize: 'Threads per block',
    registers: 'Registers per thread',
    sharedMemory: 'Shared memory per block, bytes',
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
    occupancyKernels: (compiler: string, machine: string, dates: string) =>
        `Registers of the lessons' kernels: ${compiler} for compute capability 9.0, and ${machine}, ${dates}.`,

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
    intensity: 'operations per byte',
    rate: '10⁹ operations per second',
    memoryRoof: (rate: string) => `memory: ${rate} GB/s`,
    computeRoof: (rate: string) => `FP32 peak: ${rate} Top/s`,
    tensorRoof: (format: string, rate: string) => `tensor cores, ${format}: ${rate} Top/s`,
    rooflineOwn: 'Results of your own GPU',
    rooflineHow:
        'This command writes the page build/report.html. Choose it, or drop it here. Files that ./warpwise run --json wrote, one per chapter, will do, too. This page alone reads them; they are sent nowhere.',
    rooflineChoose: 'Choose files',
    rooflineBack: "Back to the book's results",
    rooflineProblems: {
        not_json: 'This is neither a report nor JSON. Choose build/report.html, or a file that ./warpwise run --json wrote.',
        not_results: 'These are no results of a chapter. Choose build/report.html, or a file that ./warpwise run --json wrote.',
        no_times: 'These results hold no times: the CPU device only counts. Make the report on a GPU.',
        unknown_gpu: 'For this GPU, the FP32 peak or the copy bandwidth is not known, so there is no roof to draw.',
    } as Record<RooflineProblem, string>,
    pointInWords: (lesson: string, step: string, rate: string, intensity: string, share: string) =>
        `${lesson}, ${step}: ${rate} Gop/s at ${intensity} operations per byte, ${share} of the attainable.`,
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
    rooflineRoofs: 'Memory: the fastest copy in these runs. Peak: SMs × FP32 units × 2 × highest clock.',
    leastBytes: (lessons: string) =>
        `These lessons count no bytes, and stand where each matrix moves once, which is the least; their steps move more: ${lessons}.`,
    noOperations: (lessons: Shares) =>
        `Not drawn, because they only move bytes and count no operations; in parentheses, the share of copy bandwidth: ${sharesText(lessons)}.`,
    noBytes: (lessons: Shares) =>
        `Not drawn, because they move no bytes from or to device memory, so that only arithmetic limits them; in parentheses, the share of the FP32 peak: ${sharesText(lessons)}.`,
    onTensorCores: (lessons: string) =>
        `Without the steps on tensor cores, to which the FP32 peak is no limit: ${lessons}.`,

    drawings: drawingWords.en,
};

type Messages = typeof en;

const zh: Messages = {
    loading: '正在载入数据。',
    notLoaded: (name) => (name ? `无法载入跟踪记录 ${name}。` : '无法载入数据。'),

    loaderTitle: '你自己的核函数的跟踪记录',
    loaderHow: '先记录，再选择文件或拖到这里。有两次启动或两个文件，就可以比较。文件只在本页读取，不会发送到任何地方。',
    chooseFile: '选择一个或两个跟踪记录',
    chooseAnother: '再加一个跟踪记录',
    dropHere: '或拖到这里',
    loaded: (name, launches) => `${name}：${launches} 次启动。`,
    compareTwo: '比较两次启动',
    atMostTwo: '一次只能比较两个跟踪记录。请选择一个或两个文件。',
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

    live: {
        title: '在页面里运行',
        still: '在本书的网站版里，这个核函数在页面中运行，并带有调整各种大小的滑块。',
        loading: '正在载入核函数。',
        failed: '无法载入核函数，或者这个浏览器不支持 WebAssembly。',
        from: '核函数的源代码已编译成 WebAssembly，每次移动滑块都会在本页重新运行。计数规则与 CPU 设备相同，测试会比较两者。',
        controls: {
            kernel: '核函数',
            type: '元素类型',
            count: '元素个数',
            block: '每个线程块的线程数',
            grid: '线程块数',
            rows: '行数',
            cols: '列数',
            width: '128 个线程的线程块的宽度 blockDim.x',
            stride: '步长（元素）',
            offset: '起点（元素）',
            radius: '窗口半径',
            repeats: '每个线程读取的次数',
            padding: '每行的填充（float 个数）',
            shown: '显示的线程块',
        },
        says: (kernel, grid, block) => `${kernel}<<<${grid}, ${block}>>>(...)`,
        whole: '整个启动，所有线程块和线程束',
        head: { kind: '种类', requests: '请求', each: '每次请求平均', waste: '所有请求合计' },
        kinds: { global_load: '全局加载', global_store: '全局存储', shared_load: '共享加载', shared_store: '共享存储' },
        sectors: (count) => `${count} 个扇区`,
        wavefronts: (count) => `${count} 个波前`,
        moved: (bytes, share) => `搬运 ${bytes} 字节，其中用到 ${share}`,
        conflicts: (count) => `${count} 次存储体冲突`,
    },

    occupancyTitle: '占用率',
    capability: '计算能力',
    kernelOfLesson: '课程里的核函数',
    ownNumbers: '无：你自己的数值',
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
    occupancyKernels: (compiler, machine, dates) =>
        `课程里核函数的寄存器数：${compiler} 为计算能力 9.0 编译的结果，以及 ${machine}，${dates}。`,

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
    computeRoof: (rate) => `FP32 峰值：${rate} Top/s`,
    tensorRoof: (format, rate) => `张量核心 ${format}：${rate} Top/s`,
    rooflineOwn: '你自己的 GPU 的结果',
    rooflineHow:
        '这条命令会写出网页 build/report.html。请选择它，或把它拖到这里。也可以用 ./warpwise run --json 写的文件，每章一个。文件只在本页读取，不会发送到任何地方。',
    rooflineChoose: '选择文件',
    rooflineBack: '回到书里的结果',
    rooflineProblems: {
        not_json: '这既不是报告，也不是 JSON。请选择 build/report.html，或 ./warpwise run --json 写的文件。',
        not_results: '这不是一章的结果。请选择 build/report.html，或 ./warpwise run --json 写的文件。',
        no_times: '这些结果里没有时间：CPU 设备只计数。请在 GPU 上生成报告。',
        unknown_gpu: '不知道这块 GPU 的 FP32 峰值或拷贝带宽，画不出屋顶线。',
    },
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
    rooflineRoofs: '内存：这些运行中最快的拷贝。峰值：SM 数 × FP32 单元数 × 2 × 最高时钟频率。',
    leastBytes: (lessons) => `这些课不统计字节数，图中按每个矩阵只搬运一次（最少的情形）来画，实际搬运的字节更多：${lessons}。`,
    noOperations: (lessons) => `这些课只搬运字节，不统计运算次数，所以没有画出；括号里是达到拷贝带宽的比例：${sharesText(lessons)}。`,
    noBytes: (lessons) => `这些课不从设备内存读写字节，只受运算限制，所以没有画出；括号里是达到 FP32 峰值的比例：${sharesText(lessons)}。`,
    onTensorCores: (lessons) => `不含在张量核心 (Tensor Core) 上运行的步骤，FP32 峰值不限制它们：${lessons}。`,

    drawings: drawingWords.zh,
};

export const messages: Record<Language, Messages> = { en, zh };
