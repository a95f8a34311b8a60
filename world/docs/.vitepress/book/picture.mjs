// The picture at the top of the README: the first lesson's program, and a terminal that shows what becomes of it when a move is
// forgotten. Drawn from the source and from the recorded run on the CPU device.
// docs/scripts/picture.mjs writes it, and a test compares it with the run.
import fs from 'node:fs';
import path from 'node:path';
import { definition } from '../markdown/definitions.mjs';
import { root } from './repository.mjs';
import { recordedLesson, recordedRun } from './results.mjs';

const size = { font: 13, column: 7.8, line: 18, margin: 18 };

/// Spaces between columns as in a terminal; numbers to the right.
function textTable(header, rows) {
    const numeric = header.map((_, column) => rows.every((row) => /^[\d.]+$|^nan$/.test(row[column])));
    const width = header.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column].length)));
    const line = (cells) => cells.map((cell, column) => (numeric[column] ? cell.padStart(width[column]) : cell.padEnd(width[column]))).join('  ').trimEnd();
    return [line(header), width.map((count) => '-'.repeat(count)).join('  '), ...rows.map(line)];
}

/// [{text, kind}]: kind is command, title, faint, found or ''.
export function linesOfPicture() {
    const run = recordedRun('cpu_chapter_1');
    const lesson = recordedLesson(run, 'first_program');
    const table = lesson.tables.find((each) => each.title.startsWith('Each move forgotten'));
    if (!table) throw new Error('first_program was recorded without the table that the picture shows');
    const moves = fs.readFileSync(path.join(root, 'chapters/1_basics_and_pi/first_program/moves.cuh'), 'utf8');
    const kernels = fs.readFileSync(path.join(root, 'chapters/1_basics_and_pi/first_program/kernels.cuh'), 'utf8');
    const code = [definition(kernels, 'square').code, definition(moves, 'all_five_moves').code].join('\n\n').split('\n');
    const found = table.header.length - 1;
    const [head, rule, ...rows] = textTable(table.header, table.rows);
    const plain = (text) => ({ text, kind: /^\s*\/\//.test(text) ? 'faint' : '' });
    return [
        ...code.map(plain),
        plain(''),
        { text: '$ ./warpwise', kind: 'command' },
        plain(''),
        { text: table.title, kind: 'title' },
        { text: head, kind: 'faint' },
        { text: rule, kind: 'faint' },
        ...rows.map((text, index) => ({ text, kind: table.rows[index][found] === '-' ? '' : 'found' })),
    ];
}

const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/// The picture as SVG. Each line has its width, so that columns stand below each other in any font.
export function picture() {
    const lines = linesOfPicture();
    const { font, column, line, margin } = size;
    const width = Math.ceil(2 * margin + column * Math.max(...lines.map(({ text }) => text.length)));
    const height = 2 * margin + line * lines.length;
    const texts = lines.map(({ text, kind }, index) => {
        const shown = text.trimStart();
        if (shown === '') return '';
        const x = margin + column * (text.length - shown.length);
        const y = margin + line * (index + 0.75);
        return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" textLength="${(column * shown.length).toFixed(1)}"${kind ? ` class="${kind}"` : ''}>${escape(shown)}</text>`;
    });
    return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>The first lesson: a CUDA program, and what happens when one of its moves is forgotten</title>
<style>
rect { fill: #f6f8fa; stroke: #d0d7de; }
text { fill: #1f2328; font: ${font}px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre; }
.command, .title { font-weight: bold; }
.faint { fill: #59636e; }
.found { fill: #a40e26; }
@media (prefers-color-scheme: dark) {
rect { fill: #151b23; stroke: #3d444d; }
text { fill: #f0f6fc; }
.faint { fill: #9198a1; }
.found { fill: #ff8182; }
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${texts.filter(Boolean).join('\n')}
</svg>
`;
}
