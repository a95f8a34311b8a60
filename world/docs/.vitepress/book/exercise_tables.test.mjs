import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOfTables, withTables } from './exercise_tables.mjs';
import { chapters } from './repository.mjs';

const lists = [
    { folder: '1_first', exercises: [{ name: 'one', kind: 'fill', about: 'a part' }, { name: 'two', kind: 'speed', about: 'too many' }] },
    { folder: '2_second', exercises: [{ name: 'three', kind: 'fix', about: 'wrong' }] },
];
const page = (first, second) => `# Exercises\n\n| exercise | kind |\n|---|---|\n${first}\n\nText\n\n|---|---|\n${second}\n\nEnd\n`;

test('each table lists the exercises of its chapter, in their order', () => {
    const old = page('| [two](1_first/two/README.md) | fix | old words |', '| [three](2_second/three/README.md) | fix | wrong |');
    const wanted = page('| [one](1_first/one/README.md) | fill | a part |\n| [two](1_first/two/README.md) | speed | too many |', '| [three](2_second/three/README.md) | fix | wrong |');
    assert.equal(withTables(old, 'en', lists), wanted);
    assert.equal(withTables(wanted, 'en', lists), wanted);
});

test('Chinese words stay, and a new exercise asks for them', () => {
    const old = page('| [two](1_first/two.md) | 提速 | 太多 |', '| [three](2_second/three.md) | 改错 | 不对 |');
    const text = withTables(old, 'zh', lists);
    assert.match(text, /\| \[two\]\(1_first\/two\.md\) \| 提速 \| 太多 \|/);
    assert.match(text, /\| \[one\]\(1_first\/one\.md\) \| 补全 \| （未翻译） \|/);
});

test('the tables of this repository are those of its lists', () => assert.deepEqual(problemsOfTables(chapters()), []));
