// What the repository says about itself: chapters with their lessons, and exercises, in the order in which they are
// taught. Read from chapters/N_name/chapter.json, which the build reads as well, so that the book has no list of its own.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../', import.meta.url));

const read = (...parts) => fs.readFileSync(path.join(...parts), 'utf8');
const exists = (...parts) => fs.existsSync(path.join(...parts));
const folders = (folder) =>
    fs.readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => entry.name);

/// The list of a chapter's folder, or undefined where it has none yet.
function listOf(folder, repository) {
    if (!exists(repository, 'chapters', folder, 'chapter.json')) return undefined;
    const list = JSON.parse(read(repository, 'chapters', folder, 'chapter.json'));
    for (const member of ['title', 'program', 'path']) {
        if (!list[member]) throw new Error(`chapters/${folder}/chapter.json: there is no "${member}"`);
    }
    return list;
}

/// An entry of a path, with its kind.
function stop({ lesson, exercise, page }, folder) {
    const [kind, name] = lesson ? ['lesson', lesson] : exercise ? ['exercise', exercise] : ['page', page];
    if (!name) throw new Error(`chapters/${folder}/chapter.json: an entry of the path is no lesson, exercise or page`);
    return { kind, name };
}

/// The page of the book for an entry of a chapter's path, such as "2_memory_model/coalescing.md".
export function pageOf({ folder }, { kind, name }) {
    return kind === 'page' ? `${name}.md` : kind === 'lesson' ? `${folder}/${name}.md` : `exercises/${folder}/${name}.md`;
}

/// [{number, folder, title, program, lessons: [{name, about}], path: [{kind, name}]}] of the chapters, in their order. `path`
/// has lessons, exercises and pages in the order in which they are taken.
export function chapters(repository = root) {
    return folders(path.join(repository, 'chapters'))
        .map((folder) => ({ folder, list: listOf(folder, repository) }))
        .filter(({ list }) => list !== undefined)
        .map(({ folder, list: { title, program, path: items } }) => ({
            number: Number.parseInt(folder, 10),
            folder,
            title,
            program,
            lessons: items.filter((item) => item.lesson).map(({ lesson, about }) => ({ name: lesson, about })),
            path: items.map((item) => stop(item, folder)),
        }))
        .sort((one, other) => one.number - other.number);
}

/// [{name, kind, about}] of a chapter's folder.
export function exercises(folder, repository = root) {
    const listed = (listOf(folder, repository)?.path ?? []).filter((item) => item.exercise);
    return listed.map(({ exercise: name, kind }) => {
        const stub = path.join(repository, 'exercises', folder, name, `${name}.cu`);
        const about = fs.existsSync(stub) ? read(stub).match(/^\/\/ Exercise: (.*?)\.?(?: See .*)?\r?\n/)?.[1] : undefined;
        return { name, kind, about: about ?? '' };
    });
}

/// The file in which a lesson begins, as a path in the repository.
export function sourceOfLesson(folder, lesson, repository = root) {
    const inFolder = `chapters/${folder}/${lesson}/lesson.cu`;
    return exists(repository, inFolder) ? inFolder : `chapters/${folder}/${lesson}.cu`;
}
