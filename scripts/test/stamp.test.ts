import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { Stamp } from '../bootstrap/stamp.mjs'

let dir: string
let source: string
beforeEach(() => {
  dir = mkdtempSync(path.join(os.tmpdir(), 'windlass-stamp-'))
  source = path.join(dir, 'lock.yaml')
  writeFileSync(source, 'one')
  return () => rmSync(dir, { recursive: true })
})

const stamp = (fact = 'v20') =>
  new Stamp(path.join(dir, 'made/stamp'), { files: [source], facts: [fact] })

describe('a stamp', () => {
  it('unchanged inputs: matches', () => {
    expect(stamp().matches()).toBe(false)
    stamp().set()
    expect(stamp().matches()).toBe(true)
  })

  it('a changed file or fact: does not match', () => {
    stamp().set()
    expect(stamp('v22').matches()).toBe(false)
    writeFileSync(source, 'two')
    expect(stamp().matches()).toBe(false)
  })

  it('the output is removed: the stamp is gone', () => {
    stamp().set()
    rmSync(path.join(dir, 'made'), { recursive: true })
    expect(stamp().matches()).toBe(false)
  })
})
