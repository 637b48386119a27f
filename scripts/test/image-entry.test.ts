import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { PROGRAMS } from '../setup/bundled-programs.ts'

const ENTRY = fileURLToPath(new URL('../../deploy/image/entry.mjs', import.meta.url))

const enter = (...args: string[]) =>
  spawnSync(process.execPath, [ENTRY, ...args], { encoding: 'utf8' })

test.each(['', 'nginx', 'gateway --port=1', 'migrate', 'migrate gateway'])(
  'arguments of the image that name no program (%j): the usage names every service',
  (line) => {
    const { status, stderr } = enter(...line.split(' ').filter(Boolean))
    expect(status).toBe(2)
    for (const place of Object.keys(PROGRAMS).filter((name) => name.startsWith('services/')))
      expect(stderr).toContain(place.slice('services/'.length))
  },
)
