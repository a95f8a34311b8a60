// The book's own Markdown. All of it stays readable where only plain Markdown is known:
//
//     ```code                  a function, struct or constant of a source, with the comment above it
//     FILE: NAME, NAME         ("code bare" leaves comments out; a FILE alone is shown as a whole)
//     ```
//     ```change                what changed from one kernel to the next
//     FILE: NAME -> NAME       (or FILE: NAME -> FILE: NAME)
//     ```
//     ```results               a recorded table: of the steps, or one of the lesson's own by its name; or a drawing of what was
//     RUN LESSON [NAME]        measured, by its name
//     ```
//     ```bars                  recorded speeds of the steps against roof and vendor
//     RUN LESSON
//     ```
//     ```recorded              machine, command and date of all recorded runs
//     ```
//     ```table                 the Nth table of another page, which a program wrote; in Chinese on a Chinese page
//     FILE: N                  ("table heads" leaves its cells in English)
//     ```
//     ::: predict              a question, and its answer in <details>
//     <Measured source="RUN LESSON" at="PLACE">552 us</Measured>, <Literature source="...">...</Literature>,
//     <OurRun source="...">...</OurRun>
//     $x^2$, $$...$$           formulas, as MathML
//
// What cannot be resolved fails with page and line.
import fs from 'node:fs';
import path from 'node:path';
import katex from '@vscode/markdown-it-katex';
import container from 'markdown-it-container';
import { glossary } from '../book/glossary.mjs';
import { placeOf } from '../book/pages.mjs';
import { root } from '../book/repository.mjs';
import { lessonDrawing, lessonTable, provenance, recordedLesson, recordedRun, recordedRuns, stepBars, stepTable } from '../book/results.mjs';
import { sourceLink } from '../book/sources.mjs';
import { languageOf, strings } from '../book/strings.mjs';
import { changedLines, folded, withMarks } from './changes.mjs';
import { inChinese, missingWord, tableInChinese, withoutChinese } from './chinese.mjs';
import { definition } from './definitions.mjs';
import { anchorRows, linkTerms, termFinder } from './terms.mjs';

const escape = (text) => String(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

/// Names_of_this_sort may be broken behind their underscores.
const breakable = (text) => escape(text).replace(/_(?=\w)/g, '_<wbr>');

/// The plugin for VitePress' markdown.config. `book` is readBook()'s; `failed({page, line, message})` is called for what
/// cannot be resolved, and throws unless it is given; `untranslated({page, line, message})` for titles, heads and cells
/// of tables that Chinese pages show in English.
export function bookMarkdown(md, { book, base = '/', failed, untranslated = () => {} }) {
    const { pages } = book;
    const fail = failed ?? (({ page, line, message }) => {
        throw new Error(`${page}:${line}: ${message}`);
    });
    const context = (env) => {
        const page = env.relativePath ?? '';
        const language = languageOf(page);
        const origin = pages.get(page)?.origin ?? `docs/${page}`;
        const offset = linesOfFrontMatter(path.join(root, origin));
        return { page, language, origin, words: strings[language], prefix: language === 'zh' ? 'zh/' : '', offset };
    };
    /// Runs `make` for a token, and reports what it throws.
    const guarded = (token, env, otherwise, make) => {
        try {
            return make(context(env));
        } catch (error) {
            const { origin, offset } = context(env);
            fail({ page: origin, line: (token.map?.[0] ?? 0) + 1 + offset, message: error.message });
            return otherwise;
        }
    };
    /// What a table says, in the language of the page: (text) => text. `lesson` may have words of its own.
    const translated = (here, lesson) => (text) => (here.language === 'zh' && inChinese(text, lesson)) || text;
    /// Reports those of the texts that nobody has translated.
    const wantChinese = (texts, token, here, lesson) => {
        if (here.language !== 'zh') return;
        for (const text of texts.flatMap((whole) => withoutChinese(String(whole), lesson))) untranslated({ page: here.origin, line: token.map[0] + 1 + here.offset, message: missingWord(text, lesson) });
    };
    const link = (page, anchor, { prefix }) => `${base}${prefix}${page.replace(/\.md$/, '.html')}${anchor ? `#${anchor}` : ''}`;

    const glossaries = new Map();
    const termsOf = (language) => {
        if (!glossaries.has(language)) {
            const terms = glossary(language);
            glossaries.set(language, { terms, finder: termFinder(terms) });
        }
        return glossaries.get(language);
    };

    // katex writes TeX beside MathML, whose braces Vue would read.
    md.use(katex.default ?? katex, { output: 'mathml', throwOnError: true });
    for (const rule of ['math_inline', 'math_inline_block', 'math_block', 'math_inline_bare_block']) {
        const render = md.renderer.rules[rule];
        if (render) md.renderer.rules[rule] = (...args) => render(...args).replace(/<(span class="katex"|p class="katex-block[^"]*")/, '<$1 v-pre').replace('<p class="katex-block', '<p tabindex="0" class="katex-block');
    }

    md.use(container, 'predict', {
        render(tokens, index, options, env) {
            if (tokens[index].nesting < 0) return '</section>\n';
            const { words } = context(env);
            return `<section class="predict"><p class="predict-title">${words.predict}</p>\n`;
        },
    });

    // ---- sources ----------------------------------------------------------------------------------------------------

    const readSource = (line) => {
        const match = /^\s*([^:\s]+):\s+(.+?)\s*$/.exec(line);
        if (!match) throw new Error(`"${line.trim()}" is not FILE: NAME`);
        const file = path.join(root, match[1]);
        if (!fs.existsSync(file)) throw new Error(`there is no file ${match[1]}`);
        return { file: match[1], text: fs.readFileSync(file, 'utf8'), names: match[2] };
    };
    const find = (source, name) => {
        try {
            return { name: name.split('/')[0].split('::').pop(), ...definition(source.text, name) };
        } catch (error) {
            throw new Error(`${source.file}: ${error.message}`);
        }
    };
    const caption = (source, found, more = '') => {
        const last = found.lastLine > found.line ? `-L${found.lastLine}` : '';
        const place = `${source.file}:${found.line}`;
        return `<figcaption>${more}<a href="${sourceLink(source.file, base)}#L${found.line}" target="_self" title="L${found.line}${last}">${place}</a></figcaption>`;
    };

    /// Tokens that show code: VitePress' own for a fence, inside of a figure with a caption.
    const listing = (state, token, lines, below, label) => {
        const fence = new state.Token('fence', 'code', 0);
        fence.info = 'cuda';
        fence.markup = '```';
        fence.content = `${lines.map((line) => line.text).join('\n')}\n`;
        fence.map = token.map;
        fence.meta = { kinds: lines.map((line) => line.kind), marks: lines.map((line) => line.marks) };
        const html = (content) => Object.assign(new state.Token('html_block', '', 0), { content });
        return [html(`<figure class="listing"${label ? ` aria-label="${escape(label)}"` : ''}>\n`), fence, html(`${below}</figure>\n`)];
    };

    const code = (state, token, here) => {
        const bare = /\bbare\b/.test(token.info);
        const tokens = [];
        for (const line of token.content.split('\n').filter((each) => each.trim() !== '')) {
            if (!/:\s/.test(line)) { // the whole file
                const whole = readSource(`${line.trim()}: all`);
                const every = whole.text.trimEnd().split('\n').map((text) => ({ text, kind: '' }));
                tokens.push(...listing(state, token, every, caption(whole, { line: 1, lastLine: every.length })));
                continue;
            }
            const source = readSource(line);
            const all = source.names.split(/\s*,\s*/).map((name) => find(source, name));
            const text = all.map((found) => (bare || !found.comment ? found.code : `${found.comment}\n${found.code}`)).join('\n\n');
            const lines = text.split('\n').map((each) => ({ text: each, kind: '' }));
            tokens.push(...listing(state, token, lines, caption(source, all[0])));
        }
        if (tokens.length === 0) throw new Error('```code needs FILE: NAME');
        return tokens;
    };

    const change = (state, token, here) => {
        const bare = /\bbare\b/.test(token.info);
        const source = readSource(token.content.trim());
        const names = source.names.split(/\s*->\s*/);
        if (names.length !== 2) throw new Error('```change needs FILE: NAME -> NAME, or FILE: NAME -> FILE: NAME');
        const later = /^\S+\.\w+:\s/.test(names[1]) ? readSource(names[1]) : { ...source, names: names[1] };
        const before = find(source, names[0]);
        const after = find(later, later.names);
        const comment = bare || !after.comment ? [] : after.comment.split('\n').map((text) => ({ text, kind: '' }));
        const label = here.words.changed(before.name, after.name);
        const more = `<span>${here.words.changed(`<code>${before.name}</code>`, `<code>${after.name}</code>`)}</span> `;
        return listing(state, token, [...comment, ...folded(changedLines(before, after), here.words.unchanged)], caption(later, after, more), label);
    };

    // ---- recorded results -------------------------------------------------------------------------------------------

    const provenanceLine = (runName, run, lesson, here) => {
        const { machine, command, date } = provenance(run, lesson, translated(here));
        return `<span class="provenance">${here.words.recordedOn(escape(machine), escape(command), date)} ` +
            `(<a href="${link('recorded.md', runName, here)}">${here.words.recorded}</a>)</span>`;
    };
    // Counters keep the names that programs print, and texts quote, also where they are translated.
    const headerCell = (cell, say, here) => {
        if (typeof cell === 'string') return escape(say(cell));
        const chinese = say(cell.text);
        const name = chinese === cell.text ? escape(cell.text) : `${escape(chinese)}<br><small>${escape(cell.text)}</small>`;
        return `<a href="${link(cell.page, cell.anchor, here)}">${name}</a>`;
    };
    /// The table in the language of the page, with `say` for its heads.
    const tableInLanguage = (table, token, here, lesson) => {
        if (here.language !== 'zh') return { ...table, say: String };
        const { table: translated, say, missing } = tableInChinese(table, lesson);
        for (const message of missing) untranslated({ page: here.origin, line: token.map[0] + 1 + here.offset, message });
        return { ...translated, say };
    };
    /// The note of a table of the lesson's own stands behind its title, as the program prints it.
    const titleOf = ({ title, note, steps }, { language }) => (note && !steps ? `${title}${language === 'zh' ? '；' : '; '}${note}` : title);
    // Where there is little room, texts between the names and the figures stand below the names (theme/style.css), so that the
    // first figures can be seen beside the names. Ladders of one lesson are tables of their own, without the columns that they
    // do not need.
    const tableHtml = (table, below, here) => {
        const begins = table.ladders ?? [0];
        const tables = begins.map((begin, ladder) => {
            const rows = table.rows.slice(begin, ladder + 1 < begins.length ? begins[ladder + 1] : undefined);
            const empty = (index) => begins.length > 1 && rows.every((row) => ['-', ''].includes(row[index]));
            const columns = table.header.map((_, index) => index).filter((index) => !empty(index));
            const firstFigure = columns.find((index) => index > 0 && !table.left[index]);
            const isAside = (index) => index > 0 && firstFigure !== undefined && index < firstFigure;
            const column = (index, cell = '') => {
                const names = [!table.left[index] ? 'number' : String(cell).length > 20 ? 'long' : '', isAside(index) ? 'aside' : ''].filter(Boolean);
                return names.length > 0 ? ` class="${names.join(' ')}"` : '';
            };
            const header = columns.map((index) => `<th scope="col"${column(index)}>${headerCell(table.header[index], table.say, here)}</th>`).join('');
            const body = rows.map((row) => {
                const aside = columns.filter(isAside).map((index) => row[index]).filter((text) => text && text !== '-').join('; ');
                const cells = columns.map((index) => (index === 0 ? `<th scope="row"${column(0)}${aside ? ` data-aside="${escape(aside)}"` : ''}>${breakable(row[0])}</th>` : `<td${column(index, row[index])}>${escape(row[index])}</td>`));
                return `<tr>${cells.join('')}</tr>`;
            });
            return `<div class="scroll" tabindex="0" role="group" aria-label="${escape(here.words.table)}"><table><thead><tr>${header}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table></div>`;
        });
        return `<figure class="results" v-pre>${table.title ? `<p class="results-title">${escape(titleOf(table, here))}</p>` : ''}` +
            `${tables.join('\n')}<figcaption>${table.steps && table.note ? `${escape(table.note)} ` : ''}${below}</figcaption></figure>\n`;
    };
    const named = (token) => {
        const match = /^\s*(\S+)\s+(\S+)(?:\s+(.+?))?\s*$/.exec(token.content);
        if (!match) throw new Error(`\`\`\`${token.info} needs RUN LESSON`);
        const [, runName, lessonName, rest] = match;
        const run = recordedRun(runName);
        return { runName, run, lesson: recordedLesson(run, lessonName), which: rest };
    };

    const results = (state, token, here) => {
        const { runName, run, lesson, which } = named(token);
        const drawing = which && lessonDrawing(lesson, which);
        if (drawing) {
            const below = provenanceLine(runName, run, lesson.name, here);
            const content = `<figure class="results"><div class="scroll" tabindex="0"><pre v-pre>${escape(drawing.lines.join('\n'))}</pre></div>` +
                `<figcaption>${below}</figcaption></figure>\n`;
            return [Object.assign(new state.Token('html_block', '', 0), { content })];
        }
        const recorded = which === undefined || which === 'steps' ? stepTable(run, lesson, here.language) : lessonTable(lesson, which);
        const table = tableInLanguage(recorded, token, here, lesson.name);
        return [Object.assign(new state.Token('html_block', '', 0), { content: tableHtml(table, provenanceLine(runName, run, lesson.name, here), here) })];
    };

    const bars = (state, token, here) => {
        const { runName, run, lesson } = named(token);
        const { kind, bars: all, roof } = stepBars(run, lesson, here.language);
        const most = Math.max(...all.map((bar) => bar.value), roof?.value ?? 0);
        const percent = (value) => `${((100 * value) / most).toFixed(2)}%`;
        const rows = [...all, ...(roof ? [{ ...roof, role: 'roof' }] : [])].map(
            (bar) => `<li class="${bar.role}"><span class="label">${escape(translated(here)(bar.label))}</span>` +
                `<span class="track" aria-hidden="true"><span class="bar" style="width:${percent(bar.value)}"></span></span>` +
                `<span class="value">${escape(bar.text)}</span></li>`);
        const line = roof ? ` style="--roof:${percent(roof.value)}"` : '';
        const legend = here.words.barsOf[kind] + (roof ? (here.language === 'zh' ? `。${here.words.roofLine}。` : `. ${here.words.roofLine}.`) : '.');
        const content = `<figure class="bars${roof ? ' with-roof' : ''}"${line} v-pre><ul>\n${rows.join('\n')}\n</ul>` +
            `<figcaption>${legend} ${provenanceLine(runName, run, lesson.name, here)}</figcaption></figure>\n`;
        return [Object.assign(new state.Token('html_block', '', 0), { content })];
    };

    const recorded = (state, token, here) => {
        const header = here.language === 'zh' ? ['名称', '机器', '命令', '日期'] : ['name', 'machine', 'command', 'date'];
        const rows = recordedRuns().map((name) => {
            const { machine, command, date } = provenance(recordedRun(name), undefined, translated(here));
            return `<tr id="${name}"><th scope="row">${name}</th><td>${escape(machine)}</td><td><code>${escape(command)}</code></td><td class="date">${date}</td></tr>`;
        });
        const content = `<div class="scroll" tabindex="0"><table v-pre><thead><tr>${header.map((cell) => `<th scope="col">${cell}</th>`).join('')}</tr></thead>` +
            `<tbody>\n${rows.join('\n')}\n</tbody></table></div>\n`;
        return [Object.assign(new state.Token('html_block', '', 0), { content })];
    };

    // ---- tables of other pages --------------------------------------------------------------------------------------

    const table = (state, token, here) => {
        const source = readSource(token.content.trim());
        const tables = source.text.match(/^\|[^]*?(?=\n(?!\|)|$(?![^]))/gm) ?? [];
        const lines = tables[Number(source.names) - 1]?.split('\n');
        if (!lines) throw new Error(`${source.file} has ${tables.length} tables, not ${source.names}`);
        const say = translated(here);
        const cells = (line) => line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim());
        const said = /\bheads\b/.test(token.info) ? 1 : lines.length;
        wantChinese(lines.slice(0, said).flatMap(cells), token, here);
        const text = lines.map((line, index) => `| ${cells(line).map(index < said ? say : String).join(' | ')} |`).join('\n');
        const tokens = [];
        state.md.block.parse(text, state.md, state.env, tokens);
        for (const each of tokens) each.meta = { plain: true }; // no links to the glossary
        return tokens;
    };

    const makers = { code, change, results, bars, recorded, table };

    // ---- the rules --------------------------------------------------------------------------------------------------

    md.core.ruler.after('block', 'book_blocks', (state) => {
        state.tokens = state.tokens.flatMap((token) => {
            if (token.type === 'code_block') Object.assign(token, { type: 'fence', tag: 'code', markup: '```', info: languageOfBlock(token.content) });
            const maker = token.type === 'fence' && makers[token.info.trim().split(/\s+/)[0]];
            if (!maker) return [token];
            return guarded(token, state.env, [], (here) => maker(state, token, here));
        });
    });

    // Measured, Literature and OurRun stand inside of a paragraph, also where they happen to begin a line.
    const blocks = md.block.ruler.__rules__.find((rule) => rule.name === 'html_block');
    const htmlBlock = blocks.fn;
    md.block.ruler.at('html_block', (state, line, ...rest) => {
        const text = state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line]);
        return /^<\/?(Measured|Literature|OurRun)\b/.test(text) ? false : htmlBlock(state, line, ...rest);
    }, { alt: blocks.alt });

    /// Opening tags of Measured, Literature and OurRun, as HTML of their own.
    /// The source of a run of ours stands at the end of the page, once, and a number in the text leads there.
    const figureTag = (tag, here, env) => {
        const source = /source="([^"]*)"/.exec(tag)?.[1] ?? '';
        if (tag.startsWith('<Literature')) return { open: '<span class="literature">', close: ` <cite>(${escape(source)})</cite></span>` };
        if (tag.startsWith('<OurRun')) {
            env.ourRuns ??= new Map();
            if (!env.ourRuns.has(source)) env.ourRuns.set(source, env.ourRuns.size + 1);
            const number = env.ourRuns.get(source);
            return {
                open: '<span class="our-run">',
                close: `<sup><a href="#our-run-${number}" title="${escape(`${strings[here.language].ourRun}${source}`)}">${number}</a></sup></span>`,
            };
        }
        const [runName, lessonName] = source.split(/\s+/);
        const { machine, command, date } = provenance(recordedRun(runName), lessonName, translated(here));
        return {
            open: `<a class="measured" href="${link('recorded.md', runName, here)}" title="${escape(`${machine}, ${command}, ${date}`)}">`,
            close: '</a>',
        };
    };
    const inlineFigures = (tokens, block, env) => {
        const closing = [];
        for (const token of tokens) {
            if (token.type !== 'html_inline') continue;
            if (/^<(Measured|Literature|OurRun)\b/.test(token.content)) {
                const tags = guarded(block, env, { open: '<span>', close: '</span>' }, (here) => figureTag(token.content, here, env));
                token.content = tags.open;
                closing.push(tags.close);
            } else if (/^<\/(Measured|Literature|OurRun)>/.test(token.content) && closing.length > 0) {
                token.content = closing.pop();
            }
        }
    };

    /// A relative link leads to a page of the book, or to the page that shows the file.
    const resolved = (href, here) => {
        const [, file, hash = ''] = /^([^#]*)(#.*)?$/.exec(href);
        const target = path.posix.normalize(path.posix.join(path.posix.dirname(here.origin), decodeURI(file)));
        const place = placeOf(target, book);
        if (!place) throw new Error(`dead link: ${href}`);
        if (place.source) return { href: sourceLink(place.source, base) + hash, source: true };
        const page = here.prefix && !place.page.startsWith('zh/') ? here.prefix + place.page : place.page;
        return { href: `/${page}${hash}` };
    };
    md.core.ruler.push('book_inline', (state) => {
        for (const block of state.tokens) {
            if (block.type !== 'inline') continue;
            inlineFigures(block.children, block, state.env);
            for (const token of block.children) {
                if (token.type !== 'link_open') continue;
                const href = token.attrGet('href');
                if (!href || /^([a-z][a-z+.-]*:|\/|#)/i.test(href)) continue;
                const link = guarded(block, state.env, { href: '#' }, (here) => resolved(href, here));
                token.attrSet('href', link.href);
                if (link.source) token.attrSet('target', '_self'); // not a page of VitePress
            }
        }
        const page = state.env.relativePath ?? '';
        if (page.endsWith('glossary.md')) anchorRows(state, termsOf(languageOf(page)).terms);
        else linkTerms(state, termsOf(languageOf(page)).finder, page, languageOf(page) === 'zh' ? 'zh/' : '');
        if (!state.env.ourRuns) return;
        const { ourRun } = strings[languageOf(state.env.relativePath ?? '')];
        const items = [...state.env.ourRuns].map(([source, number]) => `<li id="our-run-${number}">${escape(ourRun + source)}</li>`);
        const content = `<ol class="our-runs" v-pre>\n${items.join('\n')}\n</ol>\n`;
        state.tokens.push(Object.assign(new state.Token('html_block', '', 0), { content }));
    });

    // Lines that came and went, and words in them, marked in what the highlighter made. Each line knows how far it is indented,
    // so that its second half is, too, where there is no room for it (theme/style.css).
    const fence = md.renderer.rules.fence;
    md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { content, meta } = tokens[index];
        const source = content.split('\n');
        let line = 0;
        const html = fence(tokens, index, ...rest);
        const all = isAligned(source) && /^<div class="language-(?:txt|text)? /.test(html) ? html.replace('class="', 'class="aligned ') : html;
        return (meta?.marks?.some(Boolean) ? withMarks(all, meta.marks) : all).replace(/<span class="line"/g, () => {
            const kind = meta?.kinds?.[line];
            const depth = /^ */.exec(source[line++] ?? '')[0].length;
            return `<span class="line${kind ? ` diff ${kind}` : ''}"${depth > 0 ? ` style="--in:${depth}"` : ''}`;
        });
    };
}

/// Whether words of a text stand below each other: drawings, and tables that programs print.
const isAligned = (lines) => lines.filter((line) => /\S {2,}\S/.test(line)).length >= 0.3 * lines.filter(Boolean).length;

/// Of an indented block, which cannot say it itself.
function languageOfBlock(content) {
    if (/^\s*(?:\.\/warpwise|cmake|cd|npm|node|docs\/|build\/bin)\b/.test(content)) return 'sh';
    return /__(?:global|shared|constant)__|;\s*$/m.test(content) && !/^ *\d+ |CPU device:/m.test(content) ? 'cuda' : 'txt';
}

/// Lines that the positions of tokens do not count.
function linesOfFrontMatter(file) {
    const text = fs.existsSync(file) && file.endsWith('.md') ? fs.readFileSync(file, 'utf8') : '';
    return (/^---\n[^]*?\n---\n/.exec(text)?.[0].split('\n').length ?? 1) - 1;
}
