// The lessons whose kernels run in the page: which definitions of their source they need, what readers can change, and the launch that
// follows from it. docs/scripts/live.mjs compiles them, and compares their counts with those of the CPU device.
/** @import { LiveLaunch } from './device.mjs' */

/**
 * What readers change, by name; the words are in words.mjs. A slider has `min`, `max` (and `step`), or `values`; a choice has `options`.
 *
 * @typedef {{ start: number, min?: number, max?: number, step?: number, values?: number[] } | { start: string, options: string[] }} Control
 */

/**
 * `takes`: definitions of `file`, in the order of the source; those with a body are shown. `kernels`: what can be launched. `only`: which
 * controls mean something for these values. `line`: part of the line whose requests are shown first. `result`: the array that a kernel writes.
 * `cases`: values with which the counts are compared.
 *
 * @typedef {{ file: string, takes: string[], kernels: string[], controls: Record<string, Control>,
 *      only?: (values: Record<string, any>) => string[], launch: (values: Record<string, any>) => LiveLaunch,
 *      line?: string, result: string, cases: Record<string, any>[] }} LiveLesson
 */

const blocksFor = (count, block) => Math.max(1, Math.ceil(count / block));
const floats = (name, count) => ({ name, type: 'float', count });
const all = (...lists) => lists.reduce((sofar, list) => sofar.flatMap((one) => list.map((more) => ({ ...one, ...more }))), [{}]);
const each = (name, ...values) => values.map((value) => ({ [name]: value }));

/** @type {Record<string, LiveLesson>} */
export const lessons = {
    vector_add: {
        file: 'chapters/1_basics_and_pi/vector_add/kernels.cuh',
        takes: ['add_one_per_thread', 'add_grid_stride'],
        kernels: ['add_one_per_thread', 'add_grid_stride'],
        controls: {
            kernel: { start: 'add_one_per_thread', options: ['add_one_per_thread', 'add_grid_stride'] },
            count: { start: 300, min: 1, max: 1000 },
            block: { start: 128, min: 16, max: 256, step: 16 },
            grid: { start: 2, min: 1, max: 8 },
        },
        only: ({ kernel }) => (kernel === 'add_grid_stride' ? ['kernel', 'count', 'block', 'grid'] : ['kernel', 'count', 'block']),
        launch: ({ kernel, count, block, grid }) => ({
            kernel,
            grid: [kernel === 'add_grid_stride' ? grid : blocksFor(count, block), 1],
            block: [block, 1],
            arrays: [floats('a', count), floats('b', count), floats('sum', count)],
            args: ['a', 'b', 'sum', count],
        }),
        result: 'sum',
        cases: all(each('kernel', 'add_one_per_thread', 'add_grid_stride'), each('count', 1, 300, 777), each('block', 16, 48, 128), each('grid', 2)),
    },

    matrix_add: {
        file: 'chapters/1_basics_and_pi/matrix_add/kernels.cuh',
        takes: ['add_x_down_rows', 'add_x_along_rows'],
        kernels: ['add_x_down_rows', 'add_x_along_rows'],
        controls: {
            kernel: { start: 'add_x_down_rows', options: ['add_x_down_rows', 'add_x_along_rows'] },
            rows: { start: 32, min: 1, max: 64 },
            cols: { start: 48, min: 1, max: 64 },
            width: { start: 32, values: [1, 2, 4, 8, 16, 32, 64] },
        },
        launch: ({ kernel, rows, cols, width }) => {
            const block = [width, Math.max(1, 128 / width)];
            const across = kernel === 'add_x_down_rows' ? [rows, cols] : [cols, rows];
            return {
                kernel,
                grid: [blocksFor(across[0], block[0]), blocksFor(across[1], block[1])],
                block,
                arrays: [floats('a', rows * cols), floats('b', rows * cols), floats('sum', rows * cols)],
                args: ['a', 'b', 'sum', rows, cols],
            };
        },
        result: 'sum',
        cases: all(each('kernel', 'add_x_down_rows', 'add_x_along_rows'), each('rows', 5, 32), each('cols', 31, 48), each('width', 2, 16, 32)),
    },

    coalescing: {
        file: 'chapters/2_memory_model/coalescing/copies.cuh',
        takes: ['copy_with_gaps'],
        kernels: ['copy_with_gaps'],
        controls: {
            stride: { start: 2, min: 1, max: 33 },
            offset: { start: 0, min: 0, max: 31 },
            count: { start: 256, min: 1, max: 1000 },
            block: { start: 128, min: 16, max: 256, step: 16 },
        },
        launch: ({ stride, offset, count, block }) => ({
            kernel: 'copy_with_gaps',
            grid: [blocksFor(count, block), 1],
            block: [block, 1],
            arrays: [floats('in', (count - 1) * stride + offset + 1), floats('out', count)],
            args: ['in', 'out', count, stride, offset],
        }),
        result: 'out',
        cases: all(each('stride', 1, 2, 7, 8, 33), each('offset', 0, 5), each('count', 250), each('block', 48, 128)),
    },

    shared_memory: {
        file: 'chapters/2_memory_model/shared_memory/kernels.cuh',
        takes: ['kThreads', 'weight', 'scale', 'smooth_from_global', 'smooth_from_tile'],
        kernels: ['smooth_from_global', 'smooth_from_tile'].flatMap((name) => [1, 2, 4, 8, 16].map((radius) => `${name}<${radius}>`)),
        controls: {
            kernel: { start: 'smooth_from_tile', options: ['smooth_from_global', 'smooth_from_tile'] },
            radius: { start: 4, values: [1, 2, 4, 8, 16] },
            count: { start: 512, min: 1, max: 1000 },
        },
        launch: ({ kernel, radius, count }) => ({
            kernel: `${kernel}<${radius}>`,
            grid: [blocksFor(count, 256), 1],
            block: [256, 1],
            arrays: [floats('in', count), floats('out', count)],
            args: ['in', 'out', count],
        }),
        result: 'out',
        cases: all(each('kernel', 'smooth_from_global', 'smooth_from_tile'), each('radius', 1, 4, 16), each('count', 10, 300, 512)),
    },

    bank_conflicts: {
        file: 'chapters/2_memory_model/bank_conflicts/kernels.cuh',
        takes: ['kLanes', 'set/1', 'set/2', 'set/3', 'sum_of/1', 'sum_of/2', 'sum_of/3', 'kElements', 'read_places'],
        kernels: ['read_places<float>', 'read_places<float2>', 'read_places<float4>'],
        controls: {
            type: { start: 'float', options: ['float', 'float2', 'float4'] },
            stride: { start: 32, min: 0, max: 40 },
            block: { start: 64, min: 32, max: 256, step: 32 },
            repeats: { start: 4, min: 1, max: 16 },
        },
        launch: ({ type, stride, block, repeats }) => ({
            kernel: `read_places<${type}>`,
            grid: [1, 1],
            block: [block, 1],
            arrays: [{ name: 'places', type: 'unsigned', count: 32, fill: (i) => (i * stride) % 1024 }, floats('sums', block)],
            args: ['places', 'sums', repeats],
        }),
        line: 'k < repeats',
        result: 'sums',
        cases: all(each('type', 'float', 'float2', 'float4'), each('stride', 0, 1, 2, 8, 32, 33), each('block', 32, 96), each('repeats', 3)),
    },

    bank_tile: {
        file: 'chapters/2_memory_model/bank_conflicts/kernels.cuh',
        takes: ['kLanes', 'kSide', 'kWarps', 'kThreads', 'sums_in_tile', 'sums_in_padded_tile', 'sums_in_swizzled_tile'],
        kernels: ['sums_in_tile', 'sums_in_padded_tile', 'sums_in_swizzled_tile'],
        controls: {
            kernel: { start: 'sums_in_tile', options: ['sums_in_tile', 'sums_in_padded_tile', 'sums_in_swizzled_tile'] },
            rows: { start: 128, min: 1, max: 256 },
        },
        launch: ({ kernel, rows }) => ({
            kernel,
            grid: [blocksFor(rows, 128), 1],
            block: [128, 1],
            arrays: [floats('in', 32 * rows), floats('out', 32 * rows)],
            args: ['in', 'out', rows],
        }),
        line: 'sum += tile',
        result: 'out',
        cases: all(each('kernel', 'sums_in_tile', 'sums_in_padded_tile', 'sums_in_swizzled_tile'), each('rows', 1, 50, 160)),
    },

    pitched_memory: {
        file: 'chapters/2_memory_model/pitched_memory/kernels.cuh',
        takes: ['flip_tight', 'row_of/1', 'row_of/2', 'flip_pitched'],
        kernels: ['flip_tight', 'flip_pitched'],
        controls: {
            kernel: { start: 'flip_pitched', options: ['flip_tight', 'flip_pitched'] },
            rows: { start: 16, min: 1, max: 32 },
            cols: { start: 61, min: 1, max: 100 },
            padding: { start: 3, min: 0, max: 32 },
        },
        only: ({ kernel }) => (kernel === 'flip_pitched' ? ['kernel', 'rows', 'cols', 'padding'] : ['kernel', 'rows', 'cols']),
        launch: ({ kernel, rows, cols, padding }) => {
            const pitched = kernel === 'flip_pitched';
            const width = pitched ? cols + padding : cols;
            return {
                kernel,
                grid: [blocksFor(cols, 32), blocksFor(rows, 8)],
                block: [32, 8],
                arrays: [floats('in', rows * width), floats('flipped', rows * width)],
                args: pitched ? ['in', 4 * width, 'flipped', 4 * width, rows, cols] : ['in', 'flipped', rows, cols],
            };
        },
        result: 'flipped',
        cases: all(each('kernel', 'flip_tight', 'flip_pitched'), each('rows', 3, 16), each('cols', 32, 61), each('padding', 0, 3, 8)),
    },

    transpose: {
        file: 'chapters/3_optimization/transpose/kernels.cuh',
        takes: ['transpose_naive', 'Corner', 'corner_of_block', 'kTile', 'transpose_tile', 'transpose_padded_tile', 'transpose_swizzled_tile'],
        kernels: ['transpose_naive', 'transpose_tile', 'transpose_padded_tile', 'transpose_swizzled_tile'],
        controls: {
            kernel: { start: 'transpose_tile', options: ['transpose_naive', 'transpose_tile', 'transpose_padded_tile', 'transpose_swizzled_tile'] },
            rows: { start: 64, min: 1, max: 96 },
            cols: { start: 64, min: 1, max: 96 },
        },
        launch: ({ kernel, rows, cols }) => ({
            kernel,
            grid: kernel === 'transpose_naive' ? [blocksFor(cols, 32), blocksFor(rows, 8)] : [blocksFor(rows, 32) * blocksFor(cols, 32), 1],
            block: kernel === 'transpose_naive' ? [32, 8] : [32, 32],
            arrays: [floats('in', rows * cols), floats('out', rows * cols)],
            args: ['in', 'out', rows, cols],
        }),
        line: '= tile[x]',
        result: 'out',
        cases: all(
            each('kernel', 'transpose_naive', 'transpose_tile', 'transpose_padded_tile', 'transpose_swizzled_tile'),
            each('rows', 5, 64),
            each('cols', 40, 64),
        ),
    },

    dot_product: {
        file: 'chapters/3_optimization/dot_product/kernels.cuh',
        takes: ['kThreads', 'dot_modulo', 'dot_strided_index', 'dot_halves', 'dot_grid_stride'],
        kernels: ['dot_modulo', 'dot_strided_index', 'dot_halves', 'dot_grid_stride'],
        controls: {
            kernel: { start: 'dot_strided_index', options: ['dot_modulo', 'dot_strided_index', 'dot_halves', 'dot_grid_stride'] },
            count: { start: 512, min: 1, max: 2048 },
            grid: { start: 2, min: 1, max: 4 },
        },
        only: ({ kernel }) => (kernel === 'dot_grid_stride' ? ['kernel', 'count', 'grid'] : ['kernel', 'count']),
        launch: ({ kernel, count, grid }) => {
            const blocks = kernel === 'dot_grid_stride' ? grid : blocksFor(count, 256);
            return {
                kernel,
                grid: [blocks, 1],
                block: [256, 1],
                arrays: [floats('a', count), floats('b', count), floats('block_sums', blocks)],
                args: ['a', 'b', count, 'block_sums'],
            };
        },
        line: '] += part[',
        result: 'block_sums',
        cases: all(each('kernel', 'dot_modulo', 'dot_strided_index', 'dot_halves', 'dot_grid_stride'), each('count', 100, 700), each('grid', 2)),
    },
};

/** What readers find first. @param {LiveLesson} lesson */
export const startValues = ({ controls }) => Object.fromEntries(Object.entries(controls).map(([name, { start }]) => [name, start]));
