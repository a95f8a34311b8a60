// What the site is made of, to tell whether it has to be built again.
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const folders = ['docs', 'chapters', 'exercises', 'solutions', 'common', '.github', '.devcontainer', '.vscode'];
const made = ['docs/node_modules', 'docs/.vitepress/cache', 'docs/.vitepress/dist', 'docs/.vitepress/pages', 'docs/.vitepress/.temp', 'docs/tests', 'docs/.vitepress/warpwise_book.tar.gz'];

/// A number for names, sizes and times of all files that the site may be made of, and for what else decides how it looks.
export function stateOfInputs(root, settings = {}) {
    const hash = createHash('sha256').update(JSON.stringify(settings));
    const add = (place) => {
        if (made.includes(place)) return; // by building
        const stat = fs.statSync(path.join(root, place), { throwIfNoEntry: false });
        if (stat?.isDirectory()) for (const name of fs.readdirSync(path.join(root, place)).sort()) add(place ? `${place}/${name}` : name);
        else if (stat) hash.update(`${place} ${stat.size} ${stat.mtimeMs}\n`);
    };
    for (const folder of folders) add(folder);
    for (const name of fs.readdirSync(root).sort()) if (fs.statSync(path.join(root, name)).isFile() && !name.startsWith('.warpwise')) add(name);
    add('docs/node_modules/.package-lock.json');
    return hash.digest('hex');
}
