#!/usr/bin/env node
// Writes the tables of exercises/README.md and docs/zh/exercises/index.md anew from the chapters' lists.
//
//     node docs/scripts/exercise_tables.mjs
import fs from 'node:fs';
import path from 'node:path';
import { tablesOf } from '../.vitepress/book/exercise_tables.mjs';
import { chapters, root } from '../.vitepress/book/repository.mjs';

for (const { file, text, wanted } of tablesOf(chapters())) {
    if (text === wanted) continue;
    fs.writeFileSync(path.join(root, file), wanted);
    console.log(`${file}: written`);
}
