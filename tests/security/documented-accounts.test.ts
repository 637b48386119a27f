import { execFile } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { withTest } from '@windlass/testkit/defer'
import { temporaryFolder } from '@windlass/testkit/folder'
import { expect, test } from 'vitest'
import { startAuthSystem } from './auth-system.ts'

const PROJECT = fileURLToPath(new URL('../../', import.meta.url))
const WINDLASS = path.join(PROJECT, 'packages/cli/bin/windlass.mjs')
const page = readFileSync(path.join(PROJECT, 'docs/operations.md'), 'utf8')

/** The first block of commands below a heading. */
function firstBlockOf(heading: string): string {
  const [, section = ''] = page.split(`\n## ${heading}\n`)
  const [, block = ''] = /^```sh\n(.*?)^```$/ms.exec(section) ?? []
  return block
}

test('the commands of "Accounts, keys and roles": create an account whose key has its role', async () => {
  const { system, admin } = await startAuthSystem(withTest)
  const folder = temporaryFolder('accounts')
  const npx = `#!/bin/sh\n[ "$1" = windlass ] && shift && exec '${process.execPath}' '${WINDLASS}' "$@"\n`
  writeFileSync(path.join(folder, 'npx'), npx, { mode: 0o755 })
  const sh = async (script: string, token: string) => {
    const env = {
      PATH: `${folder}:${process.env.PATH}`,
      SVC_CONFIG: '/dev/null',
      SVC_WORKERS__SERVER_URL: system.url,
      SVC_AUTH_TOKEN: token,
    }
    return (await promisify(execFile)('sh', ['-eu', '-c', script], { cwd: folder, env })).stdout
  }

  const block = firstBlockOf('Accounts, keys and roles')
  expect(block.match(/^\(?.*npx windlass /gm)).toHaveLength(5)
  const printed = await sh(block, admin)
  expect(printed).toContain('workflow:team-a:report:run')

  const file = path.join(folder, 'ci.key')
  expect(statSync(file).mode & 0o077).toBe(0)
  const me = await sh('npx windlass me', readFileSync(file, 'utf8').trim())
  expect(me).toMatch(/subject {2}ci\n/)
  expect(me).toContain('workflow:team-a:*')
  expect(await sh('npx windlass principal list', admin)).toContain('deployments of team A')
})
