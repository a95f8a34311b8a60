#!/usr/bin/env node
// Validates what other programs read of this repository with their published schemas, which are not kept here:
//
//     git clone https://github.com/devcontainers/spec && git clone https://github.com/jupyter/nbformat
//     node docs/scripts/check_formats.mjs spec/schemas/devContainer.base.schema.json nbformat/nbformat/v4/nbformat.v4.5.schema.json
//
// VS Code has no schema of its tasks as a file. docs/tests/workplaces.test.mjs checks these, and at every run the parts
// of the two formats that this repository uses.
import fs from 'node:fs';
import path from 'node:path';
import Ajv2019 from 'ajv/dist/2019.js';
import Ajv from 'ajv';
import { root } from '../.vitepress/book/repository.mjs';

const read = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
const [containerSchema, notebookSchema, ...more] = process.argv.slice(2);
if (!notebookSchema || more.length > 0) {
    console.error('usage: check_formats.mjs devContainer.base.schema.json nbformat.v4.5.schema.json');
    process.exit(2);
}
const options = { strict: false, allErrors: true, validateFormats: false };
// nbformat's schema is one of draft 4, which Ajv does not know. Of what changed since then it uses nothing.
const { $schema, ...notebookRules } = read(notebookSchema);
const checks = [
    ['.devcontainer/devcontainer.json', new Ajv2019.default(options).compile(read(containerSchema))],
    ['docs/public/warpwise_on_a_rented_gpu.ipynb', new Ajv.default(options).compile(notebookRules)],
];
for (const [file, validate] of checks) {
    const isValid = validate(read(path.join(root, file)));
    console.log(`${file}: ${isValid ? 'valid' : 'not valid'}`);
    for (const error of validate.errors ?? []) console.log(`  ${error.instancePath || '/'} ${error.message}`);
    if (!isValid) process.exitCode = 1;
}
