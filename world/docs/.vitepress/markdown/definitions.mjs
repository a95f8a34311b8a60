// Finds a function, struct or variable in a C++ or CUDA source by its name, with the comment above it.
//
// No parser: a scanner that knows comments, strings and brackets, and cuts a file into declarations. That is enough,
// because it only has to find where each one begins and ends.

/// Where the comment, string or character at `at` ends, or `at` if none begins there.
function skipped(text, at) {
    if (text.startsWith('//', at)) {
        const end = text.indexOf('\n', at);
        return end < 0 ? text.length : end;
    }
    if (text.startsWith('/*', at)) {
        const end = text.indexOf('*/', at + 2);
        return end < 0 ? text.length : end + 2;
    }
    if (text[at] === '"') {
        const raw = /(?:^|[^\w])(?:u8|u|U|L)?R$/.test(text.slice(Math.max(0, at - 4), at)) && /^"([^(\s\\)]*)\(/.exec(text.slice(at, at + 20));
        if (raw) {
            const end = text.indexOf(`)${raw[1]}"`, at);
            return end < 0 ? text.length : end + raw[1].length + 2;
        }
    }
    const quote = text[at];
    if (quote !== '"' && quote !== "'") return at;
    if (quote === "'" && /[0-9a-fA-F]/.test(text[at - 1] ?? '') && /[0-9a-fA-F]/.test(text[at + 1] ?? '')) return at; // 1'000
    let end = at + 1;
    while (end < text.length && text[end] !== quote && text[end] !== '\n') end += text[end] === '\\' ? 2 : 1;
    return end + 1;
}

/// Behind the bracket that closes the one at `open`.
function closed(text, open) {
    let depth = 0;
    for (let at = open; at < text.length; ++at) {
        const next = skipped(text, at);
        if (next > at) {
            at = next - 1;
        } else if ('({['.includes(text[at])) {
            ++depth;
        } else if (')}]'.includes(text[at]) && --depth === 0) {
            return at + 1;
        }
    }
    return text.length;
}

const withoutComments = (text) => {
    let result = '';
    for (let at = 0; at < text.length; ++at) {
        const next = skipped(text, at);
        if (next > at) {
            at = next - 1;
            result += ' ';
        } else {
            result += text[at];
        }
    }
    return result;
};

/// A head (what stands before a declaration's body, initializer or end) without template parameters and attributes.
const plainHead = (head) =>
    head.replace(/\b(?:__launch_bounds__|__attribute__|__align__|alignas|decltype|__declspec)\s*\((?:[^()]|\([^()]*\))*\)/g, ' ')
        .replace(/\[\[.*?\]\]/gs, ' ')
        .replace(/^\s*template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>/s, ' ');

/// Whether a { behind this head is a function's body: behind a parameter list, and not behind an equals sign.
function opensFunction(head) {
    const outside = plainHead(head).replace(/\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g, '()');
    return outside.includes('()') && !outside.replace(/operator\s*[=<>!+*/-]*=/g, '').includes('=');
}

/// The name that a declaration's head gives.
function nameOf(head) {
    const plain = plainHead(head);
    const type = /^\s*(?:typedef\s+)?(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(\w+)/.exec(plain);
    if (type) return { name: type[1], type: true };
    const alias = /^\s*using\s+(\w+)\s*=/.exec(plain);
    if (alias) return { name: alias[1], type: true };
    const before = plain.split(/[=([{;]/, 1)[0];
    const name = /([\w~]+)\s*$/.exec(before)?.[1];
    return { name, type: false };
}

/// All declarations between `from` and `to`; those of namespaces come as if there were none.
function declarations(text, from = 0, to = text.length) {
    const found = [];
    let begin = -1; // of the declaration under way
    for (let at = from; at < to; ++at) {
        const next = skipped(text, at);
        if (next > at) {
            if (begin < 0 && !/^\/[/*]/.test(text.slice(at, at + 2))) begin = at;
            at = next - 1;
            continue;
        }
        const letter = text[at];
        if (letter === '#' && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 80), at))) { // a directive, with its continued lines
            while (at < to && (text[at] !== '\n' || text[at - 1] === '\\')) ++at;
            continue;
        }
        if (begin < 0) {
            if (/\s/.test(letter) || letter === ';' || letter === '}') continue;
            begin = at;
        }
        if (letter === '(' || letter === '[') {
            at = closed(text, at) - 1;
        } else if (letter === ':' && /^(?:public|private|protected)\s*$/.test(text.slice(begin, at))) {
            begin = -1;
        } else if (letter === '{') {
            const head = withoutComments(text.slice(begin, at));
            if (/^\s*(?:inline\s+)?namespace\b/.test(head) || /^\s*extern\s+"?/.test(text.slice(begin, at)) && !/[(=]/.test(head)) {
                begin = -1;
                continue;
            }
            const body = at;
            at = closed(text, at) - 1;
            const { type } = nameOf(head);
            const rest = /^(?:\s|\/\/[^\n]*\n|\/\*.*?\*\/)*/s.exec(text.slice(at + 1, at + 400))[0].length;
            const goesOn = type || !opensFunction(head) || ';,'.includes(text[at + 1 + rest] ?? ' ');
            if (!goesOn) {
                found.push({ begin, end: at + 1, body, ...nameOf(head) });
                begin = -1;
            }
        } else if (letter === ';') {
            const whole = text.slice(begin, at + 1);
            const open = indexOfBody(text, begin, at);
            found.push({ begin, end: at + 1, body: open, ...nameOf(withoutComments(open ? text.slice(begin, open) : whole)) });
            begin = -1;
        }
    }
    return found;
}

/// The first { of a declaration outside of parentheses, or undefined.
function indexOfBody(text, begin, end) {
    for (let at = begin; at < end; ++at) {
        const next = skipped(text, at);
        if (next > at) at = next - 1;
        else if (text[at] === '(' || text[at] === '[') at = closed(text, at) - 1;
        else if (text[at] === '{') return at;
    }
    return undefined;
}

const lineOf = (text, at) => text.slice(0, at).split('\n').length;

/// The comment lines that stand directly above the line in which `begin` lies, as a start position.
function startOfComment(text, begin) {
    let start = text.lastIndexOf('\n', begin - 1) + 1;
    for (;;) {
        const above = text.lastIndexOf('\n', start - 2) + 1;
        if (start === 0 || !/^[ \t]*\/\//.test(text.slice(above, start))) return start;
        start = above;
    }
}

/// Takes the spaces away that all lines begin with.
function unindented(text) {
    const lines = text.split('\n');
    const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => /^ */.exec(line)[0].length));
    return lines.map((line) => line.slice(depth)).join('\n');
}

/// {comment, code, line, lastLine}: the definition `name` of a source, or `Type::member`. `name/2` is the second of
/// several with that name. `line` is that of the code, the comment aside. Throws when there is none, or no single one.
export function definition(text, name) {
    const [qualified, which] = name.split('/');
    const path = qualified.split('::');
    let from = 0, to = text.length, all, matches;
    for (const part of path) {
        all = declarations(text, from, to);
        matches = all.filter((declaration) => declaration.name === part);
        const bodies = matches.filter((declaration) => declaration.body !== undefined);
        if (bodies.length > 0) matches = bodies; // a definition, and prototypes of it
        if (matches.length === 0) {
            const names = [...new Set(all.map((declaration) => declaration.name).filter(Boolean))];
            throw new Error(`there is no '${part}'; there are ${names.join(', ')}`);
        }
        if (part !== path[path.length - 1]) {
            from = matches[0].body + 1;
            to = matches[0].end - 1;
        }
    }
    if (matches.length > 1 && !which) {
        const lines = matches.map((match) => lineOf(text, match.begin)).join(', ');
        throw new Error(`'${qualified}' is defined in lines ${lines}: write ${qualified}/1, ${qualified}/2 ...`);
    }
    const match = matches[(which ?? 1) - 1];
    if (!match) throw new Error(`'${qualified}' is not defined ${which} times`);
    const start = startOfComment(text, match.begin);
    const lineStart = text.lastIndexOf('\n', match.begin - 1) + 1;
    const lineEnd = text.indexOf('\n', match.end);
    const tail = text.slice(match.end, lineEnd < 0 ? text.length : lineEnd);
    const end = /^\s*\/\//.test(tail) ? match.end + tail.length : match.end; // a comment behind it belongs to it
    return {
        comment: unindented(text.slice(start, lineStart)).trimEnd(),
        code: unindented(text.slice(lineStart, end)).trimEnd(),
        line: lineOf(text, match.begin),
        lastLine: lineOf(text, end),
    };
}
