#!/usr/bin/env node
// Writes docs/results/published_programs.md, the table of outcomes, from docs/results/published_programs.json, which holds for each
// program its repository, its file, and what became of it.
//
//     node docs/scripts/published_programs.mjs
import fs from 'node:fs';
import path from 'node:path';
import { root } from '../.vitepress/book/repository.mjs';

const folder = path.join(root, 'docs', 'results');
const record = JSON.parse(fs.readFileSync(path.join(folder, 'published_programs.json'), 'utf8'));
const outcomes = {
    right: 'right',
    mistake: 'right, and a mistake of the program is reported',
    refused: 'refused by name',
    needs: 'needs arguments, data, or other files',
    graphics: 'needs graphics',
    slow: 'too slow',
    broken: 'does not compile with nvcc either',
    unclear: 'refused without naming the reason',
    wrong: 'wrong result',
};

const programs = record.repositories.flatMap(({ name, commit, programs }) => programs.map((program) => ({ ...program, repository: name, commit })));
for (const { file, outcome } of programs) if (!(outcome in outcomes)) throw new Error(`${file}: there is no outcome ${outcome}`);
const count = (of, ...kinds) => of.filter(({ outcome }) => kinds.includes(outcome)).length;
const share = (part, whole) => `${part} (${((100 * part) / whole).toFixed(0)} %)`;
const cell = (text) => String(text).replaceAll('|', '\\|');
const table = (header, left, rows) => [header, left.map((is) => (is ? '---' : '---:')), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
const link = ({ repository, commit, file }, line) =>
    `[${file.split('/').slice(-2).join('/')}${line ? `:${line}` : ''}](https://github.com/${repository}/blob/${commit}/${encodeURI(file)}${line ? `#L${line}` : ''})`;
const kinds = Object.keys(outcomes).filter((kind) => count(programs, kind) > 0);
// Those that the CPU device is there for.
const meant = programs.filter(({ outcome }) => !['needs', 'graphics', 'broken'].includes(outcome));

const text = `# Published programs on the CPU device

Made by \`docs/scripts/published_programs.mjs\` from \`docs/results/published_programs.json\`: ${record.machine}, ${record.date}. Each program ran once through
\`./warpwise try\`, with the counters and the search for errors that it has by default, and was stopped after ${record.limit_seconds} s, compilation included. The machine
was loaded with other work; most of the programs that were too slow ran once more without it, and what they did then counts. Programs and their data belong to their authors and are not part of Warpwise; the links lead to the version that ran.

## How it was counted

${programs.length} programs of ${record.repositories.length} public repositories: textbooks, courses, tutorials, NVIDIA's samples, blogs, and students. A script chose them before any of them ran: half of
each repository's programs at random, the others so that rarely used libraries and features come up. A program is one \`.cu\` file with its \`main\` and the headers
beside it. Programs that need PyTorch, MPI, OpenCV, cuDNN, or CUTLASS were left out. Some benchmarks got smaller sizes than their authors'.

- **right**: the program's own check passed, or it has none and ended without an error. We looked at the output of most, but did not compute each by other means.
- **right, and a mistake of the program is reported**: the same, and we read the lines that the diagnostic names: it is true.
- **refused by name**: a message names the feature that is missing.
- **too slow**: the program was still running after ${record.limit_seconds} s.
- **refused without naming the reason**: the compiler's message is all that the reader gets.

${table(['outcome', 'programs', 'share'], [true, false, false], kinds.map((kind) => [outcomes[kind], count(programs, kind), `${((100 * count(programs, kind)) / programs.length).toFixed(0)} %`]))}

Of the ${meant.length} programs that need neither graphics nor data and that compile at all, ${share(count(meant, 'right', 'mistake'), meant.length)} ran right, and ${share(count(meant, 'refused'), meant.length)} were refused by name.

## By repository

<!-- cspell:disable: names of others -->

${table(
    ['repository', 'programs', 'right', 'mistake reported', 'refused', 'needs something', 'too slow', 'other'],
    [true, false, false, false, false, false, false, false],
    record.repositories.map(({ name, commit, programs: own }) => [
        `[${name}](https://github.com/${name}/tree/${commit})`, own.length, count(own, 'right'), count(own, 'mistake'), count(own, 'refused'),
        count(own, 'needs', 'graphics'), count(own, 'slow'), count(own, 'broken', 'unclear', 'wrong'),
    ]),
)}

## Mistakes of published programs

The CPU device reported these, and we read the code of each. Most of them go unnoticed on a GPU, because the wrong access meets memory that happens to
be there, or the lost update is rare. The authors wrote for learners; we list the mistakes because learners copy them.

${table(
    ['program', 'what is wrong', 'what the CPU device says'],
    [true, true, true],
    programs.filter(({ mistakes }) => mistakes).flatMap((program) => program.mistakes.map(({ line, what, report }) => [link(program, line), what, report])),
)}

## Programs that did not run right

${table(
    ['repository', 'program', 'outcome', 'why'],
    [true, true, true, true],
    programs.filter(({ outcome }) => !['right', 'mistake'].includes(outcome)).map((program) => [program.repository, link(program), outcomes[program.outcome], program.why ?? '']),
)}

## Programs that ran right

${record.repositories
    .map(({ name, programs: own }) => ({ name, files: own.filter(({ outcome }) => ['right', 'mistake'].includes(outcome)) }))
    .filter(({ files }) => files.length > 0)
    .map(({ name, files }) => `- ${name}: ${files.map(({ file, arguments: given }) => `\`${file}${given ? ` -- ${given}` : ''}\``).join(', ')}`)
    .join('\n')}
`;
fs.writeFileSync(path.join(folder, 'published_programs.md'), text);
console.log(`docs/results/published_programs.md: ${programs.length} programs`);
