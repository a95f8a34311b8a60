// The measured figures of the drawings, looked up when the book is built.
import { recordedFigures } from './figures.mjs';

export declare const data: ReturnType<typeof recordedFigures>;

export default {
    watch: ['../../../results/*_chapter_*.json', '../../../results/causes_h200.md'],
    load: recordedFigures,
};
