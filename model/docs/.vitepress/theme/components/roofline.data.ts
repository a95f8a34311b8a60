// The roofline of all recorded runs on a GPU, worked out when the book is built.
import fs from 'node:fs';
import { rooflineOf, type RooflineData } from './roofline';

export declare const data: RooflineData | undefined;

export default {
    watch: ['../../../results/*_chapter_*.json'],
    load: (files: string[]) => rooflineOf(files.map((file) => JSON.parse(fs.readFileSync(file, 'utf8')))),
};
