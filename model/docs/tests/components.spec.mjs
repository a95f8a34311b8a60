// The interactive views on the page that shows all of them, in both languages. BOOK_URL names a server that is running;
// without it, the built site is served.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually, openBrowser, serveSite } from './site.mjs';

const traces = fileURLToPath(new URL('../public/traces/', import.meta.url));
let site, browser;

before(async () => {
    site = process.env.BOOK_URL ? { url: process.env.BOOK_URL.replace(/\/$/, ''), close() {} } : await serveSite();
    browser = await openBrowser(site.url, '.ww-warp-view .ww-player');
});
after(async () => {
    await browser?.close();
    await site?.close();
});

const visit = (place, look, options, ready) => browser.visit(place, look, options, ready);
const warpView = (page, index = 0) => page.locator('.ww-warp-view').nth(index);
const said = (view, panel = 0) => view.locator('.ww-say').nth(panel).innerText();
const plain = (text) => text.replace(/\s+/g, ' ').trim();
/// Waits until a text, without its line breaks, matches.
const reads = (text, expected, message) => eventually(async () => assert.match(plain(await text()), expected, message));
const says = (view, expected, panel = 0, message = undefined) => reads(() => said(view, panel), expected, message);
const button = (view, name) => view.getByRole('button', { name, exact: true });

for (const [language, place] of [
    ['English', '/warp_view'],
    ['Chinese', '/zh/warp_view'],
]) {
    for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
        [320, 'light'],
    ]) {
        test(`all views are there in ${language}, at ${width} pixels, ${colorScheme}`, async () => {
            await visit(
                place,
                async (page) => {
                    for (const view of ['warp-view', 'block-view', 'loader', 'occupancy', 'amdahl', 'roofline']) {
                        await page.locator(`.ww-${view}`).first().waitFor();
                    }
                    await page.locator('.ww-roofline circle').first().waitFor();
                    await eventually(async () =>
                        assert.equal(await page.locator('.ww [role=alert]', { hasText: /\S/ }).count(), 0),
                    );
                    const tooWide = await page.evaluate(
                        () =>
                            [...document.querySelectorAll('.ww, .ww svg, .ww table')].filter((element) => {
                                const inside = element.closest('.ww-scroll');
                                return (
                                    !inside &&
                                    element.getBoundingClientRect().right > document.documentElement.clientWidth + 1
                                );
                            }).length,
                    );
                    assert.equal(tooWide, 0, 'elements wider than the page');
                    const overflow = await page.evaluate(
                        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
                    );
                    assert.ok(overflow <= 0, `${overflow} pixels too wide`);
                },
                { viewport: { width, height: 800 }, colorScheme },
            );
        });
    }
}

test('each request is said in words, and both sides step together', async () => {
    await visit('/warp_view', async (page) => {
        const view = warpView(page);
        await says(
            view,
            /^Request 1 of 5, line \d+: 32 lanes load 4 bytes each from particles, stride 32 bytes: 32 sectors, 12\.5 % used\.$/,
        );
        await says(view, /^Request 1 of 5, .*stride 4 bytes: 4 sectors, 100 % used\.$/, 1);
        await button(view, 'Step forward').click();
        await says(view, /^Request 2 of 5/);
        await says(view, /^Request 2 of 5/, 1);
        await button(view, 'Step back').click();
        await says(view, /^Request 1 of 5/);
        await eventually(async () =>
            assert.equal(await button(view, 'Step back').getAttribute('aria-disabled'), 'true'),
        );
        await button(view, 'Step back').click({ force: true });
        await says(view, /^Request 1 of 5/);
        await reads(() => view.locator('.ww-counters').first().innerText(), /sectors per request 32 32 26\.4/);
    });
});

test('the drawing shows fetched sectors and what is used of them', async () => {
    await visit('/warp_view', async (page) => {
        const view = warpView(page);
        const panel = (index) => view.locator('.ww-panel').nth(index);
        await eventually(async () => assert.equal(await panel(0).locator('.ww-fetched').count(), 32));
        await eventually(async () => assert.equal(await panel(1).locator('.ww-fetched').count(), 4));
        await eventually(async () => assert.equal(await panel(0).locator('.ww-piece').count(), 32));
        await panel(0).locator('.ww-piece').nth(3).hover();
        await eventually(async () => assert.equal(await panel(0).locator('.ww-piece[opacity="1"]').count(), 1));
    });
});

test('a lane marks its cell and its source line, and these mark the lanes: by pointer, keyboard, and touch', async () => {
    for (const hasTouch of [false, true]) {
        await visit(
            '/warp_view',
            async (page) => {
                const panel = warpView(page).locator('.ww-panel').first();
                const lane = (number) => panel.locator('.ww-lanes button').nth(number);
                const lit = (what) => panel.locator(what);
                const marked = async (cells, lanes, line) => {
                    await eventually(async () => assert.equal(await lit('.ww-piece[opacity="1"]').count(), cells));
                    await eventually(async () => assert.equal(await lit('.ww-lanes .ww-lit').count(), lanes));
                    await eventually(async () => assert.equal(await lit('.ww-source .ww-lit').count(), line));
                };
                const readout = () => panel.locator('.ww-readout').innerText();
                const of5 =
                    /^Lane 5, line \d+: element 46 of particles \(row 5, column 6\), bytes 184 to 187, sector 6 of 32\.$/;
                await lit('.ww-piece').first().waitFor();
                if (hasTouch) {
                    await lane(5).tap();
                    await marked(1, 1, 1);
                    await reads(readout, of5);
                    await lane(5).tap();
                    await marked(32, 0, 0);
                    await panel.locator('.ww-source li button').first().tap();
                    await marked(32, 32, 1);
                    return;
                }
                await lane(5).hover();
                await marked(1, 1, 1);
                await reads(readout, of5);
                await eventually(async () => assert.match(await lane(5).getAttribute('aria-label'), of5));
                await panel.locator('.ww-source li[aria-current]').hover();
                await marked(32, 32, 1);
                await reads(readout, /^Line \d+: lanes 0–31 access particles in request 1 of 5\.$/);
                await lit('.ww-piece').nth(7).hover();
                await marked(1, 1, 1);
                await reads(readout, /^Lane 7, /);

                // A lane that was clicked stays marked while the warp goes on.
                await lane(3).click();
                await eventually(async () => assert.equal(await lane(3).getAttribute('aria-pressed'), 'true'));
                await button(warpView(page), 'Step forward').click();
                await says(warpView(page), /^Request 2 of 5/);
                await marked(1, 1, 1);
                await reads(readout, /^Lane 3, /);
                await lane(3).click();

                await lane(0).focus();
                for (const [key, expected] of [
                    ['ArrowRight', 1],
                    ['End', 31],
                    ['ArrowLeft', 30],
                    ['Home', 0],
                ]) {
                    await page.keyboard.press(key);
                    await reads(readout, new RegExp(`^Lane ${expected}, `), key);
                    await says(warpView(page), /^Request 2 of 5/, 0, 'keys in lanes do not step');
                }
                await page.keyboard.press('Enter');
                await eventually(async () => assert.equal(await lane(0).getAttribute('aria-pressed'), 'true'));
                await page.keyboard.press('Escape');
                await eventually(async () => assert.equal(await lane(0).getAttribute('aria-pressed'), 'false'));
            },
            { hasTouch },
        );
    }
});

test('an array is drawn with its rows, of which the reader can give the length', async () => {
    await visit('/warp_view', async (page) => {
        const panel = (view, side) => warpView(page, view).locator('.ww-panel').nth(side);
        const length = (view, side) => panel(view, side).getByRole('spinbutton');
        const caption = (view, side) => panel(view, side).locator('.ww-maps figcaption').first().innerText();
        for (const side of [0, 1]) {
            await eventually(async () => assert.equal(await length(1, side).inputValue(), '384'));
            await reads(() => caption(1, side), /^512 rows of 384 elements$/);
        }
        // The same array has one row length on both sides.
        await length(1, 0).fill('192');
        await page.keyboard.press('Tab');
        await reads(() => caption(1, 1), /^1,024 rows of 192 elements$/);
        await length(1, 0).fill('');
        await page.keyboard.press('Tab');
        await reads(() => caption(1, 0), /^512 rows of 384 elements$/);

        // Shared memory: rows and columns, and the same by bank.
        await eventually(async () => assert.equal(await length(2, 1).inputValue(), '33'));
        const maps = (side) => panel(2, side).locator('.ww-maps svg');
        await eventually(async () => assert.equal(await maps(1).count(), 2));
        await eventually(async () => assert.equal(await maps(0).nth(1).locator('.ww-conflict').count(), 32));
        await eventually(async () => assert.equal(await maps(1).nth(1).locator('.ww-conflict').count(), 0));
        await reads(() => panel(2, 0).innerText(), /Bank conflict: bank 0, up to 32 words per bank\./);
        await reads(() => panel(2, 1).innerText(), /No bank conflict\./);
    });
});

test('two launches are compared in numbers, by array too', async () => {
    await visit('/warp_view', async (page) => {
        const view = warpView(page, 1);
        const table = () => view.locator('.ww-comparison').innerText();
        await reads(table, /sectors per request, this request 32 4 −28 \(× 0\.125\) a: sectors per request 32 4/);
        await reads(table, /all arrays: sectors per request 32 4 .* of them used 12\.5 % 100 % \+87\.5 points \(× 8\)/);
        await view.getByRole('combobox', { name: 'Array' }).selectOption('sum');
        await says(view, /^Request 1 of 1, .* to sum,/);
        await says(view, /^Request 1 of 1, .* to sum,/, 1);
        await reads(() => warpView(page, 2).locator('.ww-comparison').innerText(), /per request 32 1 −31/);
    });
});

for (const width of [375, 768, 1440]) {
    test(`text of the views can be read at ${width} pixels: 11 pixels high or more, none over another, none cut off`, async () => {
        for (const [place, colorScheme] of [
            ['/warp_view', 'light'],
            ['/zh/warp_view', 'dark'],
        ]) {
            await visit(
                place,
                async (page) => {
                    await page.locator('.ww-block-view .ww-timeline').last().waitFor();
                    const wrong = await page.locator('.ww-warp-view, .ww-block-view').evaluateAll((views) => {
                        const found = [];
                        for (const view of views) {
                            const frame = view.getBoundingClientRect();
                            const texts = [...view.querySelectorAll('svg text, .ww-lanes button')].filter(
                                (text) => text.textContent.trim() && text.getClientRects().length > 0,
                            );
                            const boxes = texts.map((text) => {
                                const range = document.createRange();
                                range.selectNodeContents(text);
                                return [text.textContent, range.getBoundingClientRect()];
                            });
                            boxes.forEach(([words, box], i) => {
                                if (box.left < frame.left || box.right > frame.right) found.push(`${words} is cut off`);
                                for (const [others, other] of boxes.slice(i + 1)) {
                                    const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
                                    const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
                                    if (wide > 0.5 && high > 3) found.push(`${words} over ${others}`);
                                }
                            });
                            const walker = document.createTreeWalker(view, NodeFilter.SHOW_TEXT);
                            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                                if (!node.data.trim() || node.parentElement.closest('title')) continue;
                                const size = parseFloat(getComputedStyle(node.parentElement).fontSize);
                                if (size < 11) found.push(`${node.data} has ${size} pixels`);
                            }
                        }
                        return found;
                    });
                    assert.deepEqual(wrong, [], place);
                    const lefts = await warpView(page)
                        .locator('.ww-panel')
                        .evaluateAll((panels) => panels.map((panel) => panel.getBoundingClientRect().left));
                    assert.equal(lefts[0] === lefts[1], width < 768, 'panels are stacked where it is narrow');
                },
                { viewport: { width, height: 900 }, colorScheme },
            );
        }
    });
}

test('the keyboard steps, jumps and plays', async () => {
    await visit('/warp_view', async (page) => {
        const view = warpView(page);
        await button(view, 'Step forward').focus();
        for (const [key, expected] of [
            ['ArrowRight', 2],
            ['ArrowRight', 3],
            ['ArrowLeft', 2],
            ['End', 5],
            ['Home', 1],
            ['Enter', 2],
        ]) {
            await page.keyboard.press(key);
            await says(view, new RegExp(`^Request ${expected} of 5`), 0, key);
        }
        await view.getByRole('slider').focus();
        await page.keyboard.press('ArrowRight');
        await says(view, /^Request 3 of 5/);
        await eventually(async () =>
            assert.equal(await view.locator('.ww-say').first().getAttribute('aria-live'), 'polite'),
        );
        await page.keyboard.press('Home');
        await page.keyboard.press('Space');
        await button(view, 'Pause').waitFor();
        await eventually(async () =>
            assert.equal(await view.locator('.ww-say').first().getAttribute('aria-live'), 'off'),
        );
        await page.waitForFunction(() => /^Request 5/.test(document.querySelector('.ww-say').innerText));
        await button(view, 'Play').waitFor();
        await eventually(async () =>
            assert.equal(await view.locator('.ww-say').first().getAttribute('aria-live'), 'polite'),
        );
        await button(view, 'Play').click(); // from the start again
        await button(view, 'Pause').click();
        await says(view, /^Request [1-4] of 5/);
    });
});

test('launch, line and warp can be chosen', async () => {
    await visit('/warp_view', async (page) => {
        const view = warpView(page);
        await view.getByLabel('Launch').nth(1).selectOption('copy_with_gaps, stride 2');
        await says(view, /^Request 1 of 2, .* from in, stride 8 bytes: 8 sectors, 50 % used\.$/, 1);
        await view
            .locator('label', { hasText: /^\s*Warp/ })
            .locator('select')
            .selectOption('1');
        await view.locator('.ww-panel').nth(0).getByText('Table of lanes').click();
        const row = view.locator('.ww-panel').nth(0).locator('details tbody tr').nth(1);
        await reads(() => row.innerText(), /^1 10\d\d /);
        const banks = warpView(page, 2);
        await says(
            banks,
            /line \d+: 32 lanes load 4 bytes each from tiles, stride 128 bytes: 32 passes, 31 of them because of conflicts\.$/,
        );
        await says(banks, /stride 132 bytes: 1 pass, no conflict\.$/, 1);
        await banks.getByLabel('Line').nth(0).selectOption({ index: 0 });
        await says(banks, /^Request 1 of 96/);
    });
});

test('the current source line is marked', async () => {
    await visit('/warp_view', async (page) => {
        const marked = warpView(page, 2).locator('.ww-source li[aria-current]');
        await reads(() => marked.nth(0).innerText(), /sum \+= tile\[lane\]\[col\]/);
        await eventually(async () => {
            const visible = await marked.nth(0).evaluate((line) => {
                const [inner, outer] = [line, line.closest('.ww-source')].map((one) => one.getBoundingClientRect());
                return inner.top >= outer.top && inner.bottom <= outer.bottom;
            });
            assert.ok(visible, 'the marked line is out of sight');
        });
    });
});

test('the block view counts active threads, and shows barriers', async () => {
    await visit('/warp_view', async (page) => {
        const view = page.locator('.ww-block-view').first();
        await says(view, /^Step 1 of \d+: line \d+, 256 of 256 threads active, in 8 warps\.$/);
        await eventually(async () =>
            assert.equal(await view.locator('.ww-panel').nth(0).locator('.ww-barrier').count(), 8),
        );
        await eventually(async () =>
            assert.equal(await view.locator('.ww-panel').nth(1).locator('.ww-barrier').count(), 1),
        );
        const seen = new Set();
        await button(view, 'Step forward').focus();
        for (let i = 0; i < 64; ++i) {
            await page.keyboard.press('ArrowRight');
            const words = await said(view);
            seen.add(/barrier in line/.test(words) ? 'barrier' : /, (\d+) of 256/.exec(words)?.[1]);
        }
        for (const state of ['256', '128', '64', '32', '16', '8', '4', '2', '1', 'barrier'])
            assert.ok(seen.has(state), state);
        const box = await view.locator('.ww-timeline').first().boundingBox();
        await view
            .locator('.ww-timeline')
            .first()
            .click({ position: { x: box.width / 2, y: 20 } });
        await eventually(async () => assert.doesNotMatch(await said(view), /^Step 65 /));
    });
});

test('readers load a trace of their own, and wrong files are explained', async () => {
    await visit('/warp_view', async (page) => {
        const loader = page.locator('.ww-loader');
        const put = (name, text) =>
            loader
                .locator('input[type=file]')
                .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
        const good = fs.readFileSync(`${traces}matrix_add.json`, 'utf8');
        for (const [text, expected] of [
            ['int main() {}', /holds no JSON/],
            ['{"warpwise": 1}', /"warpwise_trace" is missing/],
            [good.replace('"warpwise_trace":1', '"warpwise_trace":7'), /version 7; this page reads version 1/],
            [good.replace('"lanes":"ffffffff"', '"lanes":"all"'), /launches\[0\]\.warps\[0\]\.events\[0\]/],
        ]) {
            await put('wrong.json', text);
            await loader.getByRole('alert').filter({ hasText: expected }).waitFor();
            await eventually(async () => assert.equal(await loader.locator('.ww-warp-view').count(), 0));
        }
        await put('mine.json', good);
        await loader.getByRole('status').filter({ hasText: 'mine.json: 2 launches.' }).waitFor();
        await eventually(async () => assert.equal(plain(await loader.getByRole('alert').first().innerText()), ''));
        await says(loader.locator('.ww-warp-view'), /^Request 1 of 3/);
        await says(loader.locator('.ww-block-view'), /^Step 1 of/);

        // Two launches of one file, side by side, or one of them alone.
        await eventually(async () => assert.equal(await loader.locator('.ww-warp-view .ww-panel').count(), 2));
        await reads(() => loader.locator('.ww-comparison').innerText(), /add_x_down_ ?rows add_x_along_ ?rows difference/);
        await loader.getByLabel('Compare two launches').uncheck();
        await eventually(async () => assert.equal(await loader.locator('.ww-warp-view .ww-panel').count(), 1));
        await loader.getByLabel('Compare two launches').check();

        // A second file: the launches say which file they are of.
        const chooser = page.waitForEvent('filechooser');
        await loader.getByRole('button', { name: 'Add a second trace' }).click();
        const other = { name: 'other.json', mimeType: 'application/json', buffer: Buffer.from(good) };
        await (await chooser).setFiles(other);
        await loader.getByRole('status').filter({ hasText: 'mine.json: 2 launches. other.json: 2 launches.' }).waitFor();
        const chosen = () => loader.locator('.ww-warp-view select option:checked').allInnerTexts();
        await reads(async () => (await chosen()).join(' '), /mine\.json: add_x_down_rows other\.json: add_x_down_rows/);
        await reads(() => loader.locator('.ww-comparison').innerText(), /a: sectors per request 32 32 0/);

        // Dropped: the same.
        const data = await page.evaluateHandle((text) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([text], 'dropped.json', { type: 'application/json' }));
            return transfer;
        }, good);
        await loader.locator('.ww-drop').dispatchEvent('drop', { dataTransfer: data });
        await loader.getByRole('status').filter({ hasText: 'dropped.json' }).waitFor();
    });
});

test('the occupancy explorer says what limits', async () => {
    await visit('/warp_view', async (page) => {
        const view = page.locator('.ww-occupancy');
        const result = () => view.locator('.ww-result').innerText();
        const put = async (label, value) => {
            await view.getByRole('spinbutton', { name: label }).fill(String(value));
            await page.keyboard.press('Tab');
        };
        await reads(result, /^75 % 48 of 64 warps resident blocks: 6 Limited by registers\.$/);
        await put('Registers per thread', 32);
        await reads(result, /^100 % .* Limited by warps and registers\.$/);
        await put('Shared memory per block, bytes', 49152);
        await reads(result, /^50 % 32 of 64 warps resident blocks: 4 Limited by shared memory\.$/);
        await view.getByLabel('Compute capability').selectOption('8.6');
        await reads(result, /^33\.3 % 16 of 48 warps resident blocks: 2 Limited by shared memory\.$/);
        await put('Threads per block', 1024);
        await put('Registers per thread', 128);
        await reads(result, /does not fit/);
        await view.getByLabel('Kernel of a lesson').selectOption('sums_unrolled');
        await reads(result, /^18\.8 % 12 of 64 warps resident blocks: 3 Limited by registers\.$/);
        await put('Registers per thread', 9999);
        await eventually(async () =>
            assert.equal(await view.getByRole('spinbutton', { name: 'Registers per thread' }).inputValue(), '255'),
        );
        const slider = view.getByRole('slider', { name: 'Threads per block' });
        await slider.focus();
        await page.keyboard.press('Home');
        await eventually(async () =>
            assert.equal(await view.getByRole('spinbutton', { name: 'Threads per block' }).inputValue(), '1'),
        );
    });
});

test("Amdahl's law is computed", async () => {
    await visit('/warp_view', async (page) => {
        const view = page.locator('.ww-amdahl');
        const result = () => view.locator('.ww-result').innerText();
        await reads(result, /^15\.4× .*at most 20×, with any number 90 % of that with 171 processors$/);
        await view.getByRole('spinbutton').fill('0');
        await page.keyboard.press('Tab');
        await reads(result, /^64× /);
    });
});

test('lessons on the roofline are named on focus, and in a table', async () => {
    await visit('/warp_view', async (page) => {
        const view = page.locator('.ww-roofline');
        await view.locator('circle').first().waitFor();
        const outside = await view.locator('circle').evaluateAll((circles) =>
            circles.filter((circle) => {
                const [point, picture] = [circle, circle.ownerSVGElement].map((one) => one.getBoundingClientRect());
                return point.top < picture.top || point.bottom > picture.bottom || point.right > picture.right;
            }).length,
        );
        assert.equal(outside, 0, 'lessons outside of the picture');
        const boxes = await view.locator('.ww-label').evaluateAll((labels) => labels.map((label) => [label.textContent, label.getBoundingClientRect().toJSON()]));
        assert.equal(boxes.length, await view.locator('[data-point]').count(), 'each lesson has its name beside it');
        const apart = (one, other) => one.left >= other.right || other.left >= one.right || one.top + 3 >= other.bottom || other.top + 3 >= one.bottom;
        boxes.forEach(([name, box], i) => boxes.slice(i + 1).forEach(([other, its]) => assert.ok(apart(box, its), `${name} covers ${other}`)));
        await reads(() => view.innerText(), /they move no bytes .*: pi \([\d.]+ %\), pi_precision \([\d.]+ %\)\./);
        await view.locator('[data-point]').first().focus();
        await reads(() => view.locator('.ww-say').innerText(), /Gop\/s at .* operations per byte/);
        const first = await view.locator('.ww-say').innerText();
        await page.keyboard.press('ArrowRight');
        await eventually(async () => assert.notEqual(await view.locator('.ww-say').innerText(), first));
        await view.getByText('Table of the lessons').click();
        await reads(() => view.locator('table').innerText(), /coalescing/);
        await reads(
            () => view.locator('.ww-provenance').innerText(),
            /NVIDIA .*, build\/bin\/cuda\/.*, 20\d\d-\d\d-\d\d/,
        );
    });
});

test('results of a reader are drawn when they are chosen, and the book\'s come back', async () => {
    await visit('/warp_view', async (page) => {
        const view = page.locator('.ww-roofline');
        await view.locator('[data-point]').first().waitFor();
        await view.getByText('Results of your own GPU').click();
        const file = fileURLToPath(new URL('../results/h200_chapter_2.json', import.meta.url));
        await view.locator('input[type=file]').setInputFiles([file]);
        await eventually(async () => assert.ok(!(await view.locator('.ww-label').allTextContents()).includes('vector_add')));
        await view.getByRole('button', { name: "Back to the book's results" }).click();
        await eventually(async () => assert.ok((await view.locator('.ww-label').allTextContents()).includes('vector_add')));
        const times = fs.readFileSync(file, 'utf8').replaceAll('<', '\\u003c');
        const report = `<!DOCTYPE html>\n<title>Warpwise report</title>\n<script type="application/json" id="times-2_memory_model">${times}</script>\n`;
        await view.locator('input[type=file]').setInputFiles([{ name: 'report.html', mimeType: 'text/html', buffer: Buffer.from(report) }]);
        await eventually(async () => assert.ok(!(await view.locator('.ww-label').allTextContents()).includes('vector_add')));
        await view.getByRole('button', { name: "Back to the book's results" }).click();
        await view.locator('input[type=file]').setInputFiles([{ name: 'x.json', mimeType: 'application/json', buffer: Buffer.from('{') }]);
        await reads(() => view.getByRole('alert').innerText(), /neither a report nor JSON/);
    });
});

test('the Chinese page speaks Chinese', async () => {
    await visit('/zh/warp_view', async (page) => {
        const view = warpView(page);
        await says(
            view,
            /^第 1 次请求，共 5 次，第 \d+ 行：32 个 lane 从 particles 各加载 4 字节，步长 32 字节：32 个扇区，利用率 12\.5 %。$/,
        );
        await view.getByRole('button', { name: '下一步' }).click();
        await says(view, /^第 2 次请求/);
        await says(page.locator('.ww-block-view').first(), /^第 1 步/);
        const lessons = await page.locator('.ww-roofline .ww-label').allTextContents(); // names, the same everywhere
        assert.ok(lessons.includes('occupancy'));
        const words = (await page.locator('.ww').allInnerTexts()).map((text) =>
            lessons.reduce((rest, lesson) => rest.replace(lesson, ''), text),
        );
        for (const word of ['Step', 'lanes', 'Request', 'Launch', 'sectors', 'occupancy', 'Table']) {
            assert.ok(!words.some((text) => new RegExp(`\\b${word}\\b`).test(text)), word);
        }
    });
});

test('every recorded trace says where it is from', async () => {
    await visit('/warp_view', async (page) => {
        for (const view of await page.locator('.ww-warp-view, .ww-block-view').all()) {
            await reads(
                () => view.locator('.ww-provenance').first().innerText(),
                /^CPU device, build\/bin\/cpu\/\w+ .*\.json ?, 20\d\d-\d\d-\d\d\./,
            );
        }
    });
});

// ---- drawings ----

const drawings = [
    ['/', 'stride'],
    ['/2_memory_model/coalescing', 'stride'],
    ['/gpu_architecture', 'sm'],
    ['/gpu_architecture', 'memory'],
    ['/thread_hierarchy', 'hierarchy'],
    ['/execution_model', 'latency'],
    ['/execution_model', 'little'],
    ['/2_memory_model/bank_conflicts', 'banks'],
    ['/2_memory_model/shared_memory', 'stencil'],
    ['/2_memory_model/histogram', 'atomics'],
    ['/2_memory_model/fences_and_last_block', 'last_block'],
    ['/2_memory_model/host_memory_and_streams', 'host'],
    ['/2_memory_model/host_memory_and_streams', 'streams'],
    ['/1_basics_and_pi/first_program', 'host'],
    ['/1_basics_and_pi/hello_threads', 'ranks'],
    ['/1_basics_and_pi/vector_add', 'grid_stride'],
    ['/1_basics_and_pi/fork_join', 'fork'],
    ['/1_basics_and_pi/qualifiers', 'scopes'],
    ['/1_basics_and_pi/pi_precision', 'rounding'],
    ['/1_basics_and_pi/device_query', 'fits'],
    ['/2_memory_model/registers_and_local', 'ring'],
    ['/2_memory_model/memory_spaces', 'memory'],
    ['/3_optimization/timers', 'clock'],
    ['/3_optimization/error_handling', 'errors'],
    ['/3_optimization/serial_c', 'lines'],
    ['/3_optimization/latency_hiding', 'chains'],
    ['/3_optimization/instruction_throughput', 'price'],
    ['/3_optimization/accuracy', 'additions'],
    ['/4_examples/vector_distance', 'pack'],
    ['/3_optimization/dot_product', 'reduction'],
    ['/3_optimization/transpose', 'transpose'],
    ['/3_optimization/occupancy', 'waves'],
    ['/3_optimization/divergence', 'divergence'],
    ['/4_examples/matrix_multiply', 'tiles'],
    ['/4_examples/matrix_multiply', 'pipeline'],
    ['/programming_patterns', 'scan'],
    ['/4_examples/scan', 'look_back'],
    ['/5_modern_cuda/memory_model', 'hand_over'],
    ['/5_modern_cuda/libraries', 'run_sums'],
    ['/5_modern_cuda/profiling', 'stalls'],
    ['/5_modern_cuda/graphs', 'launches'],
    ['/4_examples/sort', 'bitonic'],
    ['/4_examples/sort', 'radix'],
    ['/4_examples/transformer_block', 'transformer'],
    ['/6_several_gpus/devices_and_peers', 'peers'],
    ['/6_several_gpus/halo_exchange', 'gpu_timeline'],
    ['/6_several_gpus/ring_all_reduce', 'all_reduce'],
    ['/6_several_gpus/processes', 'places_of_ranks'],
];
const drawing = (page, name) => page.locator(`.drawing-${name}`).first();
const pagesOfDrawings = [...new Set(drawings.map(([place]) => place))];

/// Moves everything that a drawing has to move, with the keyboard alone.
async function playWithKeys(page, figure) {
    for (const slider of await figure.locator('input[type=range]').all()) {
        await slider.focus();
        for (const key of ['End', 'ArrowLeft', 'Home', 'ArrowRight']) await page.keyboard.press(key);
    }
    for (const choice of await figure.locator('.d-choice button').all()) {
        await choice.focus();
        await page.keyboard.press('Enter');
        await eventually(async () => assert.equal(await choice.getAttribute('aria-pressed'), 'true'));
    }
    // On a busy machine parts are still on their way, even from where they stood before the page had its width.
    await figure.evaluate((element) => element.getAnimations({ subtree: true }).forEach((animation) => animation.finish()));
}

for (const [prefix, width, colorScheme] of [
    ['', 1280, 'light'],
    ['/zh', 375, 'dark'],
]) {
    test(`drawings at ${width} pixels, ${colorScheme}${prefix ? ', in Chinese' : ''}: text is legible, fits, and nothing breaks by the keyboard`, async () => {
        for (const place of pagesOfDrawings) {
            await visit(
                prefix + place,
                async (page) => {
                    for (const [, name] of drawings.filter(([where]) => where === place)) {
                        const figure = drawing(page, name);
                        await figure.locator('svg').first().waitFor();
                        await figure.scrollIntoViewIfNeeded();
                        const alt = await figure.locator('svg').first().getAttribute('aria-label');
                        assert.ok(alt.length > 30, `${place} ${name}: ${alt}`);
                        if (prefix) assert.match(alt, /[\u4e00-\u9fff]/, name);
                        await playWithKeys(page, figure);
                        const outside = await figure.evaluate((element) => {
                            const box = element.getBoundingClientRect();
                            return [...element.querySelectorAll('svg text')]
                                .filter((text) => text.textContent.trim())
                                .map((text) => [text.textContent.trim(), text.getBoundingClientRect()])
                                .filter(([, at]) => at.left < box.left - 1 || at.right > box.right + 1)
                                .map(([words]) => words);
                        });
                        assert.deepEqual(outside, [], `${place} ${name}: text beyond the frame`);
                    }
                    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
                    assert.ok(overflow <= 0, `${place} is ${overflow} pixels too wide`);
                },
                { viewport: { width, height: 800 }, colorScheme },
                'h1',
            );
        }
    });
}

test('text of drawings has a contrast of 4.5 to what it stands on, light and dark', async () => {
    for (const colorScheme of ['light', 'dark']) {
        await visit(
            '/2_memory_model/coalescing',
            async (page) => {
                await drawing(page, 'stride').locator('svg').first().waitFor();
                const contrasts = await page.evaluate(() => {
                    const figure = document.querySelector('.drawing-stride');
                    const probe = document.createElement('i');
                    figure.append(probe);
                    const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
                    const luminance = (color) => {
                        probe.style.color = color;
                        const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map((part) => channel(Number(part) / 255));
                        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
                    };
                    const contrast = (one, other) => {
                        const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
                        return (high + 0.05) / (low + 0.05);
                    };
                    const fills = ['a', 'b', 'c', 'd', 'e', 'n'].map((name) => `var(--d-${name}-fill)`);
                    return Object.fromEntries([
                        ...[...fills, 'var(--ww-bg)'].map((fill) => [`text on ${fill}`, contrast('var(--d-text)', fill)]),
                        ...['var(--ww-bg)', 'var(--d-n-fill)'].map((fill) => [`quiet text on ${fill}`, contrast('var(--d-text-2)', fill)]),
                    ]);
                });
                for (const [what, contrast] of Object.entries(contrasts)) assert.ok(contrast >= 4.5, `${what}, ${colorScheme}: ${contrast.toFixed(2)}`);
            },
            { colorScheme },
            'h1',
        );
    }
});

test('the first page lets a visitor drag the stride, and has one button', async () => {
    await visit(
        '/',
        async (page) => {
            const figure = drawing(page, 'stride');
            const numbers = () => figure.locator('.stride-numbers').innerText();
            const slider = figure.getByRole('slider', { name: 'Stride' });
            await slider.focus();
            await page.keyboard.press('Home');
            await reads(numbers, /sectors per request 4 .* 100 % .* 2,441 GB\/s/);
            assert.equal(await figure.locator('.fetched').count(), 4);
            const box = await slider.boundingBox();
            await page.mouse.move(box.x + 8, box.y + box.height / 2);
            await page.mouse.down();
            await page.mouse.move(box.x + box.width - 1, box.y + box.height / 2, { steps: 5 });
            await page.mouse.up();
            await reads(numbers, /sectors per request 32 .* 12\.5 % .* 442 GB\/s/);
            await eventually(async () => assert.equal(await figure.locator('.fetched').count(), 32));
            await page.locator('h1 + p + p a').click();
            await page.waitForURL('**/start_here*');
        },
        {},
        'h1',
    );
});

test('drawings compute what they say', async () => {
    const says = async (place, name, steps) => {
        await visit(
            place,
            async (page) => {
                const figure = drawing(page, name);
                await figure.locator('svg').first().waitFor();
                for (const [act, expected] of steps) {
                    await act(figure, page);
                    await reads(() => figure.locator('.d-say').innerText(), expected, name);
                }
            },
            {},
            'h1',
        );
    };
    const press = (name) => (figure) => figure.getByRole('button', { name, exact: true }).click();
    const put = (name, key) => async (figure, page) => {
        await figure.getByRole('slider', { name, exact: true }).focus();
        await page.keyboard.press(key);
    };
    const nothing = async () => {};
    await says('/2_memory_model/bank_conflicts', 'banks', [
        [nothing, /lie in 1 bank, so the request takes 32 wavefronts/],
        [press('padded'), /lie in 32 banks, so the request takes 1 wavefront\./],
        [put('Padding', 'End'), /8 unused words per row.*lie in 4 banks, so the request takes 8 wavefronts/],
        [press('swizzled'), /lie in 32 banks, so the request takes 1 wavefront\./],
    ]);
    await says('/3_optimization/dot_product', 'reduction', [
        [put('Round', 'Home'), /Sixteen numbers/],
        [press('Step forward'), /Round 1: 8 threads add, in 4 warps of 4\./],
        [press('step 3: the lowest threads'), /Round 4: 1 thread adds, in 1 warp of 4\. The sum is 80\./],
        [press('Step back'), /Round 3: 2 threads add, in 1 warp of 4\./],
    ]);
    await says('/3_optimization/divergence', 'divergence', [
        [nothing, /both sides.* 16 of 32 lanes/],
        [press('true for all lanes'), /one side, with 32 active lanes/],
    ]);
    await says('/3_optimization/occupancy', 'waves', [[put('Blocks', 'Home'), /1 block on 12 places: 1 wave/]]);
    await says('/thread_hierarchy', 'hierarchy', [[nothing, /thread 70 of block 1.*lane 6 of warp 2, because 70 = 2 · 32 \+ 6/]]);
});

test('a kernel runs in the page while its sliders move, and its view stays at the step that is shown', async () => {
    for (const [place, counted, request] of [
        ['/2_memory_model/coalescing', [/8 sectors/, /12 sectors/], /^Request 2 of 2/],
        ['/zh/2_memory_model/coalescing', [/8 个扇区/, /12 个扇区/], /第 2 次/],
    ]) {
        await visit(
            place,
            async (page) => {
                const live = page.locator('.ww-live');
                const counts = live.locator('.live-counts');
                await counts.waitFor();
                await reads(() => counts.innerText(), counted[0]);
                await live.locator('.ww-warp-view .ww-button').nth(2).click();
                await live.locator('.d-controls input[type=range]').first().focus();
                await page.keyboard.press('ArrowRight'); // stride 3
                await reads(() => counts.innerText(), counted[1]);
                await says(live, request);
                await page.emulateMedia({ media: 'print' });
                assert.equal(await live.locator('.live-moves').isVisible(), false);
                assert.equal(await live.locator('.live-only-print').isVisible(), true);
            },
            {},
            '.ww-live',
        );
    }
});

test('nothing of a drawing moves by itself, and no transition runs where the reader wants none', async () => {
    await visit(
        '/2_memory_model/coalescing',
        async (page) => {
            const lane = drawing(page, 'stride').locator('.moves').first();
            await lane.waitFor();
            assert.equal(await lane.evaluate((element) => getComputedStyle(element).transitionDuration), '0s');
            assert.equal(await page.evaluate(() => document.getAnimations().length), 0);
        },
        { reducedMotion: 'reduce' },
        'h1',
    );
});
