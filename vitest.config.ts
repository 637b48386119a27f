import { defineConfig } from 'vitest/config'

const SETUP = ['./packages/testkit/src/infra.ts']

export default defineConfig({
  ssr: { resolve: { conditions: ['source', 'node'] } },
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // eventsource-parser means its own sources by `source`; its importer must go the same way
    server: { deps: { inline: [/sdk\/dist\/esm\/client\/streamableHttp/, /eventsource-parser/] } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{packages,services}/*/src/**/*.test.ts', 'scripts/test/*.test.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['{packages,services}/*/test/**/*.test.ts'],
          globalSetup: SETUP,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['tests/**/*.test.ts'],
          globalSetup: SETUP,
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
