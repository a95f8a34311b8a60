// What editors, Codespaces, and Jupyter read of this repository. The lists of keys and values here are the part of their
// published formats that the repository uses, copied by hand (devContainer.base.schema.json; the appendix on tasks of VS
// Code's documentation; nbformat.v4.5.schema.json): whoever adds a key has to look it up there. With the schemas
// themselves docs/scripts/check_formats.mjs validates the files. And commands, tasks, and exercises that are named exist.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { chapters, exercises, root } from '../.vitepress/book/repository.mjs';

const read = (file) => JSON.parse(fs.readFileSync(path.join(root, file), 'utf8'));
const only = (object, allowed, where) => {
    for (const key of Object.keys(object)) assert.ok(allowed.includes(key), `${where}: '${key}' is not in the published format`);
};
const isText = (value, where) => assert.equal(typeof value, 'string', where);
const commands = fs.readFileSync(path.join(root, 'common/guide/command_table.cpp'), 'utf8').match(/\.name = "(\w+)"/g).map((name) => /"(\w+)"/.exec(name)[1]);
const isCommand = (word, where) => assert.ok(commands.includes(word), `${where}: ./warpwise has no command '${word}'`);

test('the dev container is one, and ends in the guide', () => {
    const container = read('.devcontainer/devcontainer.json');
    only(container, ['name', 'image', 'features', 'hostRequirements', 'onCreateCommand', 'updateContentCommand', 'postCreateCommand', 'postStartCommand',
        'postAttachCommand', 'customizations', 'forwardPorts', 'portsAttributes', 'remoteUser', 'containerEnv', 'remoteEnv', 'waitFor'], 'devcontainer.json');
    assert.match(container.image, /^debian:12$/);
    assert.ok(Number.isInteger(container.hostRequirements.cpus));
    for (const key of ['memory', 'storage']) assert.match(container.hostRequirements[key], /^\d+[tgmk]b$/);
    for (const key of ['onCreateCommand', 'postCreateCommand', 'postAttachCommand']) isText(container[key], key);
    assert.equal(container.postCreateCommand, './warpwise --yes setup');
    assert.equal(container.postAttachCommand, './warpwise');
    for (const port of container.forwardPorts) assert.ok(Number.isInteger(port) && port < 65536);
    for (const attributes of Object.values(container.portsAttributes)) {
        only(attributes, ['label', 'onAutoForward', 'elevateIfNeeded', 'requireLocalPort', 'protocol'], 'portsAttributes');
        assert.ok(['notify', 'openBrowser', 'openBrowserOnce', 'openPreview', 'silent', 'ignore'].includes(attributes.onAutoForward));
    }
    assert.match(fs.readFileSync(path.join(root, 'common/guide/book.h'), 'utf8'), new RegExp(`int port = ${container.forwardPorts[0]};`));
    for (const extension of container.customizations.vscode.extensions) assert.match(extension, /^[a-z0-9-]+\.[a-z0-9-]+$/i);
});

test('the tasks of VS Code call commands that there are', () => {
    const { version, tasks, ...others } = read('.vscode/tasks.json');
    assert.equal(version, '2.0.0');
    assert.deepEqual(others, {});
    for (const task of tasks) {
        const where = task.label;
        only(task, ['label', 'detail', 'type', 'command', 'args', 'options', 'group', 'presentation', 'runOptions', 'problemMatcher', 'isBackground'], where);
        assert.ok(['process', 'shell'].includes(task.type), where);
        only(task.options, ['cwd', 'env', 'shell'], where);
        only(task.presentation, ['reveal', 'echo', 'focus', 'panel', 'showReuseMessage', 'clear', 'group', 'close', 'revealProblems'], where);
        assert.ok(['always', 'silent', 'never'].includes(task.presentation.reveal), where);
        assert.ok(['shared', 'dedicated', 'new'].includes(task.presentation.panel), where);
        if (task.runOptions) only(task.runOptions, ['reevaluateOnRerun', 'runOn', 'instanceLimit', 'instancePolicy'], where);
        if (task.group) assert.ok(['build', 'test'].includes(task.group.kind), where);
        const word = task.type === 'process' ? task.args?.[0] : /^\.\/warpwise (\w+)/.exec(task.command)[1];
        if (word) isCommand(word, where);
        for (const [, variable] of JSON.stringify(task).matchAll(/\$\{(\w+)\}/g)) {
            assert.ok(['workspaceFolder', 'file', 'fileDirname', 'fileDirnameBasename', 'fileBasename'].includes(variable), `${where}: \${${variable}}`);
        }
    }
    assert.deepEqual(tasks.filter((task) => task.group?.isDefault).map((task) => task.group.kind).sort(), ['build', 'test']);
    const { recommendations } = read('.vscode/extensions.json');
    for (const extension of read('.devcontainer/devcontainer.json').customizations.vscode.extensions) assert.ok(recommendations.includes(extension), extension);
});

test('the notebook is one, was never run, and its commands exist', () => {
    const notebook = read('docs/public/warpwise_on_a_rented_gpu.ipynb');
    only(notebook, ['cells', 'metadata', 'nbformat', 'nbformat_minor'], 'notebook');
    assert.deepEqual([notebook.nbformat, notebook.nbformat_minor], [4, 5]);
    for (const key of ['name', 'display_name']) isText(notebook.metadata.kernelspec[key], key);
    const ids = new Set();
    const lessons = chapters().flatMap((chapter) => chapter.lessons.map((lesson) => `${chapter.number} ${lesson.name}`));
    const tasks = chapters().flatMap((chapter) => exercises(chapter.folder).map((exercise) => exercise.name));
    let called = 0;
    for (const cell of notebook.cells) {
        const wanted = ['cell_type', 'id', 'metadata', 'source', ...(cell.cell_type === 'code' ? ['execution_count', 'outputs'] : [])];
        assert.deepEqual(Object.keys(cell).sort(), wanted.sort(), cell.id);
        assert.match(cell.id, /^[a-zA-Z0-9_-]{1,64}$/);
        assert.ok(!ids.has(cell.id), cell.id);
        ids.add(cell.id);
        assert.ok(cell.source.every((line, index) => line.endsWith('\n') === index < cell.source.length - 1), `${cell.id}: lines`);
        if (cell.cell_type === 'code') assert.deepEqual([cell.execution_count, cell.outputs], [null, []], cell.id);
        for (const [, word, argument] of cell.source.join('').matchAll(/^!\.\/warpwise (?:--yes |--device \w+ )*(\w+) ([^\n]*)/gm)) {
            called += 1;
            isCommand(word, cell.id);
            if (word === 'run') assert.ok(lessons.includes(argument), `${cell.id}: no lesson ${argument}`);
            if (word === 'grade') assert.ok(tasks.includes(argument), `${cell.id}: no exercise ${argument}`);
        }
    }
    assert.ok(called >= 4);
});

test('clangd finds what its settings name', () => {
    const settings = fs.readFileSync(path.join(root, '.clangd'), 'utf8');
    const folder = /CompilationDatabase: (common\S+)/.exec(settings)[1];
    const flags = fs.readFileSync(path.join(root, folder, 'compile_flags.txt'), 'utf8').trim().split('\n');
    for (const flag of flags.filter((each) => each.startsWith('-I'))) assert.ok(fs.existsSync(path.join(root, folder, flag.slice(2))), flag);
    assert.ok(fs.existsSync(path.join(root, folder, flags[flags.indexOf('-include') + 1])));
});
