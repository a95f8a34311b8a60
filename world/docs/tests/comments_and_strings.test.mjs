import assert from 'node:assert/strict';
import test from 'node:test';
import { commentsAndStrings } from '../scripts/comments_and_strings.mjs';

const words = (text) => commentsAndStrings(text).split(/\s+/).filter(Boolean).join(' ');

test('comments and strings are read, code is not', () => {
    assert.equal(words('int under = 1;  // loads in flight\n/// per SM\nf("a text", /* in between */ x);'), 'loads in flight per SM a text in between');
});

test('a text over several lines is read as one', () => {
    assert.equal(words('// bytes in\n// flight\n'), 'bytes in flight');
    assert.equal(words('f("bytes "\n  "in flight");'), 'bytes in flight');
    assert.equal(words('const char* text = R"(one\ntwo "three")";\nint four;'), 'one two "three"');
    assert.equal(words('auto text = R"x(a )" b)x" + other;'), 'a )" b');
});

test('marks inside of strings and of characters begin nothing', () => {
    assert.equal(words('f("http://x", \'"\', y);  // end'), 'http://x end');
    assert.equal(words('const int n = 1\'000; // separated\nchar c = \'\\\'\'; // quoted'), 'separated quoted');
    assert.equal(words('f("a \\" b // c"); g();'), 'a \\" b // c');
});

test('names of included files are no text', () => {
    assert.equal(words('#include "common/helpers/check.h"\n#error "a reason"'), 'a reason');
});

test('every character keeps its place', () => {
    const text = 'int größe; // 中文 größer\nf("ß");\n';
    const kept = commentsAndStrings(text);
    assert.equal(kept.length, text.length);
    assert.equal(kept.indexOf('größer'), text.indexOf('größer'));
    assert.deepEqual([...kept].filter((character) => character === '\n').length, 2);
});
