import { defaultExclude, defineConfig } from 'vitest/config'

const SETUP = ['./packages/testkit/src/infra.ts']
/** Races: 100 repetitions in their own project, 1,000 in the chaos project. */
const RACES = [
  'tests/e2e/{claims,races,uploads}.test.ts',
  'services/catalog/test/races.test.ts',
  'services/executions/test/{claim-by-delivery,races}.test.ts',
]
/** Load tests that the chaos project runs with larger numbers or for longer. */
const FLEETS = [
  'tests/e2e/{crashes,fleet,unmatchable,mixed}.test.ts',
  'services/dispatcher/test/stale.test.ts',
  'services/executions/test/{migrations,overdue}.test.ts',
  'services/gateway/test/aborted-uploads.test.ts',
]

/** Tests of the static analysis with files: they need no server. */
const CORPUS = 'packages/python-analysis/test/*.test.ts'

/** How many times as many files run at a time; `test:busy` sets it. */
const FILES_FACTOR = Number(process.env.TEST_FILES_FACTOR ?? 1)

export default defineConfig({
  ssr: { resolve: { conditions: ['windlass', 'node'] } },
  test: {
    // One process runs many files: shared imports are loaded once, which halves the time of a file.
    isolate: false,
    // Limits for hanging tests only: on an idle machine the waits are far shorter.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          maxWorkers: 2 * FILES_FACTOR,
          include: ['{packages,services}/*/src/**/*.test.ts', 'scripts/test/*.test.ts', CORPUS],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          sequence: { groupOrder: 1 },
          // These tests mostly wait for timers: more files at a time than processors.
          maxWorkers: 3 * FILES_FACTOR,
          include: ['{packages,services}/*/test/**/*.test.ts'],
          exclude: [...defaultExclude, CORPUS],
          globalSetup: SETUP,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          // Whole systems, which wait a third of the time: two at a time, and no other project.
          sequence: { groupOrder: 2 },
          maxWorkers: 2 * FILES_FACTOR,
          include: ['tests/{console,e2e,security}/**/*.test.ts'],
          globalSetup: SETUP,
          setupFiles: ['./packages/testkit/src/own-redis.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'deploy',
          // Builds tools and images, not part of `npm test`: `npm run test:deploy`.
          sequence: { groupOrder: 4 },
          include: ['tests/deploy/**/*.test.ts'],
          testTimeout: 1_200_000,
          hookTimeout: 1_200_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          // A replicated system and its stores under faults, not part of `npm test`: `npm run test:cluster`.
          sequence: { groupOrder: 5 },
          include: ['tests/cluster/**/*.test.ts'],
          testTimeout: 900_000,
          fileParallelism: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          // Long runs, not part of `npm test`: `npm run test:chaos`.
          sequence: { groupOrder: 3 },
          include: ['tests/chaos/**/*.test.ts', ...RACES, ...FLEETS],
          env: {
            TEST_ROUNDS: process.env.TEST_ROUNDS ?? '1000',
            TEST_UNMATCHABLE: process.env.TEST_UNMATCHABLE ?? '10000',
            TEST_STALE: process.env.TEST_STALE ?? '100000',
            TEST_MIXED_SECONDS: process.env.TEST_MIXED_SECONDS ?? '240',
            TEST_CRASHED: process.env.TEST_CRASHED ?? '500',
            TEST_ABORTED: process.env.TEST_ABORTED ?? '10000',
            TEST_STORED: process.env.TEST_STORED ?? '1000000',
          },
          globalSetup: SETUP,
          testTimeout: 3_600_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
