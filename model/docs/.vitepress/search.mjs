// The search: what of a page is searched, and how sections are found and ordered. Pages are few and texts short, so every query
// simply goes through all of them: no index has to be unpacked first, Chinese needs no words, and parts of names are found.
//
// An index is {sections: [{url, page, heading, text, names}], terms: [{term, others, meaning, url}]}, one per language;
// `names` are the identifiers in code and tables of a section.

const decoded = (text) =>
    text
        .replace(/<\/?(?:a|b|i|em|strong|code|span|sup|sub|small|mark|dfn|cite|wbr)\b[^>]*>|<!--.*?-->/g, '')
        .replace(/<[^>]*>/g, ' ')
        .replace(/&lt;|&#x3C;/gi, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&#123;/g, '{').replace(/&#125;/g, '}').replace(/&nbsp;/g, ' ')
        .replace(/&amp;/g, '&')
        .replace(/[\s\u200b]+/g, ' ')
        .trim();

/// The sections of a page that was rendered to HTML; code and tables of figures only lend their names.
export function sectionsOf(html, url, title) {
    const sections = [];
    for (const part of html.split(/(?=<h[1-3][ >])/)) {
        const head = /^<h([1-3])[^>]*?(?: id="([^"]*)")?[^>]*>([^]*?)<\/h\1>/.exec(part);
        const rest = head ? part.slice(head[0].length) : part;
        const heading = head ? decoded(head[3].replace(/<a class="header-anchor"[^]*?<\/a>/, '')) : title;
        const names = new Set();
        const text = decoded(
            rest
                .replace(/<math[^]*?<\/math>/g, ' ')
                .replace(/<(pre|table)\b[^]*?<\/\1>/g, (block, tag) => {
                    const isProse = tag === 'table' && !block.includes('class="number');
                    for (const name of decoded(block.replaceAll('<wbr>', '')).match(/[A-Za-z_]\w{2,}(?:::\w+)*/g) ?? []) if (!isProse) names.add(name);
                    return isProse ? block : ' ';
                })
                .replace(/<button[^]*?<\/button>|<span class="lang">[^]*?<\/span>/g, ' '));
        if (!head && !text) continue;
        sections.push({ url: head && head[1] !== '1' ? `${url}#${head[2]}` : url, page: title, heading, text, names: [...names].join(' ') });
    }
    return sections;
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const bare = (text) => text.toLowerCase().replace(/[`*]/g, '').replace(/\(\)/g, '').trim();
const isHan = (text) => /[\u4e00-\u9fff]/.test(text);

/// The index with what each query needs, made once.
export function prepared(index) {
    return {
        terms: index.terms.map((entry) => ({ ...entry, all: [entry.term, ...entry.others].map(bare) })),
        sections: index.sections.map((section) => ({ ...section, low: { heading: bare(section.heading), page: bare(section.page), text: section.text.toLowerCase(), names: ` ${section.names.toLowerCase()} ` } })),
    };
}

/// How well a section matches a word; 0: not at all.
function scoreOf({ low }, word, whole) {
    let score = 0;
    if (low.heading === word) score += 60;
    else if (whole.test(low.heading)) score += 24;
    else if (low.heading.includes(word)) score += 10;
    if (low.page === word) score += 20;
    else if (low.page.includes(word)) score += 6;
    const at = low.text.indexOf(word);
    if (at >= 0) {
        const all = low.text.split(word).length - 1;
        score += (isHan(word) || whole.test(low.text) ? 6 : 2) + Math.min(all, 4);
    }
    if (low.names.includes(` ${word} `)) score += 5;
    else if (low.names.includes(word)) score += 1;
    return score;
}

const isNear = (one, other) => {
    if (Math.abs(one.length - other.length) > 1) return false;
    let i = 0;
    while (i < one.length && one[i] === other[i]) ++i;
    const [a, b] = [one.slice(i), other.slice(i)];
    return a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1) || (a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2));
};

/// [{url, page, heading, excerpt: [{text, marked}]}], the best first. A word with a mistyped letter is searched as the word that
/// it nearly is, if it is found nowhere.
export function find(index, query, most = 12) {
    const typed = bare(query);
    let words = typed.split(/\s+/).filter(Boolean);
    if (words.length === 0) return [];
    const search = () => {
        const wholes = words.map((word) => new RegExp(`(?<![\\w])${escaped(word)}(?![\\w])`));
        const found = [];
        for (const entry of index.terms) {
            if (!entry.all.includes(typed)) continue;
            found.push({ score: 200, url: entry.url, page: entry.page, heading: entry.term, text: entry.meaning });
        }
        for (const section of index.sections) {
            let score = section.low.heading === typed ? 80 : section.low.heading.includes(typed) || section.low.text.includes(typed) ? 12 : 0;
            for (const [i, word] of words.entries()) {
                const one = scoreOf(section, word, wholes[i]);
                if (one === 0) {
                    score = 0;
                    break;
                }
                score += one;
            }
            if (score > 0) found.push({ score, ...section });
        }
        return found;
    };
    let found = search();
    if (found.length === 0) {
        index.vocabulary ??= [...new Set(index.sections.flatMap(({ low }) => `${low.heading} ${low.text} ${low.names}`.match(/[a-z_]\w{3,}/g) ?? []))];
        const all = index.sections.map(({ low }) => `${low.heading} ${low.text} ${low.names}`);
        words = words.map((word) => (word.length < 4 || all.some((text) => text.includes(word)) ? word : index.vocabulary.find((other) => isNear(word, other)) ?? word));
        found = search();
    }
    return found
        .sort((a, b) => b.score - a.score)
        .slice(0, most)
        .map(({ url, page, heading, text }) => ({ url, page, heading, excerpt: excerptOf(text, words) }));
}

/// A piece of the text around the first word that was found, in parts.
export function excerptOf(text, words, length = 180) {
    const pattern = new RegExp(words.map(escaped).join('|'), 'gi');
    const at = Math.max(0, text.search(pattern));
    let from = Math.max(0, at - 60);
    if (from > 0) from = Math.max(from, text.indexOf(' ', from) >= 0 && text.indexOf(' ', from) < at ? text.indexOf(' ', from) + 1 : from);
    const piece = text.slice(from, from + length);
    const parts = [];
    let last = 0;
    for (const match of piece.matchAll(pattern)) {
        if (match.index > last) parts.push({ text: piece.slice(last, match.index), marked: false });
        parts.push({ text: match[0], marked: true });
        last = match.index + match[0].length;
    }
    parts.push({ text: piece.slice(last), marked: false });
    if (from > 0) parts.unshift({ text: '… ', marked: false });
    if (from + length < text.length) parts.push({ text: ' …', marked: false });
    return parts.filter((part) => part.text);
}
