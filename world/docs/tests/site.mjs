// What the tests of the built site share: the site on a port of its own, as any server would give it, with a count of what
// a page loads; a browser; patience.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const patience = 30_000; // milliseconds: loaded machines take their time
/// Where the built site lies.
export const siteFolder = fileURLToPath(new URL('../.vitepress/dist/', import.meta.url));
const types = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.json': 'application/json',
    '.svg': 'image/svg+xml',
    '.woff2': 'font/woff2',
};

/// {url, close, sent}: `sent` collects {path, bytes} of all answers, compressed.
export async function serveSite() {
    if (!fs.existsSync(siteFolder)) throw new Error('there is no .vitepress/dist: npm run build');
    const sent = [];
    const server = http.createServer((request, response) => {
        let name = decodeURIComponent(new URL(request.url, 'http://site').pathname);
        if (name.endsWith('/')) name += 'index.html';
        let file = path.join(siteFolder, path.normalize(name));
        if (!path.extname(file)) file += '.html';
        const found = file.startsWith(siteFolder) && fs.existsSync(file);
        const body = gzipSync(fs.readFileSync(found ? file : path.join(siteFolder, '404.html')));
        sent.push({ path: name, bytes: body.length });
        response.writeHead(found ? 200 : 404, {
            'Content-Type': found ? (types[path.extname(file)] ?? 'application/octet-stream') : types['.html'],
            'Content-Encoding': 'gzip',
        });
        response.end(body);
    });
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
    return {
        url: `http://127.0.0.1:${server.address().port}`,
        sent,
        close: () =>
            new Promise((closed) => {
                server.closeAllConnections();
                server.close(closed);
            }),
    };
}

/// Debian's Chromium, and visits of a site's pages with it. `ready` is waited for on each page before it is looked at.
export async function openBrowser(url, ready = 'h1') {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox'],
    });

    /// Opens a page, waits for what is `wanted`, runs `look`, and fails on errors of the console and on requests that leave the site.
    async function visit(place, look, options = {}, wanted = ready) {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
        const page = await context.newPage();
        page.setDefaultTimeout(patience);
        const wrong = [];
        page.on('console', (message) => {
            if (['error', 'warning'].includes(message.type())) wrong.push(`console: ${message.text()}`);
        });
        page.on('pageerror', (error) => wrong.push(`error: ${error.message}`));
        page.on('request', (request) => {
            const asked = request.url();
            if (!/^(data|blob):/.test(asked) && !asked.startsWith(url)) wrong.push(`leaves the site: ${asked}`);
        });
        try {
            await page.goto(url + place, { waitUntil: 'networkidle' });
            await page.locator(wanted).first().waitFor();
            await look(page);
            assert.deepEqual(wrong, [], place);
        } finally {
            await context.close();
        }
    }
    /// A tab of its own, for many pages one after the other.
    const newPage = async (options) => {
        const page = await (await browser.newContext(options)).newPage();
        page.setDefaultTimeout(patience);
        return page;
    };
    return { visit, newPage, close: () => browser.close() };
}

/// Tries an assertion again until it holds: a page answers a click when it can, and its address changes before its text.
export async function eventually(assertion) {
    const end = Date.now() + patience;
    for (;;) {
        try {
            return await assertion();
        } catch (error) {
            if (Date.now() > end) throw error;
            await new Promise((again) => setTimeout(again, 50));
        }
    }
}
