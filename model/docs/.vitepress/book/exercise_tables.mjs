// The tables of all exercises in exercises/README.md and its Chinese twin, made from the chapters' lists and the first lines of the
// stubs. What an exercise is about in Chinese stands in the Chinese table itself.
import fs from 'node:fs';
import path from 'node:path';
import { exercises, root as ownRoot } from './repository.mjs';

const kinds = { en: { fill: 'fill', fix: 'fix', speed: 'speed' }, zh: { fill: '补全', fix: '改错', speed: '提速' } };
const untranslated = '（未翻译）';

const row = (link, kind, about) => `| ${link} | ${kind} | ${about} |`;
const isRow = (line) => /^\| \[\w+\]\(\d/.test(line);

/// The page with its tables as they have to be: the n-th table lists the exercises of the n-th chapter. `chapters` are
/// {folder, exercises: [{name, kind, about}]}.
export function withTables(text, language, chapters) {
    const old = new Map([...text.matchAll(/^\| \[(\w+)\]\([^)]*\) \| [^|]* \| (.*) \|$/gm)].map(([, name, about]) => [name, about]));
    const lines = text.split('\n');
    const result = [];
    let chapter = 0;
    for (let i = 0; i < lines.length; ++i) {
        if (!isRow(lines[i])) {
            result.push(lines[i]);
            continue;
        }
        while (isRow(lines[i + 1] ?? '')) ++i;
        const { folder, exercises: listed } = chapters[chapter++] ?? { exercises: [] };
        for (const { name, kind, about } of listed) {
            const link = language === 'zh' ? `[${name}](${folder}/${name}.md)` : `[${name}](${folder}/${name}/README.md)`;
            result.push(row(link, kinds[language][kind], language === 'zh' ? (old.get(name) ?? untranslated) : about));
        }
    }
    return result.join('\n');
}

const files = { en: 'exercises/README.md', zh: 'docs/zh/exercises/index.md' };

/// [{file, text, wanted}] of both languages: the page, and the page with its tables as they have to be.
export function tablesOf(chapters, root = ownRoot) {
    const lists = chapters.map(({ folder }) => ({ folder, exercises: exercises(folder, root) }));
    return Object.entries(files).map(([language, file]) => {
        const text = fs.readFileSync(path.join(root, file), 'utf8');
        return { file, text, wanted: withTables(text, language, lists) };
    });
}

/// Problems as "FILE: ...".
export function problemsOfTables(chapters, root = ownRoot) {
    const problems = [];
    for (const { file, text, wanted } of tablesOf(chapters, root)) {
        if (text !== wanted) problems.push(`${file}: its tables are not those of the chapters' lists; run: node docs/scripts/exercise_tables.mjs`);
        if (wanted.includes(untranslated)) problems.push(`${file}: put Chinese in place of ${untranslated}`);
    }
    return problems;
}
