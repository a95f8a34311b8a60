// The roofline of recorded results: what bandwidth and arithmetic allow, and where lessons lie. The same points as
// chapters/3_optimization/strategy_and_amdahl/roofline.cpp takes: of each lesson the fastest step of its own that was
// right.
import fp32Lanes from '../../../../common/views/fp32_lanes.json';

export interface RooflinePoint {
    lesson: string;
    step: string;
    chapter?: string; // its folder
    operations: number;
    bytes: number;
    isLeast?: boolean; // the bytes are the fewest that can move, and not those that were counted
    seconds: number;
}

export interface RooflineData {
    machine: string;
    dates: string[];
    commands: string[];
    gbPerS: number; // of the fastest copy
    gopPerS: number; // peak in single precision, a fused multiply-add counting as two
    points: RooflinePoint[];
    onTensorCores: string[]; // lessons with steps that no FP32 roofline can show
    tensorCeilings: { format: TensorFormat; gopPerS: number }[]; // those below which such steps lie
    tensorPoints: (RooflinePoint & { ceiling: number })[]; // the fastest of each table of them, under one of the ceilings
}

export type TensorFormat = 'TF32' | 'BF16';

/// Operations of an SM's tensor cores per clock, dense, a multiply-add counting as two. From the peak rates in NVIDIA's architecture
/// whitepapers (A100, GA102, AD102, H100), divided by SMs and clock.
const tensorOperations: Record<string, Record<TensorFormat, number>> = {
    '8.0': { TF32: 1024, BF16: 2048 },
    '8.6': { TF32: 256, BF16: 512 },
    '8.9': { TF32: 256, BF16: 512 },
    '9.0': { TF32: 2048, BF16: 4096 },
};

/// 1e9 operations a second of all tensor cores; 0 where they are not known.
export function tensorPeakGopPerS(capability: string, format: TensorFormat, processors: number, clockMhz: number): number {
    return (processors * (tensorOperations[capability]?.[format] ?? 0) * clockMhz) / 1000;
}

/// Results as chapter programs write them with --json; only what is read here.
export interface ChapterResults {
    date: string;
    command: string[];
    chapter: { number: number; folder: string };
    device: { name: string; kind: string; compute_capability: string; processors: number; clock_mhz?: number };
    lessons: {
        name: string;
        size?: number[] | null;
        date?: string; // of a lesson that was recorded later than the others
        roof?: { gb_per_s: number } | null;
        steps: {
            number?: number | null;
            name: string;
            kind: string;
            bytes?: number | null;
            operations?: number | null;
            seconds?: { median: number } | null;
            comparison: { passed: boolean };
        }[];
    }[];
}

/// The bytes of lessons that count none, because how many their steps move is no measure of them: those of the matrices, each counted
/// once, as fewer cannot move. `width`: bytes of an element that is multiplied.
const leastBytes: Record<string, (size: number[], width: number) => number> = {
    matrix_multiply: ([m, n, k], width) => width * (m * k + k * n) + 4 * m * n,
    tensor_cores: ([m, n, k], width) => width * (m * k + k * n) + 4 * m * n,
    linear_solver: ([n], width) => width * n * n,
    attention: ([heads, tokens], width) => heads * tokens * 128 * (3 * width + 4),
};

/// The format of a lesson whose rates do not tell it, because none of its steps comes near the ceiling, or because it is FP16, which has the
/// ceiling of BF16.
const tensorFormat: Record<string, TensorFormat> = { attention: 'BF16', tensor_cores: 'BF16' };

/// SMs x FP32 units of an SM x 2 x clock, in 1e9 operations a second. 0 where the units are not known. The table is that of
/// common/lesson/roofline.h, which a test compares with it.
export function peakGopPerS(capability: string, processors: number, clockMhz: number): number {
    const lanes = (fp32Lanes as Record<string, number>)[capability] ?? 0;
    return (processors * lanes * 2 * clockMhz) / 1000;
}

type Step = ChapterResults['lessons'][number]['steps'][number];

/// The steps that can be FP32 work, as common/lesson/roofline.h tells them: where one step of a table (each table counts
/// from 1) is faster than the FP32 peak by more than 5 %, the whole table is work of tensor cores, to which that peak is no
/// limit.
export const belowFp32Peak = (steps: Step[], peak: number): Step[] => dividedAtFp32Peak(steps, peak).below;

/// Those steps, and the tables of the others.
export function dividedAtFp32Peak(steps: Step[], peak: number): { below: Step[]; above: Step[][] } {
    const tables: Step[][] = [];
    let last = Infinity;
    for (const step of steps) {
        if (tables.length === 0 || (step.number && step.number <= last)) tables.push([]);
        last = step.number ?? last;
        tables[tables.length - 1].push(step);
    }
    const isFaster = ({ seconds, operations, comparison }: Step) =>
        seconds && comparison.passed && (operations ?? 0) / seconds.median > 1.05 * peak * 1e9;
    const isAbove = (table: Step[]) => table.some(isFaster);
    return { below: tables.filter((table) => !isAbove(table)).flat(), above: tables.filter(isAbove) };
}

/// The fastest right step of a lesson's own. Of those within 1 % of the fastest, the last: a difference that small is none.
function fastest(steps: Step[]): Step | undefined {
    const right = steps.filter((step) => step.kind === 'device' && step.seconds && step.comparison.passed);
    const least = Math.min(...right.map((step) => step.seconds!.median));
    return right.findLast((step) => step.seconds!.median <= 1.01 * least);
}

/// Undefined when there is no measured step among the results.
export function rooflineOf(results: ChapterResults[]): RooflineData | undefined {
    const measured = results.filter((result) => result.device.kind === 'cuda');
    // The machine with the most chapters; of two with as many, the one that was used last.
    const chaptersOn = (name: string) => measured.filter((result) => result.device.name === name).length;
    const latest = [...measured].sort(
        (a, b) => chaptersOn(b.device.name) - chaptersOn(a.device.name) || (a.date < b.date ? 1 : -1),
    )[0];
    if (!latest) return undefined;
    const same = measured.filter((result) => result.device.name === latest.device.name);
    same.sort((a, b) => a.chapter.number - b.chapter.number);
    const points: RooflinePoint[] = [];
    const onTensorCores: string[] = [];
    const tensorCeilings: RooflineData['tensorCeilings'] = [];
    const tensorPoints: RooflineData['tensorPoints'] = [];
    const tensorPeak = (format: TensorFormat) =>
        Math.max(...same.map(({ device }) => tensorPeakGopPerS(device.compute_capability, format, device.processors, device.clock_mhz ?? 0)));
    const peaks = same.map(({ device }) =>
        peakGopPerS(device.compute_capability, device.processors, device.clock_mhz ?? 0),
    );
    const gopPerS = Math.max(0, ...peaks);
    for (const result of same) {
        for (const lesson of result.lessons) {
            const { below, above } = dividedAtFp32Peak(lesson.steps, gopPerS);
            if (above.length > 0) onTensorCores.push(lesson.name);
            const pointOf = (best: Step, width = 4) => {
                const least = best.bytes ? 0 : (lesson.size && leastBytes[lesson.name]?.(lesson.size, width)) || 0;
                return {
                    lesson: lesson.name,
                    step: best.name,
                    chapter: result.chapter.folder,
                    operations: best.operations ?? 0,
                    bytes: best.bytes || least,
                    isLeast: least > 0,
                    seconds: best.seconds!.median,
                };
            };
            for (const table of above) {
                // The numbers of a table do not say in which format they were computed: it is under the lowest ceiling that allows
                // them all, that of the vendor's routine, too.
                const best = fastest(table);
                const rates = table.filter((step) => step.seconds && step.comparison.passed).map((step) => (step.operations ?? 0) / step.seconds!.median / 1e9);
                const format = tensorFormat[lesson.name] ?? (['TF32', 'BF16'] as const).find((each) => tensorPeak(each) >= Math.max(...rates) / 1.05);
                if (!best || !format) continue;
                let ceiling = tensorCeilings.findIndex((each) => each.format === format);
                if (ceiling < 0) ceiling = tensorCeilings.push({ format, gopPerS: tensorPeak(format) }) - 1;
                tensorPoints.push({ ...pointOf(best, format === 'BF16' ? 2 : 4), ceiling });
            }
            const best = fastest(below);
            if (best && (best.operations || best.bytes)) points.push(pointOf(best));
        }
    }
    const roofs = same.flatMap((result) => result.lessons.map((lesson) => lesson.roof?.gb_per_s ?? 0));
    const data = {
        machine: latest.device.name,
        dates: [...new Set(same.flatMap((result) => result.lessons.map((lesson) => (lesson.date ?? result.date).slice(0, 10))))].sort(),
        commands: [...new Set(same.map((result) => result.command.join(' ')))],
        gbPerS: Math.max(0, ...roofs),
        gopPerS,
        points,
        onTensorCores,
        tensorCeilings,
        tensorPoints,
    };
    return data.points.length > 0 && data.gbPerS > 0 && data.gopPerS > 0 ? data : undefined;
}

/// Operations for each byte that has to move; Infinity without bytes.
export const intensityOf = (point: RooflinePoint) => (point.bytes > 0 ? point.operations / point.bytes : Infinity);

/// Whether it has a place on the plot, whose axes are logarithmic.
export const hasPlace = (point: RooflinePoint) => point.operations > 0 && point.bytes > 0;
export const rateOf = (point: RooflinePoint) => (point.operations / point.seconds) * 1e-9;
export const bandwidthOf = (point: RooflinePoint) => (point.bytes / point.seconds) * 1e-9;

/// 1e9 operations a second that the nearer limit allows.
export const attainable = (data: Pick<RooflineData, 'gbPerS' | 'gopPerS'>, intensity: number) =>
    Math.min(data.gopPerS, data.gbPerS * intensity);

/// Of the attainable; of the bandwidth where no operations are counted.
export const shareOf = (data: Pick<RooflineData, 'gbPerS' | 'gopPerS'>, point: RooflinePoint) =>
    point.operations > 0 ? rateOf(point) / attainable(data, intensityOf(point)) : bandwidthOf(point) / data.gbPerS;

/// Why a reader's file gives no roofline; a word for messages.ts.
export type RooflineProblem = 'not_json' | 'not_results' | 'no_times' | 'unknown_gpu';

/// The results that the page of a report has inside (common/guide/report_page.cpp, which writes no "<" in them), as texts.
/// Undefined for other pages.
function resultsOfReport(page: string): string[] | undefined {
    if (!page.includes('<title>Warpwise report</title>')) return undefined;
    return [...page.matchAll(/<script type="application\/json" id="times-[^"]*">([^<]*)<\/script>/g)].map(([, json]) => json);
}

/// The roofline of results that a reader chose: texts of reports, or of files that ./warpwise run --json wrote.
export function rooflineOfTexts(texts: string[]): RooflineData | RooflineProblem {
    const results: ChapterResults[] = [];
    for (const text of texts.flatMap((each) => (/^\s*<!doctype html/i.test(each) ? (resultsOfReport(each) ?? each) : each))) {
        let value;
        try {
            value = JSON.parse(text);
        } catch {
            return 'not_json';
        }
        const isResult = value?.device?.kind && value?.chapter?.folder && Array.isArray(value.command) && typeof value.date === 'string' &&
            Array.isArray(value.lessons) && value.lessons.every((lesson: { name?: unknown; steps?: unknown }) => typeof lesson?.name === 'string' && Array.isArray(lesson.steps));
        if (!isResult) return 'not_results';
        results.push(value);
    }
    const timed = results.filter(({ device }) => device.kind === 'cuda');
    if (timed.length === 0 || !timed.some(({ lessons }) => lessons.some(({ steps }) => steps.some(({ seconds }) => seconds)))) return 'no_times';
    try {
        return rooflineOf(timed) ?? 'unknown_gpu';
    } catch {
        return 'not_results';
    }
}
