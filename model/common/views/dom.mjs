// Elements, and the width that they have.

const svgTags = new Set(['svg', 'g', 'rect', 'line', 'path', 'text', 'title']);

/**
 * An element of HTML or SVG. An attribute that is a function listens to the event of that name; one that is undefined
 * or false is left out, and so are undefined children.
 *
 *     make('button', { type: 'button', click: () => player.play() }, 'Play')
 *
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | number | undefined)} children
 */
export function make(tag, attributes = {}, ...children) {
    const svg = svgTags.has(tag);
    const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function') element.addEventListener(name, value);
        else if (value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== undefined));
    return element;
}

/**
 * Tells the width of an element in whole pixels, now and whenever it changes, so that drawings are made without scaling
 * letters. An element that is not on the page has none.
 *
 * @param {Element} element
 * @param {(width: number) => void} changed
 * @returns {() => void} what ends it
 */
export function watchWidth(element, changed) {
    let width = 0;
    const read = () => {
        const now = element.clientWidth;
        if (now === 0 || now === width) return;
        width = now;
        changed(width);
    };
    const observer = new ResizeObserver(read);
    observer.observe(element);
    read();
    return () => observer.disconnect();
}
