// The index of the CUDA names that lessons and exercises use: one page per language, both made from docs/api_names.json. For
// each name: what it does, the mistake that people make with it, the lesson that teaches it, and where else it is used.
import fs from 'node:fs';
import path from 'node:path';
import { chapters, exercises, root } from './repository.mjs';
import { strings } from './strings.mjs';

export const namesPage = 'cuda_names.md';

/// [{group, en, zh, names: [{name, lesson, en: {does, mistake}, zh: {does, mistake}}]}]
export const namesOfIndex = () => JSON.parse(fs.readFileSync(path.join(root, 'docs/api_names.json'), 'utf8'));

/// The anchor of a name on the page.
export const anchorOf = (name) => (name.startsWith('<') ? 'launch' : name.replace(/[^\w]+/g, '-'));

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

/// The page in one language. `titles` maps pages to their titles.
export function textOfNames(language, titles, sources = sourcesOfPath()) {
    const words = strings[language].names;
    const link = (page) => `[${titles.get((language === 'zh' ? 'zh/' : '') + page) ?? page}](${page})`;
    const sections = namesOfIndex().map(({ group, names, ...title }) => {
        const entries = names.map((entry) => {
            const page = `${entry.lesson}.md`;
            const more = sources
                .filter(({ kind, text, folder, name }) => kind === 'exercise' && usesName(text, entry.name) && `${folder}/${name}` !== entry.lesson)
                .slice(0, 3)
                .map(({ folder, name }) => link(`exercises/${folder}/${name}.md`));
            const { does, mistake } = entry[language];
            return `### \`${entry.name}\` {#${anchorOf(entry.name)}}\n\n${does}\n\n**${words.mistake}** ${mistake}\n\n${words.taught} ${link(page)}${more.length > 0 ? `${words.practiced} ${more.join(words.comma)}` : ''}${words.end}`;
        });
        return `## ${title[language]} {#names-${group}}\n\n${entries.join('\n\n')}`;
    });
    return `---\ntitle: ${words.title}\ndescription: ${words.about}\noutline: [2, 2]\n---\n# ${words.title}\n\n${words.intro}\n\n${sections.join('\n\n')}\n`;
}
