import { expect } from 'vitest'
import { analyseSource } from './analysis-fixture.ts'

/** Analyses a workflow declared with these options, in a source that begins with `head`. */
export function optionsFixture(head: string) {
  /** The only workflow of a source; `before` precedes its declaration. */
  function declared(options: string, before = '') {
    const source = `${head}${before}\n@workflow.with_options(${options})\nasync def job(ctx):\n    "Does it."\n`
    const [workflow] = analyseSource(source)
    if (!workflow) throw new Error('no workflow')
    return { ...workflow, metadata: JSON.parse(workflow.metadata_json) }
  }

  const expectRefusal = (options: string, reason: string, before?: string) =>
    expect(() => declared(options, before)).toThrow(
      expect.objectContaining({ kind: 'invalid', message: expect.stringContaining(reason) }),
    )

  return { declared, expectRefusal }
}
