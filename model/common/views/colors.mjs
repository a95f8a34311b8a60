// Colors of lanes: from dark violet (lane 0) to yellow (lane 31), so that their order can be seen, in gray as well.
const colorStops = [
    [86, 52, 148],
    [62, 92, 160],
    [33, 133, 141],
    [72, 178, 106],
    [176, 207, 60],
    [250, 222, 60],
];

function mixedColor(lane) {
    const place = (lane / 31) * (colorStops.length - 1);
    const below = Math.min(colorStops.length - 2, Math.floor(place));
    const share = place - below;
    return colorStops[below].map((value, i) => Math.round(value + (colorStops[below + 1][i] - value) * share));
}

/** @param {number} lane */
export const laneColor = (lane) => `rgb(${mixedColor(lane).join(', ')})`;

/**
 * Black or white: what can be read on the lane's color.
 *
 * @param {number} lane
 */
export function laneInk(lane) {
    const [red, green, blue] = mixedColor(lane).map((value) => {
        const share = value / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    return luminance > 0.179 ? '#000' : '#fff';
}
