// All pages of the book. Some are written (docs/**/*.md); the others are made here: tasks of exercises, lessons that
// nobody has described yet, and English pages in place of Chinese ones that are missing. VitePress gets them all in one
// folder, .vitepress/pages. Files of the repository that pages point to are no pages of VitePress: see sources.mjs.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { namesPage, textOfNames, textsOfNamePages } from './names.mjs';
import { chapters, exercises, root, sourceOfLesson } from './repository.mjs';
import { recordedLesson, recordedRun, recordedRuns } from './results.mjs';
import { strings } from './strings.mjs';

const docs = path.join(root, 'docs');
const folder = path.join(docs, '.vitepress', 'pages');
const posix = path.posix;

/// A page without its front matter.
export const body = (text) => text.replace(/^---\n[^]*?\n---\n/, '');

/// What the Chinese twin of a page carries as translated_from.
export const hashOf = (text) => createHash('sha256').update(body(text).trim()).digest('hex').slice(0, 12);

/// A value of the front matter, or undefined.
export const frontMatter = (text, key) =>
    /^---\n([^]*?)\n---\n/.exec(text)?.[1].match(new RegExp(`^${key}:\\s*['"]?(.*?)['"]?\\s*$`, 'm'))?.[1];

/// The title of a page: that of its front matter or its first heading.
export const titleOf = (text) => frontMatter(text, 'title') ?? /^# (.+)$/m.exec(body(text))?.[1].replace(/[`*]/g, '') ?? '';

/// The text with one more line of front matter.
function withFrontMatter(text, key, value) {
    const line = `${key}: ${value}\n`;
    return text.startsWith('---\n') ? text.replace('---\n', `---\n${line}`) : `---\n${line}---\n${text}`;
}

function markdownFiles(directory, prefix = '') {
    const files = [];
    for (const entry of fs.readdirSync(directory, { withFileTypes: true })) {
        const name = prefix + entry.name;
        if (entry.isDirectory()) {
            const hidden = entry.name.startsWith('.') || ['node_modules', 'scripts', 'tests', 'zh'].includes(name);
            if (!hidden) files.push(...markdownFiles(path.join(directory, entry.name), `${name}/`));
        } else if (entry.name.endsWith('.md') && name !== 'README.md') {
            files.push(name);
        }
    }
    return files.sort();
}

/// Links and included sources of a Markdown text, as paths in the repository that may or may not exist.
function mentionedFiles(text, origin) {
    const files = [];
    for (const [, href] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
        if (!/^([a-z]+:|\/)/i.test(href)) files.push(posix.normalize(posix.join(posix.dirname(origin), href)));
    }
    for (const [, , content] of text.matchAll(/^ *(`{3,})(?:code|change)\b[^\n]*\n([^]*?)^ *\1/gm)) {
        files.push(...content.split('\n').map((line) => line.split(':')[0].trim()).filter(Boolean));
    }
    return files.map((file) => file.replace(/\/$/, ''));
}

/// Where a file of the repository stands in the book: {page} for the one made of it, {source} for a file that is shown
/// as it is, or undefined.
export function placeOf(file, { pages, sources }) {
    const plain = file.replace(/\/$/, '');
    if (plain === 'docs' || plain === 'docs/README.md') return { page: 'index.md' };
    const candidates = [
        plain.startsWith('docs/') ? plain.slice('docs/'.length) : undefined,
        plain === 'exercises' || plain === 'exercises/README.md' ? 'exercises/index.md' : undefined,
        plain.startsWith('exercises/') ? `${plain.replace(/\/README\.md$/, '')}.md` : undefined,
    ];
    const page = candidates.find((candidate) => candidate && pages.has(candidate));
    if (page) return { page };
    return sources.has(plain) ? { source: plain } : undefined;
}

/// A lesson that has no page yet: what is known of it without one.
function unwrittenLesson(chapter, lesson) {
    const measured = [];
    for (const run of recordedRuns()) {
        try {
            if (recordedRun(run).chapter.number !== chapter.number) continue;
            if (recordedLesson(recordedRun(run), lesson.name).steps.length > 0) measured.push(run);
        } catch {
            // not recorded there
        }
    }
    const source = sourceOfLesson(chapter.folder, lesson.name);
    const shown = source.replace(`chapters/${chapter.folder}/`, '');
    const sourceLine = fs.existsSync(path.join(root, source)) ? `Its source is [${shown}](../../${source}). ` : '';
    const tables = measured.map((run) => `\`\`\`results\n${run} ${lesson.name}\n\`\`\``);
    return `---
outline: false
---
# ${lesson.name}

This lesson is about ${lesson.about}. **Its page is not written yet.** The lesson itself is complete, and explains itself as it runs:

    ./warpwise run ${chapter.number} ${lesson.name}

${sourceLine}${tables.length > 0 ? 'What was recorded of it:' : ''}

${tables.join('\n\n')}
`;
}

/// The Chinese page beside an English one, from its text; without a text, the English page stands in. A page that is older
/// than the English one or stands in says so in its front matter, and the reader sees a banner.
export function twinOf(page, english, text) {
    if (text === undefined) return { ...english, text: withFrontMatter(english.text, 'twin', 'missing'), made: 'twin', twin: 'missing' };
    const stale = frontMatter(text, 'translated_from') !== hashOf(english.text);
    return { origin: `docs/zh/${page}`, text: stale ? withFrontMatter(text, 'twin', 'stale') : text, twin: stale ? 'stale' : 'fresh' };
}

/// {pages, sources, chapters}. `pages` maps "2_memory_model/coalescing.md" to {origin, text, made, twin}: `origin` is the file of
/// the repository from which its links start; `made` says of what kind a page is that nobody wrote (exercise, lesson,
/// twin). `sources` are the files and folders of the repository that pages point to; `chapters` have lessons and exercises.
export function readBook() {
    const pages = new Map();
    for (const file of markdownFiles(docs)) {
        pages.set(file, { origin: `docs/${file}`, text: fs.readFileSync(path.join(docs, file), 'utf8') });
    }
    const addExercise = (page, origin) => pages.set(page, { origin, text: fs.readFileSync(path.join(root, origin), 'utf8'), made: 'exercise' });
    addExercise('exercises/index.md', 'exercises/README.md');
    const all = chapters().map((chapter) => ({ ...chapter, exercises: exercises(chapter.folder) }));
    for (const chapter of all) {
        for (const lesson of chapter.lessons) {
            const page = `${chapter.folder}/${lesson.name}.md`;
            if (!pages.has(page)) pages.set(page, { origin: `docs/${page}`, text: unwrittenLesson(chapter, lesson), made: 'lesson' });
        }
        for (const exercise of chapter.exercises) {
            const place = `exercises/${chapter.folder}/${exercise.name}`;
            addExercise(`${place}.md`, `${place}/README.md`);
        }
    }

    pages.set(namesPage, { origin: `docs/${namesPage}`, text: '', made: 'names' });

    const chinese = new Map();
    for (const [page, english] of pages) {
        const file = path.join(docs, 'zh', page);
        if (fs.existsSync(file)) chinese.set(`zh/${page}`, twinOf(page, english, fs.readFileSync(file, 'utf8')));
    }

    const sources = new Set();
    const waiting = [...pages.values(), ...chinese.values()].flatMap((page) => mentionedFiles(page.text, page.origin));
    while (waiting.length > 0) {
        const file = waiting.pop();
        const whole = path.join(root, file);
        if (file.startsWith('..') || placeOf(file, { pages, sources }) || !fs.existsSync(whole)) continue;
        sources.add(file);
        if (fs.statSync(whole).isDirectory()) {
            waiting.push(...fs.readdirSync(whole).filter((name) => !name.startsWith('.')).map((name) => `${file}/${name}`));
        }
    }

    for (const [page, english] of pages) {
        if (!chinese.has(`zh/${page}`)) chinese.set(`zh/${page}`, twinOf(page, english));
    }
    for (const [page, twin] of chinese) pages.set(page, twin);
    const titles = new Map([...pages].map(([page, { text }]) => [page, titleOf(text)]));
    for (const language of ['en', 'zh']) {
        const prefix = language === 'zh' ? 'zh/' : '';
        const twin = language === 'zh' ? { twin: 'fresh' } : {};
        for (const [page, text] of [[namesPage, textOfNames(language)], ...textsOfNamePages(language, titles)]) {
            pages.set(prefix + page, { origin: `docs/${prefix}${page}`, text, made: 'names', ...twin });
        }
    }
    for (const chapter of all) {
        for (const { name } of chapter.exercises) {
            const stub = `exercises/${chapter.folder}/${name}/${name}.cu`;
            if (!fs.existsSync(path.join(root, stub))) continue;
            sources.add(stub);
            for (const prefix of ['', 'zh/']) {
                const page = pages.get(`${prefix}exercises/${chapter.folder}/${name}.md`);
                page.written = page.text; // that twins render
                page.text = withStartingCode(page.text, stub, prefix ? 'zh' : 'en');
            }
        }
    }
    return { pages, sources, chapters: all };
}

/// The page of an exercise with the code that one begins with: before what it says at the end, or at the end.
export function withStartingCode(text, stub, language) {
    const section = `${strings[language].startingCode}\n\n\`\`\`code\n${stub}\n\`\`\`\n`;
    const last = /^## (?:What you have learned|你学到了什么)\s*$/m.exec(text);
    return last ? `${text.slice(0, last.index)}${section}\n${text.slice(last.index)}` : `${text.trimEnd()}\n\n${section}`;
}

/// Chinese pages that have no English one.
export function lonelyTwins(pages) {
    const zh = path.join(docs, 'zh');
    return fs.existsSync(zh) ? markdownFiles(zh).filter((page) => !pages.has(page)) : [];
}

/// Writes all pages for VitePress and returns them. Files that are the same already are left alone, so that a running
/// server sees only what changed.
export function writePages() {
    const book = readBook();
    const { pages } = book;
    for (const [page, { text }] of pages) {
        const file = path.join(folder, page);
        if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue;
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.writeFileSync(file, text);
    }
    for (const old of fs.readdirSync(folder, { recursive: true })) {
        const name = String(old).split(path.sep).join('/');
        if (name.endsWith('.md') && !pages.has(name)) fs.rmSync(path.join(folder, name));
    }
    return book;
}
