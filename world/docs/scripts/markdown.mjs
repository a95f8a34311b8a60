#!/usr/bin/env node
// Writes the book as plain Markdown, with its code, changes, and tables: to be read on GitHub, in an editor, or offline.
//
//     node docs/scripts/markdown.mjs [-o FOLDER]     # npm run markdown; by default build/markdown
import path from 'node:path';
import { readBook } from '../.vitepress/book/pages.mjs';
import { bookParser, plainBook, writePlainBook } from '../.vitepress/book/plain.mjs';
import { root } from '../.vitepress/book/repository.mjs';

const words = process.argv.slice(2);
if (words.length !== 0 && !(words.length === 2 && words[0] === '-o')) {
    console.error('usage: markdown.mjs [-o FOLDER]');
    process.exit(2);
}
const folder = words.length === 0 ? path.join(root, 'build', 'markdown') : path.resolve(words[1]);
try {
    const book = readBook();
    const files = plainBook(book, await bookParser(book), folder);
    writePlainBook(files, folder);
    console.log(`${files.size} files of Markdown are in ${folder}: begin with ${path.join(folder, 'README.md')}`);
} catch (error) {
    console.error(`markdown: ${error.message}`);
    process.exitCode = 2;
}
