export interface Figure {
  readonly name: string;
  readonly ratio: number;
  /** What it is measured against. */
  readonly floor: string;
}

/**
 * Runs both in turn, so that a machine that slows down slows both, and gives the median of the pairwise
 * ratios.
 */
export async function medianRatio(
  subject: () => void | Promise<void>,
  floor: () => void | Promise<void>,
  { rounds = 21, warmUp = 3 } = {},
): Promise<number> {
  const ratios: number[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const subjectMs = await timeMs(subject);
    const floorMs = await timeMs(floor);
    if (round >= 0) ratios.push(subjectMs / floorMs);
  }
  return median(ratios);
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

async function timeMs(use: () => void | Promise<void>): Promise<number> {
  const start = performance.now();
  await use();
  return performance.now() - start;
}
