// All pages of the built site, in both languages, at three widths: code fits or wraps, nothing is wider than the page, the first
// figures of tables can be seen, axe finds nothing serious in light and dark, and no request leaves the site. One browser, a few
// tabs. PAGES=coalescing looks only at pages whose address matches.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, serveSite, siteFolder } from './site.mjs';

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tabs = Number(process.env.TABS ?? 3);
const widths = [1440, 768, 375];

const wanted = new RegExp(process.env.PAGES ?? '');
const pages = fs
    .readdirSync(siteFolder, { recursive: true })
    .map((name) => `/${String(name).split(path.sep).join('/')}`)
    .filter((name) => name.endsWith('.html') && !/^\/(source|print)\/|^\/404/.test(name) && wanted.test(name))
    .sort();

let site, browser;
before(async () => {
    site = await serveSite();
    browser = await openBrowser(site.url);
});
after(async () => {
    await browser?.close();
    await site?.close();
});

/// In the browser: lines of code and how many of them end outside of what is visible, how much wider the page is than the window,
/// and tables of results whose first column of figures is not to be seen.
function measure() {
    const shown = (element) => element.getClientRects().length > 0;
    const result = { lines: 0, cut: 0, wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, hidden: [] };
    for (const pre of document.querySelectorAll('.vp-doc pre')) {
        if (!shown(pre)) continue;
        const right = pre.getBoundingClientRect().right;
        for (const line of pre.querySelectorAll('.line')) {
            const range = document.createRange();
            range.selectNodeContents(line);
            ++result.lines;
            if (Math.max(0, ...[...range.getClientRects()].map((rect) => rect.right)) > right + 1) ++result.cut;
        }
    }
    for (const table of document.querySelectorAll('.vp-doc figure.results table')) {
        if (!shown(table)) continue;
        const cell = table.querySelector('tbody tr > .number:not(:first-child)');
        if (cell && cell.getBoundingClientRect().right > document.documentElement.clientWidth) result.hidden.push(table.closest('figure').innerText.slice(0, 60));
    }
    return result;
}

const serious = ({ violations }) =>
    violations
        .filter(({ impact }) => ['serious', 'critical'].includes(impact))
        .flatMap(({ id, nodes }) => nodes.slice(0, 4).map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`.slice(0, 260)));

const findings = (page, rules) =>
    page.evaluate(
        async (only) => window.axe.run(document, { resultTypes: ['violations'], ...(only && { runOnly: { type: 'rule', values: only } }) }),
        rules,
    );

/// What is wrong with a page, and {width: {lines, cut}}.
async function look(page, place) {
    const problems = [];
    const measured = {};
    for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        const { lines, cut, wide, hidden } = await page.evaluate(measure);
        measured[width] = { lines, cut };
        if (wide > 0) problems.push(`${place}: ${wide} pixels too wide at ${width}`);
        for (const table of hidden) problems.push(`${place}: no figure to be seen at ${width}: ${table}`);
    }
    await page.evaluate(axeSource);
    await page.evaluate(() => document.documentElement.classList.remove('dark'));
    problems.push(...serious(await findings(page)).map((what) => `${place}: ${what}`));
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.evaluate(() => document.documentElement.classList.add('dark'));
    problems.push(...serious(await findings(page, ['color-contrast'])).map((what) => `${place}: dark: ${what}`));
    return { problems, measured };
}

test('all pages fit and can be read at three widths, in light and dark, and ask nobody else for anything', async (t) => {
    const begin = Date.now();
    const waiting = [...pages];
    const problems = [];
    const sum = Object.fromEntries(widths.map((width) => [width, { lines: 0, cut: 0 }]));
    const outside = new Set();
    const tab = async () => {
        const page = await browser.newPage({ reducedMotion: 'reduce' });
        page.on('request', (request) => {
            if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(site.url)) outside.add(request.url());
        });
        for (let place = waiting.shift(); place; place = waiting.shift()) {
            page.removeAllListeners('pageerror');
            page.on('pageerror', (error) => problems.push(`${place}: ${error.message}`));
            await page.goto(site.url + place, { waitUntil: 'load' });
            await page.locator('h1').first().waitFor({ state: 'attached' });
            const { problems: found, measured } = await look(page, place);
            problems.push(...found);
            for (const width of widths) {
                sum[width].lines += measured[width].lines;
                sum[width].cut += measured[width].cut;
            }
        }
        await page.context().close();
    };
    await Promise.all(Array.from({ length: tabs }, tab));
    for (const width of widths) {
        const { lines, cut } = sum[width];
        t.diagnostic(`${width} pixels: ${lines} lines of code, of which ${lines - cut} (${((100 * (lines - cut)) / lines).toFixed(2)} %) fit`);
    }
    t.diagnostic(`${pages.length} pages in ${((Date.now() - begin) / 1000).toFixed(0)} s`);
    assert.deepEqual(problems, []);
    assert.deepEqual([...outside], [], 'requests that leave the site');
    assert.equal(sum[1440].cut, 0, 'lines of code that are cut off at 1440 pixels');
    for (const width of widths) assert.ok(sum[width].cut <= 0.05 * sum[width].lines, `${width} pixels: ${sum[width].cut} of ${sum[width].lines} lines are cut off`);
});
