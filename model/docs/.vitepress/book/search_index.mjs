// What the search reads (search.mjs), for a running server: all pages of a language, rendered without colors. For the built site it
// comes from the built pages (editions.mjs).
import path from 'node:path';
import { sectionsOf } from '../search.mjs';
import { glossary } from './glossary.mjs';
import { titleOf } from './pages.mjs';
import { root } from './repository.mjs';
import { languageOf } from './strings.mjs';

export const searchFile = (language) => `search_${language}.json`;

/// The address of a page below the base of the site.
export const addressOf = (page) => page.replace(/\.md$/, '.html').replace(/(^|\/)index\.html$/, '$1');

/// The terms of the glossary, which lead to the pages that introduce them.
export function termsOfSearch(book, language) {
    const prefix = language === 'zh' ? 'zh/' : '';
    return glossary(language)
        .filter(({ page }) => book.pages.has(prefix + page))
        .map(({ term, forms, meaning, page }) => ({ term, others: forms, meaning, page: titleOf(book.pages.get(prefix + page).text), url: addressOf(prefix + page) }));
}

/// `md` renders pages as the site does (bookMarkdown).
export function searchIndex(book, md, language) {
    const sections = [];
    for (const [page, { text }] of book.pages) {
        if (languageOf(page) !== language) continue;
        const html = md.render(text, { path: path.join(root, 'docs', page), relativePath: page, cleanUrls: false });
        sections.push(...sectionsOf(html, addressOf(page), titleOf(text)));
    }
    return { sections, terms: termsOfSearch(book, language) };
}
