// Numbers outside of the book's pages that claim to be measured: they have to be in docs/results.
//
// In the README they stand in a table below <!-- measured -->, whose first column names lessons, or in a listing below
// <!-- measured: RUN LESSON -->, which shows the lesson's steps as they are printed; on the CPU device those are columns
// such as "H200 time" beside counts. In a lesson's sources, texts and
// comments alike, a time, a bandwidth, or a rate claims to be measured if its sentence or the one before it says
// "measured", "recorded", or the name of the GPU. It then has to be one of the lesson's own recorded figures, or of those of
// a lesson that the sentence names. A paragraph that says "not recorded" is left alone: it gives figures of trial versions,
// with machine and date. So is a sentence with what others have published or documented, or with what is worked out.
import fs from 'node:fs';
import path from 'node:path';
import { addressedFigures, factorBetween, figuresIn } from './addresses.mjs';
import { chapters, root } from './repository.mjs';
import { recordedLesson, recordedRun, recordedRuns, stepTable } from './results.mjs';
import { problemOfText } from '../markdown/figures.mjs';

// ---- the README ---------------------------------------------------------------------------------------------------

/// [{line, message}] of a page. `lessonOf(name, run)` gives {run, lesson, source}, and throws where nothing is recorded.
export function problemsOfMarkedTables(text, lessonOf) {
    const problems = [];
    const lines = text.split('\n');
    lines.forEach((line, index) => {
        const marker = /^<!-- measured(?:: (\S+) (\S+))? -->$/.exec(line.trim());
        if (!marker) return;
        const found = marker[1] ? problemsOfListing(lines, index + 1, () => lessonOf(marker[2], marker[1])) : problemsOfTable(lines, index + 1, lessonOf);
        problems.push(...found);
    });
    return problems;
}

function problemsOfTable(lines, begin, lessonOf) {
    const problems = [];
    while (lines[begin]?.trim() === '') ++begin;
    if (!lines[begin]?.startsWith('|')) return [{ line: begin, message: '<!-- measured --> has no table below it' }];
    let name;
    for (let index = begin + 2; lines[index]?.startsWith('|'); ++index) {
        const cells = lines[index].split('|').slice(1, -1);
        name = /`(\w+)`/.exec(cells[0])?.[1] ?? name;
        try {
            const { run, lesson, source } = lessonOf(name);
            for (const cell of cells.slice(2)) {
                const message = problemOfText(run, lesson, cell, source);
                if (message) problems.push({ line: index + 1, message });
            }
        } catch (error) {
            problems.push({ line: index + 1, message: error.message });
        }
    }
    return problems;
}

/// [{header, from, to}]: where the listing has columns of recorded figures beside counts, under "H200 time" and the like.
function recordedColumns(lines, begin, end) {
    const ruler = lines.findIndex((line, at) => at > begin && at < end && /^ {4} *-+(?: +-+)+ *$/.test(line));
    if (ruler < 0) return [];
    return [...lines[ruler].matchAll(/-+/g)]
        .map(({ index, 0: dashes }) => ({ header: lines[ruler - 1].slice(index, index + dashes.length).trim(), from: index, to: index + dashes.length }))
        .filter(({ header }) => /^[A-Z]+\d+ /.test(header))
        .map((column) => ({ ...column, header: column.header.replace(/^\S+ /, '') }));
}

/// Each step of the lesson that a line of the listing names has all its cells there, from the result on, or those of the
/// listing's recorded columns.
function problemsOfListing(lines, begin, find) {
    const problems = [];
    try {
        const { run, lesson, source } = find();
        const table = stepTable(run, lesson);
        const first = 2; // after the name and what changed
        let found = 0;
        let end = begin;
        while (end < lines.length && (lines[end].trim() === '' || lines[end].startsWith('    '))) ++end;
        const recorded = recordedColumns(lines, begin, end);
        for (const row of table.rows) {
            const index = lines.findIndex((line, at) => at >= begin && at < end && line.startsWith('    ') && line.trim().startsWith(`${row[0]} `));
            if (index < 0) continue;
            ++found;
            for (const { header, from, to } of recorded) {
                const cell = row[table.header.indexOf(header)];
                const shown = lines[index].slice(from, to).trim();
                if (shown !== cell) problems.push({ line: index + 1, message: `${row[0]} has ${cell} in ${source}, not ${shown}` });
            }
            if (recorded.length > 0) continue;
            const rest = row.slice(first).filter((cell) => cell !== '');
            const missing = rest.find((cell) => !lines[index].includes(cell));
            if (missing) problems.push({ line: index + 1, message: `${row[0]} has ${missing} in ${source}, not so here` });
        }
        if (found === 0) problems.push({ line: begin, message: `the listing below shows no step of ${source}` });
    } catch (error) {
        problems.push({ line: begin, message: error.message });
    }
    return problems;
}

// ---- sources ------------------------------------------------------------------------------------------------------

const claims = /\b(?:measured|recorded|H200)\b/i;
const trials = /not\s+recorded/i;
const others = /\b(?:data\s?sheet|documented|documents|published|GTX|G80|GT200|worked\s+out|at\s+1\.98\s+GHz)\b/i;
/// What NVIDIA documents of the H200: the bandwidth of its memory, and multiply-adds in FP32 (132 SMs x 128 FP32 units x 2 x 1.98 GHz).
const documented = new Set(['4.8 TB/s', '66.9 TFLOP/s']);

/// [{text, line}]: the paragraphs of comments and of string literals. Lines of a paragraph are joined.
export function paragraphsOf(source) {
    const paragraphs = [];
    let current;
    const close = () => {
        if (current?.text.trim()) paragraphs.push(current);
        current = undefined;
    };
    const add = (text, line) => {
        if (text.trim() === '' || text.startsWith('    ')) return close();
        current = current ? { ...current, text: `${current.text} ${text.trim()}` } : { text: text.trim(), line };
    };
    let raw = false;
    source.split('\n').forEach((line, index) => {
        if (raw) {
            const end = line.indexOf(')"');
            add(end < 0 ? line : line.slice(0, end), index + 1);
            if (end >= 0) {
                close();
                raw = false;
            }
            return;
        }
        const begin = line.indexOf('R"(');
        if (begin >= 0) {
            close();
            const end = line.indexOf(')"', begin);
            add(line.slice(begin + 3, end < 0 ? undefined : end), index + 1);
            raw = end < 0;
            if (!raw) close();
            return;
        }
        const comment = /\/\/\/?<? ?(.*)$/.exec(line);
        if (comment) {
            const alone = line.trim().startsWith('//');
            if (!alone) close();
            add(comment[1], index + 1);
            if (!alone) close();
            return;
        }
        close();
        const literals = [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1]);
        for (const literal of literals) {
            add(literal, index + 1);
            close();
        }
    });
    close();
    return paragraphs;
}

/// Sentences end at a period, a question mark, or a colon, with a space and no digit behind it.
const sentencesOf = (text) => text.split(/(?<=[.?!])\s+(?=[A-Z(])/);

/// [{line, message}] of a lesson's source. `own` is {lesson, source} of that lesson, `lessons` has those of all by name.
export function problemsOfSource(text, own, lessons) {
    const problems = [];
    const figures = new Map();
    const hasFigure = (found, figure) => {
        if (!figures.has(found.lesson)) figures.set(found.lesson, addressedFigures(found.lesson));
        return figures.get(found.lesson).some((recorded) => factorBetween(figure, recorded) !== undefined);
    };
    for (const { text: paragraph, line } of paragraphsOf(text)) {
        if (!claims.test(paragraph) || trials.test(paragraph)) continue;
        let claiming = false;
        for (const sentence of sentencesOf(paragraph)) {
            const claimsHere = claims.test(sentence);
            if ((claiming || claimsHere) && !others.test(sentence)) {
                const named = [...lessons.keys()].filter((name) => sentence.includes(name)).map((name) => lessons.get(name));
                for (const figure of figuresIn(sentence)) {
                    if (documented.has(figure.text) || [own, ...named].some((found) => found && hasFigure(found, figure))) continue;
                    problems.push({ line, message: `"${figure.text}" claims to be measured, and is not in ${own ? own.source : 'docs/results'}` });
                }
            }
            claiming = claimsHere;
        }
    }
    return problems;
}

// ---- runs of the CPU device ---------------------------------------------------------------------------------------

/// Messages about a lesson of a CPU run whose tables show figures that were recorded on a GPU, but other ones than `own`,
/// {run, lesson}, has today: in columns "... on an H200", else in the whole table.
export function problemsOfShownRecords(lesson, own) {
    const problems = [];
    for (const { name, header, rows } of lesson.tables.filter((table) => /\brecorded on one /.test(table.note ?? ''))) {
        const columns = header.flatMap((head, column) => (/\bH200\b/.test(head) ? [column] : []));
        const cells = rows.flatMap((row) => (columns.length > 0 ? columns.map((column) => row[column]) : row));
        const nothing = cells.every((cell) => cell === '-') ? 'no recorded figure is found for this table, perhaps because the table or a column was renamed' : undefined;
        const message = nothing ?? cells.map((cell) => problemOfText(own.run, own.lesson, cell, own.source)).find(Boolean);
        if (message) problems.push(`${name}: ${message}`);
    }
    return problems;
}

// ---- all of it ----------------------------------------------------------------------------------------------------

/// {lesson name: {run, lesson, source}} of all lessons recorded on a GPU.
function recordedLessons() {
    const lessons = new Map();
    for (const { number } of chapters()) {
        const name = `h200_chapter_${number}`;
        if (!recordedRuns().includes(name)) continue; // a chapter that has not been recorded yet
        const run = recordedRun(name);
        for (const lesson of run.lessons) lessons.set(lesson.name, { run, lesson, source: `${name} ${lesson.name}` });
    }
    return lessons;
}

/// "FILE:LINE: MESSAGE" of the README, of all sources of chapters, and of the runs of the CPU device.
export function allProblemsOfClaims() {
    const lessons = recordedLessons();
    const find = (name, runName) => {
        if (runName) return { run: recordedRun(runName), lesson: recordedLesson(recordedRun(runName), name), source: `${runName} ${name}` };
        if (!lessons.has(name)) throw new Error(`no lesson '${name}' is recorded`);
        return lessons.get(name);
    };
    const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
    const problems = problemsOfMarkedTables(readme, find).map(({ line, message }) => `README.md:${line}: ${message}`);
    for (const { number, folder, lessons: taught } of chapters()) {
        for (const lesson of recordedRun(`cpu_chapter_${number}`).lessons.filter((each) => lessons.has(each.name))) {
            const found = problemsOfShownRecords(lesson, lessons.get(lesson.name));
            const again = `; record it again: docs/scripts/record_cpu.sh ${number}`;
            problems.push(...found.map((message) => `docs/results/cpu_chapter_${number}.json: ${lesson.name}: ${message}${again}`));
        }
        for (const entry of fs.readdirSync(path.join(root, 'chapters', folder), { recursive: true })) {
            const file = entry.split(path.sep).join('/');
            if (!/\.(?:cu|cuh|h|cpp)$/.test(file)) continue;
            // chapters/FOLDER/LESSON.cu, LESSON_launches.cu or LESSON/FILE.cu
            const stem = file.split('/')[0].replace(/\..*$/, '');
            const lesson = taught.map((each) => each.name).filter((name) => stem === name || stem.startsWith(`${name}_`)).sort((a, b) => b.length - a.length)[0];
            const text = fs.readFileSync(path.join(root, 'chapters', folder, file), 'utf8');
            const found = problemsOfSource(text, lessons.get(lesson), lessons);
            problems.push(...found.map(({ line, message }) => `chapters/${folder}/${file}:${line}: ${message}`));
        }
    }
    return problems;
}
