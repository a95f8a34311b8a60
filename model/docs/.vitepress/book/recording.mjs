// What changes when a lesson is recorded anew: its part of docs/results, and the figures that pages quote from it.
import { factorBetween, figureAt, matchesOf, numbersIn, rewritten } from './addresses.mjs';
import { minimizedLesson } from './minimized.mjs';

/// Without "--json FILE", which says nothing about the run.
function plainCommand(command) {
    const json = command.indexOf('--json');
    return json < 0 ? command : command.filter((_, index) => index !== json && index !== json + 1);
}

/// The stored run with the lessons of a new one in it, which keep machine, date and command of their own. `order` are the
/// names of the chapter's lessons. Throws when the new run is of no GPU or of another chapter, or when a lesson failed.
export function merged(stored, run, order) {
    if (run.device?.kind !== 'cuda') throw new Error('this run is not one of a GPU');
    if (run.chapter.number !== stored.chapter.number) throw new Error(`this run is of chapter ${run.chapter.number}, not ${stored.chapter.number}`);
    const failed = run.lessons.filter((lesson) => !lesson.passed).map((lesson) => lesson.name);
    if (failed.length > 0) throw new Error(`${failed.join(', ')}: not recorded, because a check failed`);
    const lessons = new Map(stored.lessons.map((lesson) => [lesson.name, lesson]));
    for (const lesson of run.lessons) {
        lessons.set(lesson.name, minimizedLesson({ ...lesson, device: run.device, date: run.date, command: plainCommand(run.command) }));
    }
    const place = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
    return { ...stored, lessons: [...lessons.values()].sort((a, b) => place(a.name) - place(b.name)) };
}

/// What a figure of a text becomes: {text}, or {why} it cannot be told. `address` may be absent: then the figure has to be
/// one that stands only once in the lesson.
function renewed(figure, address, before, after) {
    let old;
    if (address) {
        old = figureAt(before, address);
    } else {
        const matches = matchesOf(figure, before);
        if (matches.length > 1) return { why: `${figure.text} stands ${matches.length} times in the old data: add at="..."` };
        old = matches[0];
    }
    const factor = old && factorBetween(figure, old);
    if (factor === undefined) return { why: `${figure.text} is not in the old data${address ? ` at "${address}"` : ''}` };
    const now = figureAt(after, old.address);
    return now ? { text: rewritten(figure, now.value / factor) } : { why: `the new data has nothing at "${old.address}"` };
}

/// The text with the numbers of `content` renewed, or {why}.
function renewedText(content, at, before, after) {
    const addresses = at?.split(';').map((address) => address.trim()) ?? [];
    let text = content;
    for (const [index, figure] of [...numbersIn(content).entries()].reverse()) {
        const { text: now, why } = renewed(figure, addresses[index], before, after);
        if (why) return { why };
        text = text.slice(0, figure.at) + now + text.slice(figure.at + figure.number.length);
    }
    return { text };
}

const mark = /<Measured\b([^>]*)>([^]*?)<\/Measured>/g;
const attribute = (attributes, name) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1];
const isDerived = (attributes) => /\bderived\b/.test(attributes.replace(/"[^"]*"/g, ''));
const lineOf = (text, at) => text.slice(0, at).split('\n').length;

/// {text, unresolved: [{line, message}]}: a page with the figures renewed that it quotes from a lesson. `lesson` is
/// {source: "h200_chapter_2 coalescing", before, after}.
export function renewedMarks(page, lesson) {
    const unresolved = [];
    const text = page.replace(mark, (whole, attributes, content, at) => {
        if (attribute(attributes, 'source')?.trim().replace(/\s+/g, ' ') !== lesson.source) return whole;
        const give_up = (message) => {
            unresolved.push({ line: lineOf(page, at), message });
            return whole;
        };
        if (isDerived(attributes)) return give_up(`"${content}" was computed from others: do it again`);
        const { text: now, why } = renewedText(content, attribute(attributes, 'at'), lesson.before, lesson.after);
        return why ? give_up(why) : whole.slice(0, -content.length - '</Measured>'.length) + now + '</Measured>';
    });
    return { text, unresolved };
}

/// Cells of a Markdown table that names the lesson in the first column, below <!-- measured -->: renewed like marks.
export function renewedTables(page, lesson) {
    const name = lesson.source.split(' ')[1];
    const unresolved = [];
    let measured = false, inTable = false, current;
    const lines = page.split('\n').map((line, index) => {
        const isRow = line.startsWith('|');
        if (line.trim() === '<!-- measured -->') measured = true;
        else if (!isRow && (inTable || line.trim() !== '')) measured = false;
        inTable = measured && isRow;
        if (!inTable) return line;
        const cells = line.split('|');
        current = /`(\w+)`/.exec(cells[1])?.[1] ?? current;
        if (current !== name) return line;
        return cells.map((cell, column) => {
            if (column < 3 || cell.trim() === '') return cell;
            const { text, why } = renewedText(cell, undefined, lesson.before, lesson.after);
            if (why) unresolved.push({ line: index + 1, message: why });
            return text ?? cell;
        }).join('|');
    });
    return { text: lines.join('\n'), unresolved };
}

/// The page with at="..." on those marks whose number stands only once in the lesson. `lessonOf(source)` may throw.
export function addressedMarks(page, lessonOf) {
    return page.replace(mark, (whole, attributes, content) => {
        if (isDerived(attributes) || attribute(attributes, 'at') !== undefined) return whole;
        let lesson;
        try {
            lesson = lessonOf(attribute(attributes, 'source'));
        } catch {
            return whole;
        }
        const addresses = numbersIn(content).map((figure) => {
            const matches = matchesOf(figure, lesson);
            return matches.length === 1 && !/["<>|;]/.test(matches[0].address) ? matches[0].address : undefined;
        });
        if (addresses.length === 0 || addresses.includes(undefined)) return whole;
        return `<Measured${attributes} at="${addresses.join('; ')}">${content}</Measured>`;
    });
}

