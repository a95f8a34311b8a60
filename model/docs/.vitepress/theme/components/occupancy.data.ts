// The kernels of the occupancy explorer, looked up when the book is built.
import { occupancyKernels } from './occupancy_kernels.mjs';

export declare const data: ReturnType<typeof occupancyKernels>;

export default {
    watch: ['../../../results/registers_sm_90.json', '../../../results/h200_chapter_2.json'],
    load: occupancyKernels,
};
