// Amdahl's law: a program of which a share runs on one processor, however many there are.
//     speed-up = 1 / (serial + (1 - serial) / processors)
// G. M. Amdahl, "Validity of the single processor approach to achieving large scale computing capabilities", 1967.

/// `serial`: share of the time on one processor, 0 to 1.
export const speedUp = (serial: number, processors: number) => 1 / timeOn(serial, processors);

/// Time on so many processors; 1 on one.
export const timeOn = (serial: number, processors: number) => serial + (1 - serial) / processors;

/// What no number of processors exceeds.
export const limitOf = (serial: number) => (serial > 0 ? 1 / serial : Infinity);

/// Processors from which on the speed-up is at least `share` of its limit. Infinity without a serial part.
export function processorsFor(serial: number, share: number): number {
    if (serial <= 0) return Infinity;
    if (serial >= 1) return 1;
    // serial + (1 - serial) / p = serial / share
    return Math.ceil((1 - serial) / (serial / share - serial) - 1e-9);
}
