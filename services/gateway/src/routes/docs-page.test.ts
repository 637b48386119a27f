import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { docsPage } from './docs-page.ts'

test('the page runs its own script and style and nothing else', () => {
  const parts = [...docsPage.html.matchAll(/<(script|style)[^>]*>(.*?)<\/\1>/gs)]
  expect(parts.map(([, tag]) => tag)).toEqual(['style', 'script'])
  for (const [, , text = ''] of parts)
    expect(docsPage.policy).toContain(createHash('sha256').update(text).digest('base64'))
  expect(docsPage.html).not.toMatch(/(src|href)="https?:/)
})
