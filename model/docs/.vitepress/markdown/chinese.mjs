// What recorded tables say, for the Chinese pages. Only the pages translate: programs, files, and names in the code stay as they
// are. The texts are data, beside the pages:
//
//     docs/zh/CHAPTER/LESSON.json    "steps":  what changed in a step, by the name of the step
//                                    "tables": the title of a table of the lesson's own, by the name of the table
//                                    "words":  heads and cells of the lesson's tables, by the English word
//     docs/zh/words.json             heads, cells, and notes of several lessons and of ```table, in groups
//
// An entry by name is {"en": TEXT, "zh": TEXT}: what the program prints, and what the page shows. When the English text changes, the
// check asks for a look at the Chinese one. A name that has several English texts (one on a GPU, say) has a list of entries.
// Everywhere {n} stands for a number, and {t} and {u} for any text, which is translated in its turn.
//
// `npm run check` fails for a text that has no entry, and for an entry that no Chinese page needs.
import fs from 'node:fs';
import path from 'node:path';
import { chapters, root } from '../book/repository.mjs';

const special = /[.*+?^${}()|[\]\\]/g;
const isPattern = (english) => /\{[a-z]\d?\}/.test(english);

function expressionOf(english) {
    const parts = english.split(/\{([a-z])(\d?)\}/);
    let source = '';
    for (let at = 0; at < parts.length; at += 3) {
        source += parts[at].replace(special, '\\$&');
        if (at + 2 < parts.length) source += `(?<${parts[at + 1]}${parts[at + 2]}>${parts[at + 1] === 'n' ? '-?\\d[\\d.,]*(?:e[+-]?\\d+)?' : '.+'})`;
    }
    return new RegExp(`^${source}$`);
}

// Of several patterns that fit, the one with the most words of its own is meant.
const ownLength = ({ english }) => english.replace(/\{[a-z]\d?\}/g, '').length;

/// {words: Map from the English text, patterns}; an entry is {id, english, chinese, expression}.
function wordsOf(file, group, entries) {
    const all = Object.entries(entries).map(([english, chinese]) => ({ id: `${file}: ${group}"${english}"`, english, chinese }));
    const patterns = all.filter(({ english }) => isPattern(english)).map((entry) => ({ ...entry, expression: expressionOf(entry.english) }));
    return { all, words: new Map(all.map((entry) => [entry.english, entry])), patterns: patterns.sort((a, b) => ownLength(b) - ownLength(a)) };
}

/// Entries by name: Map from the name to [{id, english, chinese, expression}].
function namedOf(file, section, entries = {}) {
    const list = (name, value) => [value].flat().map(({ en, zh }, index) => ({
        id: `${file}: ${section} "${name}"${index > 0 ? ` (${index + 1})` : ''}`, english: en, chinese: zh, expression: expressionOf(en),
    }));
    return new Map(Object.entries(entries).map(([name, value]) => [name, list(name, value)]));
}

const sharedFile = 'docs/zh/words.json';
const fileOf = new Map(chapters().flatMap(({ folder, lessons }) => lessons.map(({ name }) => [name, `docs/zh/${folder}/${name}.json`])));
const read = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));

const shared = wordsOf(sharedFile, '', Object.assign({}, ...Object.values(read(sharedFile))));
const lessons = new Map([...fileOf].filter(([, file]) => fs.existsSync(path.join(root, file))).map(([name, file]) => {
    const { steps, tables, words = {} } = read(file);
    return [name, { steps: namedOf(file, 'steps', steps), tables: namedOf(file, 'tables', tables), own: wordsOf(file, 'words ', words) }];
}));

const used = new Set();

/// The entry for a word, and what its {n} and {t} stand for; undefined if it is not known.
function found(text, lesson) {
    const places = [lessons.get(lesson)?.own, shared].filter(Boolean);
    for (const { words } of places) {
        if (words.has(text)) return { entry: words.get(text), groups: {} };
    }
    for (const { patterns } of places) {
        for (const entry of patterns) {
            const match = entry.expression.exec(text);
            if (match) return { entry, groups: match.groups };
        }
    }
    return undefined;
}

function filledIn({ id, chinese }, groups, lesson) {
    used.add(id);
    return chinese.replace(/\{(\w\d?)\}/g, (_, name) => inChinese(groups[name], lesson) ?? groups[name]);
}

/// The Chinese of a head, a cell, or a note of a table, or undefined if it is not known.
export function inChinese(text, lesson) {
    const match = found(text, lesson);
    return match && filledIn(match.entry, match.groups, lesson);
}

/// The parts of a text that nobody has translated: [] when all of it is Chinese on a Chinese page. A part that stands for {t} in a
/// pattern counts by itself.
export function withoutChinese(text, lesson) {
    const match = found(text, lesson);
    if (!match) return isEnglish(text) ? [text] : [];
    return Object.entries(match.groups).filter(([name]) => name[0] !== 'n').flatMap(([, part]) => withoutChinese(part, lesson));
}

/// The Chinese of what changed in a step ('steps') or of the title of a table ('tables'): by its name, for the English text
/// that was recorded. undefined if there is none for this text.
export function namedInChinese(section, name, text, lesson) {
    for (const entry of lessons.get(lesson)?.[section].get(name) ?? []) {
        const match = entry.expression.exec(text);
        if (match) return filledIn(entry, match.groups ?? {}, lesson);
    }
    return undefined;
}

/// What is to be said where namedInChinese() knows nothing, or undefined where the text is no English.
function missingName(section, name, text, lesson) {
    if (!isEnglish(text)) return undefined;
    const [other] = lessons.get(lesson)?.[section].get(name) ?? [];
    const where = `${fileOf.get(lesson)}: ${section} "${name}"`;
    return other ? `${where} is the Chinese of "${other.english}", and the English text is "${text}" now` : `no Chinese for "${text}" (${where})`;
}

/// What is to be said of a word that nobody has translated.
export const missingWord = (text, lesson) => `no Chinese for "${text}" (${sharedFile}${fileOf.has(lesson) ? `, or "words" of ${fileOf.get(lesson)}` : ''})`;

/// A recorded table (book/results.mjs) in Chinese: {table, say, missing}. `say` translates heads, `missing` are messages about what stays English.
export function tableInChinese(table, lesson) {
    const missing = [];
    const say = (text) => {
        missing.push(...withoutChinese(text, lesson).map((part) => missingWord(part, lesson)));
        return inChinese(text, lesson) ?? text;
    };
    const named = (section, name, text) => {
        const chinese = namedInChinese(section, name, text, lesson);
        const message = chinese === undefined && missingName(section, name, text, lesson);
        if (message) missing.push(message);
        return chinese ?? text;
    };
    const cell = (text, row, column) => {
        const step = table.steps?.[row];
        if (step !== undefined && column === 0) return text; // the step's name
        return step !== undefined && column === 1 ? named('steps', step, text) : say(String(text));
    };
    for (const head of table.header) say(head.text ?? head);
    const translated = {
        ...table,
        title: table.name === undefined ? table.title : named('tables', table.name, table.title),
        note: table.note && (table.steps ? table.note : say(table.note)),
        rows: table.rows.map((cells, row) => cells.map((text, column) => cell(text, row, column))),
    };
    return { table: translated, say, missing };
}

/// Entries that no text has needed since this file was loaded: "FILE: ENTRY".
export function unusedEntries() {
    const all = [...shared.all, ...[...lessons.values()].flatMap(({ steps, tables, own }) => [...[...steps.values(), ...tables.values()].flat(), ...own.all])];
    return all.map(({ id }) => id).filter((id) => !used.has(id));
}

/// Whether there is something to translate: numbers, units, symbols, machines and names of the code stay as they are.
export function isEnglish(text) {
    if (/[\u4e00-\u9fff]/.test(text) || /^NVIDIA /.test(text) || (/[_:([<]/.test(text) && !/\s/.test(text))) return false;
    const said = text
        .replace(/`[^`]*`/g, '')
        .replace(/\b\w+<<<.*?>>>/g, '')
        .replace(/\b(?:G[Bi]+\/s|[GT](?:op|flop)\/s|[num]s|[kMG]i?B|ulp)\b/g, '')
        .replace(/\b(?:int|float|double)\b/g, '')
        .replace(/\b\w+(?=[(<]|::)/g, '') // names of functions, before their arguments
        .replace(/\b(?:[A-Za-z]*_\w*|[a-z]+\d\w*|[a-z]+[A-Z]\w*)(?:\.[xyz])?/g, ''); // names_of_this_sort, float4, blockDim.x
    return /[a-z]{2}/.test(said);
}
