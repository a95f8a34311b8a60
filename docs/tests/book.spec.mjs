// The built site in a browser: ways through it, search, both languages, light and dark, phones.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, openBrowser, serveSite } from './site.mjs';

let site, browser;

before(async () => {
    site = await serveSite();
    browser = await openBrowser(site.url);
});
after(async () => {
    await browser?.close();
    await site?.close();
});

const visit = (...how) => browser.visit(...how);

/// Waits until a page has this heading; the sign of its link does not count.
const hasHeading = (page, expected) =>
    eventually(async () =>
        assert.equal((await page.locator('h1').innerText()).replace(/\u200b/g, '').trim(), expected),
    );

const places = [
    '/',
    '/start_here',
    '/installing',
    '/how_to_read_the_tables',
    '/2_memory_model/coalescing',
    '/2_memory_model/shared_memory',
    '/exercises/',
    '/exercises/2_memory_model/pad_the_tile',
    '/counters_and_reports',
    '/glossary',
    '/recorded',
];

test('the first page weighs less than 300 KB compressed', async () => {
    site.sent.length = 0;
    await visit('/', async () => {});
    const bytes = site.sent.reduce((sum, answer) => sum + answer.bytes, 0);
    assert.ok(
        bytes < 300_000,
        `${bytes} bytes: ${site.sent.map((answer) => `${answer.path} ${answer.bytes}`).join(', ')}`,
    );
});

for (const width of [1280, 360]) {
    for (const language of ['', '/zh']) {
        test(`every kind of page fits ${width} pixels and has no errors${language ? ', in Chinese' : ''}`, async () => {
            for (const place of places) {
                await visit(
                    language + place,
                    async (page) => {
                        assert.ok(await page.locator('h1').first().innerText(), place);
                        const overflow = await page.evaluate(
                            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
                        );
                        assert.ok(overflow <= 0, `${place} is ${overflow} pixels too wide`);
                    },
                    { viewport: { width, height: 800 } },
                );
            }
        });
    }
}

test('the sidebar leads from lesson to lesson, and links of the text to exercises', async () => {
    await visit('/start_here', async (page) => {
        await page.locator('.VPSidebar').getByText('2.1 Coalescing').click();
        await hasHeading(page, 'Coalescing');
        await page.locator('.vp-doc').getByRole('link', { name: 'coalesce_structures' }).click();
        await page.waitForURL('**/exercises/2_memory_model/coalesce_structures*');
        await hasHeading(page, 'coalesce_structures');
    });
});

/// Opens the search with its key; a page listens to it once its scripts ran.
const openSearch = (page) =>
    eventually(async () => {
        await page.keyboard.press('Control+k');
        await page.locator('#localsearch-input').waitFor({ timeout: 1000 });
    });

test('search finds words of the text', async () => {
    await visit('/', async (page) => {
        await openSearch(page);
        await page.locator('#localsearch-input').fill('bank conflicts');
        await page.locator('.VPLocalSearchBox .result').first().waitFor();
        await page.locator('#localsearch-input').fill('energy_from_structures');
        await page.locator('.VPLocalSearchBox .result[href*="coalescing"]').first().click();
        await page.waitForURL('**/2_memory_model/coalescing*');
    });
});

test('search finds Chinese words inside of sentences', async () => {
    await visit('/zh/', async (page) => {
        await openSearch(page);
        await page.locator('#localsearch-input').fill('存储体冲突');
        await page.locator('.VPLocalSearchBox .result[href*="/zh/"]').first().waitFor();
        await page.locator('#localsearch-input').fill('合并访问');
        await page.locator('.VPLocalSearchBox .result[href*="/zh/2_memory_model/coalescing"]').first().waitFor();
    });
});

test('the language switch stays on the page', async () => {
    await visit('/2_memory_model/coalescing', async (page) => {
        await eventually(async () => {
            await page.locator('.VPNavBarTranslations button').hover();
            await page.locator('.VPNavBarTranslations').getByText('简体中文').click({ timeout: 1000 });
        });
        await page.waitForURL('**/zh/2_memory_model/coalescing*');
        await hasHeading(page, '合并访问');
        assert.equal(await page.locator('.twin-banner').count(), 0);
    });
});

test('dark mode is taken from the system, switched by hand, and remembered', async () => {
    await visit(
        '/',
        async (page) => {
            const dark = () => page.evaluate(() => document.documentElement.classList.contains('dark'));
            assert.equal(await dark(), true);
            await page.locator('.VPNavBarAppearance button').click();
            await eventually(async () => assert.equal(await dark(), false));
            await page.reload();
            assert.equal(await dark(), false);
        },
        { colorScheme: 'dark' },
    );
});

test('a prediction can be written down with the keyboard, and is still there later', async () => {
    await visit('/2_memory_model/coalescing', async (page) => {
        const predict = page.locator('.predict').first();
        assert.equal(await predict.locator('details').evaluate((details) => details.open), false);
        await predict.getByLabel('My prediction').fill('4, 8, 16, 32');
        await page.keyboard.press('Enter');
        await eventually(async () =>
            assert.equal(await predict.locator('details').evaluate((details) => details.open), true),
        );
        await page.reload();
        await page.locator('.prediction').first().waitFor();
        await eventually(async () =>
            assert.equal(
                await page.locator('.predict').first().getByLabel('My prediction').inputValue(),
                '4, 8, 16, 32',
            ),
        );
    });
});

test('code is taken from the sources, with its place and what changed', async () => {
    await visit('/2_memory_model/bank_conflicts', async (page) => {
        const listing = page
            .locator('figure.listing', { hasText: 'sums_in_padded_tile to sums_in_swizzled_tile' })
            .first();
        assert.ok((await listing.locator('.diff.add').count()) > 0);
        assert.ok((await listing.locator('.diff.remove').count()) > 0);
        await listing.getByRole('link').click();
        await page.waitForURL('**/source/chapters/2_memory_model/bank_conflicts/kernels.cuh.html#L*');
        await eventually(async () =>
            assert.match(await page.locator('.line:target').innerText(), /sums_in_swizzled_tile/),
        );
    });
});

test('recorded tables say machine, command and date', async () => {
    await visit('/2_memory_model/coalescing', async (page) => {
        const figures = page.locator('figure.results');
        assert.ok((await figures.count()) >= 4);
        for (const text of await figures.locator('.provenance').allInnerTexts())
            assert.match(text, /(NVIDIA|CPU device).*, build\/bin\/.*, 20\d\d-\d\d-\d\d/);
    });
});
