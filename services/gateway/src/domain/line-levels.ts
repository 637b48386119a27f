/** Levels of Python's logging by name; their numbers are 10, 20, … */
export const LEVELS = ['debug', 'info', 'warning', 'error', 'critical'] as const
export type Level = (typeof LEVELS)[number]

/** Lowest number of a line at each level; lower numbers count as `debug`. */
export const levelNumber = (name: Level): number =>
  name === 'debug' ? 0 : 10 * (LEVELS.indexOf(name) + 1)

/** Returns the highest named level that a line of this number reaches. */
export const levelName = (number: number): Level =>
  LEVELS.findLast((name) => number >= levelNumber(name)) ?? 'debug'
