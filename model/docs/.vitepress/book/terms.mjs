// Nothing is used before it is introduced: the terms of the glossary, the page of the path that introduces each, and the
// places where a page, a lesson's printed text or a kernel's comment that comes earlier uses one.
//
// docs/glossary.md is the list. Its last column links to the page that introduces a term; the page marks the place where it says
// what the term means: **sector** or <dfn>sector</dfn>. docs/glossary.json says in which forms a term is written:
//
//     {"terms": {"sector": {"forms": ["sector", "sectors"], "not": ["sector of industry"]}},
//      "ahead": [{"file": "docs/start_here.md", "term": "sector", "sentence": "Memory is moved in sectors of 32 bytes"}]}
//
// A form with a capital letter is looked for as it is written, any other in small and capital letters. `ahead` lists the sentences
// that use a term earlier on purpose: each has to stand in the file, to hold the term, and to link to the glossary or to the page
// that introduces it. Names of pages in links, code, recorded tables, formulas, and headings are no uses.
import fs from 'node:fs';
import path from 'node:path';
import { definition } from '../markdown/definitions.mjs';
import { pageOf, root, sourceOfLesson } from './repository.mjs';
import { titleOf } from './pages.mjs';

const posix = path.posix;
const blank = (text) => text.replace(/[^\n]/g, ' ');
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const lineOf = (text, at) => text.slice(0, at).split('\n').length;
const plain = (text) => text.replace(/[`*]/g, '').replaceAll('_', ' ').toLowerCase().trim();

/// The rows of the glossary: [{name, line, page}]; `page` is where the last column points, undefined where it says nothing.
export function glossaryRows(text) {
    const rows = [];
    for (const [index, line] of text.split('\n').entries()) {
        const cells = line.split('|').map((cell) => cell.trim());
        if (cells.length < 6 || /^[-: ]*$/.test(cells[1])) continue;
        rows.push({ name: cells[1], line: index + 1, page: /\]\(([^)#]+\.md)(?:#[^)]*)?\)/.exec(cells[4])?.[1] });
    }
    return rows.slice(1); // the head
}

/// The page without all that is no prose, every character at its place: code, recorded tables, formulas, addresses, tags, and names of
/// pages in links. `titleAt(href)`: the title of the page that a link leads to, or undefined.
export function prose(text, titleAt = () => undefined) {
    let result = text.replace(/^---\n[^]*?\n---\n/, blank).replace(/<!--[^]*?-->/g, blank);
    result = result.replace(/^( *)(`{3,})[^\n]*\n[^]*?^ *\2[^\n]*$/gm, blank); // fences
    result = result.replace(/(?<=\n\s*\n)(?: {4,}[^\n]*\n(?:[ \t]*\n)*)+/g, (block, at) => (/^\s*(?:[-*+]|\d+\.) /m.test(result.slice(0, at).split('\n\n').at(-2) ?? '') ? block : blank(block)));
    result = result.replace(/(`+)[^`]+?\1/g, blank).replace(/\$\$[^]*?\$\$/g, blank).replace(/\$[^$\n]+\$/g, blank);
    result = result.replace(/\[([^\]]*)\]\(([^)]*)\)/g, (whole, words, href) => {
        const file = href.split('#')[0];
        const names = [titleAt(file), posix.basename(file.replace(/\/README\.md$/, '.md'), '.md')].filter(Boolean).map(plain);
        const isName = names.includes(plain(words).replace(/^the /, ''));
        return ` ${isName ? blank(words) : words} ${' '.repeat(href.length + 2)}`;
    });
    return result.replace(/<\/?[A-Za-z][^>]*>/g, (tag) => (/^<\/?dfn/.test(tag) ? tag : blank(tag)));
}

/// The text of a lesson.cu that it may print, every character at its place: its string literals, wherever they stand, because cells of
/// tables and descriptions of steps are often put together before they are printed. Not: names in backticks, literals that are one name
/// with an underscore (kernels, tables), names of included files, and messages of expect(), which appear only when a check fails.
export function printedText(source) {
    let result = blank(source);
    const token = /\/\/[^\n]*|^[ \t]*#include[^\n]*|'(?:\\.|[^'\\\n])'|R"\(([^]*?)\)"|"((?:[^"\\\n]|\\.)*)"|\bexpect\(|[()]/gm;
    let depth = 0;
    let failing = Infinity; // the depth outside of an expect()
    for (const match of source.matchAll(token)) {
        const [whole, raw, plainLiteral] = match;
        if (whole === 'expect(') {
            if (failing === Infinity) failing = depth;
            ++depth;
        } else if (whole === '(') ++depth;
        else if (whole === ')') {
            --depth;
            if (depth <= failing) failing = Infinity;
        }
        const literal = raw ?? plainLiteral;
        if (literal === undefined || failing < Infinity || /^\w*_\w*$/.test(literal)) continue;
        const begin = match.index + (raw === undefined ? 1 : 3);
        result = result.slice(0, begin) + literal.replace(/`[^`]*`/g, blank) + result.slice(begin + literal.length);
    }
    return result;
}

/// The comments of a source, every character at its place, names in backticks aside.
export function comments(source) {
    return source.split('\n').map((line) => {
        const at = line.indexOf('//');
        return at < 0 ? '' : (blank(line.slice(0, at)) + line.slice(at)).replace(/`[^`]*`/g, blank);
    }).join('\n');
}

/// The kernels' files of a lesson that has a folder.
function filesOfKernels(chapter, lesson) {
    const folder = `chapters/${chapter.folder}/${lesson}`;
    if (!fs.existsSync(path.join(root, folder))) return [];
    return fs.readdirSync(path.join(root, folder)).filter((file) => file.endsWith('.cuh')).sort().map((file) => `${folder}/${file}`);
}

/// What a learner reads beside the task of an exercise: comments of the stub and of its header, and the hints.
function textsOfExercise(folder) {
    if (!fs.existsSync(path.join(root, folder))) return [];
    return fs.readdirSync(path.join(root, folder)).filter((file) => /^(?!.*_test\.)(?:hints\.md|.*\.(?:cu|cuh|h|cpp))$/.test(file)).sort().map((file) => {
        const text = fs.readFileSync(path.join(root, folder, file), 'utf8');
        return { file: `${folder}/${file}`, text: file.endsWith('.md') ? prose(text) : comments(text) };
    });
}

/// The comments of the sources that a page shows: [{file, text}], `text` with nothing else at its place.
function shownComments(text) {
    const shown = new Map();
    for (const [, , kind, info, content] of text.matchAll(/^( *`{3,})(code|change)([^\n]*)\n([^]*?)^ *`{3,}/gm)) {
        let file;
        for (const part of content.split('\n').filter(Boolean).flatMap((line) => line.split(kind === 'change' ? '->' : '\n'))) {
            const match = /^\s*(?:([^:\s]+\.\w+):\s+)?(.+?)\s*$/.exec(part);
            if (!match) continue;
            file = match[1] ?? file;
            const whole = path.join(root, file ?? '');
            if (!file || !fs.existsSync(whole)) continue;
            const source = fs.readFileSync(whole, 'utf8');
            const lines = source.split('\n');
            const kept = shown.get(file) ?? lines.map(() => '');
            for (const name of match[2].split(/\s*,\s*/)) {
                let found;
                try {
                    found = definition(source, name);
                } catch {
                    continue; // reported where the page is rendered
                }
                const above = /\bbare\b/.test(info) || found.comment === '' ? 0 : found.comment.split('\n').length;
                for (let line = found.line - above; line <= found.lastLine; ++line) {
                    const comment = /\/\/(.*)$/.exec(lines[line - 1]);
                    if (comment) kept[line - 1] = comment[1].replace(/`[^`]*`/g, blank);
                }
            }
            shown.set(file, kept);
        }
    }
    return [...shown].map(([file, lines]) => ({ file, text: lines.join('\n') }));
}

/// What a learner reads, in order: [{page, file, text, more}]. `text` is Markdown, `more` other texts read with it: [{file, text}].
/// `before`: pages that are read before the first chapter.
export function pathOfBook({ pages, chapters }, before = []) {
    const stops = before.filter((page) => pages.has(page)).map((page) => ({ page, more: [] }));
    for (const chapter of chapters) {
        for (const stop of chapter.path) {
            const more = [];
            if (stop.kind === 'lesson') {
                const file = sourceOfLesson(chapter.folder, stop.name);
                if (fs.existsSync(path.join(root, file))) more.push({ file, text: printedText(fs.readFileSync(path.join(root, file), 'utf8')) });
                for (const kernels of filesOfKernels(chapter, stop.name)) more.push({ file: kernels, text: comments(fs.readFileSync(path.join(root, kernels), 'utf8')) });
            }
            if (stop.kind === 'exercise') more.push(...textsOfExercise(`exercises/${chapter.folder}/${stop.name}`));
            stops.push({ page: pageOf(chapter, stop), more });
        }
    }
    return stops.map(({ page, more }) => {
        const { text, origin } = pages.get(page);
        return { page, file: origin, text, more: [...more, ...shownComments(text)] };
    });
}

/// Problems as "FILE:LINE: ...": [] when no term is used before its introduction. `stops` as pathOfBook() gives them; `titles` maps
/// files of the repository to titles of their pages.
export function problemsOfTerms({ glossary, data, stops, titles = new Map() }) {
    const problems = [];
    const rows = new Map(glossaryRows(glossary).map((row) => [row.name, row]));
    const order = new Map(stops.map(({ page }, index) => [page, index]));
    const texts = stops.map(({ file, text }) => prose(text, (href) => titles.get(posix.normalize(posix.join(posix.dirname(file), href)))));
    const used = new Set();

    for (const [name, row] of rows) {
        if (!row.page) problems.push(`docs/glossary.md:${row.line}: '${name}' needs a link to the page that introduces it`);
        else if (!data.terms[name]) problems.push(`docs/glossary.md:${row.line}: '${name}' is introduced by ${row.page}, but docs/glossary.json does not say in which forms it is written`);
    }
    for (const [name, { forms, not = [] }] of Object.entries(data.terms)) {
        const row = rows.get(name);
        if (!row) {
            problems.push(`docs/glossary.json: '${name}' is not in docs/glossary.md`);
            continue;
        }
        if (!row.page) continue; // reported above
        if (!order.has(row.page)) {
            problems.push(`docs/glossary.md:${row.line}: '${name}' needs a link to the page of the path that introduces it; ${row.page} is not on the path`);
            continue;
        }
        const words = (list) => list.map((form) => {
            const letters = escaped(form);
            const pattern = /[A-Z]/.test(form) ? letters : letters.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
            return pattern.replace(/ /g, '\\s+');
        }).join('|');
        const pattern = new RegExp(`(?<![\\w-])(?:${words(forms)})(?![\\w-])`, 'g');
        const exception = not.length > 0 ? new RegExp(words(not), 'g') : undefined;
        const usesIn = (text) => [...(exception ? text.replace(exception, blank) : text).matchAll(pattern)].map((match) => ({ at: match.index, form: match[0].replace(/\s+/g, ' ') }));

        const introduced = order.get(row.page);
        const { file: place, text: introducing } = stops[introduced];
        const mark = new RegExp(`(?:\\*\\*|<dfn>)(?:${words(forms)})(?:\\*\\*|</dfn>)`).exec(texts[introduced]);
        if (!mark) {
            problems.push(`${place}:1: introduces '${name}' (docs/glossary.md:${row.line}), but does not mark it: write **${forms[0]}** or <dfn>${forms[0]}</dfn> where it is explained`);
        }
        const report = (file, text, at, form) => {
            const allowed = data.ahead.findIndex((entry) => {
                if (entry.file !== file || entry.term !== name) return false;
                const whole = stops.find((stop) => stop.file === file)?.text ?? '';
                const begin = new RegExp(escaped(entry.sentence).replace(/\s+/g, '\\s+')).exec(whole);
                return begin && at >= begin.index && at < begin.index + begin[0].length;
            });
            if (allowed >= 0) used.add(allowed);
            else problems.push(`${file}:${lineOf(text, at)}: '${form}' is used before ${place} introduces it`);
        };
        for (const [index, { file, text, more }] of stops.entries()) {
            if (index > introduced) break;
            const withoutHeads = texts[index].replace(/^#{1,6} [^\n]*/gm, blank);
            for (const { at, form } of usesIn(withoutHeads)) {
                if (index === introduced && (!mark || at >= mark.index)) continue;
                report(file, text, at, form);
            }
            if (index === introduced) continue;
            for (const other of more) {
                for (const { at, form } of usesIn(other.text)) report(other.file, other.text, at, form);
            }
        }
    }
    for (const [index, { file, term, sentence }] of data.ahead.entries()) {
        const what = `docs/glossary.json: '${term}' may be used early in ${file}`;
        const row = rows.get(term);
        if (!used.has(index)) problems.push(`${what}, but "${sentence}" is not there, or does not use it early`);
        else if (!/\]\([^)]*glossary\.md/.test(sentence) && !(row?.page && sentence.includes(`${posix.basename(row.page)}`))) {
            problems.push(`${what}, but "${sentence}" links neither to the glossary nor to ${row?.page}`);
        }
    }
    return [...new Set(problems)];
}

/// The same for the book.
export function allProblemsOfTerms(book) {
    const read = (file) => fs.readFileSync(path.join(root, file), 'utf8');
    const titles = new Map([...book.pages.values()].map(({ origin, text }) => [origin, titleOf(text)]));
    return problemsOfTerms({ glossary: read('docs/glossary.md'), data: JSON.parse(read('docs/glossary.json')), stops: pathOfBook(book, ['start_here.md']), titles });
}
