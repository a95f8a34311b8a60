// What is made of the built pages beside the site: what the search reads, and one page with the whole book, to be printed. And what
// pages say of themselves where somebody links to them.
import fs from 'node:fs';
import path from 'node:path';
import { sectionsOf } from '../search.mjs';
import { namesPage } from './names.mjs';
import { addressOf, searchFile, termsOfSearch } from './search_index.mjs';
import { sidebar } from './sidebar.mjs';
import { languageOf, strings } from './strings.mjs';

export const printFile = (language) => `print_${language}.html`;

/// What stands in the middle of a built page: its text, without what surrounds it.
export function articleOf(content) {
    const main = /<main\b[^>]*>([^]*)<\/main>/.exec(content)?.[1];
    return main?.replace(/<!--[^]*?-->/g, '');
}

/// All pages of a language, in reading order: first page, sidebar, with the pages of names after their index.
export function pagesInOrder(book, language) {
    const flat = (items) => items.flatMap((item) => [item, ...flat(item.items ?? [])]);
    const first = language === 'zh' ? 'zh/index.md' : 'index.md';
    const listed = flat(sidebar(book, language)).filter(({ link }) => link).map(({ link }) => link.slice(1).replace(/\.html$/, '.md').replace(/(^|\/)$/, '$1index.md'));
    const names = [...book.pages.keys()].filter((page) => page.startsWith(`${language === 'zh' ? 'zh/' : ''}cuda_names/`));
    const order = [first, ...new Set(listed)];
    return order.flatMap((page) => (page.endsWith(namesPage) ? [page, ...names] : [page]));
}

/// The search's file of a language. `articles`: Map from pages to their HTML.
export function searchOf(book, articles, language, titleOf) {
    const sections = [];
    for (const [page, html] of articles) {
        if (languageOf(page) === language) sections.push(...sectionsOf(html, addressOf(page), titleOf(book.pages.get(page).text)));
    }
    return { sections, terms: termsOfSearch(book, language) };
}

const idOf = (page) => page.replace(/\.md$/, '').replace(/\W+/g, '-');

/// The whole book as one page. `style`: the address of the site's style sheet, seen from the page. Links between pages stay inside,
/// and answers are open.
export function printedBook(book, articles, language, { base = '/', style, titleOf }) {
    const words = strings[language].print;
    const order = pagesInOrder(book, language).filter((page) => articles.has(page));
    const byAddress = new Map(order.map((page) => [base + addressOf(page), idOf(page)]));
    const chapters = order.map((page) => {
        const id = idOf(page);
        const html = articles
            .get(page)
            .replace(/<button\b[^]*?<\/button>|<a class="header-anchor"[^]*?<\/a>/g, '')
            .replace(/<details\b/g, '<details open')
            .replace(/\sid="([^"]*)"/g, ` id="${id}--$1"`)
            .replace(/\b(aria-labelledby|aria-describedby|for)="[^"]*"/g, '')
            .replace(/\shref="([^"]*)"/g, (whole, href) => {
                const [place, anchor] = href.split('#');
                const target = place === '' ? id : byAddress.get(place);
                if (target) return ` href="#${target}${anchor ? `--${anchor}` : ''}"`;
                return place.startsWith(base) ? ` href="${href.slice(base.length)}"` : whole;
            })
            .replace(/\ssrc="([^"]*)"/g, (whole, src) => (src.startsWith(base) ? ` src="${src.slice(base.length)}"` : whole));
        return `<article id="${id}">\n${html}\n</article>`;
    });
    const contents = order.filter((page) => !page.includes('cuda_names/')).map((page) => `<li><a href="#${idOf(page)}">${titleOf(book.pages.get(page).text).replace(/&/g, '&amp;').replace(/</g, '&lt;')}</a></li>`);
    return `<!doctype html>
<html lang="${language === 'zh' ? 'zh-CN' : 'en'}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${words.title}</title>
<meta name="robots" content="noindex"><link rel="icon" href="data:,"><link rel="stylesheet" href="${style}">
<style>
body { max-width: 900px; margin: 0 auto; padding: 24px; }
article { break-before: page; padding-top: 32px; }
article[id*='cuda_names-'] { break-before: auto; }
.ww:not(.drawing), .ww-live, .d-controls, .mark-done, .VPBadge { display: none; }
.ww.drawing svg { max-width: 100%; height: auto; }
</style></head>
<body><main class="vp-doc printed"><h1>${words.title}</h1><p>${words.how}</p>
<nav aria-label="${words.contents}"><ol>
${contents.join('\n')}
</ol></nav>
${chapters.join('\n')}
</main></body></html>
`;
}

/// The head of a page for those who link to it. `site`: where the site lies, such as https://name.github.io; without it, addresses are
/// those on the server.
export function linkPreview({ page, title, description }, { site = '', base = '/' }) {
    const property = (name, content) => ['meta', { property: name, content }];
    const language = languageOf(page);
    return [
        property('og:type', page.endsWith('index.md') ? 'website' : 'article'),
        property('og:site_name', 'Warpwise'),
        property('og:title', title),
        property('og:description', description),
        property('og:locale', language === 'zh' ? 'zh_CN' : 'en_US'),
        property('og:url', `${site}${base}${addressOf(page)}`),
        property('og:image', `${site}${base}link_preview.png`),
        property('og:image:width', '1200'),
        property('og:image:height', '630'),
        property('og:image:alt', strings[language].print.image),
        ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
    ];
}

/// Writes the search's files and the printable pages into the built site.
export function writeEditions(book, articles, outDir, { base, titleOf }) {
    const sheet = fs.readdirSync(path.join(outDir, 'assets')).find((name) => /^style\..*\.css$/.test(name));
    for (const language of ['en', 'zh']) {
        fs.writeFileSync(path.join(outDir, searchFile(language)), JSON.stringify(searchOf(book, articles, language, titleOf)));
        fs.writeFileSync(path.join(outDir, printFile(language)), printedBook(book, articles, language, { base, style: `assets/${sheet}`, titleOf }));
    }
}
