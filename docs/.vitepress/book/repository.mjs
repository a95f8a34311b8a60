// What the repository says about itself: chapters with their lessons, and exercises, in the order in which they are
// taught. Read from the files that the build reads, so that the book has no list of its own.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');
const exists = (...parts) => fs.existsSync(path.join(...parts));
const folders = (folder) =>
    fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name).sort();

/// "a" "b" of C++ as one text.
const joined = (literals) => [...literals.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1].replace(/\\(.)/g, '$1')).join('');

/// [{number, folder, title, program, lessons: [{name, about}]}] of the folders in chapters/ that CMake builds.
export function chapters(repository = root) {
    const all = [];
    for (const folder of folders(path.join(repository, 'chapters'))) {
        if (!['CMakeLists.txt', 'main.cpp'].every((file) => exists(repository, 'chapters', folder, file))) continue; // to come
        const cmake = read(repository, 'chapters', folder, 'CMakeLists.txt');
        const main = read(repository, 'chapters', folder, 'main.cpp');
        const about = new Map(
            [...main.matchAll(/\{\s*"(\w+)",\s*((?:"(?:[^"\\]|\\.)*"\s*)+),\s*\w+\s*\}/g)].map((match) => [match[1], joined(match[2])]));
        const program = cmake.match(/add_chapter\(\s*(\w+)/)?.[1];
        const names = cmake.match(/\bLESSONS\s+([a-z_0-9\s]*)/)?.[1].trim().split(/\s+/); // up to the next keyword
        const title = main.match(/\.title\s*=\s*"([^"]*)"/)?.[1];
        if (!program || !names || !title) throw new Error(`chapters/${folder}: no add_chapter(... LESSONS ...) or no title`);
        all.push({
            number: Number.parseInt(folder, 10),
            folder,
            title,
            program,
            lessons: names.map((name) => ({ name, about: about.get(name) ?? '' })),
        });
    }
    return all;
}

/// [{name, kind, about}] of a chapter's folder.
export function exercises(folder, repository = root) {
    if (!exists(repository, 'exercises', folder, 'CMakeLists.txt')) return [];
    const cmake = read(repository, 'exercises', folder, 'CMakeLists.txt');
    const listed = [...cmake.matchAll(/^\s*add_exercise\(\s*(\w+)\s+(\w+)/gm)];
    return listed.filter(([, name]) => exists(repository, 'exercises', folder, name, 'README.md')).map(([, name, kind]) => {
        const stub = path.join(repository, 'exercises', folder, name, `${name}.cu`);
        const about = fs.existsSync(stub) ? read(stub).match(/^\/\/ Exercise: (.*?)\.? See /)?.[1] : undefined;
        return { name, kind, about: about ?? '' };
    });
}
