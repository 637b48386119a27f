import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { docsPage } from './docs-page.ts'

test('docs page: its policy allows its own script and style only', () => {
  const parts = [...docsPage.html.matchAll(/<(script|style)[^>]*>(.*?)<\/\1>/gs)]
  expect(parts.map(([, tag]) => tag)).toEqual(['style', 'script'])
  for (const [, , text = ''] of parts)
    expect(docsPage.policy).toContain(createHash('sha256').update(text).digest('base64'))
  expect(docsPage.html).not.toMatch(/(src|href)="https?:/)
})
