// The traces that views on pages show: whether they are there, and still of today's sources.
import fs from 'node:fs';
import path from 'node:path';
import { checkTrace, findLaunch } from '../../../common/views/trace.mjs';
import { root } from './repository.mjs';

const folder = path.join('docs', 'public', 'traces');
const again = (name) => `record it again: docs/scripts/record_traces.sh ${name}`;

/// [{trace, message}] of the recorded traces in a repository whose source text is another one now, or at another place.
export function problemsOfTraces(repository = root) {
    const problems = [];
    for (const file of fs.readdirSync(path.join(repository, folder)).sort()) {
        const name = path.basename(file, '.json');
        const tell = (message) => problems.push({ trace: `${folder}/${file}`, message: `${message}; ${again(name)}` });
        const sources = new Map();
        const { launches } = checkTrace(fs.readFileSync(path.join(repository, folder, file), 'utf8'));
        for (const { path: source, first, lines } of launches.flatMap((launch) => launch.files)) {
            const whole = path.join(repository, source);
            if (!sources.has(source)) sources.set(source, fs.existsSync(whole) ? fs.readFileSync(whole, 'utf8').split('\n') : []);
            const now = sources.get(source);
            const at = lines.findIndex((line, index) => now[first - 1 + index] !== line);
            if (at >= 0) {
                tell(`${source}:${first + at} is not what was traced, "${lines[at].trim()}"`);
                break;
            }
        }
    }
    return problems;
}

/// [{line, message}] of the views in the text of a page that name a trace or a launch that is not there.
export function problemsOfViews(text, repository = root) {
    const problems = [];
    for (const [index, row] of text.split('\n').entries()) {
        for (const [, view, words] of row.matchAll(/<(WarpView|BlockView)\s([^>]*)>/g)) {
            const value = (name) => words.match(new RegExp(`(?:^|\\s)${name}="([^"]*)"`))?.[1];
            const names = value('src')?.split(' ') ?? [];
            const files = names.map((name) => path.join(repository, folder, `${name}.json`));
            const missing = names.find((_, at) => !fs.existsSync(files[at]));
            if (missing !== undefined) {
                problems.push({ line: index + 1, message: `${view}: there is no trace ${missing}` });
                continue;
            }
            const launches = files.flatMap((file) => checkTrace(fs.readFileSync(file, 'utf8')).launches);
            for (const side of ['left', 'right']) {
                const wanted = value(side);
                if (wanted !== undefined && findLaunch(launches, wanted) < 0) problems.push({ line: index + 1, message: `${view}: ${names.join(', ')} has no launch "${wanted}"` });
            }
        }
    }
    return problems;
}
