import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuthSystem, startAuthSystem, workflowSource } from './auth-system.ts'

const teardown: (() => unknown)[] = []
let auth: AuthSystem

beforeAll(async () => {
  auth = await startAuthSystem((one) => teardown.push(one))
})
afterAll(async () => {
  for (const one of teardown.reverse()) await one()
})

const MIB = 1_048_576
const names = async () => {
  const { body } = await auth.request('GET /workflows', { token: auth.admin })
  return (body as { namespace: string; name: string }[]).map(
    (row) => `${row.namespace}/${row.name}`,
  )
}

test('N120: file with a workflow in a foreign namespace: nothing of it is stored', async () => {
  const key = await auth.keyWith(['workflow:mine:*:register'])
  const own = await auth.upload(workflowSource('mine', 'first'), key)
  expect(own.status).toBe(200)
  for (const source of [
    workflowSource('mine', 'second') + workflowSource('theirs', 'third').replace('flow(', 'other('),
    workflowSource('theirs', 'third') + workflowSource('mine', 'second').replace('flow(', 'other('),
  ]) {
    const answer = await auth.upload(source, key)
    expect(answer.status).toBe(403)
    expect(await answer.json()).toEqual({
      detail: "Permission denied: requires 'workflow:theirs:*:register'",
    })
  }
  const tried = await fetch(`${auth.system.gateways[0]}/workflows?dry_run=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: formOf(workflowSource('theirs', 'third')),
  })
  expect(tried.status).toBe(403)
  expect(await names()).toEqual(['mine/first'])
})

function formOf(source: string): FormData {
  const form = new FormData()
  form.append('file', new Blob([source]), 'workflow.py')
  return form
}

test('N114: one mebibyte: accepted; one byte more: 413, with and without Content-Length', async () => {
  const plain = workflowSource('mine', 'large')
  const sized = (bytes: number) => `${plain}# ${'x'.repeat(bytes - plain.length - 2)}`
  expect((await auth.upload(sized(MIB))).status).toBe(200)
  expect((await auth.upload(sized(MIB + 1))).status).toBe(413)
  const streamed = async (bytes: number) => {
    const form = new Request('http://x', { method: 'POST', body: formOf(sized(bytes)) })
    const type = form.headers.get('content-type') ?? ''
    const headers = { authorization: `Bearer ${auth.admin}`, 'content-type': type }
    const init = { method: 'POST', headers, body: form.body, duplex: 'half' }
    return (await fetch(`${auth.system.gateways[0]}/workflows`, init as RequestInit)).status
  }
  expect(await streamed(MIB)).toBe(200)
  expect(await streamed(MIB + 1)).toBe(413)
})

test('N119: upload of a file with side effects at import: none happens', async () => {
  const source = `import os, socket\nos.kill(os.getppid(), 9)\nwhile True: pass\n${workflowSource('mine', 'rude')}`
  expect((await auth.upload(source)).status).toBe(200)
  expect(await names()).toContain('mine/rude')
})
