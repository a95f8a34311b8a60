// The CUDA names that lessons and exercises use, in each language an index and a page for each name, all made from docs/api_names.json:
// what it does, the mistake that people make with it, the lesson that teaches it, how it is used there, and where else it is used.
import fs from 'node:fs';
import path from 'node:path';
import { chapters, exercises, root } from './repository.mjs';
import { strings } from './strings.mjs';

export const namesPage = 'cuda_names.md';

/// [{group, en, zh, names: [{name, lesson, en: {does, mistake}, zh: {does, mistake}}]}]
export const namesOfIndex = () => JSON.parse(fs.readFileSync(path.join(root, 'docs/api_names.json'), 'utf8'));

/// The page of a name.
export const pageOfName = (name) => `cuda_names/${name.startsWith('<') ? 'launch' : name.replace(/[^\w]+/g, '-')}.md`;

/// What is looked for in sources: `<<<grid, block>>>` is written in many ways.
export const usesName = (source, name) =>
    name.startsWith('<') ? source.includes('<<<') : new RegExp(`(?<!\\w)${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ /g, '\\s+')}(?!\\w)`).test(source);

const sourcesIn = (folder, isSource = /\.(?:cu|cuh)$/) =>
    fs.existsSync(path.join(root, folder)) && fs.statSync(path.join(root, folder)).isDirectory()
        ? fs.readdirSync(path.join(root, folder)).filter((name) => isSource.test(name)).map((name) => fs.readFileSync(path.join(root, folder, name), 'utf8')).join('\n')
        : '';

/// [{kind, name, folder, text}] of all lessons and exercises on the path: their sources.
export function sourcesOfPath() {
    return chapters().flatMap(({ folder, path: stops }) => stops.filter(({ kind }) => kind !== 'page').map(({ kind, name }) => {
        const place = `${kind === 'lesson' ? 'chapters' : 'exercises'}/${folder}/${name}`;
        const single = path.join(root, `${place}.cu`);
        return { kind, name, folder, text: fs.existsSync(single) ? fs.readFileSync(single, 'utf8') : sourcesIn(place) };
    }));
}

/// The first statement of a source that uses a name, with the lines that it goes on in, or undefined. Texts and comments do not count.
export function exampleOf(source, name) {
    const lines = source.split('\n');
    const bare = (line) => line.replace(/"(?:\\.|[^"\\])*"/g, '""').replace(/\/\/.*/, '');
    const open = (text) => text.split('(').length - text.split(')').length;
    for (let first = 0; first < lines.length; ++first) {
        if (!usesName(bare(lines[first]), name) || /^\s*(?:#|\*|"|using\b)/.test(lines[first])) continue;
        let last = first;
        while (last - first < 4 && last + 1 < lines.length && open(bare(lines.slice(first, last + 1).join('\n'))) > 0) ++last;
        const statement = lines.slice(first, last + 1);
        const text = bare(statement.join('\n')).trimEnd();
        const isMiddle = open(text) !== 0 || !/[;{}]$/.test(text) || text.split('}').length > text.split('{').length;
        if (isMiddle) continue;
        const indent = statement[0].search(/\S/);
        return statement.map((line) => line.slice(Math.min(indent, line.search(/\S|$/)))).join('\n');
    }
    return undefined;
}

/// The index in one language.
export function textOfNames(language) {
    const words = strings[language].names;
    const sections = namesOfIndex().map(({ group, names, ...title }) =>
        `## ${title[language]} {#names-${group}}\n\n${names.map((entry) => `- [\`${entry.name}\`](${pageOfName(entry.name)})${words.colon}${entry[language].does}`).join('\n')}`);
    return `---\ntitle: ${words.title}\ndescription: ${words.about}\noutline: [2, 2]\n---\n# ${words.title}\n\n${words.intro}\n\n${sections.join('\n\n')}\n`;
}

/// Map from pages to their texts in one language, without "zh/". `titles` maps pages to their titles.
export function textsOfNamePages(language, titles, sources = sourcesOfPath()) {
    const words = strings[language].names;
    const link = (page) => `[${titles.get((language === 'zh' ? 'zh/' : '') + page) ?? page}](../${page})`;
    return new Map(namesOfIndex().flatMap(({ names }) => names.map((entry) => {
        const { does, mistake } = entry[language];
        const more = sources
            .filter(({ kind, text, folder, name }) => kind === 'exercise' && usesName(text, entry.name) && `${folder}/${name}` !== entry.lesson)
            .slice(0, 3)
            .map(({ folder, name }) => link(`exercises/${folder}/${name}.md`));
        const example = exampleOf(sources.find(({ folder, name }) => `${folder}/${name}` === entry.lesson)?.text ?? '', entry.name);
        const others = names.filter(({ name }) => name !== entry.name).map(({ name }) => `[\`${name}\`](${path.posix.basename(pageOfName(name))})`);
        const parts = [
            `# \`${entry.name}\``,
            does,
            `**${words.mistake}** ${mistake}`,
            `${words.taught} ${link(`${entry.lesson}.md`)}${more.length > 0 ? `${words.practiced} ${more.join(words.comma)}` : ''}${words.end}`,
            ...(example ? [words.example, `\`\`\`cuda\n${example}\n\`\`\``] : []),
            `${words.others} ${others.join(words.comma)}${words.end} [${words.all}](../${namesPage})`,
        ];
        const about = JSON.stringify(does.replace(/`/g, ''));
        return [pageOfName(entry.name), `---\ntitle: ${JSON.stringify(entry.name)}\ndescription: ${about}\noutline: false\n---\n${parts.join('\n\n')}\n`];
    })));
}
