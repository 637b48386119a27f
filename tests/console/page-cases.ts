import { expect, test } from 'vitest'
import type { ConsoleFixture } from './console-fixture.ts'

/** Tests of the files of the console as the gateway serves them. */
export function pageCases(fixture: ConsoleFixture): void {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(fixture.url + path, { headers, redirect: 'manual' })

  test('the root: sends browsers to the console, and no program', async () => {
    const browser = await get('/', { accept: 'text/html,*/*;q=0.8' })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, 'console/'])
    expect((await get('/', { accept: 'application/json' })).status).toBe(404)
  })

  test('the page: not stored, without inline scripts, and its policy permits its own files only', async () => {
    const page = await get('/console/')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('x-frame-options')).toBe('DENY')
    const policy = (page.headers.get('content-security-policy') ?? '').split('; ')
    expect(policy).toEqual([
      "default-src 'none'",
      ...['script', 'style', 'connect', 'img', 'font'].map((kind) => `${kind}-src 'self'`),
      ...["base-uri 'self'", "form-action 'none'", "frame-ancestors 'none'"],
      ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
    ])
    const html = await page.text()
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=/i)
    expect(await (await get('/console/executions/x')).text()).toBe(html)
  })

  test('a file with a hash in its name: kept forever, sent compressed, and not sent again', async () => {
    const html = await (await get('/console/')).text()
    const [, name = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(html) ?? []
    const path = `/console/${name}`
    const texts: string[] = []
    for (const coding of ['br', 'gzip', 'identity']) {
      const file = await get(path, { 'accept-encoding': coding })
      const { headers } = file
      expect(headers.get('content-encoding') ?? 'identity').toBe(coding)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('vary')).toBe('accept-encoding')
      texts.push(await file.text())
    }
    expect(new Set(texts).size).toBe(1)
    const etag = (await get(path)).headers.get('etag') ?? ''
    expect((await get(path, { 'if-none-match': etag })).status).toBe(304)
    expect((await get('/console/assets/absent.js')).status).toBe(404)
  })

  test.each([
    '..%2f..%2fpackage.json',
    '%2e%2e/%2e%2e/package.json',
    'manifest.json',
    'assets/..%2f.built',
  ])('the path %s: no file of the server', async (path) => {
    const answer = await get(`/console/${path}`)
    const body = await answer.text()
    expect(body).not.toMatch(/"dependencies"|"etag"|"encodings"/)
    expect([200, 400, 404]).toContain(answer.status)
  })
}
