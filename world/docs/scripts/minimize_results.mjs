#!/usr/bin/env node
// Brings results of chapter programs (--json FILE) into the small form in which docs/results keeps them.
//
//     node docs/scripts/minimize_results.mjs FILE..       # each is rewritten; doing it again changes nothing
import fs from 'node:fs';
import { minimizedRun, textOfRun } from '../.vitepress/book/minimized.mjs';

for (const file of process.argv.slice(2)) {
    fs.writeFileSync(file, textOfRun(minimizedRun(JSON.parse(fs.readFileSync(file, 'utf8')))));
}
