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
}

/// Results as chapter programs write them with --json; only what is read here.
export interface ChapterResults {
    date: string;
    command: string[];
    chapter: { number: number; folder: string };
    device: { name: string; kind: string; compute_capability: string; processors: number; clock_mhz?: number };
    lessons: {
        name: string;
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
export function belowFp32Peak(steps: Step[], peak: number): Step[] {
    const tables: Step[][] = [];
    let last = Infinity;
    for (const step of steps) {
        if (tables.length === 0 || (step.number && step.number <= last)) tables.push([]);
        last = step.number ?? last;
        tables[tables.length - 1].push(step);
    }
    const isFaster = ({ seconds, operations, comparison }: Step) =>
        seconds && comparison.passed && (operations ?? 0) / seconds.median > 1.05 * peak * 1e9;
    return tables.filter((table) => !table.some(isFaster)).flat();
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
    const peaks = same.map(({ device }) =>
        peakGopPerS(device.compute_capability, device.processors, device.clock_mhz ?? 0),
    );
    const gopPerS = Math.max(0, ...peaks);
    for (const result of same) {
        for (const lesson of result.lessons) {
            const steps = belowFp32Peak(lesson.steps, gopPerS);
            if (steps.length < lesson.steps.length) onTensorCores.push(lesson.name);
            const right = steps.filter((step) => step.kind === 'device' && step.seconds && step.comparison.passed);
            // Of those within 1 % of the fastest, the last: a difference that small is none.
            const least = Math.min(...right.map((step) => step.seconds!.median));
            const best = right.findLast((step) => step.seconds!.median <= 1.01 * least);
            if (!best || !(best.operations || best.bytes)) continue;
            points.push({
                lesson: lesson.name,
                step: best.name,
                chapter: result.chapter.folder,
                operations: best.operations ?? 0,
                bytes: best.bytes ?? 0,
                seconds: best.seconds!.median,
            });
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
    };
    return data.points.length > 0 && data.gbPerS > 0 && data.gopPerS > 0 ? data : undefined;
}

/// Operations for each byte that has to move; Infinity without bytes.
export const intensityOf = (point: RooflinePoint) => (point.bytes > 0 ? point.operations / point.bytes : Infinity);
export const rateOf = (point: RooflinePoint) => (point.operations / point.seconds) * 1e-9;
export const bandwidthOf = (point: RooflinePoint) => (point.bytes / point.seconds) * 1e-9;

/// 1e9 operations a second that the nearer limit allows.
export const attainable = (data: Pick<RooflineData, 'gbPerS' | 'gopPerS'>, intensity: number) =>
    Math.min(data.gopPerS, data.gbPerS * intensity);

/// Of the attainable; of the bandwidth where no operations are counted.
export const shareOf = (data: Pick<RooflineData, 'gbPerS' | 'gopPerS'>, point: RooflinePoint) =>
    point.operations > 0 ? rateOf(point) / attainable(data, intensityOf(point)) : bandwidthOf(point) / data.gbPerS;
