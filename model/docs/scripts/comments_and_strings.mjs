// What people read of a C++ file: its comments and its strings.

/// The text with everything else, the marks of comments and of strings included, replaced by spaces; lines stay lines.
export function commentsAndStrings(text) {
    const kept = [...text].length === text.length ? text.split('').map((character) => (character === '\n' ? '\n' : ' ')) : [...text.replace(/[^\n]/g, ' ')];
    const keep = (from, to) => {
        for (let at = from; at < to; ++at) kept[at] = text[at];
    };
    for (let at = 0; at < text.length; ) {
        if (text.startsWith('//', at)) {
            let end = text.indexOf('\n', at);
            if (end < 0) end = text.length;
            let begin = at;
            while (begin < end && text[begin] === '/') ++begin;
            keep(begin, end);
            at = end;
        } else if (text.startsWith('/*', at)) {
            const close = text.indexOf('*/', at + 2);
            const end = close < 0 ? text.length : close;
            keep(at + 2, end);
            at = end + 2;
        } else if (/^(?:u8|[uUL])?R"/.test(text.slice(at, at + 4)) && !/\w/.test(text[at - 1] ?? '')) {
            const quote = text.indexOf('"', at);
            const open = text.indexOf('(', quote);
            const close = text.indexOf(`)${text.slice(quote + 1, open)}"`, open);
            const end = close < 0 ? text.length : close;
            keep(open + 1, end);
            at = end + (open - quote) + 1;
        } else if (text[at] === '"') {
            let end = at + 1;
            while (end < text.length && text[end] !== '"' && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
            if (!/#\s*include\s*$/.test(text.slice(text.lastIndexOf('\n', at) + 1, at))) keep(at + 1, end);
            at = end + 1;
        } else if (text[at] === "'" && !/[0-9a-fA-F]/.test(text[at - 1] ?? '')) {
            let end = at + 1;
            while (end < text.length && text[end] !== "'" && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
            at = end + 1;
        } else {
            ++at;
        }
    }
    return kept.join('');
}
