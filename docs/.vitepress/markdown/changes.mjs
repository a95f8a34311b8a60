// What changed between two kernels, line by line.
import { diffLines } from 'diff';

/// [{text, kind}] of the code of `after`, with the lines of `before` that went; kind is '', 'add' or 'remove'. That the
/// kernel has another name is no change.
export function changedLines(before, after) {
    const renamed = before.code.replaceAll(new RegExp(`\\b${before.name}\\b`, 'g'), after.name);
    const lines = [];
    for (const part of diffLines(`${renamed}\n`, `${after.code}\n`)) {
        const kind = part.added ? 'add' : part.removed ? 'remove' : '';
        for (const text of part.value.replace(/\n$/, '').split('\n')) lines.push({ text, kind });
    }
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
