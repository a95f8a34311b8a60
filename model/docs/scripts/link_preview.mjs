#!/usr/bin/env node
// Draws docs/public/link_preview.png, which appears where somebody links to the book: node docs/scripts/link_preview.mjs
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const lanes = Array.from({ length: 32 }, (_, lane) => {
    const left = `<rect x="${80 + 32.7 * lane}" y="0" width="26" height="26" rx="4" fill="#6ee7a0" fill-opacity="${lane % 8 === 0 ? 1 : 0.25}"/>`;
    const right = `<rect x="${80 + 32.7 * lane}" y="60" width="26" height="26" rx="4" fill="#6ee7a0"/>`;
    return left + right;
}).join('');
const html = `<body style="margin:0;width:1200px;height:630px;background:#0b2416;color:#fff;font-family:system-ui,'DejaVu Sans',sans-serif">
<div style="padding:84px 80px 0"><div style="font-size:100px;font-weight:700;letter-spacing:-2px">Warpwise</div>
<div style="font-size:44px;margin-top:18px;color:#d5f5e0">CUDA C++ step by step,<br>with or without a GPU</div></div>
<svg width="1200" height="120" style="position:absolute;left:0;top:455px">${lanes}</svg></body>`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
await page.setContent(html);
await page.screenshot({ path: fileURLToPath(new URL('../public/link_preview.png', import.meta.url)) });
await browser.close();
