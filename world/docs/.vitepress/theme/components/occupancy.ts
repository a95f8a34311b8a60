// How many blocks fit on a multiprocessor: the theoretical occupancy, by the rules of NVIDIA's occupancy calculator. For
// compute capability 9.0 they are those of the CPU device (common/cpu_device/src/occupancy.cpp).

/// Limits of a multiprocessor. Source: CUDA C++ Programming Guide, "Compute Capabilities", tables of technical
/// specifications and of shared memory. Those of 10.0, 10.3, and 12.0 are from the guide's edition for CUDA 13.
export interface Capability {
    name: string;
    example: string;
    warps: number; // of a multiprocessor
    blocks: number;
    sharedBytes: number; // of a multiprocessor
    sharedBytesOfBlock: number; // with cudaFuncSetAttribute
    reservedBytes: number; // taken by the system for each block
    sharedUnit: number; // what a block gets is a multiple of it
}

const kib = 1024;

export const capabilities: Capability[] = [
    {
        name: '7.5',
        example: 'T4, RTX 20',
        warps: 32,
        blocks: 16,
        sharedBytes: 64 * kib,
        sharedBytesOfBlock: 64 * kib,
        reservedBytes: 0,
        sharedUnit: 256,
    },
    {
        name: '8.0',
        example: 'A100',
        warps: 64,
        blocks: 32,
        sharedBytes: 164 * kib,
        sharedBytesOfBlock: 163 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '8.6',
        example: 'A40, RTX 30',
        warps: 48,
        blocks: 16,
        sharedBytes: 100 * kib,
        sharedBytesOfBlock: 99 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '8.9',
        example: 'L4, RTX 40',
        warps: 48,
        blocks: 24,
        sharedBytes: 100 * kib,
        sharedBytesOfBlock: 99 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '9.0',
        example: 'H100, H200',
        warps: 64,
        blocks: 32,
        sharedBytes: 228 * kib,
        sharedBytesOfBlock: 227 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '10.0',
        example: 'B200',
        warps: 64,
        blocks: 32,
        sharedBytes: 228 * kib,
        sharedBytesOfBlock: 227 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '10.3',
        example: 'B300',
        warps: 64,
        blocks: 32,
        sharedBytes: 228 * kib,
        sharedBytesOfBlock: 227 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
    {
        name: '12.0',
        example: 'RTX 50',
        warps: 48,
        blocks: 24,
        sharedBytes: 100 * kib,
        sharedBytesOfBlock: 99 * kib,
        reservedBytes: kib,
        sharedUnit: 128,
    },
];

export const maxThreadsOfBlock = 1024;
export const maxRegisters = 255;
const registersOfMultiprocessor = 65536;
const registerUnit = 256; // a warp gets a multiple of it
const schedulers = 4; // each has a quarter of the registers

export type Limit = 'threads' | 'registers' | 'shared_memory' | 'blocks' | 'impossible';

export interface Occupancy {
    blocks: number; // resident on a multiprocessor
    warps: number;
    share: number; // of the warps that the multiprocessor can hold
    limits: Limit[]; // all that allow no more blocks; empty parts of the list are no limit
    by: { threads: number; registers: number; shared_memory: number; blocks: number };
}

const roundUp = (value: number, unit: number) => Math.ceil(value / unit) * unit;

export function occupancy(
    capability: Capability,
    threads: number,
    registers: number,
    sharedBytes: number,
): Occupancy {
    const warps = Math.ceil(threads / 32);
    const registersOfWarp = roundUp(registers * 32, registerUnit);
    const tooLarge =
        threads < 1 ||
        threads > maxThreadsOfBlock ||
        registers > maxRegisters ||
        sharedBytes > capability.sharedBytesOfBlock ||
        registersOfWarp * roundUp(warps, schedulers) > registersOfMultiprocessor;
    if (tooLarge) {
        const by = { threads: 0, registers: 0, shared_memory: 0, blocks: 0 };
        return { blocks: 0, warps: 0, share: 0, limits: ['impossible'], by };
    }
    const warpsOfScheduler = Math.floor(
        registersOfMultiprocessor / schedulers / Math.max(registerUnit, registersOfWarp),
    );
    const sharedOfBlock = roundUp(sharedBytes + capability.reservedBytes, capability.sharedUnit);
    const by = {
        threads: Math.floor(capability.warps / warps),
        registers: registers > 0 ? Math.floor((warpsOfScheduler * schedulers) / warps) : capability.blocks,
        shared_memory: sharedOfBlock > 0 ? Math.floor(capability.sharedBytes / sharedOfBlock) : capability.blocks,
        blocks: capability.blocks,
    };
    const blocks = Math.min(by.threads, by.registers, by.shared_memory, by.blocks);
    const order: (keyof typeof by)[] = ['blocks', 'threads', 'registers', 'shared_memory'];
    const limits = order.filter((limit) => by[limit] === blocks);
    return { blocks, warps: blocks * warps, share: (blocks * warps) / capability.warps, limits, by };
}
