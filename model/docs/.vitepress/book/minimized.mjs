// Recorded runs as they are kept in docs/results: what a chapter program writes with --json, without what nobody reads.
//
//     fs.writeFileSync(file, textOfRun(minimizedRun(JSON.parse(text))));
//
// Left out are the lesson's expectations and its texts (they are in its source), the addresses of wrong values, times other than median, 10 % and 90 %, members that are null or empty, and digits after the eighth (of counts: after the point). The launches of a step
// become their sum, "counted".
import { countedOf } from './counted.mjs';

const short = (value) => (Math.abs(value) >= 1e8 ? Math.round(value) : Number.isInteger(value) ? value : Number(value.toPrecision(8)));

/// The same value with short numbers, and without members that are null or empty.
function shortened(value) {
    if (typeof value === 'number') return short(value);
    if (Array.isArray(value)) return value.map(shortened);
    if (value == null || typeof value !== 'object') return value;
    const kept = Object.entries(value).map(([key, member]) => [key, shortened(member)])
        .filter(([, member]) => member != null && !(Array.isArray(member) && member.length === 0));
    return Object.fromEntries(kept);
}

const timesOf = (seconds) => (seconds ? { median: seconds.median, p10: seconds.p10, p90: seconds.p90 } : null);

function minimizedStep(step) {
    const { name, number, change, kind, comparison, seconds, bytes, operations, figures, diagnostics } = step;
    const { gb_per_s, gop_per_s, share_of_roof, share_of_vendor, speed_up } = step;
    return {
        number, name, change, kind,
        comparison: comparison ? { passed: comparison.passed, largest_error: comparison.largest_error } : null,
        seconds: timesOf(seconds),
        bytes, operations, gb_per_s, gop_per_s, share_of_roof, share_of_vendor, speed_up, figures,
        counted: step.counted ?? (step.launches?.length ? countedOf(step.launches) : null),
        diagnostics,
    };
}

/// What is the same for a lesson of its own and for one of many.
export function minimizedLesson(lesson) {
    const { name, size, roof, diagnostics, failure, passed, device, date, command } = lesson;
    const brief = shortened({
        name, device, date, command, size,
        roof: roof ? { name: roof.name, gb_per_s: roof.gb_per_s, seconds: timesOf(roof.seconds) } : null,
        diagnostics, failure, passed,
        drawings: lesson.drawings,
    });
    return {
        ...brief,
        steps: (lesson.steps ?? []).map((step) => shortened(minimizedStep(step))),
        tables: (lesson.tables ?? []).map(({ name, title, note, header, rows }) => ({ name, title, ...(note && { note }), header, rows })),
    };
}

/// Minimizing again changes nothing.
export function minimizedRun(run) {
    return { ...run, lessons: run.lessons.map(minimizedLesson) };
}

/// As JSON with a step or a table a line, so that a difference names what has changed.
export function textOfRun(run) {
    const { lessons, ...rest } = run;
    const list = (values) => (values.length === 0 ? '[]' : `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}]`);
    const texts = lessons.map(({ steps, tables, ...lesson }) =>
        `${JSON.stringify(lesson).slice(0, -1)},\n"steps":${list(steps)},\n"tables":${list(tables)}}`);
    return `${JSON.stringify(rest).slice(0, -1)},\n"lessons":[\n${texts.join(',\n')}]}\n`;
}
