// Terms of the glossary in pages: the first time that a page uses one, the word leads to its row, and what it means pops up
// (theme/components/TermPopup.vue). Not in headings, code, links and heads of tables, and not on the page that introduces the term.
const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const isHan = (text) => /[\u4e00-\u9fff]/.test(text);

/// (text, wanted) => [{from, to, term}]: the terms of the glossary in a text, of which `wanted(term)` holds, each once. Of terms
/// inside of each other the longer one counts.
export function termFinder(terms) {
    const forms = terms.flatMap((term) => term.forms.map((form) => ({ form, term }))).sort((a, b) => b.form.length - a.form.length);
    const byForm = new Map();
    for (const { form, term } of forms) if (!byForm.has(form.toLowerCase())) byForm.set(form.toLowerCase(), { form, term });
    const pattern = new RegExp([...byForm.keys()].map((form) => (isHan(form) ? escaped(form) : `(?<![\\w-])${escaped(form).replace(/ /g, '\\s+')}(?![\\w-])`)).join('|'), 'gi');
    return (text, wanted) => {
        const found = [];
        for (const match of text.matchAll(pattern)) {
            const { form, term } = byForm.get(match[0].toLowerCase().replace(/\s+/g, ' ')) ?? {};
            if (!term || (/[A-Z]/.test(form) && match[0] !== form)) continue;
            const [from, to] = [match.index, match.index + match[0].length];
            const isOther = term.not.some((phrase) => [...text.matchAll(new RegExp(escaped(phrase), 'gi'))].some((other) => other.index <= from && to <= other.index + other[0].length));
            if (!isOther && wanted(term)) found.push({ from, to, term });
        }
        return found;
    };
}

/// Puts links to the glossary into the tokens of a page: `finder` is that of its language, `prefix` 'zh/' or ''.
export function linkTerms(state, finder, page, prefix) {
    const seen = new Set();
    const own = page.replace(/^zh\//, '');
    const wanted = (term) => {
        if (seen.has(term.id) || term.page === own) return false;
        seen.add(term.id);
        return true;
    };
    let before;
    for (const block of state.tokens) {
        if (block.type === 'inline' && !block.meta?.plain && !['heading_open', 'th_open'].includes(before)) block.children = linked(block.children, state, finder, wanted, prefix);
        before = block.type;
    }
}

function linked(children, state, finder, wanted, prefix) {
    const result = [];
    let depth = 0; // of links and of HTML in the line
    for (const token of children) {
        if (token.type === 'link_open' || (token.type === 'html_inline' && /^<(?!\/|br|wbr|img)/.test(token.content))) ++depth;
        else if (token.type === 'link_close' || (token.type === 'html_inline' && token.content.startsWith('</'))) --depth;
        const found = token.type === 'text' && depth === 0 ? finder(token.content, wanted) : [];
        if (found.length === 0) {
            result.push(token);
            continue;
        }
        const text = (content) => content && result.push(Object.assign(new state.Token('text', '', 0), { content, level: token.level }));
        let last = 0;
        for (const { from, to, term } of found) {
            text(token.content.slice(last, from));
            const open = new state.Token('link_open', 'a', 1);
            open.attrs = [['href', `/${prefix}glossary.md#${term.id}`], ['class', 'term'], ['data-term', term.id]];
            result.push(open);
            text(token.content.slice(from, to));
            result.push(new state.Token('link_close', 'a', -1));
            last = to;
        }
        text(token.content.slice(last));
    }
    return result;
}

/// Gives the rows of the glossary their anchors.
export function anchorRows(state, terms) {
    const ids = new Map(terms.map(({ term, id }) => [term, id]));
    for (const [index, token] of state.tokens.entries()) {
        if (token.type !== 'tr_open') continue;
        const id = ids.get(state.tokens[index + 2]?.content.replace(/\*\*/g, ''));
        if (id) token.attrSet('id', id);
    }
}
