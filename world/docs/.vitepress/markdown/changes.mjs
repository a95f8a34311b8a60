// What changed between two kernels: lines that went and came, and in them the words that did. Comments, empty lines, and line
// breaks are no changes: comments of the later kernel are shown as they are, those of the earlier one are left out.
import { diffArrays } from 'diff';

const isComment = (text) => /^\s*\/\//.test(text);
/// A line without the comment at its end. A // in a string is none.
const withoutComment = (text) => /^(?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\/(?!\/))*/.exec(text)[0].trimEnd();
const sameSpaces = (text) => text.trim().replace(/\s+/g, ' ');

/// [{word, line, from, to}] of lines of code.
const wordsOf = (lines) =>
    lines.flatMap((text, line) => [...withoutComment(text).matchAll(/\w+|[^\w\s]/g)].map((match) => ({ word: match[0], line, from: match.index, to: match.index + match[0].length })));

/// Adjacent ranges become one.
function merged(ranges, text) {
    const result = [];
    for (const [from, to] of ranges) {
        const last = result.at(-1);
        if (last && text.slice(last[1], from).trim() === '') last[1] = to;
        else result.push([from, to]);
    }
    return result;
}

/// The words of some lines that went and some that came, as ranges of each line: {removed, added, equal}. Where hardly a word
/// stayed, no words are marked: the lines as a whole are others. `equal`: all words are the same.
function changedWords(removed, added) {
    const [before, after] = [wordsOf(removed), wordsOf(added)];
    const marks = { removed: removed.map(() => []), added: added.map(() => []) };
    let kept = 0, from = 0, to = 0, equal = true;
    for (const part of diffArrays(before.map(({ word }) => word), after.map(({ word }) => word))) {
        const count = part.value.length;
        if (!part.added && !part.removed) kept += count;
        else equal = false;
        if (part.removed) for (const word of before.slice(from, from + count)) marks.removed[word.line].push([word.from, word.to]);
        if (part.added) for (const word of after.slice(to, to + count)) marks.added[word.line].push([word.from, word.to]);
        if (!part.added) from += count;
        if (!part.removed) to += count;
    }
    if (kept < 0.5 * Math.max(before.length, after.length)) return { equal };
    return { equal, removed: marks.removed.map((ranges, line) => merged(ranges, removed[line])), added: marks.added.map((ranges, line) => merged(ranges, added[line])) };
}

/// [{text, kind, marks}] of the code of `after`, with the lines of `before` that went; kind is '', 'add' or 'remove'; `marks` are
/// the ranges of a line that changed, if not all of it did. That the kernel has another name is no change.
export function changedLines(before, after) {
    const renamed = before.code.replaceAll(new RegExp(`\\b${before.name}\\b`, 'g'), after.name);
    const isCode = (text) => text.trim() !== '' && !isComment(text);
    const old = renamed.split('\n').filter(isCode);
    const all = after.code.split('\n');
    const now = all.filter(isCode);
    const compared = (lines) => lines.map((text) => sameSpaces(withoutComment(text)));

    const lines = [];
    let next = 0; // of `all`
    const take = (count, kind, marks) => {
        for (let taken = 0; taken < count; ++next) {
            const text = all[next];
            if (!isCode(text)) lines.push({ text, kind: '' });
            else lines.push({ text, kind, ...(marks?.[taken]?.length > 0 && { marks: marks[taken] }) }), ++taken;
        }
    };
    let from = 0, to = 0;
    const parts = diffArrays(compared(old), compared(now));
    for (let index = 0; index < parts.length; ++index) {
        const part = parts[index];
        if (!part.added && !part.removed) {
            take(part.value.length, '');
            from += part.value.length;
            to += part.value.length;
            continue;
        }
        const other = parts[index + 1];
        const isPair = other && (other.added || other.removed) && other.added !== part.added;
        const gone = part.removed ? part : isPair ? other : undefined;
        const come = part.added ? part : isPair ? other : undefined;
        if (isPair) ++index;
        const removed = old.slice(from, (from += gone?.value.length ?? 0));
        const added = now.slice(to, (to += come?.value.length ?? 0));
        const words = gone && come ? changedWords(removed, added) : {};
        if (words.equal) {
            take(added.length, '');
            continue;
        }
        for (const [line, text] of removed.entries()) lines.push({ text, kind: 'remove', ...(words.removed?.[line].length > 0 && { marks: words.removed[line] }) });
        take(added.length, 'add', words.added);
    }
    for (; next < all.length; ++next) lines.push({ text: all[next], kind: '' });
    return lines;
}

/// The same lines, of which long runs without a change became one line that `say` makes from their number. The first line,
/// which is the kernel's name, and `around` lines beside each change stay.
export function folded(lines, say, around = 3) {
    const near = lines.map((_, index) => index === 0 || lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.kind !== ''));
    const result = [];
    for (let index = 0; index < lines.length; ) {
        const end = near.indexOf(true, index) === -1 ? lines.length : near.indexOf(true, index);
        if (end - index > 2) result.push({ text: say(end - index), kind: '' });
        else result.push(...lines.slice(index, end));
        if (end < lines.length) result.push(lines[end]);
        index = end + 1;
    }
    return result;
}

/// What the highlighter made of some lines, with <mark> around the ranges of each. `html` holds one line per line.
export function withMarks(html, ranges) {
    return html.split('\n').map((line, index) => (ranges[index]?.length > 0 ? markedLine(line, ranges[index]) : line)).join('\n');
}

function markedLine(line, ranges) {
    let at = 0;
    let open = false;
    return line.replace(/<[^>]*>|&(?:#?\w+);|[^<&]|&/g, (piece) => {
        if (piece.startsWith('<')) {
            if (!open) return piece;
            open = false;
            return `</mark>${piece}`;
        }
        const inside = ranges.some(([from, to]) => at >= from && at < to);
        ++at;
        if (inside === open) return piece;
        open = inside;
        return inside ? `<mark>${piece}` : `</mark>${piece}`;
    });
}
