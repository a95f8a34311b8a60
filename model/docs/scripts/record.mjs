#!/usr/bin/env node
// Records lessons anew on a GPU, and updates all that shows them: docs/results, the marks of pages in both languages,
// the README.
//
//     ./warpwise record LESSON..                  # runs each with the chapter's program of build/bin/cuda
//     ./warpwise record LESSON.. --from FILE      # takes what the program has written there with --json
//     ./warpwise record --addresses [FOLDER..]    # adds at="..." to the marks whose number is unique; default: docs
//
// What cannot be resolved is listed: a number that stands more than once in the old data and has no at="...", and one that
// was computed from others. Exit status: 0 all is up to date, 1 there is something left to do, 2 nothing was recorded.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { minimizedLesson, textOfRun } from '../.vitepress/book/minimized.mjs';
import { frontMatter, hashOf } from '../.vitepress/book/pages.mjs';
import { addressedMarks, merged, renewedMarks, renewedTables } from '../.vitepress/book/recording.mjs';
import { chapters, root as ownRoot } from '../.vitepress/book/repository.mjs';
import { recordedLesson } from '../.vitepress/book/results.mjs';

const root = process.env.WARPWISE_RECORD_ROOT ?? ownRoot; // another one in tests
const docs = path.join(root, 'docs');
const refuse = (message) => {
    console.error(`record: ${message}`);
    process.exit(2);
};

function markdownBelow(folder) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const whole = path.join(folder, entry.name);
        if (entry.isDirectory()) return ['node_modules', '.vitepress', 'results'].includes(entry.name) ? [] : markdownBelow(whole);
        return entry.name.endsWith('.md') ? [whole] : [];
    });
}

/// Rewrites pages by `change(text)`: {text, unresolved}. A Chinese page that was up to date stays so. Returns the
/// unresolved ones as "FILE:LINE: MESSAGE".
function rewritePages(files, change) {
    const problems = [];
    const zh = path.join(docs, 'zh');
    const english = (file) => (file.startsWith(zh + path.sep) ? path.join(docs, path.relative(zh, file)) : undefined);
    const upToDate = files.filter((file) => {
        const original = english(file);
        return original && fs.existsSync(original) &&
            frontMatter(fs.readFileSync(file, 'utf8'), 'translated_from') === hashOf(fs.readFileSync(original, 'utf8'));
    });
    for (const file of files) {
        const text = fs.readFileSync(file, 'utf8');
        const { text: now, unresolved } = change(text, file);
        if (now !== text) fs.writeFileSync(file, now);
        problems.push(...unresolved.map(({ line, message }) => `${path.relative(root, file)}:${line}: ${message}`));
    }
    for (const file of upToDate) {
        const text = fs.readFileSync(file, 'utf8');
        const stamped = text.replace(/^translated_from:.*$/m, `translated_from: ${hashOf(fs.readFileSync(english(file), 'utf8'))}`);
        if (stamped !== text) fs.writeFileSync(file, stamped);
    }
    return problems;
}

const storedFile = (chapter) => path.join(docs, 'results', `h200_chapter_${chapter.number}.json`);
const read = (file) => {
    try {
        return JSON.parse(fs.readFileSync(file, 'utf8'));
    } catch (error) {
        return refuse(`${file}: ${error.message.split('\n')[0]}`);
    }
};

function addAddresses(folders) {
    const runs = new Map();
    const lessonOf = (source) => {
        const [name, lesson] = source.trim().split(/\s+/);
        if (!runs.has(name)) runs.set(name, read(path.join(docs, 'results', `${name}.json`)));
        return recordedLesson(runs.get(name), lesson);
    };
    const files = folders.flatMap(markdownBelow);
    rewritePages(files, (text) => ({ text: addressedMarks(text, lessonOf), unresolved: [] }));
}

/// What the chapter's program measures, as it writes it with --json.
function measure(chapter, lesson) {
    const program = path.join('build', 'bin', 'cuda', chapter.program);
    if (spawnSync('nvidia-smi', ['-L']).status !== 0) refuse('there is no GPU here, and only a GPU can measure; --from FILE takes the results of one');
    if (!fs.existsSync(path.join(root, program))) refuse(`${program} is not built: ./warpwise --device cuda run ${chapter.number} ${lesson}`);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpwise_record_'));
    const file = path.join(folder, `${lesson}.json`);
    try {
        execFileSync(program, [lesson, '--device', 'cuda', '--json', file], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
        return read(file);
    } catch (error) {
        return refuse(`${program} ${lesson} failed: ${error.message}`);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

function record(names, from) {
    const all = chapters(root);
    const chosen = names.map((name) => {
        const chapter = all.find((each) => each.lessons.some((lesson) => lesson.name === name));
        return chapter ? { name, chapter } : refuse(`no lesson '${name}'`);
    });
    const problems = [];
    for (const { name, chapter } of chosen) {
        const file = storedFile(chapter);
        const run = from ? read(from) : measure(chapter, name);
        const only = { ...run, lessons: run.lessons.filter((lesson) => lesson.name === name) };
        if (only.lessons.length === 0) refuse(`${from} has no lesson '${name}'`);
        const stored = fs.existsSync(file) ? read(file) : { ...run, lessons: [] }; // the first lesson of a chapter
        let now;
        try {
            now = merged(stored, only, chapter.lessons.map((lesson) => lesson.name));
        } catch (error) {
            refuse(error.message);
        }
        fs.writeFileSync(file, textOfRun(now));
        console.log(`${path.relative(root, file)}: ${name}`);
        const before = stored.lessons.find((lesson) => lesson.name === name) ?? minimizedLesson({ name });
        const lesson = { source: `h200_chapter_${chapter.number} ${name}`, before, after: recordedLesson(now, name) };
        problems.push(...rewritePages(markdownBelow(docs), (text) => renewedMarks(text, lesson)));
        problems.push(...rewritePages([path.join(root, 'README.md')], (text) => renewedTables(text, lesson)));
    }
    for (const problem of problems) console.log(problem);
    console.log(problems.length === 0 ? 'all figures of the pages are up to date' : `${problems.length} figures are left to you; the check of the book finds those that are wrong now`);
    process.exitCode = problems.length === 0 ? 0 : 1;
}

const words = process.argv.slice(2);
if (words[0] === '--addresses') {
    addAddresses(words.length > 1 ? words.slice(1).map((folder) => path.resolve(folder)) : [docs]);
} else {
    const at = words.indexOf('--from');
    const [, from] = at < 0 ? [] : words.splice(at, 2);
    if (words.length === 0 || words.some((word) => word.startsWith('-')) || (at >= 0 && !from)) {
        refuse('usage: ./warpwise record LESSON.. [--from FILE] | --addresses [FOLDER..]');
    }
    record(words, from && path.resolve(from));
}
