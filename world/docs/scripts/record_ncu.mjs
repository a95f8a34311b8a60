#!/usr/bin/env node
// Records what Nsight Compute says of a lesson's steps: docs/results/ncu_h200.json, which lessons and pages read like a
// recorded run.
//
//     node docs/scripts/record_ncu.mjs LESSON                    # profiles build/bin/cuda/PROGRAM here; needs ncu and a GPU
//     node docs/scripts/record_ncu.mjs LESSON --from FOLDER      # takes what profile_lesson.sh has written there
//     node docs/scripts/record_ncu.mjs LESSON --into FILE ..     # another file
//
// Two tables are kept of each lesson: "stalls", the reasons for which warps wait, in cycles per issued instruction, and
// "figures". The report of each kernel on its warps is kept in the tool's own words, as a drawing "report_KERNEL"; there are
// none where the report in words is missing.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { textOfRun } from '../.vitepress/book/minimized.mjs';
import { ncuLesson, ncuRun } from '../.vitepress/book/ncu.mjs';
import { chapters, root } from '../.vitepress/book/repository.mjs';

const words = process.argv.slice(2);
const option = (name) => {
    const at = words.indexOf(name);
    return at < 0 ? undefined : words.splice(at, 2)[1];
};
const from = option('--from');
const into = option('--into') ?? path.join(root, 'docs', 'results', 'ncu_h200.json');
const [name, ...rest] = words;
const chapter = chapters(root).find((each) => each.lessons.some((lesson) => lesson.name === name));
if (!chapter || rest.length > 0) {
    console.error('record_ncu: usage: record_ncu.mjs LESSON [--from FOLDER] [--into FILE]');
    process.exit(2);
}

const folder = from ?? fs.mkdtempSync(path.join(os.tmpdir(), 'warpwise_ncu_'));
if (!from) {
    const program = path.join('build', 'bin', 'cuda', chapter.program);
    execFileSync('docs/scripts/profile_lesson.sh', [program, name, folder], { cwd: root, stdio: 'inherit' });
}
const read = (file) => fs.readFileSync(path.join(folder, file), 'utf8');
const readIfThere = (file) => (fs.existsSync(path.join(folder, file)) ? read(file) : '');
try {
    const lesson = ncuLesson(name, {
        csv: read(`${name}.csv`), report: readIfThere(`${name}.txt`), run: JSON.parse(read(`${name}.json`)), ncu: read('ncu.txt'),
    });
    const stored = fs.existsSync(into) ? JSON.parse(fs.readFileSync(into, 'utf8')) : undefined;
    fs.writeFileSync(into, textOfRun(ncuRun(stored, lesson)));
    console.log(`${path.relative(root, into)}: ${name}, ${lesson.tables[0].rows.length} kernels`);
} catch (error) {
    console.error(`record_ncu: ${error.message}`);
    process.exitCode = 1;
} finally {
    if (!from) fs.rmSync(folder, { recursive: true });
}
