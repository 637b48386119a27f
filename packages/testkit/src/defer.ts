import { onTestFinished } from 'vitest'

/** When something that a test has started is undone: with the test, unless a suite shares it. */
export type Defer = (undo: () => unknown) => void

export const withTest: Defer = (undo) => onTestFinished(async () => void (await undo()))
