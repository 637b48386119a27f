import type { Fault } from '@windlass/runtime/faults'
import { afterAll, expect, test } from 'vitest'
import { openPool } from './analysis-fixture.ts'
import { sourceOf } from './catalog-fixture.ts'
import { hostileSources } from './hostile-source-cases.ts'

// Twice the processor time of production. The wall time is only a hang limit: the test machine runs other work.
const pool = openPool({ maxCpuMs: 4_000, maxWallMs: 100_000 })
afterAll(() => pool.stop())

test.each(hostileSources.map((one) => [one.name, one] as const))(
  'N118: %s: analysed or refused, and the next source is analysed',
  async (_, { source, workflows }) => {
    const outcome = await pool.analyse(source()).catch((error: unknown) => error)
    if (workflows) expect(outcome).toMatchObject(workflows.map((name) => ({ name })))
    else {
      expect(outcome).toMatchObject({ kind: 'invalid', message: expect.stringMatching(/./) })
      expect((outcome as Fault).message.length).toBeLessThan(500)
    }
    expect(await pool.analyse(sourceOf('default', 'job'))).toMatchObject([{ name: 'job' }])
  },
)
