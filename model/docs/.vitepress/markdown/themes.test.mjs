import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { createMarkdownRenderer } from 'vitepress';
import { root } from '../book/repository.mjs';
import { cuda } from './cuda.mjs';
import { contrast, themes } from './themes.mjs';

test('contrast is that of WCAG', () => {
    assert.equal(contrast('#000000', '#ffffff'), 21);
    assert.ok(Math.abs(contrast('#777777', '#ffffff') - 4.48) < 0.01);
});

test('code has a contrast of at least 4.5, also where changes are marked', async () => {
    const css = fs.readFileSync(new URL('../theme/style.css', import.meta.url), 'utf8');
    const [light, dark] = [/:root \{([^}]*)\}/, /\.dark \{([^}]*)\}/].map((rule) => [...rule.exec(css)[1].matchAll(/--change[\w-]*: (#\w{6});/g)].map(([, color]) => color));
    assert.equal(light.length, 4);
    assert.equal(dark.length, 4);
    const md = await createMarkdownRenderer(root, { ...cuda, theme: themes });
    const code = (language, text) => `\`\`\`${language}\n${text}\n\`\`\`\n`;
    const html = md.render(
        code('cuda', '#include <cuda.h>\n// comment\n__global__ void f(const float* a, int n) { __shared__ float t[32][33]; if (n < 0x10u) a[threadIdx.x] = sinf(1.5f) + \'c\'; atomicAdd(&a, 1); }\ntemplate <typename T> struct S : B<T> { static constexpr auto s = "x\\n%d"; };\nasm volatile("a");') +
        code('json', '{"a": [1, true, "x"]}') + code('sh', 'cd x && ./warpwise run 1 --size 3 | grep "x" # c') + code('py', 'def f(x):\n    return "a"'));
    for (const [variable, grounds] of [['light', ['#f6f6f7', '#ffffff', ...light]], ['dark', ['#161618', '#1b1b1f', '#202127', ...dark]]]) {
        const colors = new Set([...html.matchAll(new RegExp(`--shiki-${variable}:(#\\w{6})`, 'g'))].map(([, color]) => color.toLowerCase()));
        assert.ok(colors.size > 4, variable);
        for (const color of colors) for (const ground of grounds) assert.ok(contrast(color, ground) >= 4.5, `${variable}: ${color} on ${ground} has ${contrast(color, ground).toFixed(2)}`);
    }
});
