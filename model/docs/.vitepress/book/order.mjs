// Whether the text keeps to the path: no lesson sends the learner to an exercise that comes only after the next lesson, and
// no exercise takes a lesson for known that comes after it.
import { pageOf } from './repository.mjs';

const lineOf = (text, at) => text.slice(0, at).split('\n').length;
const exerciseLinks = (text) => [...text.matchAll(/\]\((?:[^)\s]*\/)?(\d+_\w+)\/(\w+)(?:\/README)?\.md\)/g)].map((match) => ({ at: match.index, name: match[2] }));

/// The section of a page, {text, at}, whose heading is one of these.
function section(text, heads) {
    const begin = new RegExp(`^## (?:${heads.join('|')})\\s*$`, 'm').exec(text);
    if (!begin) return { text: '', at: 0 };
    const rest = text.slice(begin.index + begin[0].length);
    const end = /^## /m.exec(rest)?.index ?? rest.length;
    return { text: rest.slice(0, end), at: begin.index + begin[0].length };
}

/// Problems as "FILE:LINE: ..."; `book` is readBook()'s.
export function problemsOfOrder({ pages, chapters }) {
    const problems = [];
    const stops = chapters.flatMap((chapter) => chapter.path.map((stop) => ({ ...stop, page: pageOf(chapter, stop) })));
    const places = new Map(stops.map(({ kind, name }, index) => [`${kind} ${name}`, index]));

    for (const [index, { kind, name, page }] of stops.entries()) {
        for (const prefix of ['', 'zh/']) {
            const entry = pages.get(prefix + page);
            if (!entry || entry.made === 'twin') continue;
            const { text, origin } = entry;
            if (kind === 'lesson') {
                const next = stops.findIndex((stop, at) => at > index && stop.kind === 'lesson');
                const exercises = section(text, ['Exercises', '练习']);
                for (const link of exerciseLinks(exercises.text)) {
                    const place = places.get(`exercise ${link.name}`);
                    if (next < 0 || place === undefined || place < next) continue;
                    problems.push(`${origin}:${lineOf(text, exercises.at + link.at)}: asks for the exercise ${link.name}, which comes later on the path, after ${stops[next].name}`);
                }
            }
            if (kind === 'exercise' && prefix === '') {
                const known = /\*\*You know\*\* \(([^)]*)\)/.exec(text);
                for (const [, lesson] of known?.[1].matchAll(/`(\w+)`/g) ?? []) {
                    const place = places.get(`lesson ${lesson}`) ?? places.get(`exercise ${lesson}`);
                    if (place === undefined) problems.push(`${origin}:${lineOf(text, known.index)}: there is no lesson or exercise ${lesson}`);
                    else if (place > index) problems.push(`${origin}:${lineOf(text, known.index)}: ${name} takes ${lesson} for known, which comes later on the path`);
                }
            }
        }
    }

    return problems;
}
