// All pages of the built site, in both languages, at three widths: code fits or wraps, nothing is wider than the page, the first
// figures of tables can be seen, axe finds nothing moderate or serious in light and dark, and no request leaves the site. One browser, a few
// tabs. PAGES=coalescing looks only at pages whose address matches; WARPWISE_TURN=K/N at every N-th page, beginning with number K, and
// at one that stands for its kind.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { openBrowser, serveSite, siteFolder } from './site.mjs';

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const tabs = Number(process.env.TABS ?? 3);
const widths = [1440, 768, 375];
// One page of each kind, on which axe looks at everything, which takes much longer. In turns, one of them.
const kinds = ['/index.html', '/2_memory_model/bank_conflicts.html', '/exercises/2_memory_model/pad_the_tile.html', '/warp_view.html', '/zh/glossary.html'];

const wanted = new RegExp(process.env.PAGES ?? '');
const [turn, turns] = (process.env.WARPWISE_TURN ?? '0/1').split('/').map(Number);
const thorough = turns > 1 ? [kinds[turn % kinds.length]] : kinds;
const pages = fs
    .readdirSync(siteFolder, { recursive: true })
    .map((name) => `/${String(name).split(path.sep).join('/')}`)
    .filter((name) => name.endsWith('.html') && !/^\/source\/|^\/print_|^\/404/.test(name) && wanted.test(name))
    .sort()
    .filter((name, i) => i % turns === turn || thorough.includes(name));

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
/// and tables of results whose first column of figures is not to be seen, or whose names stand in a column of a few letters.
function measure() {
    const shown = (element) => element.getClientRects().length > 0;
    const result = { lines: 0, cut: 0, cutLines: [], wide: document.documentElement.scrollWidth - document.documentElement.clientWidth, hidden: [] };
    for (const pre of document.querySelectorAll('.vp-doc pre')) {
        if (!shown(pre)) continue;
        const right = pre.getBoundingClientRect().right;
        for (const line of pre.querySelectorAll('.line')) {
            const range = document.createRange();
            range.selectNodeContents(line);
            ++result.lines;
            if (Math.max(0, ...[...range.getClientRects()].map((rect) => rect.right)) > right + 1) {
                ++result.cut;
                result.cutLines.push(line.textContent.slice(0, 80));
            }
        }
    }
    for (const table of document.querySelectorAll('.vp-doc figure.results table')) {
        if (!shown(table)) continue;
        const cell = table.querySelector('tbody tr > .number:not(:first-child)');
        const name = table.querySelector('tbody tr > :first-child:not(.number)');
        if (name && name.innerText.length > 8 && name.getBoundingClientRect().width < 50) result.hidden.push(`(names) ${table.closest('figure').innerText.slice(0, 60)}`);
        if (cell && cell.getBoundingClientRect().right > document.documentElement.clientWidth) result.hidden.push(table.closest('figure').innerText.slice(0, 60));
    }
    return result;
}

/// In the browser: pairs of colors of text and of the ground below it whose contrast is less than 4.5 (3 for large text), each once.
/// axe finds the same, but looks at every word of code by itself, which takes seconds per page.
function faint() {
    const channels = (color) => /rgba?\(([\d.]+),? ([\d.]+),? ([\d.]+)(?:,? \/? ?([\d.]+))?\)/.exec(color)?.slice(1).map((part) => Number(part ?? 1));
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const grounds = new Map();
    const groundOf = (element) => {
        if (!element) return [255, 255, 255, 1];
        if (!grounds.has(element)) {
            const own = channels(getComputedStyle(element).backgroundColor) ?? [0, 0, 0, 0];
            grounds.set(element, own[3] === 1 ? own : over(own, groundOf(element.parentElement)));
        }
        return grounds.get(element);
    };
    const luminance = (color) => color.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const found = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest('svg, [aria-hidden=true], .visually-hidden, .header-anchor, math, script, style') || element.getClientRects().length === 0) continue;
        const style = getComputedStyle(element);
        const ground = groundOf(element);
        if (!channels(style.color)) continue; // a color that is no rgb()
        const key = `${style.color} on ${ground.map(Math.round)} ${style.fontSize} ${style.fontWeight}`;
        if (found.has(key)) continue;
        const [low, high] = [luminance(over(channels(style.color), ground)), luminance(ground)].sort((one, other) => one - other);
        const size = Number.parseFloat(style.fontSize);
        const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
        const contrast = (high + 0.05) / (low + 0.05);
        found.set(key, contrast < least - 0.005 && style.visibility === 'visible' && style.opacity > 0 ? `${contrast.toFixed(2)}: ${key}: ${node.data.trim().slice(0, 30)} (${element.className || element.tagName})` : undefined);
    }
    return [...found.values()].filter(Boolean);
}

const wrong = ({ violations }) =>
    violations
        .filter(({ impact }) => ['moderate', 'serious', 'critical'].includes(impact))
        .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target, any }) => `${id}: ${target.join(' ')} ${any[0]?.message ?? ''}`.slice(0, 260)));

/// All rules of axe; colors and what surrounds the text of each page, which takes most of its time, only where `all`.
const findings = (page, all) =>
    page.evaluate(
        async (everything) =>
            window.axe.run(everything ? document : { exclude: [['.VPNav'], ['.VPSidebar'], ['pre'], ['.aside']] }, {
                resultTypes: ['violations'],
                ...(!everything && { rules: { 'color-contrast': { enabled: false } } }),
            }),
        all,
    );

/// What is wrong with a page, and {width: {lines, cut}}.
async function look(page, place) {
    const problems = [];
    const measured = {};
    const everything = thorough.includes(place);
    await page.evaluate(axeSource);
    for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        const { lines, cut, cutLines, wide, hidden } = await page.evaluate(measure);
        measured[width] = { lines, cut };
        if (width === widths[0]) for (const line of cutLines) problems.push(`${place}: cut off at ${width}: ${line}`);
        if (wide > 0) problems.push(`${place}: ${wide} pixels too wide at ${width}`);
        for (const table of hidden) problems.push(`${place}: no figure to be seen at ${width}: ${table}`);
        problems.push(...wrong(await findings(page, everything)).map((what) => `${place}: ${width}: ${what}`));
    }
    for (const theme of ['light', 'dark']) {
        await page.evaluate((dark) => document.documentElement.classList.toggle('dark', dark), theme === 'dark');
        problems.push(...(await page.evaluate(faint)).map((what) => `${place}: ${theme}: contrast ${what}`));
        if (theme === 'dark' && everything) problems.push(...wrong(await findings(page, everything)).map((what) => `${place}: ${theme}: ${what}`));
    }
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
        page.setDefaultTimeout(120_000); // a busy machine is no mistake of a page
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
    // Of the whole book; a turn may get pages with more long lines.
    const share = turns > 1 ? 0.1 : 0.05;
    for (const width of widths) assert.ok(sum[width].cut <= share * sum[width].lines, `${width} pixels: ${sum[width].cut} of ${sum[width].lines} lines are cut off`);
});
