import { defineConfig } from 'vitest/config'

const SETUP = ['./packages/testkit/src/infra.ts']
/** Races that both projects run, a hundred times or a thousand. */
const RACES = ['tests/e2e/{claims,races,uploads}.test.ts', 'services/catalog/test/races.test.ts']
/** The same with a thousand connects, with ten thousand runs that nobody can do or clients that vanish, through minutes of faults, with a hundred thousand that are overdue. */
const FLEETS = [
  'tests/e2e/{fleet,unmatchable,mixed}.test.ts',
  'services/dispatcher/test/stale.test.ts',
  'services/executions/test/overdue.test.ts',
  'services/gateway/test/aborted-uploads.test.ts',
]

export default defineConfig({
  ssr: { resolve: { conditions: ['windlass', 'node'] } },
  test: {
    // One process for many files: what they import is loaded once, half of what a file would cost.
    isolate: false,
    // Hang limits, not promises: what a test waits for comes at once on an idle machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          maxWorkers: 2,
          include: ['{packages,services}/*/src/**/*.test.ts', 'scripts/test/*.test.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          // They wait for timers more than they work: more files at once than there are processors.
          maxWorkers: 3,
          include: ['{packages,services}/*/test/**/*.test.ts'],
          globalSetup: SETUP,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          // Whole systems: they wait as long as they work, so two of them, and nothing else.
          sequence: { groupOrder: 2 },
          maxWorkers: 2,
          include: ['tests/{e2e,security}/**/*.test.ts'],
          globalSetup: SETUP,
          setupFiles: ['./packages/testkit/src/own-redis.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          // Long runs, which `npm test` leaves out: `npm run test:chaos`.
          sequence: { groupOrder: 3 },
          include: ['tests/chaos/**/*.test.ts', ...RACES, ...FLEETS],
          env: {
            TEST_ROUNDS: process.env.TEST_ROUNDS ?? '1000',
            TEST_UNMATCHABLE: process.env.TEST_UNMATCHABLE ?? '10000',
            TEST_STALE: process.env.TEST_STALE ?? '100000',
            TEST_MIXED_SECONDS: process.env.TEST_MIXED_SECONDS ?? '240',
            TEST_ABORTED: process.env.TEST_ABORTED ?? '10000',
          },
          globalSetup: SETUP,
          testTimeout: 3_600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
