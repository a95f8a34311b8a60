// The words that the book itself adds to pages, in both languages.
export const strings = {
    en: {
        predict: 'Predict first',
        line: 'line',
        lines: 'lines',
        changed: (before, after) => `What changed from ${before} to ${after}`,
        unchanged: (lines) => `    // ... ${lines} lines without a change`,
        recordedOn: (machine, command, date) => `${machine}, <code>${command}</code>, ${date}`,
        step: 'step',
        change: 'what changed',
        result: 'result',
        time: 'time',
        spread: 'spread',
        ofRoof: 'of copy',
        ofVendor: 'of vendor',
        speedUp: 'speed-up',
        vendor: 'vendor',
        size: 'Size',
        sampled: (instrumented, blocks) => `Counted on a sample of ${instrumented} blocks of each launch (the largest has ${blocks}), and scaled up.`,
        recorded: 'recorded run',
        chapter: (number, title) => `${number} ${title}`,
        barsOf: { gb: 'GB/s: longer is better', gop: 'Gop/s: longer is better', time: 'time: shorter is better' },
        roofLine: 'The line is copy bandwidth',
    },
    zh: {
        predict: '先预测，再看答案',
        line: '第',
        lines: '第',
        changed: (before, after) => `从 ${before} 到 ${after} 的改动`,
        unchanged: (lines) => `    // ... ${lines} 行没有改动`,
        recordedOn: (machine, command, date) => `${machine}，<code>${command}</code>，${date}`,
        step: '步骤',
        change: '改动',
        result: '结果',
        time: '时间',
        spread: '波动',
        ofRoof: '占拷贝',
        ofVendor: '占厂商库',
        speedUp: '加速比',
        vendor: '厂商库',
        size: '规模',
        sampled: (instrumented, blocks) => `每次启动抽样 ${instrumented} 个线程块计数（最大的一次有 ${blocks} 个），再按比例放大。`,
        recorded: '记录的运行',
        chapter: (number, title) => `${number} ${chapterTitles[title] ?? title}`,
        barsOf: { gb: 'GB/s：越长越好', gop: 'Gop/s：越长越好', time: '时间：越短越好' },
        roofLine: '竖线是拷贝带宽',
    },
};

const chapterTitles = {
    'Basics and pi': '基础与 π',
    'Memory model': '内存模型',
    'Optimization': '优化',
    'Examples': '实例',
};

/// The language of a page, by its place.
export const languageOf = (page) => (page.startsWith('zh/') ? 'zh' : 'en');
