// Terms and spelling of everything that a reader sees: npm run lint [-- FILE..]
//
// Pages go through textlint and C++ through prh, both with the terms of lint/terms.yml; of C++ the comments and the strings count.
// Then cspell reads all of them, with the words of lint/words.txt. Exit status: 0 nothing found, 1 something found.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import prh from 'prh';
import { createLinter, loadTextlintrc } from 'textlint';
import { commentsAndStrings } from './comments_and_strings.mjs';

const docs = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const root = path.dirname(docs);
const terms = path.join(docs, 'lint/terms.yml');

const isPage = (file) => file.endsWith('.md');
const isSource = (file) => /\.(cu|cuh|cpp|h)$/.test(file);
// Text of others, and programs that are wrong on purpose or stand for programs of strangers.
const isOurs = (file) => !/^docs\/(node_modules|public)\/|^common\/tests\/(corpus|try_programs|api_corpus)\//.test(file);
// Tests misspell on purpose, and nobody but us reads them.
const isSpelled = (file) => !/^common\/(tests|fuzz)\//.test(file);

function filesToRead(chosen) {
    const all = chosen.length > 0 ? chosen.map((file) => path.relative(root, path.resolve(file))) : execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
    return all.filter((file) => (isPage(file) || isSource(file)) && isOurs(file) && fs.existsSync(path.join(root, file)));
}

/// Line and column of an index, both from 1.
function placeOf(text, index) {
    const before = text.slice(0, index).split('\n');
    return `${before.length}:${before.at(-1).length + 1}`;
}

const linter = createLinter({
    descriptor: await loadTextlintrc({ configFilePath: path.join(docs, 'lint/textlint.json'), node_modulesDir: path.join(docs, 'node_modules') }),
});

/// "FILE:LINE:COLUMN: ..." for each term of a page that is not the field's.
async function problemsOfPage(file) {
    const { messages } = await linter.lintText(fs.readFileSync(path.join(root, file), 'utf8'), path.join(root, file));
    return messages.map(({ line, column, message }) => `${file}:${line}:${column}: ${message.replace(/\s*\n\s*/g, ' ')}`);
}

const engine = prh.fromYAMLFilePath(terms);

function problemsOfSource(file) {
    const source = fs.readFileSync(path.join(root, file), 'utf8');
    const text = commentsAndStrings(source);
    // A string of one word and no more is a name, such as the key of a member: no reader sees it.
    const isName = ({ index, matches }) => source[index - 1] === '"' && source[index + matches[0].length] === '"';
    return engine.makeChangeSet(file, text).diffs.filter((diff) => !isName(diff)).map(({ index, matches, expected, rule }) => `${file}:${placeOf(text, index)}: ${matches[0].replace(/\s+/g, ' ')} => ${expected.replace(/\$(\d)/g, (_, group) => matches[group])}${rule?.raw?.prh ? ` ${rule.raw.prh}` : ''}`);
}

const files = filesToRead(process.argv.slice(2));
const problems = (await Promise.all(files.map((file) => (isPage(file) ? problemsOfPage(file) : problemsOfSource(file))))).flat();
for (const problem of problems) console.log(problem);

const spelling = spawnSync(process.execPath, [path.join(docs, 'node_modules/cspell/bin.mjs'), '--config', path.join(docs, 'lint/cspell.json'), '--no-progress', '--no-summary', '--root', root, '--file-list', 'stdin'], {
    cwd: root,
    input: files.filter(isSpelled).join('\n'),
    encoding: 'utf8',
});
process.stdout.write(spelling.stdout);
process.stderr.write(spelling.stderr);

const misspelled = spelling.stdout.split('\n').filter((line) => line.includes('Unknown word')).length;
console.log(`${files.length} files: ${problems.length} terms, ${misspelled} unknown words`);
process.exit(problems.length > 0 || spelling.status !== 0 ? 1 : 0);
