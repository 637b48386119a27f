// @ts-check
const { typescript } = /** @type {{ typescript?: unknown }} */ (process.features)

/** True if this Node runs TypeScript without a loader. */
export const stripsTypes = Boolean(typescript)
