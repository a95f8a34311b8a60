#!/usr/bin/env node
// Draws the README's picture from the recorded run of the first lesson on the CPU device.
//
//     node docs/scripts/picture.mjs     # writes docs/public/first_program.svg; needed when docs/results/cpu_chapter_1.json changes
import fs from 'node:fs';
import path from 'node:path';
import { picture } from '../.vitepress/book/picture.mjs';
import { root } from '../.vitepress/book/repository.mjs';

fs.writeFileSync(path.join(root, 'docs', 'public', 'first_program.svg'), picture());
