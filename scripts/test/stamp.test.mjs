import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Stamp } from '../lib/stamp.mjs'

let dir
let source
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-stamp-'))
  source = path.join(dir, 'lock.yaml')
  writeFileSync(source, 'one')
  return () => rmSync(dir, { recursive: true })
})

const stamp = (fact = 'v20') =>
  new Stamp(path.join(dir, 'made/stamp'), { files: [source], facts: [fact] })

describe('a stamp', () => {
  it('matches what it was set for', () => {
    expect(stamp().matches()).toBe(false)
    stamp().set()
    expect(stamp().matches()).toBe(true)
  })

  it('does not match once a source or a fact is another', () => {
    stamp().set()
    expect(stamp('v22').matches()).toBe(false)
    writeFileSync(source, 'two')
    expect(stamp().matches()).toBe(false)
  })

  it('goes with what was made', () => {
    stamp().set()
    rmSync(path.join(dir, 'made'), { recursive: true })
    expect(stamp().matches()).toBe(false)
  })
})
