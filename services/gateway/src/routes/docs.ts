import { z } from 'zod'
import { docsPage } from '../docs-page.ts'
import { send } from '../http/answer.ts'
import { Written } from '../reply.ts'
import { route } from '../route.ts'

export const getOpenApi = route('get', '/openapi.json', {
  summary: 'This document',
  access: 'public',
  returns: z.record(z.string(), z.unknown()),
  handle: async ({ services }) => services.openapi,
})

export const getDocs = route('get', '/docs', {
  summary: 'A page to read and try the API',
  access: 'public',
  returns: z.string(),
  handle: async () =>
    new Written(async (x) => {
      x.answerHeaders.push('content-security-policy', docsPage.policy, 'x-frame-options', 'DENY')
      send(x, { status: 200, type: 'text/html; charset=utf-8', text: docsPage.html })
    }),
})
