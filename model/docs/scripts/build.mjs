#!/usr/bin/env node
// Builds the site into .vitepress/dist, unless it is there and nothing has changed since: that takes minutes.
//
//     npm run build               # npm run build -- --force: in any case
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateOfInputs } from '../.vitepress/book/inputs.mjs';
import { root } from '../.vitepress/book/repository.mjs';

const dist = path.join(root, 'docs/.vitepress/dist');
const mark = path.join(dist, '.made_of');
const { BOOK_BASE: base = '/', BOOK_SITE: site = '' } = process.env;
const now = stateOfInputs(root, { base, site });
const isForced = process.argv.includes('--force');

if (!isForced && fs.existsSync(path.join(dist, 'index.html')) && fs.existsSync(mark) && fs.readFileSync(mark, 'utf8') === now) {
    console.log('The site is there, and nothing has changed since it was built.');
    process.exit(0);
}
console.log('Building the book, which takes minutes');
const vitepress = fileURLToPath(new URL('../node_modules/vitepress/bin/vitepress.js', import.meta.url));
const { status } = spawnSync(process.execPath, [vitepress, 'build', ...process.argv.slice(2).filter((word) => word !== '--force')], { cwd: path.join(root, 'docs'), stdio: 'inherit' });
if (status === 0) fs.writeFileSync(mark, now);
process.exit(status ?? 1);
