// Where a recorded figure stands in the results of its lesson, as a text:
//
//     add_float4 / GB/s                                          a step and a column: time, spread, GB/s, of copy, Gop/s ...
//     copy / time                                                the copy that the steps are compared with
//     stride / 8 / useful GB/s                                   a table by its name, a row, a column
//
// A row is named by its first cell, or by as many as it takes, with commas between them. Steps of the same name are
// "vendor", "vendor (2)" ...

/// What they measure, and how many of 1e9 a second or of a second they are.
export const units = {
    'GB/s': ['gigabytes', 1], 'TB/s': ['gigabytes', 1e3], 'MB/s': ['gigabytes', 1e-3], 'GiB/s': ['gigabytes', 1.073741824],
    'Gop/s': ['gigabytes', 1], 'GFLOP/s': ['gigabytes', 1], 'TFLOP/s': ['gigabytes', 1e3],
    ns: ['seconds', 1e-9], us: ['seconds', 1e-6], 'µs': ['seconds', 1e-6], 'μs': ['seconds', 1e-6], ms: ['seconds', 1e-3],
    nanoseconds: ['seconds', 1e-9], microseconds: ['seconds', 1e-6], milliseconds: ['seconds', 1e-3],
    纳秒: ['seconds', 1e-9], 微秒: ['seconds', 1e-6], 毫秒: ['seconds', 1e-3],
};
const names = Object.keys(units).sort((a, b) => b.length - a.length).map((unit) => unit.replace('/', '\\/')).join('|');
const number = String.raw`\d+(?:,\d{3}(?!\d))*(?:\.\d+)?`;
const withUnit = new RegExp(`(?<![A-Za-z\\d])(${number})(?:[ \u00a0]|&nbsp;)*(${names})(?![\\w/])`, 'g');
const anyUnit = new RegExp(`(?<![\\w/])(${names})(?![\\w/])`);

/// {value, digit} of a number as it is written.
export function parsed(text) {
    const plain = text.replaceAll(',', '');
    return { value: Number(plain), digit: 10 ** -(plain.split('.')[1]?.length ?? 0) };
}

/// Figures with a unit in a piece of text: [{text, number, value, unit, digit, at}]; `digit` is what the last digit is worth.
export function figuresIn(text) {
    return [...text.matchAll(withUnit)].map((match) => ({ text: match[0], number: match[1], at: match.index, ...parsed(match[1]), unit: match[2] }));
}

/// The same of a text that is about nothing else, where a unit may stand on the next line, and all other numbers, too, but those
/// in `code`.
export function numbersIn(text) {
    const figures = figuresIn(text.replaceAll('\n', ' '));
    const seen = new Set(figures.map((figure) => figure.at));
    const bare = text.replace(/`[^`]*`/g, (code) => ' '.repeat(code.length));
    for (const match of bare.matchAll(new RegExp(number, 'g'))) {
        if (!seen.has(match.index)) figures.push({ text: match[0], number: match[0], at: match.index, ...parsed(match[0]) });
    }
    return figures.sort((a, b) => a.at - b.at);
}

// ---- the figures of a lesson ----------------------------------------------------------------------------------------

/// The name of each, and a number behind it where another one before has it as well.
const numbered = (list) => list.map((name, index) => {
    const before = list.slice(0, index).filter((other) => other === name).length;
    return before === 0 ? name : `${name} (${before + 1})`;
});

function figuresOfSteps({ steps, roof }) {
    const all = [];
    const add = (step, column, value, dimension = 'plain') => {
        if (value != null) all.push({ address: `${step} / ${column}`, value, dimension });
    };
    const addTimes = (name, step) => {
        add(name, 'time', step.seconds?.median, 'seconds');
        if (step.seconds) add(name, 'spread', (100 * (step.seconds.p90 - step.seconds.p10)) / step.seconds.median);
        add(name, 'GB/s', step.gb_per_s, 'gigabytes');
    };
    numbered(steps.map((step) => step.name)).forEach((name, index) => {
        const step = steps[index];
        addTimes(name, step);
        add(name, 'Gop/s', step.gop_per_s, 'gigabytes');
        add(name, 'of copy', step.share_of_roof);
        add(name, 'of vendor', step.share_of_vendor);
        add(name, 'speed-up', step.speed_up);
        add(name, 'error', step.comparison?.largest_error);
        for (const { column, value } of step.figures ?? []) add(name, column, value);
    });
    if (roof) addTimes('copy', roof);
    return all;
}

const cellNumber = /^(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)(?:\s*(\S.*))?$/;

/// The name of a row: of as many of its first cells as no other row has.
function nameOfRow(rows, row) {
    for (let cells = 1; cells <= row.length; ++cells) {
        const same = rows.filter((other) => row.slice(0, cells).every((cell, index) => other[index] === cell));
        if (same.length === 1) return row.slice(0, cells).join(', ');
    }
    return undefined;
}

function figuresOfTables({ tables }) {
    const all = [];
    for (const table of tables) {
        const columns = numbered(table.header);
        for (const row of table.rows) {
            const rowName = nameOfRow(table.rows, row);
            if (rowName === undefined) continue;
            row.forEach((cell, column) => {
                const match = cellNumber.exec(cell);
                if (!match) return;
                const unit = [match[2] ?? '', table.header[column], table.title].map((text) => anyUnit.exec(text)?.[1]).find(Boolean);
                all.push({
                    address: `${table.name} / ${rowName} / ${columns[column]}`, value: Number(match[1].replaceAll(',', '')),
                    dimension: 'plain', unit,
                });
            });
        }
    }
    return all;
}

/// All figures of a lesson: [{address, value, dimension: "plain" | "gigabytes" | "seconds", unit}]. Those of tables are
/// plain, in the unit of their cell, column or title, where one is named.
export const addressedFigures = (lesson) => [...figuresOfSteps(lesson), ...figuresOfTables(lesson)];

/// The figure at an address, or undefined. A row may be named by more cells than it takes.
export function figureAt(lesson, address) {
    const all = addressedFigures(lesson);
    const same = all.find((figure) => figure.address === address);
    if (same) return same;
    for (const table of lesson.tables) {
        const columns = numbered(table.header);
        for (const row of table.rows) {
            for (let cells = 1; cells <= row.length; ++cells) {
                for (const [column, name] of columns.entries()) {
                    if (address !== `${table.name} / ${row.slice(0, cells).join(', ')} / ${name}`) continue;
                    const match = cellNumber.exec(row[column]);
                    if (match) return { address, value: Number(match[1].replaceAll(',', '')), dimension: 'plain' };
                }
            }
        }
    }
    return undefined;
}

// ---- figures of a text against those of a lesson ----------------------------------------------------------------

/// How many of the recorded unit one of the text's unit is where the two are the same figure, else undefined: 1000 where
/// the text says "4.2 TB/s" and 4184 GB/s are recorded.
export function factorBetween(figure, recorded) {
    const [dimension, scale] = figure.unit ? units[figure.unit] : [undefined, 1];
    const [ofCell, scaleOfCell] = units[recorded.unit] ?? [];
    const factors =
        dimension !== undefined && ofCell === dimension ? [scale / scaleOfCell] :
        dimension === undefined ? (recorded.dimension === 'seconds' ? [] : [1])
        : recorded.dimension === dimension ? [scale]
        : recorded.dimension === 'plain' ? [1, ...(scale === 1e3 ? [1e3] : [])]
        : [];
    return factors.find((factor) => Math.abs(recorded.value - figure.value * factor) <= 0.5001 * figure.digit * factor);
}

/// The recorded figures that a figure of a text can be; those of its own unit before all others.
export function matchesOf(figure, lesson) {
    const all = addressedFigures(lesson).filter((recorded) => factorBetween(figure, recorded) !== undefined);
    const ofUnit = all.filter((recorded) => {
        const unit = recorded.dimension === 'plain' ? units[recorded.unit]?.[0] : recorded.dimension;
        return unit === (figure.unit ? units[figure.unit][0] : undefined);
    });
    return ofUnit.length > 0 ? ofUnit : all;
}

/// The number of a text with another value and as many digits as before: after the point, and commas.
export function rewritten(figure, value) {
    const digits = figure.number.split('.')[1]?.length ?? 0;
    const text = value.toFixed(digits);
    return figure.number.includes(',') ? text.replace(/\B(?=(\d{3})+(?!\d))/g, ',') : text;
}
