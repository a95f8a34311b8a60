// Pages that can be opened from the disk.
import path from 'node:path';

const posix = path.posix;

/// The HTML of the page at `place`, such as "zh/glossary.html", with links to other files of the site that start from there.
export function relativeLinks(html, place) {
    const relative = (address) => {
        const [, file, rest] = /^([^?#]*)(.*)$/.exec(address);
        const target = file.endsWith('/') ? `${file}index.html` : file;
        return (posix.relative(posix.dirname(`/${place}`), target) || posix.basename(target)) + rest;
    };
    return html.replace(/(<[a-z][^>]*?\s(?:href|src)=")(\/(?!\/)[^"]*)"/g, (whole, before, address) => `${before}${relative(address)}"`);
}
