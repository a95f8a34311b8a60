import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemsOfOrder } from './order.mjs';

const chapters = [
    {
        folder: '9_first',
        path: [
            { kind: 'lesson', name: 'warps' }, { kind: 'exercise', name: 'count' }, { kind: 'exercise', name: 'ask' },
            { kind: 'lesson', name: 'lanes' }, { kind: 'exercise', name: 'vote' },
        ],
    },
];
const link = (name) => `[${name}](../../exercises/9_first/${name}/README.md)`;
function book(changed = {}) {
    const texts = {
        '9_first/warps.md': `# Warps\n\n${link('vote')} is mentioned here.\n\n## Exercises\n\n- ${link('count')}\n- ${link('ask')}\n\n## Words\n`,
        '9_first/lanes.md': `# Lanes\n\n## Exercises\n\n- ${link('count')}\n- ${link('vote')}\n`,
        'exercises/9_first/count.md': '# count\n\n**You know** (lesson `warps`): much.\n',
        'exercises/9_first/ask.md': '# ask\n\n**You know** (lesson `warps` and exercise `count`): more.\n',
        'exercises/9_first/vote.md': '# vote\n',
        ...changed,
    };
    return { chapters, pages: new Map(Object.entries(texts).map(([page, text]) => [page, { origin: page, text }])) };
}

test('a book whose text keeps to the path has no problems', () => assert.deepEqual(problemsOfOrder(book()), []));

test('a lesson does not ask for an exercise that comes after the next lesson', () => {
    assert.deepEqual(problemsOfOrder(book({ '9_first/warps.md': `# Warps\n\n## Exercises\n\n${link('vote')}\n` })), [
        '9_first/warps.md:5: asks for the exercise vote, which comes later on the path, after lanes',
    ]);
    assert.deepEqual(problemsOfOrder(book({ 'zh/9_first/warps.md': `# 线程束\n\n## 练习\n\n${link('vote')}\n` })), [
        'zh/9_first/warps.md:5: asks for the exercise vote, which comes later on the path, after lanes',
    ]);
});

test('an exercise takes no later lesson for known, and none that does not exist', () => {
    assert.deepEqual(problemsOfOrder(book({ 'exercises/9_first/ask.md': '# ask\n\n**You know** (lessons `warps` and `lanes`, `tiles`): more.\n' })), [
        'exercises/9_first/ask.md:3: ask takes lanes for known, which comes later on the path',
        'exercises/9_first/ask.md:3: there is no lesson or exercise tiles',
    ]);
});

