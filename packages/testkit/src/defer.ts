import { onTestFinished } from 'vitest'

/** When something that a test has started is undone: with the test, unless a suite shares it. */
export type Defer = (teardown: () => unknown) => void

export const withTest: Defer = (teardown) => onTestFinished(async () => void (await teardown()))
