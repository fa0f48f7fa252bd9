/**
 * The chalk board at the desk, on a screen: until when may visitors be on the rocks?
 *
 * The way back from the rock shore is cut off two hours before high water. The board shows a
 * time a good deal earlier, because people count their minutes from when they start to think
 * about leaving. Heights are metres above chart datum, times are UTC.
 */

export interface Turn {
  /** The moment of high or low water. */
  readonly at: Date;
  readonly height: number;
  readonly kind: "high" | "low";
}

export interface BoardLine {
  readonly text: string;
  readonly colour: "red" | "amber" | "green";
}

const MINUTE = 60_000;

/** The path floods this long before high water. */
export const CUT_OFF_BEFORE_HIGH = 120 * MINUTE;

/** A class of children needs this long from the far pool to the gate. Measured, with socks. */
export const WALK_BACK = 25 * MINUTE;

/** Above this height at low water the pools never uncover, so there is nothing to visit. */
export const POOLS_UNCOVER_BELOW = 1.4;

/** Swell adds a margin: ten minutes for each half metre of waves at the buoy. */
export function swellMargin(waveHeight: number): number {
  if (waveHeight < 0) {
    throw new RangeError(`a wave height cannot be negative: ${waveHeight}`);
  }
  return Math.ceil(waveHeight / 0.5) * 10 * MINUTE;
}

/** When everyone has to be off the rocks before this high water. */
export function offTheRocks(high: Turn, waveHeight: number): Date {
  if (high.kind !== "high") {
    throw new TypeError("the time is counted back from a high water");
  }
  const early = CUT_OFF_BEFORE_HIGH + WALK_BACK + swellMargin(waveHeight);
  return new Date(high.at.getTime() - early);
}

/**
 * The level between two turns of the tide, by the cosine that every pilot book uses.
 * Good to about 15 cm here, since our flood is shorter than our ebb.
 */
export function levelBetween(from: Turn, to: Turn, when: Date): number {
  const span = to.at.getTime() - from.at.getTime();
  const part = (when.getTime() - from.at.getTime()) / span;
  if (span <= 0 || part < 0 || part > 1) {
    throw new RangeError("the moment does not lie between the two turns");
  }
  const middle = (from.height + to.height) / 2;
  const swing = (from.height - to.height) / 2;
  return middle + swing * Math.cos(Math.PI * part);
}

/** What the board says now, given the low water of this tide and the high water after it. */
export function boardLine(low: Turn, high: Turn, waveHeight: number, now: Date): BoardLine {
  if (waveHeight > 2.5) {
    return { text: "Rocks closed today: swell", colour: "red" };
  }
  if (low.height > POOLS_UNCOVER_BELOW) {
    return { text: "Pools stay covered today", colour: "amber" };
  }
  const leave = offTheRocks(high, waveHeight);
  const left = Math.floor((leave.getTime() - now.getTime()) / MINUTE);
  if (left <= 0) {
    return { text: "Off the rocks now", colour: "red" };
  }
  const text = `Off the rocks by ${leave.toISOString().slice(11, 16)} UTC`;
  return { text, colour: left < 30 ? "amber" : "green" };
}
