// The book as plain Markdown, to be read on GitHub or in an editor: code, changes, and tables stand in it, made from the same
// sources and recorded runs as those of the site. What can be played or turned on the site is a sentence here.
//
//     const md = await bookParser(book);
//     const files = plainBook(book, md, '/where/it/will/lie');    // Map: 'en/1_basics_and_pi/pi.md' -> text
import fs from 'node:fs';
import path from 'node:path';
import { createMarkdownRenderer } from 'vitepress';
import { changedLines, folded } from '../markdown/changes.mjs';
import { inChinese, tableInChinese } from '../markdown/chinese.mjs';
import { definition } from '../markdown/definitions.mjs';
import { bookMarkdown } from '../markdown/index.mjs';
import { drawingWords } from '../theme/drawings/words.mjs';
import { body, placeOf } from './pages.mjs';
import { root } from './repository.mjs';
import { lessonDrawing, lessonTable, provenance, recordedLesson, recordedRun, recordedRuns, stepBars, stepTable } from './results.mjs';
import { sidebar } from './sidebar.mjs';
import { languageOf, strings } from './strings.mjs';

const posix = path.posix;

const words = {
    en: {
        contents: 'Contents', before: 'Before', next: 'Next', language: 'English', made: 'Made from the book by `./warpwise docs --markdown`. To change a page, edit it in `docs`.',
        english: '', of: (one, other) => (other ? `\`${one}\` beside \`${other}\`` : `\`${one}\``),
        WarpView: (what, trace) => `The book's site plays the requests of ${what} here, lane by lane, from [the trace](${trace}): \`./warpwise docs\`.`,
        BlockView: (what, trace) => `The book's site shows here which threads of ${what} work and where they wait, from [the trace](${trace}): \`./warpwise docs\`.`,
        LiveKernel: 'The book\'s site runs a kernel of this lesson here, with sliders: `./warpwise docs`.',
        TraceLoader: 'The book\'s site shows traces of your own kernels here: `./warpwise docs`.',
        OccupancyExplorer: 'The book\'s site has a calculator of occupancy here: `./warpwise docs`.',
        AmdahlExplorer: 'The book\'s site has a calculator of Amdahl\'s law here: `./warpwise docs`.',
        Roofline: 'The book\'s site draws the roofline of the recorded lessons here: `./warpwise docs`.',
        drawing: (title, alt) => `Drawing: ${title}. ${alt}`,
    },
    zh: {
        contents: '目录', before: '上一页', next: '下一页', language: '简体中文', made: '本页由 `./warpwise docs --markdown` 从书中生成。要修改内容，请编辑 `docs` 里的页面。',
        english: '这一页还没有中文翻译。\n\n', of: (one, other) => (other ? `\`${one}\` 和 \`${other}\`` : `\`${one}\``),
        WarpView: (what, trace) => `在网站版 (\`./warpwise docs\`) 里，这里逐个请求、逐个 lane 播放 ${what} 的[轨迹](${trace})。`,
        BlockView: (what, trace) => `在网站版 (\`./warpwise docs\`) 里，这里按[轨迹](${trace})显示 ${what} 的哪些线程在工作、在哪里等待。`,
        LiveKernel: '在网站版 (`./warpwise docs`) 里，这里可以用滑块运行这节课的 kernel。',
        TraceLoader: '在网站版 (`./warpwise docs`) 里，这里可以载入你自己的 kernel 的轨迹。',
        OccupancyExplorer: '在网站版 (`./warpwise docs`) 里，这里有占用率计算器。',
        AmdahlExplorer: '在网站版 (`./warpwise docs`) 里，这里有 Amdahl 定律计算器。',
        Roofline: '在网站版 (`./warpwise docs`) 里，这里画出各节课的 roofline 图。',
        drawing: (title, alt) => `图：${title}。${alt}`,
    },
};

/// Reads pages as the site does: for the ids of their headings, and so that what cannot be resolved fails here, too.
export const bookParser = (book) =>
    createMarkdownRenderer(path.join(root, 'docs'), {
        highlight: (code) => code,
        config: (markdown) => bookMarkdown(markdown, { book }),
    });

/// Where a page goes: 'zh/glossary.md' stays, 'glossary.md' becomes 'en/glossary.md'.
const placeInOutput = (page) => (page.startsWith('zh/') ? page : `en/${page}`);

/// The id that GitHub gives to a heading.
const idOnGitHub = (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replace(/ /g, '-');

const cell = (text) => String(text).replace(/\\(?!\|)/g, '\\\\').replace(/</g, '&lt;').replace(/\*/g, '\\*').replace(/(?<!\\)\|/g, '\\|').replace(/\n/g, ' ');
const row = (cells) => `| ${cells.join(' | ')} |`;
const fence = (language, text) => {
    const ticks = '`'.repeat(Math.max(3, ...[...text.matchAll(/^ *(`{3,})/gm)].map((match) => match[1].length + 1)));
    return `${ticks}${language}\n${text}\n${ticks}`;
};

/// Applies `change` to what is no code: outside of fences, indented blocks, and `spans`.
function outsideOfCode(text, change) {
    const parts = text.split(/(^ *(`{3,}|~{3,})[^\n]*\n[^]*?^ *\2 *$|^(?: {4,}[^\n]*\n)+)/m);
    return parts
        .map((part, index) => {
            if (index % 3 === 2) return ''; // the fence's ticks alone
            if (index % 3 === 1) return part;
            return (part ?? '').split(/(`+[^`]*`+)/).map((piece, at) => (at % 2 === 1 ? piece : change(piece))).join('');
        })
        .join('');
}

function plainPage(page, book, folder) {
    const { text, origin, made } = book.pages.get(page);
    const language = languageOf(page);
    const own = words[language];
    const here = placeInOutput(page);
    const say = (lesson) => (said) => (language === 'zh' && inChinese(said, lesson)) || said;
    const toPage = (target, anchor) => {
        const there = placeInOutput(language === 'zh' && !target.startsWith('zh/') ? `zh/${target}` : target);
        return (posix.relative(posix.dirname(here), there) || posix.basename(here)) + (anchor ? `#${anchor}` : '');
    };
    const toFile = (file, hash = '') => path.relative(path.join(folder, posix.dirname(here)), path.join(root, file)).split(path.sep).join('/') + hash;

    const readSource = (line) => {
        const [, file, names] = /^\s*([^:\s]+):\s+(.+?)\s*$/.exec(line);
        return { file, names, text: fs.readFileSync(path.join(root, file), 'utf8') };
    };
    const find = (source, name) => ({ name: name.split('/')[0].split('::').pop(), ...definition(source.text, name) });
    const caption = (source, found) => `[${source.file}:${found.line}](${toFile(source.file, `#L${found.line}`)})`;
    const from = (runName, lesson) => {
        const { machine, command, date } = provenance(recordedRun(runName), lesson, say());
        return `*${cell(machine)}, \`${command}\`, ${date} ([${strings[language].recorded}](${toPage('recorded.md', runName)}))*`;
    };
    const named = (content) => {
        const [, runName, lessonName, rest] = /^\s*(\S+)\s+(\S+)(?:\s+(.+?))?\s*$/.exec(content);
        const run = recordedRun(runName);
        return { runName, run, lesson: recordedLesson(run, lessonName), which: rest };
    };
    const table = (header, left, rows) => [row(header), row(left.map((is) => (is ? '---' : '---:'))), ...rows.map(row)].join('\n');

    const makers = {
        code(content, info) {
            return content.split('\n').filter((line) => line.trim() !== '').map((line) => {
                if (!/:\s/.test(line)) { // the whole file
                    const file = line.trim();
                    return `${fence('cuda', fs.readFileSync(path.join(root, file), 'utf8').trimEnd())}\n[${file}](${toFile(file)})`;
                }
                const source = readSource(line);
                const found = source.names.split(/\s*,\s*/).map((name) => find(source, name));
                const all = found.map((each) => (/\bbare\b/.test(info) || !each.comment ? each.code : `${each.comment}\n${each.code}`));
                return `${fence('cuda', all.join('\n\n'))}\n${caption(source, found[0])}`;
            }).join('\n\n');
        },
        change(content, info) {
            const source = readSource(content.trim());
            const names = source.names.split(/\s*->\s*/);
            const later = /^\S+\.\w+:\s/.test(names[1]) ? readSource(names[1]) : { ...source, names: names[1] };
            const before = find(source, names[0]);
            const after = find(later, later.names);
            const comment = /\bbare\b/.test(info) || !after.comment ? [] : after.comment.split('\n').map((line) => ({ text: line, kind: '' }));
            const sign = { '': ' ', add: '+', remove: '-' };
            const lines = [...comment, ...folded(changedLines(before, after), strings[language].unchanged)].map((line) => `${sign[line.kind]}${line.text}`.trimEnd());
            return `${fence('diff', lines.join('\n'))}\n${strings[language].changed(`\`${before.name}\``, `\`${after.name}\``)}: ${caption(later, after)}`;
        },
        results(content) {
            const { runName, run, lesson, which } = named(content);
            const drawing = which && lessonDrawing(lesson, which);
            if (drawing) return `${fence('text', drawing.lines.join('\n'))}\n${from(runName, lesson.name)}`;
            const recorded = which === undefined || which === 'steps' ? stepTable(run, lesson, language) : lessonTable(lesson, which);
            const { title, header, left, rows, note, steps, ladders = [0] } = language === 'zh' ? tableInChinese(recorded, lesson.name).table : recorded;
            const translated = say(lesson.name);
            const head = header.map((each) => {
                if (typeof each === 'string') return cell(translated(each));
                const name = translated(each.text);
                return `[${cell(name === each.text ? name : `${name} ${each.text}`)}](${toPage(each.page, each.anchor)})`;
            });
            const shown = ladders.map((begin, index) => table(head, left, rows.slice(begin, ladders[index + 1]).map((cells) => cells.map(cell)))).join('\n\n');
            const heading = note && !steps ? `${title}${language === 'zh' ? '；' : '; '}${note}` : title;
            return [title && `**${cell(heading)}**`, shown, [steps && note, from(runName, lesson.name)].filter(Boolean).join(' ')].filter(Boolean).join('\n\n');
        },
        bars(content) {
            const { runName, run, lesson } = named(content);
            const { kind, bars, roof } = stepBars(run, lesson, language);
            const most = Math.max(...bars.map((bar) => bar.value), roof?.value ?? 0);
            const rows = [...bars, ...(roof ? [roof] : [])].map((bar) => [cell(say()(bar.label)), bar.text, '█'.repeat(Math.max(1, Math.round((24 * bar.value) / most)))]);
            return `${table([strings[language].step, strings[language].barsOf[kind], ' '], [true, false, true], rows)}\n\n${from(runName, lesson.name)}`;
        },
        recorded() {
            const header = language === 'zh' ? ['名称', '机器', '命令', '日期'] : ['name', 'machine', 'command', 'date'];
            const rows = recordedRuns().map((name) => {
                const { machine, command, date } = provenance(recordedRun(name), undefined, say());
                return [`<a id="${name}"></a>${name}`, cell(machine), `\`${command}\``, date];
            });
            return table(header, [true, true, true, true], rows);
        },
        table(content, info) {
            const source = readSource(content.trim());
            const lines = source.text.match(/^\|[^]*?(?=\n(?!\|)|$(?![^]))/gm)[Number(source.names) - 1].split('\n');
            const said = /\bheads\b/.test(info) ? 1 : lines.length;
            return lines.map((line, index) => row(line.split(/(?<!\\)\|/).slice(1, -1).map((each) => (index < said ? say()(each.trim()) : each.trim())))).join('\n');
        },
    };

    const attribute = (tag, name) => new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1];
    const component = (tag, name) => {
        if (name === 'Drawing') {
            const { title, alt } = drawingWords[language][attribute(tag, 'name')];
            return `*${own.drawing(title, alt)}*`;
        }
        if (typeof own[name] === 'string') return `*${own[name]}*`;
        const trace = attribute(tag, 'src').split(/\s+/)[0];
        return `*${own[name](own.of(attribute(tag, 'left') ?? attribute(tag, 'step'), attribute(tag, 'right')), toFile(`docs/public/traces/${trace}.json`))}*`;
    };
    const link = (whole, href) => {
        if (/^([a-z][a-z+.-]*:|\/|#)/i.test(href)) return whole;
        const [, file, hash = ''] = /^([^#]*)(#.*)?$/.exec(href);
        const target = posix.normalize(posix.join(posix.dirname(origin), decodeURI(file)));
        const place = placeOf(target, book);
        if (!place) throw new Error(`${origin}: dead link: ${href}`);
        return whole.replace(href, place.source ? toFile(place.source, hash) : toPage(place.page, hash.slice(1)));
    };

    // Footnotes, one for each source.
    const runs = new Map();
    const noted = (whole, tag, content) => {
        const source = attribute(tag, 'source');
        if (!runs.has(source)) runs.set(source, runs.size + 1);
        return `${content}[^${runs.get(source)}]`;
    };

    let result = body(text).replace(/^(#{1,6} .*?) \{#[\w-]+\}$/gm, '$1');
    result = outsideOfCode(result, (piece) =>
        piece
            .replace(/^::: predict *$/gm, `**${strings[language].predict}**\n`)
            .replace(/^::: *$\n?/gm, '')
            .replace(/<Measured\b[^>]*>([^]*?)<\/Measured>/g, '$1')
            .replace(/<Literature\b([^>]*)>([^]*?)<\/Literature>/g, (whole, tag, content) => `${content} (${attribute(tag, 'source')})`)
            .replace(/<OurRun\b([^>]*)>([^]*?)<\/OurRun>/g, noted)
            .replace(/\]\(([^)\s]+)[^)]*\)/g, link)
            .replace(/<(WarpView|BlockView|LiveKernel|TraceLoader|OccupancyExplorer|AmdahlExplorer|Roofline|Drawing)\b((?:\s+\w+(?:="[^"]*")?)*)\s*\/>/g, (whole, name, tag) => component(tag, name)));
    // A tag may hold `code`, and a link's text, too; they are no longer in one piece above.
    result = result
        .replace(/<\/?Measured\b[^>]*>/g, '')
        .replace(/<Literature\b([^>]*)>([^]*?)<\/Literature>/g, (whole, tag, content) => `${content} (${attribute(tag, 'source')})`)
        .replace(/<OurRun\b([^>]*)>([^]*?)<\/OurRun>/g, noted);
    result = result.replace(/^( *)(`{3,})(code|change|results|bars|recorded|table)\b([^\n]*)\n([^]*?)^\1\2 *$/gm, (whole, indent, ticks, kind, info, content) =>
        makers[kind](content.trim(), info).replace(/^(?=.)/gm, indent));
    result = `${result.trimEnd()}\n${[...runs].map(([source, number]) => `\n[^${number}]: ${strings[language].ourRun}${source}\n`).join('')}`;
    return made === 'twin' ? own.english + result : result;
}

/// Anchors before headings whose ids on the site are not those that GitHub gives them.
function withAnchors(page, book, md, text) {
    const ids = new Map();
    const tokens = md.parse(body(book.pages.get(page).text), { path: path.join(root, 'docs', page), relativePath: page });
    tokens.forEach((token, index) => {
        if (token.type === 'heading_open') ids.set(tokens[index + 1].content, token.attrGet('id'));
    });
    return text.replace(/^(#{1,6}) (.+)$/gm, (whole, marks, title) => {
        const id = ids.get(title.trim());
        return id && id !== idOnGitHub(title) ? `<a id="${id}"></a>\n\n${whole}` : whole;
    });
}

/// [{text, page, depth}] in the order of the site's sidebar; without `page`: a heading.
function contents(book, language) {
    const flat = (items, depth) => items.flatMap((item) => [
        { text: item.text, depth, page: item.link?.slice(1).replace(/\.html$/, '.md').replace(/(^|\/)$/, '$1index.md') },
        ...flat(item.items ?? [], depth + 1),
    ]);
    return flat(sidebar(book, language), 0);
}

/// All files of the plain book: Map from the name below `folder` to the text.
export function plainBook(book, md, folder) {
    const files = new Map();
    for (const language of ['en', 'zh']) {
        const own = words[language];
        const list = contents(book, language);
        const shown = (page) => posix.relative(language, placeInOutput(page));
        const lines = list.map(({ text, page, depth }) => (depth === 0 ? `\n## ${text}\n` : `${'    '.repeat(depth - 1)}- ${page ? `[${text}](${shown(page)})` : text}`));
        const start = language === 'zh' ? 'zh/index.md' : 'index.md';
        files.set(`${language}/README.md`, `# Warpwise: ${own.contents}\n\n${own.made}\n\n[Warpwise](${shown(start)})\n${lines.join('\n')}\n`);
        const order = [start, ...list.map((item) => item.page).filter(Boolean)];
        for (const page of book.pages.keys()) {
            if (languageOf(page) !== language) continue;
            const name = placeInOutput(page);
            const to = (target) => posix.relative(posix.dirname(name), target);
            const at = order.indexOf(page);
            const neighbor = (word, other) => other && `${word}: [${posix.basename(other, '.md')}](${to(placeInOutput(other))})`;
            const foot = [neighbor(own.before, at > 0 && order[at - 1]), `[${own.contents}](${to(`${language}/README.md`)})`, neighbor(own.next, at >= 0 && order[at + 1])];
            const text = withAnchors(page, book, md, plainPage(page, book, folder));
            files.set(name, `${text.trim()}\n\n---\n\n${foot.filter(Boolean).join(' · ')}\n`);
        }
    }
    files.set('README.md', `# Warpwise\n\n- [${words.en.language}](en/README.md)\n- [${words.zh.language}](zh/README.md)\n`);
    return files;
}

/// Writes them, and removes pages of an earlier time. Only into a folder that is new, empty, or of an earlier time.
export function writePlainBook(files, folder) {
    const mark = path.join(folder, '.made_by_warpwise');
    if (fs.existsSync(folder) && fs.readdirSync(folder).length > 0 && !fs.existsSync(mark)) {
        throw new Error(`${folder} holds other files; name a folder that is new or empty`);
    }
    for (const language of ['en', 'zh']) fs.rmSync(path.join(folder, language), { recursive: true, force: true });
    for (const [name, text] of files) {
        fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
        fs.writeFileSync(path.join(folder, name), text);
    }
    fs.writeFileSync(mark, '');
}
