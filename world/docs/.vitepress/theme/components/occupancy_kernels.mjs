// Kernels of lessons that the occupancy explorer offers: what a block of each takes on an H200. Registers are those that nvcc gives the
// kernel, or that the runtime named when the lesson was recorded.
import { recordedLesson, recordedRegisters, recordedRun } from '../../book/results.mjs';

const mostShared = 227 * 1024; // of a block; as ballast it leaves room for one block per SM (occupancy/lesson.cu: ballast_for)

const launches = [
    { step: 'one_float', kernel: 'scale_one' },
    { step: 'one_float_one_block', kernel: 'scale_one', ballast: mostShared },
    { step: 'four_floats_one_block', kernel: 'scale_many<4>', ballast: mostShared },
    { step: 'eight_floats_one_block', kernel: 'scale_many<8>', ballast: mostShared },
    { step: 'four_float4_one_block', kernel: 'scale_vectors<4>', ballast: mostShared },
];
const blockOfOccupancy = 256; // occupancy/lesson.cu: kThreads
const blockOfLocal = 128; // registers_and_local/kernels.cuh: kThreads

/// {kernels: [{lesson, step, threads, registers, shared}], compiler, machine, dates}
export function occupancyKernels() {
    const compiled = recordedRegisters();
    const run = recordedRun('h200_chapter_2');
    const local = recordedLesson(run, 'registers_and_local');
    const resources = local.tables.find(({ name }) => name === 'resources').rows;
    const kernels = [
        ...launches.map(({ step, kernel, ballast = 0 }) => {
            const { registers, shared_bytes: shared } = compiled.kernels[kernel];
            return { lesson: 'occupancy', step, threads: blockOfOccupancy, registers, shared: shared + ballast };
        }),
        ...resources.map(([step, registers, , shared]) => ({ lesson: local.name, step, threads: blockOfLocal, registers: Number(registers), shared: Number(shared) })),
    ];
    const dates = [(local.date ?? run.date).slice(0, 10), compiled.date].sort();
    return { kernels, compiler: compiled.compiler.replace(/,.*/, ''), machine: run.device.name, dates };
}
