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
