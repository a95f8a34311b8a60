// Figures that only a machine can give (times, bandwidths, rates) and are typed by hand need a provenance.
//
// On a lesson's page each stands in <Measured source="RUN LESSON">...</Measured>, and then has to be one of that run's
// figures, in <Literature source="...">...</Literature> if others have published it, or in
// <OurRun source="WHAT, MACHINE, DATE">...</OurRun> if a run of ours gave it that is not recorded. On other pages it is
// enough that the section names a date.
import { figuresOf, recordedLesson, recordedRun } from '../book/results.mjs';

const units = {
    'GB/s': ['gigabytes', 1], 'TB/s': ['gigabytes', 1e3], 'MB/s': ['gigabytes', 1e-3], 'GiB/s': ['gigabytes', 1.073741824],
    'Gop/s': ['gigabytes', 1], 'GFLOP/s': ['gigabytes', 1], 'TFLOP/s': ['gigabytes', 1e3],
    ns: ['seconds', 1e-9], us: ['seconds', 1e-6], 'µs': ['seconds', 1e-6], 'μs': ['seconds', 1e-6], ms: ['seconds', 1e-3],
    nanoseconds: ['seconds', 1e-9], microseconds: ['seconds', 1e-6], milliseconds: ['seconds', 1e-3],
    纳秒: ['seconds', 1e-9], 微秒: ['seconds', 1e-6], 毫秒: ['seconds', 1e-3],
};
const names = Object.keys(units).sort((a, b) => b.length - a.length).map((unit) => unit.replace('/', '\\/')).join('|');
const number = String.raw`\d[\d,]*(?:\.\d+)?`;
const withUnit = new RegExp(`(${number})(?:[ \u00a0]|&nbsp;)*(${names})(?![\\w/])`, 'g');

/// Figures of a piece of Markdown: [{text, value, unit, digit, at}]; `digit` is what its last digit is worth.
export function figuresIn(markdown) {
    return [...markdown.matchAll(withUnit)].map((match) => ({ text: match[0], at: match.index, ...parsed(match[1]), unit: match[2] }));
}

function parsed(text) {
    const plain = text.replaceAll(',', '');
    return { value: Number(plain), digit: 10 ** -(plain.split('.')[1]?.length ?? 0) };
}

const near = (figure, scale, recorded) => recorded.some((value) => Math.abs(value - figure.value * scale) <= 0.5001 * figure.digit * scale);

/// What is wrong with a <Measured source="..."> and its content, or undefined.
export function problemOfMeasured(source, content, derived) {
    const [runName, lessonName] = (source ?? '').trim().split(/\s+/);
    if (!runName || !lessonName) return 'Measured needs source="RUN LESSON"';
    let figures;
    try {
        const run = recordedRun(runName);
        figures = figuresOf(run, recordedLesson(run, lessonName));
    } catch (error) {
        return error.message;
    }
    if (derived) return undefined;
    const units_ = figuresIn(content);
    const seen = new Set(units_.map((figure) => figure.at));
    for (const figure of units_) {
        const [dimension, scale] = units[figure.unit];
        if (!near(figure, scale, figures[dimension]) && !near(figure, 1, figures.plain) && !(scale === 1e3 && near(figure, scale, figures.plain))) {
            return `${figure.text} is not in ${source}`;
        }
    }
    const bare = content.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length));
    for (const match of bare.matchAll(new RegExp(number, 'g'))) {
        if (seen.has(match.index)) continue;
        const figure = parsed(match[0]);
        if (!near(figure, 1, [...figures.plain, ...figures.gigabytes])) return `${match[0]} is not in ${source}`;
    }
    return undefined;
}

const day = /\b20\d\d-\d\d-\d\d\b/;
const blank = (text) => text.replace(/[^\n]/g, ' ');

/// [{line, message}] of a page; `lesson` says whether it is one on a lesson, where rules are strict.
export function problemsOfFigures(markdown, { lesson }) {
    const problems = [];
    const report = (text, at, message) => problems.push({ line: text.slice(0, at).split('\n').length, message });
    let rest = markdown
        .replace(/^---\n[^]*?\n---\n/, blank)
        .replace(/<!--[^]*?-->/g, blank)
        .replace(/^( *)(`{3,}|~{3,})(code|change|results|bars|recorded|table)\b[^]*?^\1\2 *$/gm, blank);
    rest = rest.replace(/<Measured\b([^>]*)>([^]*?)<\/Measured>/g, (whole, attributes, content, at) => {
        const source = /source="([^"]*)"/.exec(attributes)?.[1];
        const problem = problemOfMeasured(source, content, /\bderived\b/.test(attributes));
        if (problem) report(rest, at, problem);
        return blank(whole);
    });
    rest = rest.replace(/<(Literature|OurRun)\b([^>]*)>([^]*?)<\/\1>/g, (whole, tag, attributes, content, at) => {
        const source = /source="([^"]+)"/.exec(attributes)?.[1];
        if (!source) report(rest, at, `${tag} needs source="..."`);
        // A publication has a year; a day is that of a run.
        else if (tag === 'Literature' && day.test(source)) report(rest, at, `"${source}" is a run of our own: use <OurRun source="...">`);
        return blank(whole);
    });
    const loose = figuresIn(rest);
    if (lesson) {
        for (const figure of loose) {
            report(rest, figure.at, `"${figure.text}" has no provenance: put it into <Measured source="RUN LESSON">, <Literature source="..."> or <OurRun source="...">`);
        }
        return problems;
    }
    const introduction = rest.split(/^## /m)[0];
    if (day.test(introduction)) return problems;
    const headings = [...rest.matchAll(/^#{1,6} /gm)].map((match) => match.index);
    for (const figure of loose) {
        const begin = Math.max(0, ...headings.filter((at) => at <= figure.at));
        const end = headings.find((at) => at > figure.at) ?? rest.length;
        if (!day.test(rest.slice(begin, end))) {
            report(rest, figure.at, `"${figure.text}" has no provenance: name machine and date in its section, or use <Measured>, <Literature> or <OurRun>`);
        }
    }
    return problems;
}
