import { onTestFinished } from 'vitest'

/** Registers a teardown function: it runs when the test ends, unless a suite shares the resource. */
export type Defer = (teardown: () => unknown) => void

export const withTest: Defer = (teardown) => onTestFinished(async () => void (await teardown()))
