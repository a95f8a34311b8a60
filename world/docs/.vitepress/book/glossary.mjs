// The rows of the glossary, with the forms in which a term is written (docs/glossary.json): for the search, and for what pops up at
// a term in a page.
import fs from 'node:fs';
import path from 'node:path';
import { root } from './repository.mjs';

const posix = path.posix;

/// The anchor of a term's row in the glossary.
export const anchorOfTerm = (name) => `term-${name.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')}`;

/// Markdown of a cell without links and emphasis.
export const plainCell = (text) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\*\*/g, '').replaceAll('\\|', '|').trim();

/// [{id, name, forms, not, term, meaning, page}] of one language: `name` is the English term, `term` that of the language, `page` the
/// page that introduces it, such as "2_memory_model/coalescing.md".
export function glossary(language, repository = root) {
    const read = (file) => fs.readFileSync(path.join(repository, file), 'utf8');
    const { terms } = JSON.parse(read('docs/glossary.json'));
    const file = language === 'zh' ? 'docs/zh/glossary.md' : 'docs/glossary.md';
    const result = [];
    for (const line of read(file).split('\n')) {
        const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
        if (cells.length < 6 || /^[-: ]*$/.test(cells[1]) || cells[4].indexOf('](') < 0) continue;
        const name = language === 'zh' ? cells[2] : cells[1];
        const entry = terms[name];
        if (!entry) continue;
        const own = language === 'zh' ? cells[1] : name;
        const chinese = own.replace(/[（(].*?[)）]/g, '').split(/、/).map((form) => form.trim()).filter((form) => /[\u4e00-\u9fff]{2}/.test(form));
        result.push({
            id: anchorOfTerm(name),
            name,
            forms: language === 'zh' ? [...chinese, ...entry.forms] : entry.forms,
            not: entry.not ?? [],
            term: own,
            meaning: plainCell(cells[3]),
            page: posix.normalize(/\]\(([^)#]+\.md)/.exec(cells[4])[1]),
        });
    }
    return result;
}
