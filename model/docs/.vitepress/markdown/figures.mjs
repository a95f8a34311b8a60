// Figures that only a machine can give (times, bandwidths, rates) and are typed by hand need a provenance.
//
// On a lesson's page each stands in <Measured source="RUN LESSON" at="PLACE">...</Measured>, and then has to be the one at
// that place in the run (book/addresses.mjs), or one of the lesson's figures if no place is named, in
// <Literature source="...">...</Literature> if others have published it, or in
// <OurRun source="WHAT, MACHINE, DATE">...</OurRun> if a run of ours gave it that is not recorded. On other pages it is
// enough that the section names a date.
import { factorBetween, figureAt, figuresIn, numbersIn, units } from '../book/addresses.mjs';
import { figuresOf, recordedLesson, recordedRun } from '../book/results.mjs';

const near = (figure, scale, recorded) => recorded.some((value) => Math.abs(value - figure.value * scale) <= 0.5001 * figure.digit * scale);

/// What is wrong with the figures of a text that are said to be those of a lesson, or undefined.
export function problemOfText(run, lesson, text, source) {
    const figures = figuresOf(run, lesson);
    for (const figure of numbersIn(text)) {
        const [dimension, scale] = figure.unit ? units[figure.unit] : [];
        const found = figure.unit
            ? near(figure, scale, figures[dimension]) || near(figure, 1, figures.plain) || (scale === 1e3 && near(figure, scale, figures.plain))
            : near(figure, 1, [...figures.plain, ...figures.gigabytes]);
        if (!found) return `${figure.text} is not in ${source}`;
    }
    return undefined;
}

/// What is wrong with the figures of a text that say where each of them stands, in this order, or undefined.
function problemOfAddresses(lesson, text, source, at) {
    const addresses = at.split(';').map((address) => address.trim());
    const figures = numbersIn(text);
    if (figures.length !== addresses.length) return `at="${at}" names ${addresses.length} figures, and "${text}" has ${figures.length}`;
    for (const [index, address] of addresses.entries()) {
        const recorded = figureAt(lesson, address);
        if (!recorded) return `${source} has no figure at "${address}"`;
        if (factorBetween(figures[index], recorded) === undefined) {
            return `${figures[index].text} is not in ${source} at "${address}", where there is ${recorded.value}`;
        }
    }
    return undefined;
}

/// What is wrong with a <Measured source="..." at="..."> and its content, or undefined.
export function problemOfMeasured(source, content, derived, at) {
    const [runName, lessonName] = (source ?? '').trim().split(/\s+/);
    if (!runName || !lessonName) return 'Measured needs source="RUN LESSON"';
    try {
        const run = recordedRun(runName);
        const lesson = recordedLesson(run, lessonName);
        if (derived) return undefined;
        return at ? problemOfAddresses(lesson, content, source, at) : problemOfText(run, lesson, content, source);
    } catch (error) {
        return error.message;
    }
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
        const place = /\bat="([^"]*)"/.exec(attributes)?.[1];
        const derived = /\bderived\b/.test(attributes.replace(/"[^"]*"/g, ''));
        const problem = problemOfMeasured(source, content, derived, place);
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
