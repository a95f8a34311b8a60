#!/usr/bin/env node
// Checks the book: kernels, recorded results and traces that pages name, traces of sources that have changed, links,
// drawings that do not exist, figures without provenance, measured figures that drawings name or have typed by hand, numbers of the README and of lessons' sources that claim to be measured and are not in
// docs/results, words that are used before they are introduced, text that does not keep to the path, lessons without a page, pages that the sidebar forgets,
// Chinese pages that are older than the English ones, recorded tables that speak English on them, and Chinese for tables that no
// page shows any more.
//
//     node docs/scripts/check_book.mjs [--strict]             # 0: all right; 1: problems, printed as FILE:LINE: ...
//     node docs/scripts/check_book.mjs --stamp FILE..         # these Chinese pages render the English text of today
//
// What is not written yet is a warning, and with --strict a problem.
import fs from 'node:fs';
import path from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { allProblemsOfClaims } from '../.vitepress/book/claims.mjs';
import { problemsOfTables } from '../.vitepress/book/exercise_tables.mjs';
import { problemsOfOrder } from '../.vitepress/book/order.mjs';
import { frontMatter, hashOf, lonelyTwins, readBook } from '../.vitepress/book/pages.mjs';
import { root } from '../.vitepress/book/repository.mjs';
import { pagesWithoutPlace } from '../.vitepress/book/sidebar.mjs';
import { allProblemsOfTerms } from '../.vitepress/book/terms.mjs';
import { problemsOfTraces, problemsOfViews } from '../.vitepress/book/traces.mjs';
import { unusedEntries } from '../.vitepress/markdown/chinese.mjs';
import { bookMarkdown } from '../.vitepress/markdown/index.mjs';
import { problemsOfFigures } from '../.vitepress/markdown/figures.mjs';
import { problemsOfDrawings, problemsOfShownDrawings } from '../.vitepress/theme/drawings/figures.mjs';

const zh = path.join(root, 'docs', 'zh');

/// Writes the hash of the English page into the front matter of its Chinese twin.
function stamp(file, { pages }) {
    const whole = path.resolve(file);
    const page = path.relative(zh, whole).split(path.sep).join('/');
    const english = pages.get(page);
    if (page.startsWith('..') || !english || !fs.existsSync(whole)) throw new Error(`${file} is no Chinese page of an English one`);
    const line = `translated_from: ${hashOf(english.written ?? english.text)}`;
    const text = fs.readFileSync(whole, 'utf8');
    const stamped =
        frontMatter(text, 'translated_from') !== undefined ? text.replace(/^translated_from:.*$/m, line)
        : text.startsWith('---\n') ? text.replace('---\n', `---\n${line}\n`)
        : `---\n${line}\n---\n${text}`;
    fs.writeFileSync(whole, stamped);
    console.log(`${path.relative(root, whole)}: ${line}`);
}

async function check(book) {
    const { pages } = book;
    const problems = [];
    const warnings = [];

    for (const [page, { text, made, origin }] of pages) {
        if (made === 'twin') continue;
        const lesson = /^(zh\/)?\d+_\w+\//.test(page);
        const found = made ? [] : [...problemsOfFigures(text, { lesson }), ...problemsOfViews(text), ...problemsOfShownDrawings(text)];
        for (const { line, message } of found) problems.push(`${origin}:${line}: ${message}`);
        if (made === 'lesson') warnings.push(`docs/${page}: this lesson has no page yet`);
    }

    for (const { trace, message } of problemsOfTraces()) problems.push(`${trace}: ${message}`);

    problems.push(...problemsOfDrawings());
    problems.push(...allProblemsOfClaims());
    problems.push(...problemsOfTables(book.chapters));
    problems.push(...allProblemsOfTerms(book));
    problems.push(...problemsOfOrder(book));

    const md = await createMarkdownRenderer(path.join(root, 'docs'), {
        highlight: (code) => `<pre>${code.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')}</pre>`,
        config: (markdown) =>
            bookMarkdown(markdown, {
                book,
                failed: ({ page, line, message }) => problems.push(`${page}:${line}: ${message}`),
                untranslated: ({ page, line, message }) => problems.push(`${page}:${line}: ${message}`),
            }),
    });
    const anchors = new Map();
    const links = [];
    for (const [page, { text, origin, made }] of pages) {
        const html = md.render(text, { path: path.join(root, 'docs', page), relativePath: page });
        anchors.set(page, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1])));
        if (made === 'twin') continue;
        for (const [, href] of html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)) links.push({ page, origin, href });
    }
    for (const { page, origin, href } of links) {
        if (/^[a-z]+:/i.test(href) || href.startsWith('/source/')) continue;
        const [place, anchor] = href.split('#');
        let target = page;
        if (place !== '') {
            target = path.posix.normalize(place.startsWith('/') ? place.slice(1) : path.posix.join(path.posix.dirname(page), place));
            target = target === '.' || target.endsWith('/') || target === '' ? `${target.replace(/^\.$/, '')}index.md` : `${target.replace(/\.(html|md)$/, '')}.md`;
        }
        if (!pages.has(target)) problems.push(`${origin}: dead link: ${href}`);
        else if (anchor && !anchors.get(target).has(decodeURIComponent(anchor))) problems.push(`${origin}: dead link: there is no #${decodeURIComponent(anchor)} in ${target}`);
    }

    for (const entry of unusedEntries()) problems.push(`${entry}: no Chinese page shows this any more: its text has changed, or nobody needs the entry`);

    for (const page of pagesWithoutPlace(book)) problems.push(`docs/${page}: not in the sidebar (docs/.vitepress/book/sidebar.mjs)`);

    const missing = [];
    for (const [page, { twin, made, origin }] of pages) {
        if (twin === 'stale') problems.push(`${origin}: older than its English page; look through it, then: node docs/scripts/check_book.mjs --stamp ${origin}`);
        if (twin === 'missing' && pages.get(page.slice('zh/'.length)).made !== 'lesson' && made) missing.push(page);
    }
    for (const page of lonelyTwins(pages)) problems.push(`docs/zh/${page}: has no English page`);
    for (const page of missing) warnings.push(`docs/${page}: not translated yet`);
    return { problems: [...new Set(problems)], warnings };
}

const words = process.argv.slice(2);
const strict = words.includes('--strict');
const files = words.filter((word) => !word.startsWith('--'));
const unknown = words.find((word) => word.startsWith('--') && !['--strict', '--stamp'].includes(word));
if (unknown || words.includes('--stamp') !== files.length > 0) {
    console.error(unknown ? `check_book: unknown option ${unknown}` : 'usage: check_book.mjs [--strict] | --stamp docs/zh/PAGE.md ..');
    process.exit(2);
}
try {
    const book = readBook();
    if (files.length > 0) {
        for (const file of files) stamp(file, book);
    } else {
        const { problems, warnings } = await check(book);
        const failures = strict ? [...problems, ...warnings] : problems;
        if (!strict && warnings.length > 0) console.log(`${warnings.length} pages to come (--strict lists them)`);
        for (const problem of failures.sort()) console.error(problem);
        console.log(failures.length === 0 ? `${book.pages.size} pages are all right` : `${failures.length} problems`);
        process.exitCode = failures.length === 0 ? 0 : 1;
    }
} catch (error) {
    console.error(`check_book: ${error.message}`);
    process.exitCode = 1;
}
