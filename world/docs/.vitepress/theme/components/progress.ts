// How far a reader is: lessons and exercises that are marked, and where reading stopped. Kept in this browser only, the same for
// both languages.

export interface Stop {
    key: string; // '2_memory_model/coalescing'
    text: string;
    link: string;
    kind: 'lesson' | 'exercise';
}

interface Item {
    text?: string;
    link?: string;
    items?: Item[];
}

/// A page by its address or path, the same in both languages: '/warpwise/zh/2_memory_model/coalescing.html' -> '2_memory_model/coalescing'.
export const keyOf = (address: string, base = '/') =>
    (address.startsWith(base) ? decodeURI(address).slice(base.length) : decodeURI(address))
        .replace(/[?#].*$/, '')
        .replace(/^\//, '')
        .replace(/^zh\//, '')
        .replace(/(\.html|\.md)$/, '');

/// The lessons, exercises, and pages between them, in the order of the path, from the sidebar: its parts whose titles begin with a number.
export function stopsOf(sidebar: Item[]): Stop[] {
    const flat = (items: Item[]): Item[] => items.flatMap((item) => [item, ...flat(item.items ?? [])]);
    return sidebar
        .filter(({ text }) => /^\d/.test(text ?? ''))
        .flatMap(({ items }) => flat(items ?? []))
        .filter((item) => item.link)
        .map(({ text, link }) => ({
            key: keyOf(link!),
            text: text ?? '',
            link: link!,
            kind: /(^|\/)exercises\//.test(link!) ? 'exercise' : 'lesson',
        }));
}

export interface Progress {
    done: string[];
    last?: string;
}

/// What was stored, or nothing: text that somebody else wrote there is nothing, too.
export function parsed(stored: string | null): Progress {
    try {
        const value = JSON.parse(stored ?? '');
        const done = Array.isArray(value.done) ? value.done.filter((one: unknown) => typeof one === 'string') : [];
        return { done: [...new Set<string>(done)], ...(typeof value.last === 'string' && { last: value.last }) };
    } catch {
        return { done: [] };
    }
}

export function withMark(progress: Progress, key: string, isDone: boolean): Progress {
    const done = progress.done.filter((one) => one !== key);
    return { ...progress, done: isDone ? [...done, key] : done };
}

/// Where to go on: the page where reading stopped, or if that is marked, the first one after it that is not. Nothing at the very beginning
/// and at the end.
export function nextStop(stops: Stop[], progress: Progress): Stop | undefined {
    const done = new Set(progress.done);
    const at = stops.findIndex(({ key }) => key === progress.last);
    if (at < 0) return done.size > 0 ? stops.find(({ key }) => !done.has(key)) : undefined;
    return [...stops.slice(at), ...stops.slice(0, at)].find(({ key }) => !done.has(key));
}
