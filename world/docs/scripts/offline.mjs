#!/usr/bin/env node
// The built site as one archive, to be read without a network: its links lead from file to file, so that pages open from the disk.
// Search, views, and everything else that a script does need a server, because browsers load no modules from the disk; README.txt says how
// to start one.
//
//     npm run build && npm run offline [-- FILE.tar.gz]
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { relativeLinks } from '../.vitepress/book/offline.mjs';

const dist = fileURLToPath(new URL('../.vitepress/dist/', import.meta.url));
const file = path.resolve(process.argv[2] ?? fileURLToPath(new URL('../.vitepress/warpwise_book.tar.gz', import.meta.url)));

const readme = `Warpwise: CUDA C++ step by step

Open index.html (English) or zh/index.html (Chinese) in a browser. The whole book on one page: print_en.html, print_zh.html.

Browsers run no module scripts from the disk, so search, interactive views, and the memory of your progress need a server. In this
folder:

    python3 -m http.server 8000

Then open http://localhost:8000/
`;

if (!fs.existsSync(path.join(dist, 'index.html'))) {
    console.error('offline: there is no built site: npm run build');
    process.exit(1);
}
if (!/<script[^>]* src="\/assets\//.test(fs.readFileSync(path.join(dist, 'index.html'), 'utf8'))) {
    console.error('offline: the site was built for another place than the root of a server: build it without BOOK_BASE');
    process.exit(1);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'warpwise-'));
try {
    const book = path.join(folder, 'warpwise_book');
    fs.cpSync(dist, book, { recursive: true });
    for (const name of fs.readdirSync(book, { recursive: true })) {
        const place = String(name).split(path.sep).join('/');
        if (!place.endsWith('.html') || place.startsWith('source/')) continue;
        const page = path.join(book, place);
        fs.writeFileSync(page, relativeLinks(fs.readFileSync(page, 'utf8'), place));
    }
    fs.writeFileSync(path.join(book, 'README.txt'), readme);
    execFileSync('tar', ['-czf', file, '-C', folder, 'warpwise_book']);
    console.log(`${file}: ${(fs.statSync(file).size / 1e6).toFixed(1)} MB`);
} finally {
    fs.rmSync(folder, { recursive: true, force: true });
}
